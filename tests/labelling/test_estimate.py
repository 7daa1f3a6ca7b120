"""Means and differences from a model's grades for all queries and people's for a sample."""

import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.labelling.grading import first_stratum
from retrieval_metrics.labelling.labels import Scale
from retrieval_metrics.presentation import numbers

QUERIES = [f"q{at}" for at in range(120)]
RANDOM = np.random.default_rng(8)
TRUTH: dict[Any, dict[str, int]] = {
    query: {f"d{at}": int(RANDOM.choice([0, 0, 0, 1, 2, 3])) for at in range(12)} | {"d0": 3} for query in QUERIES
}


def system(strength: float, seed: int) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    return {
        query: sorted(held, key=lambda document: -strength * held[document] - random.gumbel())
        for query, held in TRUTH.items()
    }


def judge(error: float, seed: int = 1, *, lenient: float = 0.8) -> dict[Any, dict[str, int]]:
    random = np.random.default_rng(seed)
    return {
        query: {
            document: int(np.clip(grade + (random.random() < error) * (1 if random.random() < lenient else -1), 0, 3))
            for document, grade in held.items()
        }
        for query, held in TRUTH.items()
    }


RUNS = {"weak": system(0.3, 2), "good": system(0.9, 3), "best": system(1.6, 4)}
QUESTIONS = rm.EvaluationSet({query: f"{query}?" for query in QUERIES}, TRUTH)
SAMPLE = QUESTIONS.sample(30)
PEOPLE = rm.Labels.of({query: TRUTH[query] for query in SAMPLE}, "Ada")
MODEL = rm.Labels.of(judge(0.12), "a model", kind="model")


def estimate(**changes: Any) -> rm.types.Estimate:
    given: dict[str, Any] = {"people": PEOPLE, "model": MODEL, "sample": SAMPLE} | changes
    return rm.evaluate_with_labels(given.pop("runs", RUNS), given.pop("metrics", "ndcg@10"), **given)


def test_it_finds_the_truth_where_the_model_alone_is_biased() -> None:
    found = estimate()
    intervals = found.intervals()["ndcg@10"]
    for name, run in RUNS.items():
        true = rm.evaluate(TRUTH, run, "ndcg@10").means["ndcg@10"]
        assert abs(found.means["ndcg@10"][name] - true) < 0.02
        assert intervals[name].low < true < intervals[name].high
        assert found.people["ndcg@10"][name] == pytest.approx(
            rm.evaluate({query: TRUTH[query] for query in SAMPLE}, run, "ndcg@10").means["ndcg@10"]
        )
        assert found.model["ndcg@10"][name] == pytest.approx(rm.evaluate(MODEL.qrels, run, "ndcg@10").means["ndcg@10"])
        assert found.worth["ndcg@10"][name] > 35
    assert found.ranking["ndcg@10"] == ["best", "good", "weak"]
    assert found.means["nDCG@10"] == found.means["ndcg@10"]


def test_differences_are_told_apart_where_they_are_large() -> None:
    found = estimate()
    apart = found.difference("ndcg@10", "best", "weak")
    assert apart.decided
    back = found.difference("ndcg@10", "weak", "best")
    assert (back.mean, back.interval.low) == pytest.approx((-apart.mean, -apart.interval.high))
    true = [rm.evaluate(TRUTH, RUNS[name], "ndcg@10").means["ndcg@10"] for name in ("best", "weak")]
    assert apart.interval.low < true[0] - true[1] < apart.interval.high
    with pytest.raises(KeyError, match="3 differences match"):
        found.difference("ndcg@10")
    assert re.search(r"best - weak .* yes$", str(found), re.MULTILINE)
    again = estimate(runs={"best": RUNS["best"], "copy": RUNS["best"]})
    assert not again.difference("ndcg@10").decided
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
    found = estimate(model=rm.Labels.of(chance, "a small model", kind="model"))
    assert "do not use the grades of a small model alone: its agreement with Ada is hardly better" in str(found)
    low, high = found.intervals()["ndcg@10"]["good"]
    alone = rm.evaluate(PEOPLE.qrels, RUNS["good"], "ndcg@10").intervals()["ndcg@10"]
    assert high - low < 1.15 * (alone.high - alone.low)


def test_a_sample_that_was_not_drawn_is_refused_unless_its_probabilities_are_given() -> None:
    for chosen in (list(SAMPLE), set(SAMPLE), None, 30):
        with pytest.raises(TypeError, match="must say how people's queries were drawn"):
            estimate(sample=chosen)
    weighted = estimate(sample=dict.fromkeys(SAMPLE, 0.25))
    assert weighted.means["ndcg@10"] == pytest.approx(estimate().means["ndcg@10"])
    with pytest.raises(ValueError, match="must be above 0"):
        estimate(sample=dict.fromkeys(SAMPLE, 0.0))


def test_every_sampled_query_must_be_graded_and_others_are_left_aside() -> None:
    missing = {query: TRUTH[query] for query in list(SAMPLE)[1:]}
    with pytest.raises(
        ValueError, match=rf"nothing for 1 of the 30 sampled queries, for example '{SAMPLE.queries[0]}'"
    ):
        estimate(people=missing)
    more = estimate(people=TRUTH)
    assert more.means == estimate().means
    assert "90 queries that people graded are not in the sample and were ignored" in str(more)


def test_what_nobody_graded_is_counted() -> None:
    fewer = {query: {d: g for d, g in TRUTH[query].items() if d not in {"d4", "d5"}} for query in SAMPLE}
    said = str(estimate(people=fewer))
    tops = {query: {d for run in RUNS.values() for d in run[query][:10]} for query in SAMPLE}
    ungraded, seen = (sum(len(held & {"d4", "d5"}) for held in tops.values()), sum(map(len, tops.values())))
    assert f"people gave no grade to {ungraded} of {seen} documents among the first 10 of the systems" in said
    model = {query: held for query, held in MODEL.qrels.items() if query not in {"q3", "q4"}}
    assert "the model graded nothing for 2 queries" in str(estimate(model=model))


def test_strata_and_clusters_are_taken_into_account() -> None:
    made: dict[Any, rm.Provenance] = {
        query: rm.Provenance(source=f"s{at // 4}", kind="odd" if at % 2 else "even") for at, query in enumerate(QUERIES)
    }
    questions = rm.EvaluationSet(QUESTIONS.queries, TRUTH, made)
    sample = questions.sample(30, "kind")
    people = {query: TRUTH[query] for query in sample}
    together = estimate(people=people, sample=sample)
    alone = estimate(people=people, sample=sample, clusters=None)
    assert together.means == alone.means
    of_clusters, of_queries = (one.difference("ndcg@10", "best", "weak").corrected for one in (together, alone))
    assert of_clusters.degrees < of_queries.degrees == 30 - 3
    assert of_clusters.variance >= of_queries.variance


def test_how_many_further_grades_are_needed() -> None:
    found = estimate(model=rm.Labels.of(judge(0.5), "a model", kind="model"), runs=RUNS | {"other": system(0.88, 9)})
    between = found.difference("ndcg@10", "other", "good")
    assert not between.decided
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


def test_queries_for_which_people_find_nothing_relevant_are_left_out_of_the_mean() -> None:
    people = {query: (dict.fromkeys(TRUTH[query], 0) if at < 5 else TRUTH[query]) for at, query in enumerate(SAMPLE)}
    found = estimate(people=people)
    corrected = found.estimated["ndcg@10", "good"].corrected
    assert corrected.labelled == 25
    assert math.isfinite(found.means["ndcg@10"]["good"])
    with pytest.raises(ValueError, match="defined for 0 of 30 labelled queries"):
        estimate(people={query: dict.fromkeys(TRUTH[query], 0) for query in SAMPLE})


def test_a_single_run_and_several_metrics() -> None:
    found = estimate(runs=RUNS["good"], metrics=["hit_rate@5", "precision@5", "map"])
    assert found.systems == ("the run",)
    assert found.differences == ()
    for metric in found.metrics:
        low, high = found.intervals()[metric]["the run"]
        assert 0 <= low < found.means[metric]["the run"] <= high <= 1


def test_a_metric_that_is_0_or_1_for_people_gets_an_interval_of_shares() -> None:
    found = estimate(metrics=["hit_rate@1", "recall@1"])
    corrected = found.estimated["hit_rate@1", "weak"].corrected
    assert 0 < corrected.people < 1  # both values occur
    assert [found.estimated[metric, "weak"].binary for metric in found.metrics] == [True, False]
    assert found.intervals()["hit_rate@1"]["weak"] == corrected.interval(0.95, binary=True)


@pytest.mark.parametrize(("n", "said"), [(14, True), (15, False)])
def test_fewer_than_fifteen_graded_queries_are_called_few(n: int, said: bool) -> None:  # noqa: FBT001
    sample = QUESTIONS.sample(n)
    found = estimate(people={query: TRUTH[query] for query in sample}, sample=sample)
    assert ("14 graded queries are few: intervals from fewer than 15 are rough" in str(found)) is said


def test_runs_that_are_none_are_refused() -> None:
    with pytest.raises(TypeError, match="runs must be a run, or map names to runs"):
        estimate(runs=[RUNS["good"]])
    with pytest.raises(ValueError, match="the model graded none of the 120 queries"):
        estimate(model={"elsewhere": {"d": 1}})


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


@pytest.mark.skipif("RETRIEVAL_METRICS_DATA" not in os.environ, reason="the data is not part of the project")
def test_on_cranfield_a_fifth_of_the_judgments_corrects_a_judge_with_errors() -> None:
    folder = Path(os.environ["RETRIEVAL_METRICS_DATA"]) / "cranfield"
    qrels = rm.read_qrels(folder / "qrels.graded.trec")
    truth: dict[Any, Any] = {query: qrels.judgments(at) for at, query in enumerate(qrels.queries)}
    names = ("bm25", "minilm_int8", "tfidf_nosat")
    runs: dict[str, Any] = {name: dict(rm.read_run(folder / f"run.{name}.trec")) for name in names}
    pooled = {
        query: {d for run in runs.values() for d in sorted(run[query], key=run[query].__getitem__)[-10:]}
        for query in truth
    }
    true = {name: rm.evaluate(qrels, run, "ndcg@10").means["ndcg@10"] for name, run in runs.items()}
    questions = rm.EvaluationSet({query: f"query {query}" for query in truth}, truth)
    means: dict[str, list[float]] = {name: [] for name in runs}
    covered = ranked = 0
    draws = 20
    for seed in range(draws):
        random = np.random.default_rng(seed)
        read = {
            query: {
                document: int(
                    np.clip(held.get(document, 0) + (random.random() < 0.12) * random.choice([1, 1, -1]), 0, 4)
                )
                for document in sorted(held.keys() | pooled[query])
            }
            for query, held in truth.items()
        }
        sample = questions.sample(len(truth) // 5, seed=seed)
        people: dict[Any, Any] = {query: dict.fromkeys(pooled[query], 0) | truth[query] for query in sample}
        found = rm.evaluate_with_labels(runs, "ndcg@10", people=people, model=read, sample=sample)
        for name in runs:
            means[name].append(found.means["ndcg@10"][name])
            low, high = found.intervals()["ndcg@10"][name]
            covered += low <= true[name] <= high
        ranked += found.ranking["ndcg@10"] == sorted(true, key=lambda name: -true[name])
    assert all(abs(np.mean(means[name]) - true[name]) < 0.01 for name in runs)
    assert ranked == draws
    assert covered >= 0.9 * 3 * draws


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
    found = rm.evaluate_with_labels(runs, ["ndcg@3", "mrr", "hit_rate@1"], people=people, model=model, sample=sample)
    assert "Differences" in str(found)
    for each in found.differences:
        assert each.interval.low < each.interval.high
    for intervals in found.intervals().values():
        assert all(low < high for low, high in intervals.values())


def test_a_judge_who_errs_where_people_see_no_difference_proves_nothing() -> None:
    runs = {"old": {query: ["a", "b"] for query in QUERIES}, "new": {query: ["b", "a"] for query in QUERIES}}
    people = {query: {"a": 3, "b": 3} for query in SAMPLE}
    model = {query: {"a": 3 if at % 3 else 0, "b": 3 if at % 4 else 0} for at, query in enumerate(QUERIES)}
    found = rm.evaluate_with_labels(runs, "mrr", people=people, model=model, sample=SAMPLE).difference("mrr")
    assert found.mean == 0
    assert found.interval.low < -0.05 < 0.05 < found.interval.high
    assert not found.decided


def test_more_of_a_sample_is_drawn_where_the_model_says_that_systems_differ() -> None:
    pool = rm.pool({query: f"{query}?" for query in QUERIES}, RUNS, depth=12)
    runs = {name: RUNS[name] for name in ("weak", "best")}
    sample = pool.sample(30, graded=MODEL, runs=runs)
    values = [rm.evaluate(MODEL.qrels, run, "ndcg@10").per_query["ndcg@10"] for run in runs.values()]
    apart = sorted(QUERIES, key=lambda query: -abs(values[0][query] - values[1][query]))
    assert sample.strata is not None
    first = [query for query in QUERIES if sample.strata[query] == "differ most"]
    assert set(first) == set(apart[: len(first)])
    drawn = sum(query in sample for query in first)
    assert drawn / 30 > 1.3 * len(first) / 120
    assert {sample.probabilities[query] for query in sample} == {drawn / len(first), (30 - drawn) / (120 - len(first))}
    assert re.search(rf"differ most +{drawn} +{len(first)}", str(sample))
    assert set(pool.sample(20, graded=MODEL, runs=runs)) < set(sample)
    people = {query: TRUTH[query] for query in sample}
    found = estimate(people=people, sample=sample, runs=runs).difference("ndcg@10")
    means = [rm.evaluate(TRUTH, run, "ndcg@10").means["ndcg@10"] for run in runs.values()]
    assert found.interval.low < means[1] - means[0] < found.interval.high
    with pytest.raises(ValueError, match="graded and runs go together"):
        pool.sample(30, graded=MODEL)
    none = rm.Labels(rm.Labels.of({query: {"d0": 1} for query in QUERIES}, "a model", kind="model"), scale=Scale())
    with pytest.raises(ValueError, match=r"differ on none of the 120 queries in mrr\(rel=2\)"):
        pool.sample(30, graded=none, runs=runs, metrics="mrr")
    with pytest.raises(ValueError, match="two or more systems"):
        pool.sample(30, graded=MODEL, runs={"weak": RUNS["weak"]})


@pytest.mark.parametrize(
    ("apart", "size", "share"),
    [
        ([1.0] * 20 + [0.0] * 60, 20, 0.6),  # all of the differences: at most 60 % of the labels
        ([1.0] * 80, 10, 0.125),  # no query tells more than another: as many as there are
        ([3.0] * 10 + [1.0] * 70, 10, 30 / 100),  # 10 * 3 of 10 * 3 + 70 * 1
        ([1.0] * 2 + [0.0] * 3, 2, 0.6),
        ([1.0] * 60 + [0.0] * 20, 40, 40 / (40 + 800**0.5)),  # at most half of the queries; sqrt(40 * 20) of the others
        ([1.0, 0.0, 0.0], 2, 0.6),  # at least two queries, whose variance can be told
        ([1.0] + [0.0] * 79, 10, 0.6),  # at least an eighth of them
    ],
)
def test_the_first_stratum_holds_the_differences(apart: list[float], size: int, share: float) -> None:
    found = first_stratum(np.array(apart))
    assert found[0] == size
    assert found[1] == pytest.approx(share)


def test_looks_share_the_error() -> None:
    one, spent = estimate(), estimate(looks=[15, 30, 60])
    assert spent.level > one.level == 0.95
    assert spent.intervals()["ndcg@10"]["best"].high > one.intervals()["ndcg@10"]["best"].high
    assert re.search(r"look 2 of 3: at 98\.\d %, so that all together keep 95 %", str(spent))
    assert estimate(looks=[30]).intervals() == one.intervals()
    with pytest.raises(ValueError, match=r"must contain the size of the sample, 30, got \[15, 40\]"):
        estimate(looks=[15, 40])
    with pytest.raises(ValueError, match=r"a look at 600 queries is never reached: there are 120, got \[30, 600\]"):
        estimate(looks=[30, 600])
    with pytest.raises(TypeError, match=r"such as \[15, 25, 40\], got 30"):
        estimate(looks=30)


def test_a_model_with_its_scale_turned_round_is_told_from_one_that_guesses() -> None:
    turned = {query: {document: 3 - grade for document, grade in held.items()} for query, held in TRUTH.items()}
    found = estimate(model=rm.Labels.of(turned, "a model", kind="model"))
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
    found = rm.evaluate_with_labels(runs, "ndcg@2", people=people, model=model, sample=SAMPLE)
    one = found.difference("ndcg@2")
    assert one.corrected.outside == 4
    assert one.extrapolates
    assert one.people_interval.low < one.corrected.people < one.people_interval.high
    assert "on 4 queries the model sees differences beyond those that people graded" in str(found)


class TestToldApart:
    """A difference whose mean is as far from 0 as is said in half widths of its interval."""

    FOUND = estimate().difference("ndcg@10", "good", "weak")
    PLAIN = replace(FOUND.corrected, beyond=0.0, alone=None)
    HALF = FOUND.corrected.half_width(0.95)

    def decided(self, comparisons: int = 1, **changes: Any) -> bool:
        return replace(self.FOUND, corrected=replace(self.PLAIN, **changes), comparisons=comparisons).decided

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
        assert self.decided(mean=2 * self.HALF, beyond=0.11 * self.HALF, alone=people) is decided
        assert self.decided(mean=2 * self.HALF, beyond=0.09 * self.HALF, alone=people)  # too little to matter

    def test_rare_changes_matter_if_they_could_shift_it_beyond_its_interval(self) -> None:
        shift = self.FOUND.rare.shift

        def matters(half: float) -> bool:
            wide = replace(self.PLAIN, mean=0.0, variance=self.PLAIN.variance * (half / self.HALF) ** 2)
            return replace(self.FOUND, corrected=wide).rare_matters

        assert matters(0.99 * shift)
        assert not matters(1.01 * shift)


@pytest.mark.parametrize(("n", "enough"), [(15, True), (30, False)])
def test_what_is_needed_to_know_an_open_difference_twice_as_well_is_printed(n: int, enough: bool) -> None:  # noqa: FBT001
    sample = QUESTIONS.sample(n)
    runs = {"good": RUNS["good"], "other": system(0.88, 9), "third": system(0.89, 10)}
    model = rm.Labels.of(judge(0.9, lenient=0.5), "a model", kind="model")
    found = estimate(people={query: TRUTH[query] for query in sample}, sample=sample, runs=runs, model=model)
    one = found.difference("ndcg@10", "other", "good")
    assert not one.decided
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
    strict = rm.Labels.of(judge(0.12, lenient=0.0), "a model", kind="model")
    assert re.search(r"a model grades 0\.\d\d lower on average", str(estimate(model=strict)))


def test_the_rubric_of_the_labels_reaches_the_metrics_of_the_estimate() -> None:
    people = rm.Labels(PEOPLE, scale=Scale())
    found = estimate(people=people, metrics=["mrr", "ndcg@10"], runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert found.metrics == ("mrr(rel=2)", "ndcg@10")
    same = estimate(metrics="mrr(rel=2)", runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert found.means["mrr"] == same.means["mrr(rel=2)"] != estimate(metrics="mrr").means["mrr"]
    assert found.difference("mrr").mean == same.difference("mrr(rel=2)").mean
    assert "relevant: from grade 2" in str(found)


def test_people_for_whom_nothing_is_relevant_are_named_as_the_reason() -> None:
    queries = {f"q{at}": "why?" for at in range(20)}
    sample = rm.EvaluationSet(queries, {query: ["d"] for query in queries}).sample(10)
    with pytest.raises(ValueError, match="defined for 0 of 10 labelled queries") as caught:
        rm.evaluate_with_labels(
            {query: ["d"] for query in queries},
            "mrr",
            people={query: {"d": 0} for query in sample},
            model={query: {"d": 0} for query in queries},
            sample=sample,
        )
    assert caught.value.__notes__ == ["while estimating mrr of 'the run'"]


class TestClaims:
    """Who graded what, on which scale, is not taken on trust."""

    queries: ClassVar[dict[Any, str]] = {f"q{at}": "why?" for at in range(30)}
    run: ClassVar[dict[Any, list[str]]] = {
        query: ["d1", "d2"] if at % 3 else ["d2", "d1"] for at, query in enumerate(queries)
    }
    model = rm.Labels.of({query: {"d1": 3, "d2": 1} for query in queries}, by="m", kind="model", relevant_from=2)
    sample = rm.EvaluationSet(queries, {query: ["d1"] for query in queries}).sample(15)

    def estimated(self, people: Any, model: Any = None) -> rm.types.Estimate:
        return rm.evaluate_with_labels(self.run, "mrr", people=people, model=model or self.model, sample=self.sample)

    def of_people(self, **how: Any) -> rm.Labels:
        return rm.Labels.of({query: {"d1": 3, "d2": 0} for query in self.sample}, by="Ada", relevant_from=2, **how)

    def test_a_model_in_place_of_people_is_named(self) -> None:
        assert "graded as a model" not in str(self.estimated(self.of_people()))
        said = "Ada graded as a model, not as a person: what is said of people holds for its grades"
        assert said in self.estimated(self.of_people(kind="model")).notes
        assert "m graded as a model" in str(self.estimated(self.model, self.of_people()))

    def test_grades_of_another_scale_are_refused(self) -> None:
        people = {query: {"d1": 100, "d2": 0} for query in self.sample}
        with pytest.raises(ValueError, match=r"people gave the grade 100, but the grades of the other's rubric are 0"):
            self.estimated(people)

    def test_a_question_of_which_people_can_tell_nothing_is_named(self) -> None:
        first = self.sample.queries[0]
        people = rm.Labels(
            [replace(label, grade=None) if label.query == first else label for label in self.of_people()],
            scale=self.model.scale,
        )
        said = f"people gave no grade to any document of 1 query of the sample, such as {first!r}"
        assert said in str(self.estimated(people))
