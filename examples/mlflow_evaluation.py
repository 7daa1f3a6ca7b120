# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics[plot]",
#   "mlflow-retrieval-metrics",
#   "mlflow>=3.6",
#   "bm25s>=0.2.14",
#   "scikit-learn>=1.4",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "..", editable = true }
# mlflow-retrieval-metrics = { path = "../integrations/mlflow", editable = true }
# ///
"""Score two traced retrievers in MLflow on real questions, and log their comparison as runs.

Run it with `uv run examples/mlflow_evaluation.py`. It reads nothing from the network and needs no LLM. Given a folder,
it keeps the store there; `mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db` shows it.
"""

import contextlib
import io
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true",  # MLflow otherwise sends usage data to its developers
    MLFLOW_GENAI_EVAL_MAX_WORKERS="2",  # with ten, SQLite cannot keep up, and MLflow leaves out the rows it loses
    MLFLOW_LOGGING_LEVEL="ERROR",
)

import mlflow
from mlflow.entities import Document

import questions
import retrieval_metrics as rm
from corpus import passages
from mlflow_retrieval_metrics import log_comparison, retrieval_scorers
from retrievers import BM25, Dense, Retriever

METRICS = ["ndcg@10", "mrr@10", "recall@10"]
DEPTH = 10
QUESTIONS = 40


def application(retriever: Retriever, texts: dict[str, str]) -> Callable[[str], str]:
    """Return an application whose retriever is traced, as an autolog of MLflow would do it."""

    @mlflow.trace(span_type="RETRIEVER")
    def retrieve(question: str) -> list[Document]:
        return [Document(texts[name], id=name) for name in retriever.search(question, DEPTH)]

    @mlflow.trace
    def answer(question: str) -> str:
        return f"an answer from {len(retrieve(question))} passages"

    return answer


def main() -> None:
    """Print the scores that MLflow holds of each retriever, and what it logged of their comparison."""
    database = sys.argv[1] if len(sys.argv) > 1 else None
    with contextlib.ExitStack() as stack:
        folder = Path(database or stack.enter_context(tempfile.TemporaryDirectory()))
        mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
        logging.getLogger("alembic").setLevel(logging.ERROR)
        experiment = mlflow.create_experiment("retrieval", artifact_location=(folder / "artifacts").as_uri())
        mlflow.set_experiment(experiment_id=experiment)

        pieces = passages()
        queries = dict(islice(questions.queries().items(), QUESTIONS))
        qrels = {query: judgments for query, judgments in questions.qrels(pieces).items() if query in queries}
        texts = {piece.id: piece.text for piece in pieces}
        retrievers: dict[str, Retriever] = {"BM25": BM25(pieces), "dense": Dense(pieces)}
        print(f"{len(queries)} questions with grades and groups, {len(pieces)} passages\n")

        data: list[dict[str, Any]] = [
            {"inputs": {"question": text}, "expectations": {"relevant_ids": qrels[query]}}
            for query, text in queries.items()
        ]
        for name, retriever in retrievers.items():
            # MLflow announces the run and shows its progress.
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                result = mlflow.genai.evaluate(data, retrieval_scorers(METRICS), application(retriever, texts))
            for metric in ("ndcg_at_10", "mrr_at_10", "recall_at_10"):
                mean, low, high = (result.metrics[f"{metric}/{part}"] for part in ("mean", "low_95", "high_95"))
                print(f"{name:6} {metric:13} {mean:.3f} [{low:.3f}, {high:.3f}]")

        runs = {
            name: {query: list(retriever.search(text, DEPTH)) for query, text in queries.items()}
            for name, retriever in retrievers.items()
        }
        run_id = log_comparison(rm.compare(qrels, runs, METRICS, baseline="BM25"))
        print("\nlogged of the comparison:")
        for metric, value in sorted(mlflow.get_run(run_id).data.metrics.items()):
            print(f"{metric:36} {value:.3g}")
        artifacts = mlflow.MlflowClient().list_artifacts(run_id, "comparison")
        print(*(artifact.path for artifact in artifacts), sep="\n")


if __name__ == "__main__":
    main()
