"""Every metric equals the naive reference, for flat and grouped truth, with repeats, at every cut-off."""

import math
from typing import Any

import pytest
from hypothesis import given

import reference
import retrieval_metrics as rm
from generated import cutoffs, rankings, truths

WITH_REL = ["hit_rate", "full_recall", "recall", "precision", "f1", "mrr", "map", "alpha_ndcg"]


def engine(truth: Any, ranking: list[str], metric: rm.Metric) -> float:
    return rm.evaluate({"q": truth}, {"q": ranking, "other": []}, metric).per_query[str(metric)]["q"]


def check(name: str, truth: reference.Truth, ranking: list[str], k: int | None, **parameters: Any) -> None:
    rel = parameters.get("rel")
    metric = rm.Metric.of(name, k, **parameters)
    value = engine(truth, ranking, metric)
    if name != "judged" and not reference.needed(truth, rel):
        assert math.isnan(value)
        return
    if name in {"rbp", "err"}:
        parameters["top"] = parameters.pop(
            "max_grade", max(0, *(grade for group in truth for grade in group.values())) or 1
        )
    if name not in {"r_precision", "bpref"}:
        parameters["k"] = k
    assert value == pytest.approx(reference.METRICS[name](truth, ranking, **parameters), abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestEveryMetric:
    @pytest.mark.parametrize("name", reference.METRICS)
    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_by_default(self, name: str, truth: reference.Truth, ranking: list[str], k: int | None) -> None:
        check(name, truth, ranking, None if name in {"r_precision", "bpref"} else k)

    @pytest.mark.parametrize("name", [*WITH_REL, "r_precision", "bpref"])
    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_at_a_relevance_threshold(
        self, name: str, truth: reference.Truth, ranking: list[str], k: int | None
    ) -> None:
        check(name, truth, ranking, k if name in WITH_REL else None, rel=2)

    @pytest.mark.parametrize(
        ("name", "parameters"),
        [
            ("ndcg", {"gain": "exponential"}),
            ("ndcg", {"gain": "binary"}),
            ("dcg", {"gain": "exponential"}),
            ("map", {"norm": "retrieved"}),
            ("precision", {"norm": "retrieved"}),
            ("alpha_ndcg", {"alpha": 0}),
            ("alpha_ndcg", {"alpha": 0.25}),
            ("alpha_ndcg", {"alpha": 1}),
            ("rbp", {"p": 0.5}),
            ("rbp", {"max_grade": 4}),
            ("err", {"max_grade": 4}),
        ],
    )
    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_with_parameters(
        self, name: str, parameters: dict[str, Any], truth: reference.Truth, ranking: list[str], k: int | None
    ) -> None:
        check(name, truth, ranking, k, **parameters)

    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_residual_of_rbp(self, truth: reference.Truth, ranking: list[str], k: int | None) -> None:
        residual = rm.evaluate({"q": truth}, {"q": ranking}, rm.Metric.of("rbp", k)).residuals[
            "rbp" + (f"@{k}" if k else "")
        ]
        assert residual == pytest.approx(reference.rbp_residual(truth, ranking, k), abs=1e-12)

    @given(truth=truths, ranking=rankings)
    def test_autorag_rules(self, truth: reference.Truth, ranking: list[str]) -> None:
        binary = [dict.fromkeys(group, 1.0) for group in truth]
        ranking = list(dict.fromkeys(ranking))
        expected = reference.autorag(binary, ranking)
        result = rm.evaluate({"q": binary}, {"q": ranking}, list(expected), semantics="autorag")
        assert dict(result.means) == pytest.approx(expected, abs=1e-12)


def test_gains_can_be_given_grade_by_grade() -> None:
    truth, ranking = {"a": 1, "b": 2, "c": 3}, ["a", "b", "c"]
    value = engine(truth, ranking, rm.Metric.parse("ndcg(gains=1:0;3:10)"))
    discount = 1 / math.log2(3)
    assert value == pytest.approx((0 + 2 * discount + 10 / 2) / (10 + 2 * discount))


def test_gains_that_fall_with_the_grade_are_refused() -> None:
    with pytest.raises(ValueError, match="gives grade 1 a larger gain than grade 2"):
        engine({"a": 1, "b": 2}, ["a", "b"], rm.Metric.parse("ndcg(gains=1:5)"))


def test_ndcg_is_undefined_where_no_grade_gains() -> None:
    assert math.isnan(engine({"a": 1}, ["a"], rm.Metric.parse("ndcg(gains=1:0)")))


def test_a_grade_above_the_scale_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="max_grade=2 is below the grade 3 of document 'b' for query 'q'"):
        engine({"a": 1, "b": 3}, ["a"], rm.Metric.parse("err(max_grade=2)"))


def test_an_exponential_gain_refuses_grades_that_leave_the_range_of_a_float() -> None:
    with pytest.raises(ValueError, match="grades of at most 1000, got 2000"):
        engine({"a": 2000}, ["a"], rm.Metric.parse("ndcg(gain=exponential)"))
