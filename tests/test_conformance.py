"""The conformance class itself: the core passes through it, and every adapter that is wrong somewhere fails."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from conformance import CASES, Conformance, EvaluationConformance, Rankings, Scores, Truth

FORBIDDEN = "what must not come back"


class TestTheCoreItself(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return rm.evaluate(qrels, run, metrics)


class Altered(Conformance):
    """An adapter that loses something on the way."""

    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return qrels, run

    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        altered = rm.evaluate(*self.alter(dict(qrels), dict(run)), metrics).per_query
        return {metric: {str(q): altered[metric].get(q, 0.0) for q in qrels} for metric in metrics}


class DropsGrades(Altered):
    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return {q: list(truth) if isinstance(truth, Mapping) else truth for q, truth in qrels.items()}, run


class FlattensGroups(Altered):
    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        grouped = {q for q, t in qrels.items() if isinstance(t, list) and t and not isinstance(t[0], str)}
        return {q: [d for group in t for d in group] if q in grouped else t for q, t in qrels.items()}, run


class DropsRepeats(Altered):
    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return qrels, {q: list(dict.fromkeys(ranking)) for q, ranking in run.items()}


class DropsWhatIsMissing(Altered):
    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        return {q: truth for q, truth in qrels.items() if truth}, run


class RoundsTheLastBit(Altered):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        exact = super().scores(qrels, run, metrics)
        return {metric: {q: v * (1 + 2**-52) for q, v in values.items()} for metric, values in exact.items()}


class SortsTheCallersList(Altered):
    def scores(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> Scores:
        right = super().scores(qrels, run, metrics)
        for ranking in run.values():
            ranking.sort()  # type: ignore[attr-defined]  # a list, which must stay as it is
        return right


class CountsOneMore(EvaluationConformance):
    """An adapter whose counts, but no values, are wrong."""

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        return rm.evaluate(qrels, {**run, "of nobody": ["x"]}, metrics)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("adapter", "caught"),
    [
        (DropsGrades, {"graded", "grades that are no relevance", "nothing relevant by grade", FORBIDDEN, "many"}),
        (FlattensGroups, {"grouped", "grades that are no relevance", FORBIDDEN, "many"}),
        (DropsRepeats, {"repeats"}),
        (DropsWhatIsMissing, {"nothing relevant", "nothing at all", FORBIDDEN}),
        (RoundsTheLastBit, {case.name for case in CASES}),
    ],
)
def test_an_adapter_that_loses_something_fails_just_there(adapter: type[Altered], caught: set[str]) -> None:
    failed = set()
    for case in CASES:
        try:
            adapter().test_the_numbers_are_the_cores_and_what_was_given_stays(case)
        except AssertionError:
            failed.add(case.name)
    assert failed == caught


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_an_adapter_that_changes_what_it_was_given_fails() -> None:
    with pytest.raises(AssertionError, match="what was handed over has changed"):
        SortsTheCallersList().test_the_numbers_are_the_cores_and_what_was_given_stays(CASES[0])


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_an_adapter_that_counts_otherwise_fails() -> None:
    with pytest.raises(AssertionError):
        CountsOneMore().test_the_numbers_are_the_cores_and_what_was_given_stays(CASES[0])


class RefusesGrades(Altered):
    refuses: ClassVar[Mapping[str, str]] = {"graded": "no grades here"}

    def alter(self, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if any(isinstance(truth, Mapping) for truth in qrels.values()):
            raise ValueError("no grades here")
        return qrels, run


class OnlySaysItRefuses(Altered):
    refuses = RefusesGrades.refuses


def test_what_a_host_cannot_express_must_be_refused() -> None:
    graded = next(case for case in CASES if case.name == "graded")
    RefusesGrades().test_the_numbers_are_the_cores_and_what_was_given_stays(graded)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        OnlySaysItRefuses().test_the_numbers_are_the_cores_and_what_was_given_stays(graded)
