"""Every metric equals the naive reference, for flat and grouped truth, with repeats, at every cutoff."""

import math
import random
from typing import Any

import pytest
from hypothesis import given

import piece_reference
import reference
import retrieval_metrics as rm
from generated import DOCUMENTS, cutoffs, often, rankings, truths
from retrieval_metrics.metrics.base.registry import DEFINITIONS

# Every metric with every value of its parameters that its definition gives as an example.
WITH_PARAMETER: list[tuple[str, str, Any]] = []
for _name, _definition in DEFINITIONS.items():
    for _key, _parameter in _definition.parameters.items():
        WITH_PARAMETER += [(_name, _key, _example) for _example in _parameter.examples]


def engine(truth: Any, ranking: list[str], *metrics: rm.Metric) -> list[float]:
    per_query = rm.evaluate({"q": truth}, {"q": ranking, "other": []}, metrics).per_query
    return [per_query[metric]["q"] for metric in metrics]


def check(truth: reference.Truth, ranking: list[str], k: int | None, *requested: tuple[str, dict[str, Any]]) -> None:
    """Compare metrics, each with its parameters."""
    cuts: list[dict[str, Any]] = [{"k": k} if DEFINITIONS[name].takes_cutoff else {} for name, _ in requested]
    metrics = [rm.Metric(name, **cut, **chosen) for (name, chosen), cut in zip(requested, cuts, strict=True)]
    for (name, chosen), cut, value in zip(requested, cuts, engine(truth, ranking, *metrics), strict=True):
        definition = DEFINITIONS[name]
        parameters = dict(chosen)
        if definition.needs_relevant and not reference.count_needed(truth, parameters.get("rel")):
            assert math.isnan(value), (name, parameters)
            continue
        if "max_grade" in definition.parameters:
            largest = max(grade for group in truth for grade in group.values())
            parameters.setdefault("max_grade", largest if largest > 0 else 1)
        expected = reference.METRICS[name](truth, ranking, **cut, **parameters)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (name, parameters)


def test_the_references_know_every_metric() -> None:
    assert {*reference.METRICS, *piece_reference.COVERED} == set(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_parameter_has_examples_that_are_not_its_default(name: str) -> None:
    for key, parameter in DEFINITIONS[name].parameters.items():
        assert parameter.examples, f"nothing is tested with {key}"
        assert parameter.default not in parameter.examples
        assert [parameter.read(value) for value in parameter.examples] == [*parameter.examples]


@pytest.mark.parametrize(("name", "key", "value"), WITH_PARAMETER)
def test_every_parameter_changes_something(name: str, key: str, value: Any) -> None:
    rng = random.Random(0)

    def draw_group() -> dict[str, int]:
        return {rng.choice(DOCUMENTS): rng.choice([-2, -1, 0, 1, 2, 3]) for _ in range(3)}

    truth = {query: [draw_group(), draw_group(), draw_group()] for query in range(200)}
    run = {query: rng.choices(DOCUMENTS, k=rng.randint(1, 8)) for query in truth}
    k = 2 if DEFINITIONS[name].takes_cutoff else None
    plain = rm.Metric(name, k)
    changed = rm.Metric(name, k, **{key: value})
    result = rm.evaluate(truth, run, [plain, changed])
    differences = [result.per_query[plain][query] - result.per_query[changed][query] for query in truth]
    if name == "false_answer":  # all that the parameter changes is which questions have no answer
        assert result.n[plain] < result.n[changed]
        return
    assert any(abs(difference) > 0.001 for difference in differences)  # no number differs from NaN by any amount


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestEveryMetric:
    @often
    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_by_default_and_with_each_parameter(
        self, truth: reference.Truth, ranking: list[str], k: int | None
    ) -> None:
        plain: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in reference.METRICS]
        check(truth, ranking, k, *plain, *((name, {key: value}) for name, key, value in WITH_PARAMETER))

    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_with_both_sides_of_a_group_average(
        self, truth: reference.Truth, ranking: list[str], k: int | None
    ) -> None:
        check(truth, ranking, k, ("map", {"norm": "retrieved", "per": "group"}), ("map", {"rel": 2, "per": "group"}))

    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_residual_of_rbp(self, truth: reference.Truth, ranking: list[str], k: int | None) -> None:
        residual = rm.evaluate({"q": truth}, {"q": ranking}, rm.Metric("rbp", k)).residuals[
            "rbp" + (f"@{k}" if k else "")
        ]
        assert residual == pytest.approx(reference.rbp_residual(truth, ranking, k), abs=1e-12)

    @given(truth=truths, ranking=rankings)
    def test_autorag_rules(self, truth: reference.Truth, ranking: list[str]) -> None:
        binary = [dict.fromkeys(group, 1.0) for group in truth]
        ranking = list(dict.fromkeys(ranking))
        expected = reference.autorag(binary, ranking)
        result = rm.evaluate({"q": binary}, {"q": ranking}, list(expected), rules="autorag")
        assert dict(result.means) == pytest.approx(expected, abs=1e-12)


def test_gains_can_be_given_grade_by_grade() -> None:
    truth = {"a": 1, "b": 2, "c": 3}
    ranking = ["a", "b", "c"]
    (value,) = engine(truth, ranking, rm.Metric.parse("ndcg(gains=1:0;3:10)"))
    discount = 1 / math.log2(3)
    assert value == pytest.approx((0 + 2 * discount + 10 / 2) / (10 + 2 * discount))


def test_gains_that_fall_with_the_grade_are_refused() -> None:
    with pytest.raises(ValueError, match="gives grade 1 a larger gain than grade 2"):
        engine({"a": 1, "b": 2}, ["a", "b"], rm.Metric.parse("ndcg(gains=1:5)"))


def test_ndcg_is_undefined_where_no_grade_gains() -> None:
    assert math.isnan(*engine({"a": 1}, ["a"], rm.Metric.parse("ndcg(gains=1:0)")))


def test_a_grade_above_the_scale_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="max_grade=2 is below the grade 3 of document 'b' for query 'q'"):
        engine({"a": 1, "b": 3}, ["a"], rm.Metric.parse("err(max_grade=2)"))


def test_an_exponential_gain_refuses_grades_that_leave_the_range_of_a_float() -> None:
    with pytest.raises(ValueError, match="grades of at most 1000, got 2000"):
        engine({"a": 2000}, ["a"], rm.Metric.parse("ndcg(gain=exponential)"))
