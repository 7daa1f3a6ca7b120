"""A model's grades of all queries are corrected by people's of a sample: what that finds, and what it refuses."""

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from graded_systems import MODEL, PEOPLE, QUERIES, QUESTIONS, RUNS, SAMPLE, TRUTH, estimate
from retrieval_metrics.datasets.rubric import Scale


def test_it_finds_the_truth_where_the_model_alone_is_biased() -> None:
    estimated = estimate()
    intervals = estimated.intervals()["ndcg@10"]
    for name, run in RUNS.items():
        true = rm.evaluate(TRUTH, run, "ndcg@10").means["ndcg@10"]
        assert abs(estimated.means["ndcg@10"][name] - true) < 0.02
        assert intervals[name].low < true < intervals[name].high
        assert estimated.human["ndcg@10"][name] == pytest.approx(
            rm.evaluate({query: TRUTH[query] for query in SAMPLE}, run, "ndcg@10").means["ndcg@10"]
        )
        assert estimated.model["ndcg@10"][name] == pytest.approx(
            rm.evaluate(MODEL.qrels, run, "ndcg@10").means["ndcg@10"]
        )
        assert estimated.effective_n["ndcg@10"][name] > 35
    assert estimated.ranking["ndcg@10"] == ["best", "good", "weak"]
    assert estimated.means["nDCG@10"] == estimated.means["ndcg@10"]


def test_strata_and_clusters_are_taken_into_account() -> None:
    provenance: dict[Any, rm.Provenance] = {}
    for number, query in enumerate(QUERIES):
        provenance[query] = rm.Provenance(source=f"s{number // 4}", kind="odd" if number % 2 else "even")
    questions = rm.EvaluationSet(QUESTIONS.queries, TRUTH, provenance)
    sample = questions.sample(30, "kind")
    people = {query: TRUTH[query] for query in sample}
    clustered = estimate(human=people, sample=sample)
    independent = estimate(human=people, sample=sample, clusters=None)
    assert clustered.means == independent.means
    clustered_mean, independent_mean = (
        estimated.difference("ndcg@10", "best", "weak").estimate for estimated in (clustered, independent)
    )
    assert clustered_mean.degrees < independent_mean.degrees == 30 - 3
    assert clustered_mean.variance >= independent_mean.variance


def test_queries_for_which_people_find_nothing_relevant_are_left_out_of_the_mean() -> None:
    people = {query: TRUTH[query] for query in SAMPLE}
    for query in SAMPLE.queries[:5]:
        people[query] = dict.fromkeys(TRUTH[query], 0)
    estimated = estimate(human=people)
    corrected = estimated.estimated["ndcg@10", "good"].estimate
    assert corrected.labelled == 25
    assert math.isfinite(estimated.means["ndcg@10"]["good"])
    with pytest.raises(ValueError, match="defined for 0 of 30 labelled queries"):
        estimate(human={query: dict.fromkeys(TRUTH[query], 0) for query in SAMPLE})


def test_a_single_run_and_several_metrics() -> None:
    estimated = estimate(runs=RUNS["good"], metrics=["hit_rate@5", "precision@5", "map"])
    assert estimated.systems == ("the run",)
    assert estimated.differences == ()
    for metric in estimated.metrics:
        low, high = estimated.intervals()[metric]["the run"]
        assert 0 <= low < estimated.means[metric]["the run"] <= high <= 1


def test_a_metric_that_is_0_or_1_for_people_gets_an_interval_of_shares() -> None:
    estimated = estimate(metrics=["hit_rate@1", "recall@1"])
    corrected = estimated.estimated["hit_rate@1", "weak"].estimate
    assert 0 < corrected.human < 1  # both values occur
    assert [estimated.estimated[metric, "weak"].binary for metric in estimated.metrics] == [True, False]
    assert estimated.intervals()["hit_rate@1"]["weak"] == corrected.interval(0.95, binary=True)


def test_runs_that_are_none_are_refused() -> None:
    with pytest.raises(TypeError, match="runs must be a run, or map names to runs"):
        estimate(runs=[RUNS["good"]])
    with pytest.raises(ValueError, match="the model graded none of the 120 queries"):
        estimate(model={"elsewhere": {"d": 1}})


@pytest.mark.thorough
@pytest.mark.skipif("RETRIEVAL_METRICS_DATA" not in os.environ, reason="the data is not part of the project")
def test_on_cranfield_a_fifth_of_the_judgments_corrects_a_judge_with_errors() -> None:
    folder = Path(os.environ["RETRIEVAL_METRICS_DATA"]) / "cranfield"
    qrels = rm.read_qrels(folder / "qrels.graded.trec")
    truth: dict[Any, Any] = {query: qrels.judgments(index) for index, query in enumerate(qrels.queries)}
    names = ("bm25", "minilm_int8", "tfidf_nosat")
    runs: dict[str, Any] = {name: dict(rm.read_run(folder / f"run.{name}.trec")) for name in names}
    pooled: dict[Any, set[str]] = {query: set() for query in truth}
    for run in runs.values():
        for query in truth:
            pooled[query].update(sorted(run[query], key=run[query].__getitem__)[-10:])
    true = {name: rm.evaluate(qrels, run, "ndcg@10").means["ndcg@10"] for name, run in runs.items()}
    questions = rm.EvaluationSet({query: f"query {query}" for query in truth}, truth)
    means: dict[str, list[float]] = {name: [] for name in runs}
    covered = ranked = 0
    draws = 20
    for seed in range(draws):
        random = np.random.default_rng(seed)
        model_grades: dict[Any, dict[str, int]] = {}
        for query, grades in truth.items():
            model_grades[query] = {}
            for document in sorted(grades.keys() | pooled[query]):
                error = (random.random() < 0.12) * random.choice([1, 1, -1])
                model_grades[query][document] = int(np.clip(grades.get(document, 0) + error, 0, 4))
        sample = questions.sample(len(truth) // 5, seed=seed)
        people: dict[Any, Any] = {query: dict.fromkeys(pooled[query], 0) | truth[query] for query in sample}
        estimated = rm.evaluate_with_labels(runs, "ndcg@10", human=people, model=model_grades, sample=sample)
        for name in runs:
            means[name].append(estimated.means["ndcg@10"][name])
            low, high = estimated.intervals()["ndcg@10"][name]
            covered += low <= true[name] <= high
        ranked += estimated.ranking["ndcg@10"] == sorted(true, key=lambda name: -true[name])
    assert all(abs(np.mean(means[name]) - true[name]) < 0.01 for name in runs)
    assert ranked == draws
    assert covered >= 0.9 * 3 * draws


def test_looks_share_the_error() -> None:
    single_look = estimate()
    several_looks = estimate(looks=[15, 30, 60])
    assert several_looks.level > single_look.level == 0.95
    assert several_looks.intervals()["ndcg@10"]["best"].high > single_look.intervals()["ndcg@10"]["best"].high
    assert several_looks.notes[0].startswith("look 2 of 3: 98.")
    assert estimate(looks=[30]).intervals() == single_look.intervals()
    with pytest.raises(ValueError, match=r"must contain the size of the sample, 30, got \[15, 40\]"):
        estimate(looks=[15, 40])
    with pytest.raises(ValueError, match=r"a look at 600 queries is never reached: there are 120, got \[30, 600\]"):
        estimate(looks=[30, 600])
    with pytest.raises(TypeError, match=r"such as \[15, 25, 40\], got 30"):
        estimate(looks=30)


def test_the_rubric_of_the_labels_reaches_the_metrics_of_the_estimate() -> None:
    people = rm.Labels(PEOPLE, scale=Scale())
    estimated = estimate(human=people, metrics=["mrr", "ndcg@10"], runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert estimated.metrics == ("mrr(rel=2)", "ndcg@10")
    explicit = estimate(metrics="mrr(rel=2)", runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert estimated.means["mrr"] == explicit.means["mrr(rel=2)"] != estimate(metrics="mrr").means["mrr"]
    assert estimated.difference("mrr").mean == explicit.difference("mrr(rel=2)").mean
    assert estimated.agreement is not None
    assert estimated.agreement.relevant_from == 2


RUN: dict[Any, list[str]] = {}
for number in range(30):
    RUN[f"q{number}"] = ["d1", "d2"] if number % 3 else ["d2", "d1"]


class TestClaims:
    """Who graded what, on which scale, is not taken on trust."""

    model = rm.Labels.from_qrels(
        {query: {"d1": 3, "d2": 1} for query in RUN}, grader="m", kind="model", relevant_from=2
    )
    sample = rm.EvaluationSet(dict.fromkeys(RUN, "why?"), {query: ["d1"] for query in RUN}).sample(15)

    def estimate(self, human: Any, model: Any = None) -> rm.types.Estimate:
        return rm.evaluate_with_labels(RUN, "mrr", human=human, model=model or self.model, sample=self.sample)

    def label_sample(self, **options: Any) -> rm.Labels:
        qrels = {query: {"d1": 3, "d2": 0} for query in self.sample}
        return rm.Labels.from_qrels(qrels, grader="Ada", relevant_from=2, **options)

    def test_a_model_in_place_of_people_is_named(self) -> None:
        assert self.estimate(self.label_sample()).notes == ()
        (note,) = self.estimate(self.label_sample(kind="model")).notes
        assert note.startswith("Ada: grades from a model")
        assert self.estimate(self.model, self.label_sample()).notes[0].startswith("m: grades from a model")

    def test_grades_of_another_scale_are_refused(self) -> None:
        human = {query: {"d1": 100, "d2": 0} for query in self.sample}
        with pytest.raises(ValueError, match=r"humans gave the grade 100, but the grades of the other's rubric are 0"):
            self.estimate(human)

    def test_a_question_of_which_people_can_tell_nothing_is_named(self) -> None:
        ungraded = self.sample.queries[0]
        labels = []
        for label in self.label_sample():
            labels.append(replace(label, grade=None) if label.query == ungraded else label)
        notes = self.estimate(rm.Labels(labels, scale=self.model.scale)).notes
        assert repr(ungraded) in notes[0]
