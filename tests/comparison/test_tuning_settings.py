"""Settings as users give them, and how each is evaluated."""

from functools import partial
from typing import Any

import pytest

import retrieval_metrics as rm
from tried_settings import data


def test_a_function_is_tried_with_every_combination_of_its_parameters() -> None:
    qrels, runs = data(2)
    tuning = rm.tune(
        partial(rm.fuse, runs),
        qrels,
        "mrr",
        parameters={"k": [1, 60], "weights": [(1, 1), (1, 0), (0, 1)]},
        default={"k": 60, "weights": (1, 1)},
        extra_metrics="hit_rate@1",
    )
    assert len(tuning.settings) == 6
    assert tuning.default == "k=60, weights=(1, 1)"
    alone = rm.evaluate(qrels, rm.fuse(runs, weights=(1, 0)), "mrr").means["mrr"]
    assert tuning["k=60, weights=(1, 0)"].means["mrr"] == alone
    assert list(tuning.to_pandas().columns[:3]) == ["setting", "k", "weights"]
    assert "hit_rate@1" in str(tuning)


def test_retrievers_are_asked_once_each_and_evaluations_are_taken_as_they_are() -> None:
    qrels, runs = data(3)
    questions_asked: list[str] = []

    def retriever(name: str) -> Any:
        def search(text: str) -> list[str]:
            questions_asked.append(name)
            return runs[name][text]

        return search

    questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
    of_retrievers = rm.tune({name: retriever(name) for name in runs}, questions, "mrr", default="s0")
    assert sorted(questions_asked) == sorted(name for name in runs for _ in qrels)
    of_runs = rm.tune(runs, questions, "mrr", default="s0")
    evaluations = {name: rm.evaluate(questions, run, "mrr") for name, run in runs.items()}
    of_evaluations = rm.tune(evaluations, metric="mrr", default="s0")
    assert str(of_runs) == str(of_evaluations) == str(of_retrievers)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"default": "z"}, ValueError, "the default, 'z', is not among the settings: s0"),
        ({"default": {"k": 1}}, TypeError, "default must be the name of a setting"),
        ({"default": "s0", "parameters": {"k": [1]}}, TypeError, "so parameters are those of each"),
        ({"default": "s0", "candidates": rm.fuse}, ValueError, "a function needs parameters"),
        ({"default": "s0", "questions": None}, TypeError, "need questions with judgments"),
        ({"default": "s0", "metric": "mrrr"}, ValueError, "mrrr"),
    ],
)
def test_what_cannot_be_tuned_is_refused(options: Any, error: type[Exception], message: str) -> None:
    qrels, runs = data(2)
    with pytest.raises(error, match=message):
        rm.tune(**{"candidates": runs, "questions": qrels, "metric": "mrr", **options})


def test_progress_counts_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    qrels, runs = data(3)
    rm.tune(runs, qrels, "mrr", default="s0", show_progress=True)
    assert "3/3" in capsys.readouterr().err


def test_an_error_names_its_setting() -> None:
    with pytest.raises(TypeError, match="got NoneType") as caught:
        rm.tune(lambda **_: None, {"q": ["d"]}, "mrr", parameters={"k": [1, 2]}, default={"k": 1})
    assert caught.value.__notes__ == ["this is the setting 'k=1'"]
    run = {"q": ["d"]}
    parameters = {"a": [1, 0], "b": [0]}
    with pytest.raises(ValueError, match="all weights are 0") as caught_weights:
        rm.tune(
            lambda a, b: rm.fuse({"a": run, "b": run}, weights=[a, b]),
            {"q": ["d"]},
            "mrr",
            parameters=parameters,
            default={"a": 1, "b": 0},
        )
    (note,) = caught_weights.value.__notes__
    assert note.startswith("this is the setting 'a=0, b=0'; to leave it out, ")
    tuning = rm.tune({"a": {"q": ["d", "x"]}, "b": {"q": ["x", "d"]}}, {"q": ["d"]}, "mrr", default="a")
    with pytest.raises(KeyError, match=r"^no setting 'c'; the settings are a and b"):
        tuning["c"]


def test_a_warning_is_given_once_with_the_settings_that_it_is_about() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    complete = {query: ["d"] for query in qrels}
    incomplete = {query: complete[query] for query in [*complete][:12]}
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.tune({"a": complete, "b": incomplete}, qrels, "mrr", default="a")
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith("b: 8 of 20 judged queries")
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.tune({"a": incomplete, "b": incomplete}, qrels, "mrr", default="a")
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith("8 of 20 judged queries")
