"""Parts add up to the whole, to the last bit."""

import random
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import scored_run

unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
METRICS = (
    *("ndcg@10", "hit_rate@3", "precision@5", "map", "rbp(max_grade=4,p=0.5)"),
    *("err(max_grade=4)@10", "alpha_ndcg", "judged@10"),
)
RULES: list[dict[str, Any]] = [
    {},
    {"rules": "trec_eval"},
    {"rules": "autorag"},
    {"rules": "mlflow"},
    {"ties": "expected"},
]


def make_data(seed: int, n_queries: int = 40) -> tuple[dict[Any, Any], dict[Any, Any]]:
    rng = random.Random(seed)
    qrels, run = scored_run(rng, n_queries, depth=12, ties=0.5, judged=0.4)
    names = sorted(qrels)
    run.pop(names[0])  # missing
    qrels[names[1]] = dict.fromkeys(qrels[names[1]], 0)  # without a relevant document
    run["of nobody"] = {"d1": 1.0}  # not judged
    return qrels, run


# Judgments and run of some of the queries.
Part: TypeAlias = tuple[dict[Any, Any], dict[Any, Any]]


def split(qrels: dict[Any, Any], run: dict[Any, Any], n_parts: int, rng: random.Random) -> list[Part]:
    """Deal the queries out to parts at random; what is in the run alone goes with the first."""
    part_by_query = {query: rng.randrange(n_parts) for query in qrels}
    parts: list[Part] = [({}, {}) for _ in range(n_parts)]
    for query, number in part_by_query.items():
        part_qrels, part_run = parts[number]
        part_qrels[query] = qrels[query]
        if query in run:
            part_run[query] = run[query]
    for query in run.keys() - qrels.keys():
        parts[0][1][query] = run[query]
    for part_qrels, part_run in parts:
        if not part_qrels.keys() & part_run.keys():
            # evaluate refuses a part in which no judged query was run.
            return [(qrels, run)]
    return parts


def evaluate_parts(parts: list[Part], metrics: Any, **options: Any) -> list[rm.Evaluation]:
    return [rm.evaluate(part_qrels, part_run, metrics, **options) for part_qrels, part_run in parts]


def merge_totals(evaluations: Iterable[rm.Evaluation]) -> rm.Evaluation:
    return rm.merge(evaluation.totals() for evaluation in evaluations)


def assert_equal(evaluation: rm.Evaluation, expected: rm.Evaluation) -> None:
    assert str(evaluation) == str(expected)
    for name in evaluation.means:
        assert np.array_equal(evaluation.means[name], expected.means[name], equal_nan=True)
        assert evaluation.n[name] == expected.n[name]
        assert evaluation.intervals(0.9)[name] == expected.intervals(0.9)[name]
    assert dict(evaluation.residuals) == dict(expected.residuals)
    assert evaluation.counts == expected.counts
    assert evaluation.tie_range == expected.tie_range


@unwarned
@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("n_parts", [2, 5])
def test_parts_give_the_whole_to_the_last_bit(options: dict[str, Any], n_parts: int) -> None:
    metrics = METRICS[:6] if "ties" in options else METRICS
    qrels, run = make_data(7)
    whole = rm.evaluate(qrels, run, metrics, **options)
    parts = split(qrels, run, n_parts, random.Random(n_parts))
    assert len(parts) == n_parts
    evaluations = evaluate_parts(parts, metrics, **options)
    for ordered in (evaluations, evaluations[::-1]):
        assert_equal(rm.merge(ordered), whole)
        assert_equal(merge_totals(ordered), whole)
        nested = [merge_totals(ordered[:1]), merge_totals(ordered[1:])]
        assert_equal(rm.merge(nested), whole)


@unwarned
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_any_split_gives_the_same(seed: int, n_parts: int) -> None:
    qrels, run = make_data(seed, 12)
    parts = split(qrels, run, n_parts, random.Random(seed))
    merged = merge_totals(evaluate_parts(parts, METRICS))
    assert_equal(merged, rm.evaluate(qrels, run, METRICS))


@unwarned
def test_merged_evaluations_keep_every_query() -> None:
    qrels, run = make_data(3)
    parts = split(qrels, run, 2, random.Random(1))
    metrics = ["mrr", "rbp(max_grade=4)"]
    merged = rm.merge(evaluate_parts(parts, metrics, ties="expected"))
    whole = rm.evaluate(qrels, run, metrics, ties="expected")
    first_qrels = parts[0][0]
    second_qrels = parts[1][0]
    assert merged.queries == (*first_qrels, *second_qrels)
    for name, values in whole.per_query.items():
        merged_values = merged.per_query[name]
        assert merged_values.keys() == values.keys()
        for query, value in values.items():
            assert np.array_equal(merged_values[query], value, equal_nan=True)
    assert merged.to_pandas().shape == (len(qrels), 2)
    assert repr(merged) == repr(whole)


@unwarned
def test_evaluations_of_groups_and_pieces_add_up_too() -> None:
    qrels: Any = {"q1": ["a", "b"], "q2": [["a", "b"], ["c"]]}
    run: Any = {"q1": ["a"], "q2": ["c", "x"]}
    metrics = ["precision@5", "f1@5", "recall"]
    parts: list[Part] = [({query: qrels[query]}, {query: run[query]}) for query in qrels]
    assert_equal(merge_totals(evaluate_parts(parts, metrics)), rm.evaluate(qrels, run, metrics))


@unwarned
@pytest.mark.parametrize("options", RULES, ids=str)
def test_slices_add_up_to_the_whole(options: dict[str, Any]) -> None:
    qrels, run = make_data(9)
    del run["of nobody"]  # it is in no slice
    qrels = {query: judgments for query, judgments in qrels.items() if query in run}  # some rules leave others out
    whole = rm.evaluate(qrels, run, METRICS[:6], **options)
    slices = whole.group_by(lambda query: int(query[1:]) % 3)
    assert_equal(rm.merge(slices.values()), whole)
    assert_equal(merge_totals(slices.values()), whole)


def evaluate(qrels: Any = None, metrics: Any = "mrr", **options: Any) -> rm.Evaluation:
    return rm.evaluate(qrels or {"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}, metrics, **options)


@unwarned
@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], ValueError, "parts is empty"),
        ([{"mrr": 0.5}], TypeError, "parts must be .* got dict"),
        ([evaluate(), evaluate()], ValueError, "'q1' occurs in two of them"),
        ([evaluate(), evaluate(metrics="map")], ValueError, "the same metrics, got mrr and map"),
        ([evaluate(), evaluate(rules="trec_eval")], ValueError, "same rules, got standard and trec_eval"),
        (
            [evaluate(), evaluate({"q2": ["a"]}, ties="expected")],
            ValueError,
            "got standard with ties='docid' and with ties='expected'",
        ),
        ([evaluate(), rm.evaluate({1: ["a"]}, {1: ["a"]}, "mrr")], TypeError, "query IDs in the parts are partly str"),
        (evaluate(), TypeError, "parts must be .* got one Evaluation; write a list"),
        (evaluate().group_by({"q1": "x"}), TypeError, r"got one Slices; pass its values\(\)"),
        (
            [evaluate({"q1": {"a": 1}}, "err"), evaluate({"q2": {"a": 3}}, "err")],
            ValueError,
            r"largest grade, which is 1 in one part and 3 in another; set it: err\(max_grade=3\)",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.merge(parts)
