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
    found = estimate()
    apart = found.difference("ndcg@10", "best", "weak")
    assert apart.significant
    back = found.difference("ndcg@10", "weak", "best")
    assert (back.mean, back.interval.low) == pytest.approx((-apart.mean, -apart.interval.high))
    true = [rm.evaluate(TRUTH, RUNS[name], "ndcg@10").means["ndcg@10"] for name in ("best", "weak")]
    assert apart.interval.low < true[0] - true[1] < apart.interval.high
    with pytest.raises(KeyError, match="3 differences match"):
        found.difference("ndcg@10")
    assert re.search(r"best - weak .* yes$", str(found), re.MULTILINE)
    again = estimate(runs={"best": RUNS["best"], "copy": RUNS["best"]})
    assert not again.difference("ndcg@10").significant
    assert re.search(r"copy - best .* no$", str(again), re.MULTILINE)
    two = estimate(runs={name: RUNS[name] for name in ("weak", "best")})
    assert two.difference("ndcg@10").pair == ("best", "weak")


def test_the_agreement_is_printed_before_any_number() -> None:
    said = str(estimate())
    assert said.startswith("Agreement of people and model\nAda with a model: weighted kappa 0.9")
    assert "30 queries of 120 graded by people, all by a model" in said
    assert "the mean over the population of queries of which these 120 are a random sample" in said
    assert "told apart: 0 is outside the interval, corrected for 3 differences" in said


def test_a_model_that_grades_by_chance_is_called_useless_and_costs_little() -> None:
    random = np.random.default_rng(0)
    chance = {query: {document: int(random.integers(0, 4)) for document in held} for query, held in TRUTH.items()}
    found = estimate(model=rm.Labels.from_qrels(chance, "a small model", kind="model"))
    assert "do not use the grades of a small model alone: its agreement with Ada is hardly better" in str(found)
    low, high = found.intervals()["ndcg@10"]["good"]
    alone = rm.evaluate(PEOPLE.qrels, RUNS["good"], "ndcg@10").intervals()["ndcg@10"]
    assert high - low < 1.15 * (alone.high - alone.low)


def test_how_many_further_grades_are_needed() -> None:
    found = estimate(
        model=rm.Labels.from_qrels(judge(0.5), "a model", kind="model"), runs=RUNS | {"other": system(0.88, 9)}
    )
    between = found.difference("ndcg@10", "other", "good")
    assert not between.significant
    width = between.interval.high - between.interval.low
    assert between.labels_needed(2 * width) == 0
    assert 0 < between.labels_needed(0.9 * width) <= 90
    assert found.labels_needed(1.9, "ndcg@10") == 0
    assert found.labels_needed(1e-6, "ndcg@10", "good") == math.inf
    least = min(high - low for low, high in found.intervals()["ndcg@10"].values())
    of_each = {found.labels_needed(1.05 * least, "ndcg@10", system) for system in found.systems}
    assert found.labels_needed(1.05 * least, "ndcg@10") == max(of_each) > min(of_each)
    assert "half as wide" in str(found)
    with pytest.raises(KeyError, match="there is no system 'bm25'"):
        found.labels_needed(0.1, "ndcg@10", "bm25")


@pytest.mark.parametrize(("n", "said"), [(14, True), (15, False)])
def test_fewer_than_fifteen_graded_queries_are_called_few(n: int, said: bool) -> None:  # noqa: FBT001
    sample = QUESTIONS.sample(n)
    found = estimate(human={query: TRUTH[query] for query in sample}, sample=sample)
    assert ("14 graded queries are few: intervals from fewer than 15 are rough" in str(found)) is said


def test_it_becomes_a_report_and_a_frame(tmp_path: Path) -> None:
    found = estimate()
    found.report(tmp_path / "estimate.html")
    page = (tmp_path / "estimate.html").read_text()
    assert page.index("Agreement of people and model") < page.index("0.8")
    assert page.index("<h2>Agreement</h2>") > page.index("Agreement of people and model")
    assert "Ada with a model" in page[page.index("<h2>Agreement</h2>") :]
    frame = found.to_pandas()
    assert list(frame["system"]) == ["weak", "good", "best"]
    assert list(frame["n"]) == [30, 30, 30]


GRADES = st.sampled_from([0, 0, 1, 3])


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_estimate_can_be_printed_and_none_is_certain(data: st.DataObject) -> None:
    queries = [f"q{at}" for at in range(24)]
    graded = st.fixed_dictionaries({"a": GRADES, "b": GRADES, "c": GRADES})
    model = {query: data.draw(graded) for query in queries}
    sample = rm.EvaluationSet({query: f"{query}?" for query in queries}, {query: [] for query in queries}).sample(8)
    people = {query: data.draw(graded) | {"a": data.draw(st.sampled_from([1, 3]))} for query in sample}
    order = st.permutations(["a", "b", "c"])
    runs = {name: {query: data.draw(order) for query in queries} for name in ("old", "new")}
    found = rm.evaluate_with_labels(runs, ["ndcg@3", "mrr", "hit_rate@1"], human=people, model=model, sample=sample)
    assert "Differences" in str(found)
    for each in found.differences:
        assert each.interval.low < each.interval.high
    for intervals in found.intervals().values():
        assert all(low < high for low, high in intervals.values())


def test_a_judge_who_errs_where_people_see_no_difference_proves_nothing() -> None:
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    people = {query: {"a": 3, "b": 3} for query in SAMPLE}
    model = {query: {"a": 3 if at % 3 else 0, "b": 3 if at % 4 else 0} for at, query in enumerate(QUERIES)}
    found = rm.evaluate_with_labels(runs, "mrr", human=people, model=model, sample=SAMPLE).difference("mrr")
    assert found.mean == 0
    assert found.interval.low < -0.05 < 0.05 < found.interval.high
    assert not found.significant


def test_a_model_with_its_scale_turned_round_is_told_from_one_that_guesses() -> None:
    turned = {query: {document: 3 - grade for document, grade in held.items()} for query, held in TRUTH.items()}
    found = estimate(model=rm.Labels.from_qrels(turned, "a model", kind="model"))
    assert "agreement with Ada is worse than chance; is a scale turned round?" in str(found)
    assert "hardly better" not in str(found)


def test_differences_that_only_the_model_sees_and_no_label_touches_decide_nothing() -> None:
    """The model likes what "new" has first on 4 of the 90 queries that were not sampled."""
    labelled = set(SAMPLE)
    favoured = [query for query in QUERIES if query not in labelled][:4]
    random = np.random.default_rng(3)
    truth = {query: {"a": 2, "b": 2 + int(random.integers(0, 2)), "c": 0} for query in QUERIES}
    model: dict[Any, dict[str, int]] = {query: dict(held) for query, held in truth.items()}
    for query in favoured:
        model[query].update(a=0, b=3)
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    people = {query: truth[query] for query in labelled}
    found = rm.evaluate_with_labels(runs, "ndcg@2", human=people, model=model, sample=SAMPLE)
    one = found.difference("ndcg@2")
    assert one.estimate.n_outside == 4
    assert one.extrapolates
    assert one.human_interval.low < one.estimate.human < one.human_interval.high
    assert "on 4 queries the model sees differences beyond those that people graded" in str(found)


class TestToldApart:
    """A difference whose mean is as far from 0 as is said in half widths of its interval."""

    FOUND = estimate().difference("ndcg@10", "good", "weak")
    PLAIN = replace(FOUND.estimate, extrapolated=0.0, human_only=None)
    HALF = FOUND.estimate.half_width(0.95)

    def decided(self, comparisons: int = 1, **changes: Any) -> bool:
        return replace(self.FOUND, estimate=replace(self.PLAIN, **changes), comparisons=comparisons).significant

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

    @pytest.mark.parametrize(("alone", "decided"), [(2.0, True), (0.0, False), (-2.0, False)])
    def test_by_people_alone_too_where_the_model_extrapolates(self, alone: float, decided: bool) -> None:  # noqa: FBT001
        people = replace(self.PLAIN, mean=alone * self.HALF)
        assert self.decided(mean=2 * self.HALF, extrapolated=0.11 * self.HALF, human_only=people) is decided
        assert self.decided(
            mean=2 * self.HALF, extrapolated=0.09 * self.HALF, human_only=people
        )  # too little to matter

    def test_rare_changes_matter_if_they_could_shift_it_beyond_its_interval(self) -> None:
        shift = self.FOUND.rare_effect.mean_shift

        def matters(half: float) -> bool:
            wide = replace(self.PLAIN, mean=0.0, variance=self.PLAIN.variance * (half / self.HALF) ** 2)
            return replace(self.FOUND, estimate=wide).rare_effect_matters

        assert matters(0.99 * shift)
        assert not matters(1.01 * shift)


@pytest.mark.parametrize(("n", "enough"), [(15, True), (30, False)])
def test_what_is_needed_to_know_an_open_difference_twice_as_well_is_printed(n: int, enough: bool) -> None:  # noqa: FBT001
    sample = QUESTIONS.sample(n)
    runs = {"good": RUNS["good"], "other": system(0.88, 9), "third": system(0.89, 10)}
    model = rm.Labels.from_qrels(judge(0.9, lenient=0.5), "a model", kind="model")
    found = estimate(human={query: TRUTH[query] for query in sample}, sample=sample, runs=runs, model=model)
    one = found.difference("ndcg@10", "other", "good")
    assert not one.significant
    width = one.interval.high - one.interval.low
    more = one.labels_needed(width / 2)
    assert math.isfinite(more) is enough
    needed = f"grades for {more:.0f} queries more" if enough else "not with these 120 queries"
    said = str(found)
    assert f"other - good in ndcg@10, to know it within -+{numbers.value(width / 4)} (half as wide): {needed}" in said
    assert said.count("half as wide") == 1  # one is enough for planning


def test_how_much_higher_the_model_grades_is_said() -> None:
    apart = [MODEL.qrels[query][document] - grade for query in SAMPLE for document, grade in TRUTH[query].items()]
    shift = np.mean(apart)
    assert shift > 0
    same = 100 * np.mean([each == 0 for each in apart])
    assert f"{same:.0f} % with the same grade; a model grades {shift:.2f} higher on average" in str(estimate())
    strict = rm.Labels.from_qrels(judge(0.12, lenient=0.0), "a model", kind="model")
    assert re.search(r"a model grades 0\.\d\d lower on average", str(estimate(model=strict)))


def test_people_for_whom_nothing_is_relevant_are_named_as_the_reason() -> None:
    queries = {f"q{at}": "why?" for at in range(20)}
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
