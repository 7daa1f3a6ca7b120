"""A plain ranking has the same values as the general path, to the bit, and everything else is left to that path."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.evaluation.row_scorer import RowScorer, Scorer
from retrieval_metrics.matching.plain_ranking import rank_plainly, read_plain_gains, read_plain_judgments
from retrieval_metrics.metrics.base.metric import as_metrics
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score_plain_ranking, takes_plain_rankings

NAMES = ["hit_rate", "full_recall", "recall", "precision", "f1", "mrr", "map", "dcg", "ndcg"]
METRICS = as_metrics([*NAMES, *(f"{name}@{k}" for name in NAMES for k in (1, 2, 5, 10, 100))])

grades = st.one_of(st.integers(-2, 5), st.floats(-1, 9, allow_nan=False))
documents = st.sampled_from([f"d{number}" for number in range(30)])
judgments = st.one_of(
    st.lists(documents, max_size=9),
    st.sets(documents, max_size=9),
    st.dictionaries(documents, grades, max_size=9),
)
rankings = st.lists(documents, max_size=25, unique=True)


def values_of(scores: Any) -> list[tuple[Any, ...]]:
    """Scores as texts that tell every bit, because NaN does not equal itself."""
    return [tuple(map(repr, score)) for score in scores.values()]


@settings(max_examples=50)
@given(judgments, rankings)
def test_plain_rankings_have_the_values_of_evaluate_to_the_bit(relevant: Any, retrieved: list[str]) -> None:
    grade_by_document = read_plain_judgments(relevant)
    assert grade_by_document is not None
    ranking = rank_plainly(grade_by_document, retrieved)
    assert ranking is not None
    scores = Scorer(METRICS).queries({"q": relevant}, {"q": retrieved})
    for metric, (expected,) in zip(METRICS, (by_query.values() for by_query in scores.values()), strict=True):
        value = score_plain_ranking(metric, ranking)
        assert repr(value) == repr(expected.value), metric

    general = {metric: by_query["q"] for metric, by_query in scores.items()}
    assert values_of(Scorer(METRICS).ranking(relevant, retrieved)) == values_of(general)
    assert values_of(RowScorer(METRICS).row(relevant, lambda: retrieved)) == values_of(general)
    single = rm.evaluate_ranking(relevant, retrieved, METRICS)
    assert list(map(repr, single.values())) == [repr(score.value) for score in general.values()]


def score_generally(names: list[str], judged: dict[str, Any], retrieved: list[str]) -> list[str]:
    """The values of one query, computed as those of a run are."""
    scores = Scorer(names).queries({"q": judged}, {"q": retrieved})
    return [repr(by_query["q"].value) for by_query in scores.values()]


all_gains = st.lists(st.none() | grades, max_size=25)


@given(all_gains, st.lists(st.floats(0.1, 5), max_size=4), st.none() | st.integers(1, 12))
def test_functions_of_gains_have_the_values_of_evaluate_to_the_bit(
    gains: list[Any], others: list[float], k: int | None
) -> None:
    listed = {f"d{rank}": gain for rank, gain in enumerate(gains) if gain is not None}
    retrieved = [f"d{rank}" for rank in range(len(gains))]
    suffix = "" if k is None else f"@{k}"
    relevant = [gain for gain in listed.values() if gain > 0]
    ideal = [*relevant, *others]
    if ideal:
        judged = {**listed, **{f"m{number}": gain for number, gain in enumerate(others)}}
        names = [f"{name}{suffix}" for name in ("ndcg", "map", "recall", "full_recall", "f1")]
        values = [rm.ndcg(gains, k=k, ideal=ideal)]
        for of_relevant in (rm.average_precision, rm.recall, rm.metrics.full_recall, rm.f1):
            values.append(of_relevant(gains, k=k, n_relevant=len(ideal)))
        assert list(map(repr, values)) == score_generally(names, judged, retrieved)

    judged = listed if relevant else {**listed, "m": 1}
    names = [f"{name}{suffix}" for name in ("hit_rate", "mrr", "precision", "ndcg", "dcg")]
    values = []
    for function in (rm.hit_rate, rm.reciprocal_rank, rm.precision, rm.ndcg, rm.metrics.dcg):
        values.append(function(gains, k=k))
    assert list(map(repr, values)) == score_generally(names, judged, retrieved)


@pytest.mark.parametrize(
    "relevant",
    [
        [["a"], ["b"]],
        [1, 2],
        {"a": True},
        {"a": math.nan},
        {"a": 1e300},
        {"a": "1"},
        {1: 1},
        "a",
        [rm.Text("a text")],
        {f"d{number}": 1 for number in range(2_000)},
        [f"d{number}" for number in range(2_000)],
    ],
)
def test_other_judgments_are_not_plain(relevant: Any) -> None:
    assert read_plain_judgments(relevant) is None


@pytest.mark.parametrize(
    "retrieved", [["a", "a"], ["a", 1], {"a": 1.0}, "a", range(3), [rm.Retrieved("a")], [f"d{n}" for n in range(2_000)]]
)
def test_other_rankings_are_not_plain(retrieved: Any) -> None:
    assert rank_plainly({"a": 1.0}, retrieved) is None


@pytest.mark.parametrize("gains", [[True], [math.nan], [math.inf], [2.0**60], ["1"], range(3), "10", [0] * 2_000])
def test_other_gains_are_not_plain(gains: Any) -> None:
    assert read_plain_gains(gains) is None


def test_parameters_rules_and_other_metrics_take_the_general_path() -> None:
    assert takes_plain_rankings(METRICS, STANDARD)
    for name in ("recall(rel=2)", "ndcg(gain=exponential)", "err(max_grade=3)", "judged@5", "recall@2000chars"):
        assert not takes_plain_rankings(as_metrics(name), STANDARD)
    assert not takes_plain_rankings(METRICS, rm.Rules(name="mine", no_relevant="zero"))


def test_what_cannot_be_right_is_refused_as_before() -> None:
    with pytest.raises(TypeError, match="are str and those in the run are int"):
        rm.evaluate_ranking(["a"], [1, 2], "mrr")
    with pytest.raises(TypeError, match="this row cannot be judged"):
        RowScorer("mrr").row(["a"], lambda: "ab")
    assert [score.failure for score in RowScorer("mrr").row(["a"], _raise, failure="timeout").values()] == ["timeout"]


def _raise() -> list[str]:
    raise ValueError("no ranking")
