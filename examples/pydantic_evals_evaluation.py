# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "pydantic-evals-retrieval-metrics",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# pydantic-evals-retrieval-metrics = { path = "../integrations/pydantic_evals", editable = true }
# ///
"""Evaluate two retrievers with Pydantic Evals on real questions, and compare the reports.

Run it with `uv run examples/pydantic_evals_evaluation.py`. It reads nothing from the network and needs no LLM.
"""

from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.reporting.analyses import TableResult

import questions
import retrieval_metrics as rm
from corpus import passages
from pydantic_evals_retrieval_metrics import RetrievalMetrics, RetrievalReport, to_evaluation
from retrievers import BM25, Dense, Retriever

METRICS = ["ndcg@10", "mrr@10", "recall@10"]
DEPTH = 10


def cases() -> Dataset[str, Any, Any]:
    """Return the questions as cases: what is relevant is the expected output, with grades and groups."""
    qrels: dict[str, Any] = dict(questions.qrels(passages()))
    return Dataset(
        name="python reference",
        cases=[
            Case(name=query, inputs=text, expected_output=qrels[query]) for query, text in questions.queries().items()
        ],
        evaluators=[RetrievalMetrics(METRICS)],
        report_evaluators=[RetrievalReport(METRICS)],
    )


def main() -> None:
    """Print the report of each retriever, the questions that dense retrieval gets wrong, and the comparison."""
    pieces = passages()
    dataset = cases()
    retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
    evaluations = {}
    for name, retriever in retrievers.items():

        def task(question: str, retriever: Retriever = retriever) -> list[str]:
            return list(retriever.search(question, DEPTH))

        report = dataset.evaluate_sync(task, name=name, progress=False)
        (table,) = (analysis for analysis in report.analyses if isinstance(analysis, TableResult))
        print(f"{name}: {table.description}")
        for metric, mean, low, high, n in table.rows:
            print(f"  {metric:10} {mean:.3f} [{low:.3f}, {high:.3f}] {n}")
        evaluations[name] = to_evaluation(report, METRICS)

    print("\ndense, where it does worst")
    print(evaluations["dense"].worst("ndcg@10", 5))
    print()
    print(*rm.compare(evaluations, baseline="BM25").summary, sep="\n")


if __name__ == "__main__":
    main()
