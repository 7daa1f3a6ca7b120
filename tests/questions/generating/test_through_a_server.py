"""A whole set through the client of OpenAI and a server with faults: complete, and free the second time."""

from pathlib import Path

import openai
import pytest

import retrieval_metrics as rm
from corpus import topics
from fake_models import Service, fake_models
from retrieval_metrics.retrieving import calling
from retrieval_metrics.retrieving import calling as rate_limit
from scripted_model import ScriptedModel

FAULTS = {0: "429", 1: "500", 2: "slow", 3: "cut"}


def fault(prompt: str, attempt: int) -> str | None:
    """Every fifth prompt or so fails the first time it is sent, in one way or another."""
    return FAULTS.get(sum(prompt.encode()) % 20) if attempt == 1 else None


def test_sixty_questions_in_spite_of_limits_errors_timeouts_and_cut_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "PAUSE", 0.0)
    monkeypatch.setattr(rate_limit, "MARGIN", 0.0)  # calls begin at intervals of what a refusal asks for, and this
    service = Service(ScriptedModel(), fault)
    with fake_models(service) as environment:
        client = openai.OpenAI(base_url=environment["OPENAI_BASE_URL"], api_key="none", max_retries=0)

        def ask(prompt: str) -> str:
            messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
            patience = 0.1 if service.next_fault(prompt) == "slow" else 60.0  # what replies may take its time
            done = client.chat.completions.create(model="fake", messages=messages, temperature=0, timeout=patience)
            return done.choices[0].message.content or ""

        def make() -> rm.types.GeneratedQuestions:
            return rm.generate_questions(
                topics(), ask, 60, kinds="one_passage", cache=tmp_path / "replies.jsonl", model_name="fake"
            )

        made = make()
        sent = service.done["replied"]
        again = make()
        client.close()
    assert len(made) == 60
    assert made.stopped is None
    assert all(service.done[kind] > 3 for kind in FAULTS.values())
    assert "calls of the model" in str(made)
    assert again.questions == made.questions
    assert again.calls.made == 0
    assert service.done["replied"] == sent
