"""Names of metrics: read, printed, compared."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.metric import as_metrics
from retrieval_metrics.metrics.base.table import DEFINITIONS, NAME_BY_ALIAS


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_at_10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("P_10", "precision@10"),
        ("P.5", "precision@5"),
        ("recall_1000", "recall@1000"),
        ("success_5", "hit_rate@5"),
        ("map_cut_100", "map@100"),
        ("recip_rank", "mrr"),
        ("RR@10", "mrr@10"),
        ("reciprocal_rank", "mrr"),
        ("AP(rel=2)@100", "map(rel=2)@100"),
        ("ap", "map"),
        ("p@3", "precision@3"),
        ("r@3", "recall@3"),
        ("hit@1", "hit_rate@1"),
        ("Rprec", "r_precision"),
        ("R-precision", "r_precision"),
        ("hit_rate_at_5", "hit_rate@5"),
        ("f1@5", "f1@5"),
        ("f1_at_5", "f1@5"),
        (" map ", "map"),
        ("rbp( p = .8 )", "rbp"),
        ("rbp(p=0.95)@20", "rbp(p=0.95)@20"),
        ("rbp_at_20", "rbp@20"),
        ("ndcg(gain=linear)@10", "ndcg@10"),
        ("ndcg(ideal=retrieved,gain=exponential)@10", "ndcg(gain=exponential,ideal=retrieved)@10"),
        ("map(norm=retrieved)@5", "map(norm=retrieved)@5"),
        ("precision(rel=2.0)@5", "precision(rel=2)@5"),
        ("ndcg(gains=2:1;1:0)", "ndcg(gains=1:0;2:1)"),
        ("ndcg()@10", "ndcg@10"),
    ],
)
def test_a_name_is_printed_in_its_canonical_form(text: str, canonical: str) -> None:
    assert str(rm.Metric.parse(text)) == canonical


BUILT_IN = [definition for definition in DEFINITIONS.values() if definition.recipe is None]


@st.composite
def metrics(draw: st.DrawFn) -> rm.Metric:
    definition = draw(st.sampled_from(BUILT_IN))
    values: dict[str, Any] = {
        "alpha": st.floats(0, 1),
        "rel": st.sampled_from([1, 2, 0.5]),
        "norm": st.sampled_from(["retrieved"]),
        "p": st.floats(0.01, 0.99),
        "gain": st.sampled_from(["linear", "exponential", "binary"]),
        "gains": st.sampled_from(["1:0", "1:1;2:3"]),
        "ideal": st.sampled_from(["all", "retrieved"]),
        "of": st.sampled_from(["groups", "documents"]),
        "per": st.sampled_from(["query", "group"]),
        "max_grade": st.integers(1, 9),
        "recall": st.floats(0, 1),
        "rounding": st.sampled_from(["up", "nearest"]),
        "grade": st.sampled_from([-1, -2, -0.5]),
    }
    chosen = (
        draw(st.lists(st.sampled_from(sorted(definition.parameters)), unique=True)) if definition.parameters else []
    )
    budgets = st.builds(rm.Budget, st.integers(1, 10**6), st.sampled_from(["chars", "tokens"]))
    k = draw(st.none() | st.integers(1, 10**6) | budgets) if definition.takes_cutoff else None
    return rm.Metric(definition.name, k, **{key: draw(values[key]) for key in chosen})


@given(metrics())
def test_a_printed_name_is_read_back_as_the_same_metric(metric: rm.Metric) -> None:
    again = rm.Metric.parse(str(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert pickle.loads(pickle.dumps(metric)) == copy.deepcopy(metric) == metric  # noqa: S301  (our own bytes)


@pytest.mark.parametrize("alias", NAME_BY_ALIAS)
def test_every_alias_is_read_in_any_case(alias: str) -> None:
    assert rm.Metric.parse(alias.upper()).name == NAME_BY_ALIAS[alias]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", r"unknown metric 'ndgc'; did you mean ndcg"),
        ("precison@5", "did you mean precision"),
        ("zzzz", "unknown metric 'zzzz'; the metrics are hit_rate, full_recall"),
        ("ndcg@0", "cut-off in 'ndcg@0' must be a positive integer, got '0'; leave out '@0' for all documents"),
        ("ndcg@1.5", "must be a positive integer, got '1.5'"),
        ("ndcg@-3", "must be a positive integer, got '-3'"),
        ("ndcg@ten", "must be a positive integer, got 'ten'"),
        ("ndcg@", "must be a positive integer, got ''"),
        ("r_precision@5", "r_precision takes no cut-off, got r_precision@5"),
        ("bpref@5", "bpref takes no cut-off"),
        (
            "ndcg(rel=2)",
            r"ndcg has no parameter 'rel'; it has: gain, gains, ideal, of. To ignore low grades .*gains=1:0",
        ),
        ("judged(rel=2)", "judged has no parameter 'rel'; it has: none"),
        ("ndcg(gain=cubic)", "parameter 'gain' of ndcg must be one of linear, exponential, binary, got 'cubic'"),
        ("rbp.95", r"'rbp.95' may mean rbp\(p=0.95\), as ranx writes it, or rbp@95"),
        ("rbp(p=1)", "parameter 'p' of rbp must be a number above 0 and below 1, got '1'"),
        ("precision(rel=-1)", "'rel' of precision must be a number above 0, got '-1'"),
        ("precision(rel=nan)", "'rel' of precision must be a number above 0, got 'nan'"),
        ("ndcg(gains=1)", "must be grade:gain pairs"),
        ("ndcg(gains=a:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:-1)", "must be grade:gain pairs"),
        ("ndcg(gains=0:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:1;1:2)", "must be grade:gain pairs"),
        ("ndcg(gains=inf:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:inf)", "must be grade:gain pairs"),
        ("ndcg(gain)", r"cannot read 'gain' in 'ndcg\(gain\)'"),
        ("ndcg(gain=linear,gain=binary)", "parameter 'gain' appears twice"),
        ("ndcg(gain=linear@10", "is not a metric name"),
        ("", "is not a metric name"),
    ],
)
def test_what_is_no_metric_is_refused_with_what_to_do(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.Metric.parse(text)


def test_a_cutoff_given_as_a_value_is_checked_too() -> None:
    with pytest.raises(ValueError, match="cut-off k of ndcg must be a positive integer or None, got 0"):
        rm.Metric("ndcg", 0)
    with pytest.raises(TypeError, match=r"got 1.5 \(float\)"):
        rm.Metric("ndcg", 1.5)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match=r"got True \(bool\)"):
        rm.Metric("ndcg", True)  # noqa: FBT003  (the point of the test)


def test_only_text_is_a_name() -> None:
    with pytest.raises(TypeError, match="must be a str such as 'ndcg@10', got 10"):
        rm.Metric.parse(10)  # type: ignore[arg-type]  # the point of the test


def test_metrics_are_given_by_one_name_by_many_or_as_objects_and_count_once() -> None:
    assert as_metrics("map") == (rm.Metric("map"),)
    assert as_metrics(["map", "AP", rm.Metric("map"), "mrr@10"]) == (rm.Metric("map"), rm.Metric("mrr", 10))
    with pytest.raises(ValueError, match="there are no metrics"):
        as_metrics([])
    with pytest.raises(TypeError, match="metrics must be names"):
        as_metrics(10)  # type: ignore[arg-type]  # the point of the test


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        rm.Metric("map").k = 3  # type: ignore[misc]  # the point of the test


def test_the_values_of_a_given_metric_cannot_be_computed() -> None:
    result = rm.Evaluation.from_scores({"faithfulness": {"q": 0.5}}, bounds=(0, 1))
    (metric,) = result.metrics
    assert metric.definition.is_given
    assert metric.definition.bounds == (0, 1)
    with pytest.raises(ValueError, match="faithfulness cannot be computed, its values are given; add them"):
        rm.evaluate({"q": ["a"]}, {"q": ["a"]}, metric)
