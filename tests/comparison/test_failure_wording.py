"""The sentences about failed queries."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from ranked_systems import same_ranking
from retrieval_metrics.comparison.failed_queries import FailedQueries
from retrieval_metrics.comparison.failure_wording import failure_notes, format_failed_queries, format_failures

GOLDEN = Path(__file__).parent / "golden" / "failure_wording.txt"
MANY_METRICS = ["recall@2", "mrr@2", "hit_rate@2", "ndcg@2", "f1@1", "map@2", "rbp"]


def compare_failing(n_failed: int, metrics: list[str], *, fails_at_last: bool = False) -> rm.Comparison:
    """Compare a retriever that fails on the first of 12 queries with one that misses a document of the last."""
    qrels = {f"q{number}": ["d", "e"] for number in range(12)}
    failed: Any = {f"q{number}": TimeoutError("no answer") for number in range(n_failed)}
    last_failed: Any = {"q11": TimeoutError("no answer")} if fails_at_last else {}
    runs = {
        "flaky": rm.RetrievedRun({query: [] if query in failed else ["d", "e"] for query in qrels}, failed),
        "steady": rm.RetrievedRun(
            same_ranking(qrels, "d", "e") | {"q11": [] if fails_at_last else ["x", "d"]}, last_failed
        ),
    }
    return rm.compare(qrels, runs, metrics)


def make_texts() -> dict[str, list[str]]:
    return {
        "failed queries": [
            format_failed_queries(FailedQueries(4, 7, treatment="zero"), ["bm25"]),
            format_failed_queries(FailedQueries(1, 1_200, treatment="zero"), ["bm25", "dense"]),
            format_failed_queries(FailedQueries(2, 8, treatment=None), ["bm25"]),
            format_failed_queries(FailedQueries(2, 8, treatment="skipped"), ["bm25"]),
            format_failed_queries(FailedQueries(2, 8, treatment="zero_if_higher_is_better"), ["bm25"]),
            format_failed_queries(FailedQueries(1, 8, treatment="zero_if_higher_is_better"), ["bm25"]),
            format_failed_queries(FailedQueries(2, 8, treatment="excluded"), ["bm25"]),
        ],
        "without failed queries": failure_notes(compare_failing(10, ["recall@2", "mrr@2", "hit_rate@2"]).conclusions),
        "without failed queries, in many metrics": failure_notes(compare_failing(10, MANY_METRICS).conclusions),
        "no query without failures": failure_notes(
            compare_failing(11, ["recall@2", "mrr@2"], fails_at_last=True).conclusions
        ),
        "an example": [format_failures("bm25", {"q1": TimeoutError("no answer"), "q2": TimeoutError("no answer")})],
    }


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_sentences_are_those_of_the_golden_file() -> None:
    check_golden_texts(GOLDEN, make_texts())
