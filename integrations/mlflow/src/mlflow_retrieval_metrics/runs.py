"""Evaluations and comparisons as runs of MLflow: metrics with intervals, a table, plots and the report."""

from __future__ import annotations

import re
import time
import warnings
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric as LoggedMetric

from retrieval_metrics import Comparison, Evaluation, RetrievalWarning, __version__
from retrieval_metrics.adapting import Scores, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEVEL = 0.95
_PARENT = "mlflow.parentRunId"
_BATCH = 1000
"""The largest number of metrics that a tracking server accepts at once."""


def log_evaluation(
    evaluation: Evaluation,
    *,
    run_id: str | None = None,
    name: str = "retrieval",
    queries: Mapping[Any, str] | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> str:
    """Log an evaluation to a run, and return the id of the run.

    Metrics: `ndcg_at_10/mean`, `/low_95` and `/high_95` (the interval) and `/n` for each metric, and the counts of the
    evaluation, such as `counts/missing`. Artefacts, in a folder: `per_query.json`, a table that `mlflow.load_table`
    reads and the user interface shows; `overview.png`; `report.html`; `summary.txt`, the printed evaluation; and
    `evaluation.json`, which `retrieval_metrics.load` reads. If an evaluation has no single queries or no rankings, the
    artefacts that need them are left out.

    Args:
        evaluation: An evaluation of the core.
        run_id: The run; None takes the active run, or starts and ends a new one.
        name: The folder of the artefacts.
        queries: Query texts by query id, for the report.
        corpus: Document texts by document id, for the report.

    Raises:
        TypeError: If it is not an evaluation.
        ValueError: If the run already has artefacts under that name; nothing is written then.

    Warns:
        RetrievalWarning: If JSON cannot hold the evaluation, so that `evaluation.json` is left out.
    """
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"log_evaluation needs an Evaluation, got {type(evaluation).__name__}")
    with TemporaryDirectory() as made:
        folder, record = Path(made), evaluation.record
        (folder / "summary.txt").write_text(f"{evaluation}\n", encoding="utf-8")
        evaluation.plot("overview" if _has_rankings(record) else "intervals").savefig(folder / "overview.png")
        _save(evaluation, folder / "evaluation.json")
        if _has_rankings(record):
            evaluation.report(folder / "report.html", queries=queries, corpus=corpus)
        table = evaluation.to_pandas().reset_index() if isinstance(record, Scores) else None
        with _run(run_id, name) as run:
            _write(run, name, folder, _numbers(evaluation))
            if table is not None:
                MlflowClient().log_table(run, table, f"{name}/per_query.json")
            return run


def log_comparison(
    comparison: Comparison,
    *,
    run_id: str | None = None,
    name: str = "comparison",
    queries: Mapping[Any, str] | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> str:
    """Log a comparison to a run, and each of its systems to a nested run; return the id of the outer run.

    The nested runs have the names of the systems and hold the same as with `log_evaluation`, so MLflow can compare them
    side by side. Metrics of the outer run: `ndcg_at_10/dense - bm25/difference`, `/low`, `/high`, `/p` (the corrected p
    value) and `/n` for each metric and pair. Artefacts, in a folder: `differences.json`, a table; `overview.png`;
    `report.html`; `summary.txt`; and `comparison.json`, which `retrieval_metrics.load` reads.

    Args:
        comparison: A comparison of the core.
        run_id: The run; None takes the active run, or starts and ends a new one.
        name: The folder of the artefacts.
        queries: Query texts by query id, for the reports.
        corpus: Document texts by document id, for the reports.

    Raises:
        TypeError: If it is not a comparison.
        ValueError: If the run already has artefacts under that name, or the names of two systems differ only in
            characters that MLflow does not allow; nothing is written then.

    Warns:
        RetrievalWarning: If JSON cannot hold it, so that `comparison.json` is left out.
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(f"log_comparison needs a Comparison, got {type(comparison).__name__}")
    plain = {system: re.sub(r"[^\w.\-: ]", "_", system) for system in comparison.evaluations}
    if len(set(plain.values())) < len(plain):
        raise ValueError(
            "MLflow allows letters, digits, '_', '-', '.', ':' and spaces in names, and two of these systems differ "
            f"only in other characters: {', '.join(map(repr, plain))}; rename one"
        )
    numbers: dict[str, float] = {}
    for each in comparison.differences:
        metric = next(metric for metric in comparison.metrics if str(metric) == each.metric)
        of = f"{plain_name(metric)}/{plain[each.system]} - {plain[each.baseline]}"
        numbers |= {f"{of}/difference": each.mean, f"{of}/low": each.interval.low, f"{of}/high": each.interval.high}
        numbers |= {f"{of}/p": each.p_corrected, f"{of}/n": float(each.n)}
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "summary.txt").write_text(f"{comparison}\n", encoding="utf-8")
        comparison.plot().savefig(folder / "overview.png")
        comparison.report(folder / "report.html", queries=queries, corpus=corpus)
        _save(comparison, folder / "comparison.json")
        with _run(run_id, name) as run:
            _write(run, name, folder, numbers)
            client = MlflowClient()
            client.log_table(run, comparison.to_pandas(), f"{name}/differences.json")
            experiment = client.get_run(run).info.experiment_id
            for system, evaluation in comparison.evaluations.items():
                nested = client.create_run(experiment, tags={_PARENT: run}, run_name=system).info.run_id
                log_evaluation(evaluation, run_id=nested, queries=queries, corpus=corpus)
                client.set_terminated(nested)
            return run


@contextmanager
def _run(run_id: str | None, name: str) -> Iterator[str]:
    """Yield the id of the run to log to, which has no artefacts under the name yet."""
    active = mlflow.active_run()
    run_id = active.info.run_id if run_id is None and active is not None else run_id
    if run_id is None:
        with mlflow.start_run() as started:
            yield started.info.run_id
        return
    if MlflowClient().list_artifacts(run_id, name):
        raise ValueError(f"run {run_id} already has artefacts under {name!r}; pass another name= or another run_id=")
    yield run_id


def _write(run: str, name: str, folder: Path, numbers: Mapping[str, float]) -> None:
    client, now = MlflowClient(), time.time_ns() // 1_000_000
    client.log_artifacts(run, str(folder), name)
    client.set_tag(run, "retrieval_metrics.version", __version__)
    metrics = [LoggedMetric(key, value, now, 0) for key, value in numbers.items() if not isnan(value)]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run, metrics[start : start + _BATCH])


def _numbers(evaluation: Evaluation) -> dict[str, float]:
    numbers: dict[str, float] = {}
    intervals = evaluation.intervals(LEVEL)
    for metric in evaluation.metrics:
        of, interval = plain_name(metric), intervals[metric]
        numbers |= {f"{of}/mean": evaluation.means[metric], f"{of}/n": float(evaluation.n[metric])}
        numbers |= {f"{of}/low_95": interval.low, f"{of}/high_95": interval.high}
    counts: Any = evaluation.counts
    return numbers | {f"counts/{what}": float(count) for what, count in counts.items()}


def _has_rankings(record: Any) -> bool:
    """Whether the values came with the run from which they were computed."""
    return isinstance(record, Scores) and record.origin is not None


def _save(result: Evaluation | Comparison, path: Path) -> None:
    try:
        result.save(path)
    except ValueError as error:
        warnings.warn(f"{path.name} is left out: {error}", RetrievalWarning, stacklevel=4)
