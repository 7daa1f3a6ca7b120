"""Log evaluations and comparisons to runs of MLflow: metrics with intervals, a table, plots and the report."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric as LoggedMetric

from retrieval_metrics import Comparison, Evaluation, __version__
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics.types import Scores

# The level of the logged intervals.
LEVEL = 0.95

# The default names, which are not written before the names of metrics.
EVALUATION = "retrieval"
COMPARISON = "comparison"

# The tag by which MLflow shows a run below another.
PARENT_RUN_TAG = "mlflow.parentRunId"

# The largest number of metrics that a tracking server accepts at once.
MAX_METRICS_PER_REQUEST = 1000


@dataclass(frozen=True, slots=True)
class _LoggedFiles:
    """The files that are logged beside the numbers of a result.

    Attributes:
        result: The evaluation or the comparison.
        plot: The name of its plot.
        queries: Query texts by query id, for the report.
        corpus: Document texts by document id, for the report.
        has_report: Whether there is a report.
    """

    result: Evaluation | Comparison
    plot: Literal["overview", "intervals"] = "overview"
    queries: Mapping[Any, str] | None = None
    corpus: Mapping[Any, str] | None = None
    has_report: bool = True

    def write_to(self, folder: Path) -> None:
        """Write the files.

        Warns:
            RetrievalWarning: If JSON cannot hold the result.
        """
        (folder / "summary.txt").write_text(f"{self.result}\n", encoding="utf-8")
        self.result.plot(self.plot).savefig(folder / "overview.png")
        json_file = folder / f"{type(self.result).__name__.lower()}.json"
        try:
            self.result.save(json_file)
        except ValueError as error:
            warn(f"{json_file.name} is left out: {error}", host="mlflow")
        if self.has_report:
            self.result.report(folder / "report.html", queries=self.queries, corpus=self.corpus)


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
    evaluation that are not 0, such as `counts/missing`. A `name` of your own precedes each of them, as in
    `bm25/ndcg_at_10/mean`, so one run can hold several evaluations. Artifacts, in a folder: `per_query.json`, a table
    that `mlflow.load_table` reads and the user interface shows; `overview.png`; `report.html`; `summary.txt`, the
    printed evaluation; and `evaluation.json`, which `retrieval_metrics.load` reads. If an evaluation has no single
    queries or no rankings, the artifacts that need them are left out.

    Args:
        evaluation: An evaluation of the core.
        run_id: The run; None takes the active run, or starts and ends a new one.
        name: The folder of the artifacts, and, unless it is the default, what stands before the metrics.
        queries: Query texts by query id, for the report.
        corpus: Document texts by document id, for the report.

    Raises:
        TypeError: If it is not an evaluation.
        ValueError: If the run already has artifacts under that name or one of the metrics, such as those of
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
    has_rankings = scores is not None and scores.origin is not None
    numbers = _prefix_numbers(name, EVALUATION, _evaluation_numbers(evaluation))
    table = evaluation.to_pandas().reset_index() if scores is not None else None
    files = _LoggedFiles(
        evaluation,
        plot="overview" if has_rankings else "intervals",
        queries=queries,
        corpus=corpus,
        has_report=has_rankings,
    )
    with _log_result(files, run_id, name, numbers) as logged_run_id:
        if table is not None:
            MlflowClient().log_table(logged_run_id, table, f"{name}/per_query.json")
        return logged_run_id


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
    value) and `/n` for each metric and pair. Artifacts, in a folder: `differences.json`, a table; `overview.png`;
    `report.html`; `summary.txt`; and `comparison.json`, which `retrieval_metrics.load` reads.

    Args:
        comparison: A comparison of the core.
        run_id: The run; None takes the active run, or starts and ends a new one.
        name: The folder of the artifacts, and, unless it is the default, what stands before the metrics.
        queries: Query texts by query id, for the reports.
        corpus: Document texts by document id, for the reports.

    Raises:
        TypeError: If it is not a comparison.
        ValueError: If the run already has artifacts under that name or one of the metrics, if MLflow does not allow the
            name, or if the names of two systems differ only in characters that it does not allow; nothing is written
            then.

    Warns:
        RetrievalWarning: If JSON cannot hold it, so that `comparison.json` is left out.
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(f"log_comparison needs a Comparison, got {type(comparison).__name__}")
    system_names = {system: re.sub(r"[^\w.\-: ]", "_", system) for system in comparison.evaluations}
    if len(set(system_names.values())) < len(system_names):
        raise ValueError(
            "MLflow allows letters, digits, '_', '-', '.', ':' and spaces in names, and two of these systems differ "
            f"only in other characters: {', '.join(map(repr, system_names))}; rename one"
        )
    numbers = _prefix_numbers(name, COMPARISON, _comparison_numbers(comparison, system_names))
    files = _LoggedFiles(comparison, queries=queries, corpus=corpus)
    with _log_result(files, run_id, name, numbers) as logged_run_id:
        client = MlflowClient()
        client.log_table(logged_run_id, comparison.to_pandas(), f"{name}/differences.json")
        experiment = client.get_run(logged_run_id).info.experiment_id
        for system, evaluation in comparison.evaluations.items():
            nested_run = client.create_run(experiment, tags={PARENT_RUN_TAG: logged_run_id}, run_name=system)
            log_evaluation(evaluation, run_id=nested_run.info.run_id, queries=queries, corpus=corpus)
            client.set_terminated(nested_run.info.run_id)
        return logged_run_id


@contextmanager
def _log_result(files: _LoggedFiles, run_id: str | None, name: str, numbers: Mapping[str, float]) -> Iterator[str]:
    """Log what evaluations and comparisons have in common, and yield the id of the run."""
    with TemporaryDirectory() as temporary_folder:
        files.write_to(Path(temporary_folder))
        with _find_run(run_id, name, numbers) as logged_run_id:
            client = MlflowClient()
            timestamp_ms = time.time_ns() // 1_000_000
            client.log_artifacts(logged_run_id, temporary_folder, name)
            client.set_tag(logged_run_id, "retrieval_metrics._internal.version", __version__)
            metrics = [LoggedMetric(key, value, timestamp_ms, 0) for key, value in numbers.items()]
            for start in range(0, len(metrics), MAX_METRICS_PER_REQUEST):
                client.log_batch(logged_run_id, metrics[start : start + MAX_METRICS_PER_REQUEST])
            yield logged_run_id


def _prefix_numbers(name: str, unprefixed_name: str, numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that MLflow can store, under their names in the run."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w.\-: ]+(/[\w.\-: ]+)*", name):
        raise ValueError(f"name may hold letters, digits, '_', '-', '.', ':', spaces and inner '/', got {name!r}")
    prefix = "" if name == unprefixed_name else f"{name}/"
    prefixed = {}
    for key, value in numbers.items():
        if not isnan(value):
            prefixed[f"{prefix}{key}"] = value
    return prefixed


@contextmanager
def _find_run(run_id: str | None, name: str, numbers: Mapping[str, float]) -> Iterator[str]:
    """Yield the id of the run to log to; raise if it already has artifacts under the name, or one of the metrics."""
    active_run = mlflow.active_run()
    if run_id is None and active_run is not None:
        run_id = active_run.info.run_id
    if run_id is None:
        with mlflow.start_run() as started_run:
            yield started_run.info.run_id
        return
    client = MlflowClient()
    if client.list_artifacts(run_id, name):
        raise ValueError(f"run {run_id} already has artifacts under {name!r}; pass another name= or another run_id=")
    logged_metrics = client.get_run(run_id).data.metrics
    for key in numbers:
        if key in logged_metrics:
            raise ValueError(
                f"run {run_id} already has the metric {key!r}, which would be replaced; pass another name=, which "
                "precedes the metric names, or another run_id="
            )
    yield run_id


def _evaluation_numbers(evaluation: Evaluation) -> dict[str, float]:
    """Return the logged numbers of an evaluation, by their names in a run."""
    numbers: dict[str, float] = {}
    intervals = evaluation.intervals(LEVEL)
    for metric in evaluation.metrics:
        key = metric.plain_name
        numbers[f"{key}/mean"] = evaluation.means[metric]
        numbers[f"{key}/n"] = float(evaluation.n[metric])
        numbers[f"{key}/low_95"] = intervals[metric].low
        numbers[f"{key}/high_95"] = intervals[metric].high
    counts: Any = evaluation.counts
    for issue, count in counts.items():
        if count:
            numbers[f"counts/{issue}"] = float(count)
    return numbers


def _comparison_numbers(comparison: Comparison, system_names: Mapping[str, str]) -> dict[str, float]:
    """Return the logged numbers of a comparison, by their names in a run."""
    plain_names = {str(metric): metric.plain_name for metric in comparison.metrics}
    numbers: dict[str, float] = {}
    for difference in comparison.differences:
        pair = f"{system_names[difference.system]} - {system_names[difference.baseline]}"
        key = f"{plain_names[difference.metric]}/{pair}"
        numbers[f"{key}/n"] = float(difference.n)
        # In a run no sentence stands beside the numbers, so those that allow no conclusion are left out.
        if not difference.comparable or not difference.n:
            continue
        numbers[f"{key}/difference"] = difference.mean
        numbers[f"{key}/low"] = difference.interval.low
        numbers[f"{key}/high"] = difference.interval.high
        numbers[f"{key}/p"] = difference.p_corrected
    return numbers
