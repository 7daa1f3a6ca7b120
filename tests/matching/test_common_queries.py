"""A run is compared with judgments only if they have queries in common."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.common_queries import count_common_queries

QRELS = rm.Qrels({"q1": ["a"], "q2": ["b"]})


def test_the_judged_queries_of_the_run_are_counted() -> None:
    assert count_common_queries({"q2": ["b"], "q3": ["c"]}, QRELS) == 1
    assert count_common_queries({"q1": [], "q2": ["b"]}, QRELS) == 2


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        ({}, ValueError, r"the run is empty; write a query without retrieved documents as \{query: \[\]\}"),
        ({"p": ["a"]}, ValueError, "no query in common: the run begins with 'p', the qrels with 'q1', 'q2'"),
        ({1: ["a"]}, TypeError, "query ids in the qrels are str and those in the run are int"),
        ([["a"]], TypeError, "a run must map each query id to its ranking, got list"),
        (rm.Trajectories({}), TypeError, "trajectories are not a run yet; evaluate a view of them"),
    ],
    ids=["empty", "other queries", "other types", "a list", "trajectories"],
)
def test_a_run_that_cannot_belong_to_the_judgments_is_refused(run: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        count_common_queries(run, QRELS)


def test_qrels_with_exchanged_columns_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nd1\tq1\t1\nd2\tq1\t1\n")
    run = {"q1": ["d1", "d2"]}
    with pytest.raises(
        ValueError, match="the qrels judge 'q1', a query of the run, as a document: exchange the columns"
    ):
        rm.evaluate(rm.read_qrels(path), run, "recall")
    qrels = rm.read_qrels(path, columns={"query": "corpus-id", "document": "query-id"})
    assert rm.evaluate(qrels, run, "recall").means == {"recall": 1.0}
