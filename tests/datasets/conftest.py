"""Nothing that asks a model waits here, and what a lying model leaves of many questions is made once."""

import pytest

import retrieval_metrics as rm
from corpus import topics
from retrieval_metrics.retrieval import call_policy
from scripted_model import ScriptedModel


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_policy, "PAUSE", 0.0)


@pytest.fixture(scope="session", params=[120, pytest.param(380, marks=pytest.mark.thorough)])
def generated_by_liar(request: pytest.FixtureRequest) -> tuple[rm.types.GeneratedQuestions, ScriptedModel]:
    model = ScriptedModel(lies=0.3, broken=0.1, fails=0.1, slow=0.005, repeats=0.1)
    pause = call_policy.PAUSE
    call_policy.PAUSE = 0.0  # a fixture of a session comes before those of functions
    try:
        return rm.generate_questions(topics(), rm.Model(model, timeout=0.25), request.param, seed=1), model
    finally:
        call_policy.PAUSE = pause
