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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.types import Scores

LEVEL = 0.95
EVALUATION, COMPARISON = "retrieval", "comparison"
"""The names under which metrics have no prefix."""
_PARENT = "mlflow.parentRunId"
_BATCH = 1000
"""The largest number of metrics that a tracking server accepts at once."""


def log_evaluation(
    evaluation: Evaluation,
    *,
    run_id: str | None = None,
    name: str = EVALUATION,
    queries: Mapping[Any, str] | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> str:
    """Log an evaluation to a run, and return the id of the run.

    Metrics: `ndcg_at_10/mean`, `/low_95` and `/high_95` (the interval) and `/n` for each metric, and the counts of the
    evaluation that are not 0, such as `counts/missing`. With a `name` of your own, it stands before each of them, as in
    `bm25/ndcg_at_10/mean`, so one run can hold several evaluations. Artefacts, in a folder: `per_query.json`, a table
    that `mlflow.load_table` reads and the user interface shows; `overview.png`; `report.html`; `summary.txt`, the
    printed evaluation; and `evaluation.json`, which `retrieval_metrics.load` reads. If an evaluation has no single
    queries or no rankings, the artefacts that need them are left out.

    Args:
        evaluation: An evaluation of the core.
        run_id: The run; None takes the active run, or starts and ends a new one.
        name: The folder of the artefacts, and, unless it is the default, what stands before the metrics.
        queries: Query texts by query id, for the report.
        corpus: Document texts by document id, for the report.

    Raises:
        TypeError: If it is not an evaluation.
        ValueError: If the run already has artefacts under that name or one of the metrics, such as those of
            `mlflow.genai.evaluate`, or if MLflow does not allow the name; nothing is written then.

    Warns:
        RetrievalWarning: If JSON cannot hold the evaluation, so that `evaluation.json` is left out.
    """
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"log_evaluation needs an Evaluation, got {type(evaluation).__name__}")
    try:
        scores: Scores | None = evaluation.scores
    except ValueError:  # it was merged from totals
        scores = None
    whole = scores is not None and scores.origin is not None
    texts = {"queries": queries, "corpus": corpus} if whole else None
    numbers = _under(name, EVALUATION, _numbers(evaluation))
    table = evaluation.to_pandas().reset_index() if scores is not None else None
    with _logged(evaluation, run_id, name, numbers, texts, "overview" if whole else "intervals") as run:
        if table is not None:
            MlflowClient().log_table(run, table, f"{name}/per_query.json")
        return run


def log_comparison(
    comparison: Comparison,
    *,
    run_id: str | None = None,
    name: str = COMPARISON,
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
        name: The folder of the artefacts, and, unless it is the default, what stands before the metrics.
        queries: Query texts by query id, for the reports.
        corpus: Document texts by document id, for the reports.

    Raises:
        TypeError: If it is not a comparison.
        ValueError: If the run already has artefacts under that name or one of the metrics, if MLflow does not allow the
            name, or if the names of two systems differ only in characters that it does not allow; nothing is written
            then.

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
        of = f"{metric.plain_name}/{plain[each.system]} - {plain[each.baseline]}"
        numbers |= {f"{of}/difference": each.mean, f"{of}/low": each.interval.low, f"{of}/high": each.interval.high}
        numbers |= {f"{of}/p": each.p_corrected, f"{of}/n": float(each.n)}
    texts = {"queries": queries, "corpus": corpus}
    with _logged(comparison, run_id, name, _under(name, COMPARISON, numbers), texts) as run:
        client = MlflowClient()
        client.log_table(run, comparison.to_pandas(), f"{name}/differences.json")
        experiment = client.get_run(run).info.experiment_id
        for system, evaluation in comparison.evaluations.items():
            nested = client.create_run(experiment, tags={_PARENT: run}, run_name=system).info.run_id
            log_evaluation(evaluation, run_id=nested, queries=queries, corpus=corpus)
            client.set_terminated(nested)
        return run


@contextmanager
def _logged(
    result: Any, run_id: str | None, name: str, numbers: Mapping[str, float], texts: Any, *plot: str
) -> Iterator[str]:
    """Log what evaluations and comparisons have in common, and yield the id of the run."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "summary.txt").write_text(f"{result}\n", encoding="utf-8")
        result.plot(*plot).savefig(folder / "overview.png")
        saved = folder / f"{type(result).__name__.lower()}.json"
        try:
            result.save(saved)
        except ValueError as error:
            warnings.warn(f"{saved.name} is left out: {error}", RetrievalWarning, stacklevel=4)
        if texts is not None:
            result.report(folder / "report.html", **texts)
        with _run(run_id, name, numbers) as run:
            client, now = MlflowClient(), time.time_ns() // 1_000_000
            client.log_artifacts(run, str(folder), name)
            client.set_tag(run, "retrieval_metrics._internal.version", __version__)
            metrics = [LoggedMetric(key, value, now, 0) for key, value in numbers.items()]
            for start in range(0, len(metrics), _BATCH):
                client.log_batch(run, metrics[start : start + _BATCH])
            yield run


def _under(name: str, usual: str, numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that MLflow can store, under their names in the run."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.\-: ]+(/[\w.\-: ]+)*", name):
        raise ValueError(f"name may hold letters, digits, '_', '-', '.', ':', spaces and inner '/', got {name!r}")
    prefix = "" if name == usual else f"{name}/"
    return {f"{prefix}{key}": value for key, value in numbers.items() if not isnan(value)}


@contextmanager
def _run(run_id: str | None, name: str, numbers: Mapping[str, float]) -> Iterator[str]:
    """Yield the id of the run to log to, which has neither artefacts under the name nor any of the metrics yet."""
    active = mlflow.active_run()
    run_id = active.info.run_id if run_id is None and active is not None else run_id
    if run_id is None:
        with mlflow.start_run() as started:
            yield started.info.run_id
        return
    client = MlflowClient()
    if client.list_artifacts(run_id, name):
        raise ValueError(f"run {run_id} already has artefacts under {name!r}; pass another name= or another run_id=")
    held = client.get_run(run_id).data.metrics
    if taken := [key for key in numbers if key in held]:
        raise ValueError(
            f"run {run_id} already has the metric {taken[0]!r}, which would be replaced; pass another name=, which "
            "stands before the metrics, or another run_id="
        )
    yield run_id


def _numbers(evaluation: Evaluation) -> dict[str, float]:
    numbers: dict[str, float] = {}
    intervals = evaluation.intervals(LEVEL)
    for metric in evaluation.metrics:
        of, interval = metric.plain_name, intervals[metric]
        numbers |= {f"{of}/mean": evaluation.means[metric], f"{of}/n": float(evaluation.n[metric])}
        numbers |= {f"{of}/low_95": interval.low, f"{of}/high_95": interval.high}
    counts: Any = evaluation.counts
    return numbers | {f"counts/{what}": float(count) for what, count in counts.items() if count}
