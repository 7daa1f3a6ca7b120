"""Evaluations of parts add up to that of the whole, to the last bit."""

import pickle
import random
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import scored_run

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

METRICS = (
    *("ndcg@10", "hit_rate@3", "precision@5", "map", "rbp(max_grade=4,p=0.5)"),
    *("err(max_grade=4)@10", "alpha_ndcg", "judged@10"),
)
RULES: list[dict[str, Any]] = [
    {},
    {"semantics": "trec_eval"},
    {"semantics": "autorag"},
    {"semantics": "mlflow"},
    {"ties": "expected"},
]


def case(seed: int, queries: int = 40) -> tuple[dict[Any, Any], dict[Any, Any]]:
    rng = random.Random(seed)
    qrels, run = scored_run(rng, queries, depth=12, ties=0.5, judged=0.4)
    names = sorted(qrels)
    run.pop(names[0])  # missing
    qrels[names[1]] = dict.fromkeys(qrels[names[1]], 0)  # without a relevant document
    run["of nobody"] = {"d1": 1.0}  # not judged
    return qrels, run


Part: TypeAlias = tuple[dict[Any, Any], dict[Any, Any]]


def cut(qrels: dict[Any, Any], run: dict[Any, Any], parts: int, rng: random.Random) -> list[Part]:
    """Deal the queries out to parts at random; what is in the run alone goes with the first."""
    of = {query: rng.randrange(parts) for query in qrels}
    dealt = []
    for part in range(parts):
        truth = {query: judgments for query, judgments in qrels.items() if of[query] == part}
        dealt.append((truth, {query: run[query] for query in truth if query in run}))
    dealt[0][1].update({query: ranking for query, ranking in run.items() if query not in of})
    # evaluate refuses a part in which no judged query was run
    return dealt if all(truth.keys() & found.keys() for truth, found in dealt) else [(qrels, run)]


def same(one: rm.Evaluation, other: rm.Evaluation) -> None:
    assert str(one) == str(other)
    for name in one.means:
        assert np.array_equal(one.means[name], other.means[name], equal_nan=True)
        assert one.n[name] == other.n[name]
        assert one.intervals(0.9)[name] == other.intervals(0.9)[name]
    assert dict(one.residuals) == dict(other.residuals)
    assert one.counts == other.counts
    if other.tie_range is not None:
        assert one.tie_range is not None
        assert one.tie_range.means == other.tie_range.means
        assert one.tie_range.n_queries == other.tie_range.n_queries


@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("parts", [2, 5])
def test_parts_give_the_whole_to_the_last_bit(options: dict[str, Any], parts: int) -> None:
    metrics = METRICS[:6] if "ties" in options else METRICS
    qrels, run = case(7)
    whole = rm.evaluate(qrels, run, metrics, **options)
    dealt = cut(qrels, run, parts, random.Random(parts))
    assert len(dealt) == parts
    evaluations = [rm.evaluate(*part, metrics, **options) for part in dealt]
    for order in (evaluations, evaluations[::-1]):
        same(rm.merge(order), whole)
        same(rm.merge(each.totals() for each in order), whole)
        nested = [rm.merge(each.totals() for each in order[:1]), rm.merge(each.totals() for each in order[1:])]
        same(rm.merge(nested), whole)


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_any_cut_gives_the_same(seed: int, parts: int) -> None:
    qrels, run = case(seed, 12)
    dealt = cut(qrels, run, parts, random.Random(seed))
    merged = rm.merge(rm.evaluate(*part, METRICS).totals() for part in dealt)
    same(merged, rm.evaluate(qrels, run, METRICS))


def test_merged_evaluations_keep_every_query() -> None:
    qrels, run = case(3)
    first, second = cut(qrels, run, 2, random.Random(1))
    metrics = ["mrr", "rbp(max_grade=4)"]
    parts = [rm.evaluate(*part, metrics, ties="expected") for part in (first, second)]
    merged = rm.merge(parts)
    whole = rm.evaluate(qrels, run, metrics, ties="expected")
    assert merged.queries == (*first[0], *second[0])
    for name in whole.per_query:
        merged_values, values = merged.per_query[name], whole.per_query[name]
        assert merged_values.keys() == values.keys()
        for query, value in values.items():
            assert np.array_equal(merged_values[query], value, equal_nan=True)
    assert merged.to_pandas().shape == (len(qrels), 2)
    assert repr(merged) == repr(whole)


def test_evaluations_of_groups_and_pieces_add_up_too() -> None:
    flat = ({"q1": ["a", "b"]}, {"q1": ["a"]})
    grouped: Any = ({"q2": [["a", "b"], ["c"]]}, {"q2": ["c", "x"]})
    metrics = ["precision@5", "f1@5", "recall"]
    whole = rm.evaluate({**flat[0], **grouped[0]}, {**flat[1], **grouped[1]}, metrics)
    same(rm.merge(rm.evaluate(truth, found, metrics).totals() for truth, found in (flat, grouped)), whole)


@pytest.mark.parametrize("options", RULES, ids=str)
def test_slices_add_up_to_the_whole(options: dict[str, Any]) -> None:
    qrels, run = case(9)
    del run["of nobody"]  # it is in no slice
    qrels = {query: judgments for query, judgments in qrels.items() if query in run}  # some rules leave others out
    whole = rm.evaluate(qrels, run, METRICS[:6], **options)
    slices = whole.by(lambda query: int(query[1:]) % 3)
    same(rm.merge(slices.values()), whole)
    same(rm.merge(each.totals() for each in slices.values()), whole)


def test_a_slice_has_the_tie_range_of_its_queries() -> None:
    qrels, run = {"q1": ["a"], "q2": ["a"]}, {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    slices = rm.evaluate(qrels, run, "mrr", ties="expected").by({"q1": "tied", "q2": "alone"})
    ranges = {label: each.tie_range.means["mrr"] for label, each in slices.items() if each.tie_range is not None}
    assert ranges == {"tied": (0.5, 1.0), "alone": (1.0, 1.0)}


def test_totals_survive_pickling() -> None:
    totals = rm.evaluate(*case(5), METRICS).totals()
    again = pickle.loads(pickle.dumps(totals))  # noqa: S301  (written in the line before)
    same(rm.merge([again]), rm.merge([totals]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.queries,
        lambda one: one.values,
        lambda one: one.per_query,
        lambda one: one.to_pandas(),
        lambda one: one.explain("q1"),
        lambda one: one.worst("mrr"),
        lambda one: one.by({"q1": "x"}),
    ],
)
def test_sums_alone_say_that_they_know_no_query(ask: Callable[[rm.Evaluation], Any]) -> None:
    merged = rm.merge([rm.evaluate({"q1": ["a"]}, {"q1": ["a"]}, "mrr").totals()])
    with pytest.raises(ValueError, match=r"totals, which hold no single queries|it holds sums only"):
        ask(merged)
    assert repr(merged) == "<Evaluation of 1 queries: mrr 1.000>"


def evaluated(qrels: Any = None, metrics: Any = "mrr", **options: Any) -> rm.Evaluation:
    return rm.evaluate(qrels or {"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}, metrics, **options)


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], ValueError, "nothing to merge: parts is empty"),
        ([{"mrr": 0.5}], TypeError, "parts must be evaluations or their totals, got dict"),
        ([evaluated(), evaluated()], ValueError, "query 'q1' is in two parts"),
        ([evaluated(), evaluated(metrics="map")], ValueError, "the same metrics, got mrr and map"),
        ([evaluated(), evaluated(semantics="trec_eval")], ValueError, "same rules, got standard and trec_eval"),
        (
            [evaluated(), evaluated({"q2": ["a"]}, ties="expected")],
            ValueError,
            "got standard with ties='docid' and with ties='expected'",
        ),
        ([evaluated(), rm.evaluate({1: ["a"]}, {1: ["a"]}, "mrr")], TypeError, "query ids in the parts are partly str"),
        (evaluated(), TypeError, "several evaluations or totals, got one Evaluation; write a list"),
        (evaluated().by({"q1": "x"}), TypeError, r"got one Slices; pass its values\(\)"),
        (
            [evaluated({"q1": {"a": 1}}, "err"), evaluated({"q2": {"a": 3}}, "err")],
            ValueError,
            r"largest grade, which is 1 in one part and 3 in another; set it: err\(max_grade=3\)",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.merge(parts)
