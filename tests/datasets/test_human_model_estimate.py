"""What an estimate says of its numbers: which systems differ, how sure that is, and what would help."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from graded_systems import MODEL, PEOPLE, QUERIES, QUESTIONS, RUNS, SAMPLE, TRUTH, estimate, judge, system
from retrieval_metrics.reports import numbers


def test_differences_are_told_apart_where_they_are_large() -> None:
    three = estimate()
    difference = three.difference("ndcg@10", "best", "weak")
    assert difference.significant
    back = three.difference("ndcg@10", "weak", "best")
    assert (back.mean, back.interval.low) == pytest.approx((-difference.mean, -difference.interval.high))
    true = [rm.evaluate(TRUTH, RUNS[name], "ndcg@10").means["ndcg@10"] for name in ("best", "weak")]
    assert difference.interval.low < true[0] - true[1] < difference.interval.high
    with pytest.raises(KeyError, match="3 differences match"):
        three.difference("ndcg@10")
    equal = estimate(runs={"best": RUNS["best"], "copy": RUNS["best"]})
    assert not equal.difference("ndcg@10").significant
    two = estimate(runs={name: RUNS[name] for name in ("weak", "best")})
    assert two.difference("ndcg@10").pair == ("best", "weak")


def test_the_agreement_is_printed_before_any_number() -> None:
    assert str(estimate()).startswith("Human-model agreement\n")


def test_a_model_that_grades_by_chance_is_called_useless_and_costs_little() -> None:
    random = np.random.default_rng(0)
    chance = {}
    for query, grades in TRUTH.items():
        chance[query] = {document: int(random.integers(0, 4)) for document in grades}
    estimated = estimate(model=rm.Labels.from_qrels(chance, "a small model", kind="model"))
    assert estimated.agreement is not None
    assert estimated.agreement.near_chance
    low, high = estimated.intervals()["ndcg@10"]["good"]
    alone = rm.evaluate(PEOPLE.qrels, RUNS["good"], "ndcg@10").intervals()["ndcg@10"]
    assert high - low < 1.15 * (alone.high - alone.low)


def test_how_many_further_grades_are_needed() -> None:
    estimated = estimate(
        model=rm.Labels.from_qrels(judge(0.5), "a model", kind="model"), runs=RUNS | {"other": system(0.88, 9)}
    )
    between = estimated.difference("ndcg@10", "other", "good")
    assert not between.significant
    width = between.interval.high - between.interval.low
    assert between.labels_needed(2 * width) == 0
    assert 0 < between.labels_needed(0.9 * width) <= 90
    assert estimated.labels_needed(1.9, "ndcg@10") == 0
    assert estimated.labels_needed(1e-6, "ndcg@10", "good") == math.inf
    least = min(high - low for low, high in estimated.intervals()["ndcg@10"].values())
    n_by_system = {estimated.labels_needed(1.05 * least, "ndcg@10", system) for system in estimated.systems}
    assert estimated.labels_needed(1.05 * least, "ndcg@10") == max(n_by_system) > min(n_by_system)
    with pytest.raises(KeyError, match="no system 'bm25'"):
        estimated.labels_needed(0.1, "ndcg@10", "bm25")


@pytest.mark.parametrize(("n", "is_noted"), [(14, True), (15, False)])
def test_fewer_than_fifteen_graded_queries_are_called_few(n: int, is_noted: bool) -> None:
    sample = QUESTIONS.sample(n)
    estimated = estimate(human={query: TRUTH[query] for query in sample}, sample=sample)
    assert ("only 14 graded queries: CIs from fewer than 15 are approximate" in str(estimated)) is is_noted


def test_it_becomes_a_report_and_a_frame(tmp_path: Path) -> None:
    estimated = estimate()
    estimated.report(tmp_path / "estimate.html")
    page = (tmp_path / "estimate.html").read_text()
    assert page.index("Human-model agreement") < page.index("0.8")
    assert page.index("<h2>Agreement</h2>") > page.index("Human-model agreement")
    assert "Ada vs a model" in page[page.index("<h2>Agreement</h2>") :]
    frame = estimated.to_pandas()
    assert list(frame["system"]) == ["weak", "good", "best"]
    assert list(frame["n"]) == [30, 30, 30]


GRADES = st.sampled_from([0, 0, 1, 3])


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_estimate_can_be_printed_and_none_is_certain(data: st.DataObject) -> None:
    queries = [f"q{number}" for number in range(24)]
    graded = st.fixed_dictionaries({"a": GRADES, "b": GRADES, "c": GRADES})
    model = {query: data.draw(graded) for query in queries}
    sample = rm.EvaluationSet({query: f"{query}?" for query in queries}, {query: [] for query in queries}).sample(8)
    people = {query: data.draw(graded) | {"a": data.draw(st.sampled_from([1, 3]))} for query in sample}
    order = st.permutations(["a", "b", "c"])
    runs = {
        "old": {query: data.draw(order) for query in queries},
        "new": {query: data.draw(order) for query in queries},
    }
    estimated = rm.evaluate_with_labels(runs, ["ndcg@3", "mrr", "hit_rate@1"], human=people, model=model, sample=sample)
    assert "Differences" in str(estimated)
    for difference in estimated.differences:
        assert difference.interval.low < difference.interval.high
    for intervals in estimated.intervals().values():
        assert all(low < high for low, high in intervals.values())


def test_a_judge_who_errs_where_people_see_no_difference_proves_nothing() -> None:
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    people = {query: {"a": 3, "b": 3} for query in SAMPLE}
    model = {query: {"a": 3 * bool(number % 3), "b": 3 * bool(number % 4)} for number, query in enumerate(QUERIES)}
    difference = rm.evaluate_with_labels(runs, "mrr", human=people, model=model, sample=SAMPLE).difference("mrr")
    assert difference.mean == 0
    assert difference.interval.low < -0.05 < 0.05 < difference.interval.high
    assert not difference.significant


def test_a_model_with_its_scale_turned_round_is_told_from_one_that_guesses() -> None:
    turned = {}
    for query, grades in TRUTH.items():
        turned[query] = {document: 3 - grade for document, grade in grades.items()}
    estimated = estimate(model=rm.Labels.from_qrels(turned, "a model", kind="model"))
    assert estimated.agreement is not None
    assert estimated.agreement.quadratic_kappa.interval.high < 0


def test_differences_that_only_the_model_sees_and_no_label_touches_decide_nothing() -> None:
    """The model likes what "new" has first on 4 of the 90 queries that were not sampled."""
    labelled = set(SAMPLE)
    favoured = [query for query in QUERIES if query not in labelled][:4]
    random = np.random.default_rng(3)
    truth = {query: {"a": 2, "b": 2 + int(random.integers(0, 2)), "c": 0} for query in QUERIES}
    model: dict[Any, dict[str, int]] = {query: dict(grades) for query, grades in truth.items()}
    for query in favoured:
        model[query].update(a=0, b=3)
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    people = {query: truth[query] for query in labelled}
    estimated = rm.evaluate_with_labels(runs, "ndcg@2", human=people, model=model, sample=SAMPLE)
    difference = estimated.difference("ndcg@2")
    assert difference.estimate.n_outside == 4
    assert difference.extrapolates
    assert difference.human_interval.low < difference.estimate.human < difference.human_interval.high


class TestToldApart:
    """A difference whose mean is as far from 0 as is said in half widths of its interval."""

    DIFFERENCE = estimate().difference("ndcg@10", "good", "weak")
    PLAIN = replace(DIFFERENCE.estimate, extrapolated=0.0, human_only=None)
    HALF = DIFFERENCE.estimate.half_width(0.95)

    def decided(self, comparisons: int = 1, **changes: Any) -> bool:
        return replace(self.DIFFERENCE, estimate=replace(self.PLAIN, **changes), comparisons=comparisons).significant

    def test_in_either_direction(self) -> None:
        assert self.decided(mean=1.05 * self.HALF)
        assert self.decided(mean=-1.05 * self.HALF)
        assert not self.decided(mean=0.95 * self.HALF)
        assert not self.decided(mean=-0.95 * self.HALF)

    def test_at_a_level_for_all_differences(self) -> None:
        factor = self.PLAIN.half_width(1 - 0.05 / 3) / self.HALF
        assert factor > 1.15
        assert not self.decided(3, mean=0.99 * factor * self.HALF)
        assert self.decided(3, mean=1.01 * factor * self.HALF)

    @pytest.mark.parametrize(("human_halves", "is_significant"), [(2.0, True), (0.0, False), (-2.0, False)])
    def test_by_people_alone_too_where_the_model_extrapolates(self, human_halves: float, is_significant: bool) -> None:
        people = replace(self.PLAIN, mean=human_halves * self.HALF)
        assert self.decided(mean=2 * self.HALF, extrapolated=0.11 * self.HALF, human_only=people) is is_significant
        assert self.decided(
            mean=2 * self.HALF, extrapolated=0.09 * self.HALF, human_only=people
        )  # too little to matter

    def test_rare_changes_matter_if_they_could_shift_it_beyond_its_interval(self) -> None:
        shift = self.DIFFERENCE.rare_effect.mean_shift

        def matters(half: float) -> bool:
            wide = replace(self.PLAIN, mean=0.0, variance=self.PLAIN.variance * (half / self.HALF) ** 2)
            return replace(self.DIFFERENCE, estimate=wide).rare_effect_matters

        assert matters(0.99 * shift)
        assert not matters(1.01 * shift)


@pytest.mark.parametrize(("n", "is_finite"), [(15, True), (30, False)])
def test_what_is_needed_to_know_an_open_difference_twice_as_well_is_printed(n: int, is_finite: bool) -> None:
    sample = QUESTIONS.sample(n)
    runs = {"good": RUNS["good"], "other": system(0.88, 9), "third": system(0.89, 10)}
    model = rm.Labels.from_qrels(judge(0.9, lenient=0.5), "a model", kind="model")
    estimated = estimate(human={query: TRUTH[query] for query in sample}, sample=sample, runs=runs, model=model)
    difference = estimated.difference("ndcg@10", "other", "good")
    assert not difference.significant
    width = difference.interval.high - difference.interval.low
    n_needed = difference.labels_needed(width / 2)
    assert math.isfinite(n_needed) is is_finite
    needed = "is impossible with these 120 queries"
    if is_finite:
        needed = f"takes human grades for {n_needed:.0f} more queries"
    text = str(estimated)
    half = numbers.format_value(width / 4)
    assert f"halving the CI of other - good in ndcg@10 (to ±{half}) {needed}" in text
    assert text.count("halving the CI") == 1  # one is enough for planning


def test_how_much_higher_the_model_grades_is_said() -> None:
    differences = []
    for query in SAMPLE:
        for document, grade in TRUTH[query].items():
            differences.append(MODEL.qrels[query][document] - grade)
    shift = np.mean(differences)
    assert shift > 0
    share_equal = np.mean([difference == 0 for difference in differences])
    assert f"raw agreement {share_equal:.0%}; mean difference, a model - Ada: +{shift:.2f}" in str(estimate())
    strict = rm.Labels.from_qrels(judge(0.12, lenient=0.0), "a model", kind="model")
    assert re.search(r"a model - Ada: -0\.\d\d", str(estimate(model=strict)))


def test_people_for_whom_nothing_is_relevant_are_named_as_the_reason() -> None:
    queries = {f"q{number}": "why?" for number in range(20)}
    sample = rm.EvaluationSet(queries, {query: ["d"] for query in queries}).sample(10)
    with pytest.raises(ValueError, match="defined for 0 of 10 labelled queries") as caught:
        rm.evaluate_with_labels(
            {query: ["d"] for query in queries},
            "mrr",
            human={query: {"d": 0} for query in sample},
            model={query: {"d": 0} for query in queries},
            sample=sample,
        )
    assert caught.value.__notes__ == ["while estimating mrr of 'the run'"]
