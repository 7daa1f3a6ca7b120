"""A model's grades of all queries are corrected by people's of a sample: what that finds, and what it refuses."""

import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import retrieval_metrics as rm
from graded_systems import MODEL, PEOPLE, QUERIES, QUESTIONS, RUNS, SAMPLE, TRUTH, estimate
from retrieval_metrics.datasets.labels import Scale


def test_it_finds_the_truth_where_the_model_alone_is_biased() -> None:
    found = estimate()
    intervals = found.intervals()["ndcg@10"]
    for name, run in RUNS.items():
        true = rm.evaluate(TRUTH, run, "ndcg@10").means["ndcg@10"]
        assert abs(found.means["ndcg@10"][name] - true) < 0.02
        assert intervals[name].low < true < intervals[name].high
        assert found.human["ndcg@10"][name] == pytest.approx(
            rm.evaluate({query: TRUTH[query] for query in SAMPLE}, run, "ndcg@10").means["ndcg@10"]
        )
        assert found.model["ndcg@10"][name] == pytest.approx(rm.evaluate(MODEL.qrels, run, "ndcg@10").means["ndcg@10"])
        assert found.effective_n["ndcg@10"][name] > 35
    assert found.ranking["ndcg@10"] == ["best", "good", "weak"]
    assert found.means["nDCG@10"] == found.means["ndcg@10"]


def test_strata_and_clusters_are_taken_into_account() -> None:
    made: dict[Any, rm.Provenance] = {
        query: rm.Provenance(source=f"s{at // 4}", kind="odd" if at % 2 else "even") for at, query in enumerate(QUERIES)
    }
    questions = rm.EvaluationSet(QUESTIONS.queries, TRUTH, made)
    sample = questions.sample(30, "kind")
    people = {query: TRUTH[query] for query in sample}
    together = estimate(human=people, sample=sample)
    alone = estimate(human=people, sample=sample, clusters=None)
    assert together.means == alone.means
    of_clusters, of_queries = (one.difference("ndcg@10", "best", "weak").estimate for one in (together, alone))
    assert of_clusters.degrees < of_queries.degrees == 30 - 3
    assert of_clusters.variance >= of_queries.variance


def test_queries_for_which_people_find_nothing_relevant_are_left_out_of_the_mean() -> None:
    people = {query: (dict.fromkeys(TRUTH[query], 0) if at < 5 else TRUTH[query]) for at, query in enumerate(SAMPLE)}
    found = estimate(human=people)
    corrected = found.estimated["ndcg@10", "good"].estimate
    assert corrected.labelled == 25
    assert math.isfinite(found.means["ndcg@10"]["good"])
    with pytest.raises(ValueError, match="defined for 0 of 30 labelled queries"):
        estimate(human={query: dict.fromkeys(TRUTH[query], 0) for query in SAMPLE})


def test_a_single_run_and_several_metrics() -> None:
    found = estimate(runs=RUNS["good"], metrics=["hit_rate@5", "precision@5", "map"])
    assert found.systems == ("the run",)
    assert found.differences == ()
    for metric in found.metrics:
        low, high = found.intervals()[metric]["the run"]
        assert 0 <= low < found.means[metric]["the run"] <= high <= 1


def test_a_metric_that_is_0_or_1_for_people_gets_an_interval_of_shares() -> None:
    found = estimate(metrics=["hit_rate@1", "recall@1"])
    corrected = found.estimated["hit_rate@1", "weak"].estimate
    assert 0 < corrected.human < 1  # both values occur
    assert [found.estimated[metric, "weak"].binary for metric in found.metrics] == [True, False]
    assert found.intervals()["hit_rate@1"]["weak"] == corrected.interval(0.95, binary=True)


def test_runs_that_are_none_are_refused() -> None:
    with pytest.raises(TypeError, match="runs must be a run, or map names to runs"):
        estimate(runs=[RUNS["good"]])
    with pytest.raises(ValueError, match="the model graded none of the 120 queries"):
        estimate(model={"elsewhere": {"d": 1}})


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
        found = rm.evaluate_with_labels(runs, "ndcg@10", human=people, model=read, sample=sample)
        for name in runs:
            means[name].append(found.means["ndcg@10"][name])
            low, high = found.intervals()["ndcg@10"][name]
            covered += low <= true[name] <= high
        ranked += found.ranking["ndcg@10"] == sorted(true, key=lambda name: -true[name])
    assert all(abs(np.mean(means[name]) - true[name]) < 0.01 for name in runs)
    assert ranked == draws
    assert covered >= 0.9 * 3 * draws


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


def test_the_rubric_of_the_labels_reaches_the_metrics_of_the_estimate() -> None:
    people = rm.Labels(PEOPLE, scale=Scale())
    found = estimate(human=people, metrics=["mrr", "ndcg@10"], runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert found.metrics == ("mrr(rel=2)", "ndcg@10")
    same = estimate(metrics="mrr(rel=2)", runs={"best": RUNS["best"], "weak": RUNS["weak"]})
    assert found.means["mrr"] == same.means["mrr(rel=2)"] != estimate(metrics="mrr").means["mrr"]
    assert found.difference("mrr").mean == same.difference("mrr(rel=2)").mean
    assert "relevant: from grade 2" in str(found)


class TestClaims:
    """Who graded what, on which scale, is not taken on trust."""

    queries: ClassVar[dict[Any, str]] = {f"q{at}": "why?" for at in range(30)}
    run: ClassVar[dict[Any, list[str]]] = {
        query: ["d1", "d2"] if at % 3 else ["d2", "d1"] for at, query in enumerate(queries)
    }
    model = rm.Labels.from_qrels(
        {query: {"d1": 3, "d2": 1} for query in queries}, grader="m", kind="model", relevant_from=2
    )
    sample = rm.EvaluationSet(queries, {query: ["d1"] for query in queries}).sample(15)

    def estimated(self, people: Any, model: Any = None) -> rm.types.Estimate:
        return rm.evaluate_with_labels(self.run, "mrr", human=people, model=model or self.model, sample=self.sample)

    def of_people(self, **how: Any) -> rm.Labels:
        return rm.Labels.from_qrels(
            {query: {"d1": 3, "d2": 0} for query in self.sample}, grader="Ada", relevant_from=2, **how
        )

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
