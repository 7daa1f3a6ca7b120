"""Under the rules of trec_eval every query has the value that trec_eval gives it."""

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

import retrieval_metrics as rm
from generated import scored_run

CUTOFFS = (1, 5, 10, 100)
NAMES = {
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "set_P": "precision",
    "set_F": "f1",
    "set_recall": "recall",
    **{f"{theirs}_{k}": f"{ours}@{k}" for k in CUTOFFS for theirs, ours in (
        ("ndcg_cut", "ndcg"), ("map_cut", "map"), ("P", "precision"), ("recall", "recall"), ("success", "hit_rate")
    )},
}  # fmt: skip
REQUEST = {"map", "ndcg", "recip_rank", "Rprec", "bpref", "set_P", "set_F", "set_recall"} | {
    f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("ndcg_cut", "map_cut", "P", "recall", "success")
}


def assert_same(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]) -> int:
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUEST).evaluate(run)
    ours = rm.evaluate(qrels, run, list(NAMES.values()), semantics="trec_eval").per_query
    compared = 0
    for query, values in theirs.items():
        for measure, metric in NAMES.items():
            assert ours[metric][query] == pytest.approx(values[measure], abs=1e-9), (query, metric)
            compared += 1
    assert set(ours["map"]) == set(theirs)
    return compared


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("ties", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("judged", [0.0, 0.1, 0.5, 1.0])
def test_generated_runs(ties: float, judged: float) -> None:
    rng = random.Random(hash((ties, judged)))
    qrels, run = scored_run(rng, 60, ties=ties, judged=judged)
    assert assert_same(qrels, run) == 60 * len(NAMES)


def test_scores_are_compared_in_32_bits_there_and_in_64_here() -> None:
    qrels, close = {"q": {"d1": 1, "x": 0}}, {"q": {"d1": 0.123456789, "d2": 0.123456788}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(close)
    rounded = {"q": {document: float(np.float32(score)) for document, score in close["q"].items()}}
    assert theirs["q"]["recip_rank"] == 0.5
    assert rm.evaluate(qrels, close, "mrr").means["mrr"] == 1.0
    assert rm.evaluate(qrels, rounded, "mrr").means["mrr"] == 0.5
    assert_same(qrels, rounded)


def test_negative_grades_count_as_not_judged() -> None:
    rng = random.Random(3)
    qrels, run = scored_run(rng, 60, ties=0.2, judged=0.6)
    negative = {q: {d: grade - 1 for d, grade in judged.items()} for q, judged in qrels.items()}
    assert_same({q: judged for q, judged in negative.items() if max(judged.values()) > 0}, run)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_a_query_without_a_relevant_document_scores_zero_and_one_that_is_missing_is_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 1.0}, "not judged": {"a": 1.0}}
    assert_same(qrels, run)
    result = rm.evaluate(qrels, run, "map", semantics="trec_eval")
    assert result.means["map"] == 0.5
    assert result.counts["scored"] == result.n["map"] == 2
    assert "1 with nothing retrieved; those not in the run left out" in str(result)


def test_an_empty_retrieval_scores_zero() -> None:
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 1 of 2"):
        assert_same({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {}})


@pytest.mark.parametrize("qrels_name", ["qrels.graded.trec", "qrels.binary.trec"])
@pytest.mark.parametrize("run_name", ["run.bm25.trec", "run.tfidf_nosat.trec", "run.minilm_int8.trec"])
def test_cranfield(shared_data: Path, qrels_name: str, run_name: str) -> None:
    qrels, run = cranfield(shared_data, qrels_name, run_name)
    assert assert_same(qrels, run) == 225 * len(NAMES)


def test_bm25_on_cranfield_has_the_published_means(shared_data: Path) -> None:
    qrels, run = cranfield(shared_data, "qrels.graded.trec", "run.bm25.trec")
    means = rm.evaluate(qrels, run, ["ndcg@10", "map"], semantics="trec_eval").means
    assert (round(means["ndcg@10"], 4), round(means["map"], 4)) == (0.3344, 0.2626)


def cranfield(
    data: Path, qrels_name: str, run_name: str
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for line in (data / "cranfield" / qrels_name).read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    for line in (data / "cranfield" / run_name).read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return qrels, run
