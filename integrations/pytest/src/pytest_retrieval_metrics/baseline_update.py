"""Decide whether `--retrieval-update` may replace a baseline, write it, and keep the best approved ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Final

from pytest_retrieval_metrics.baseline_gates import compare_with_baseline, regression_gate
from pytest_retrieval_metrics.baselines import best_folder, best_path, best_paths, needs_texts, write_baseline
from pytest_retrieval_metrics.change_wording import format_baseline_changes
from pytest_retrieval_metrics.gate_wording import (
    NEVER_STORED,
    STORED_TEXTS,
    format_acceptance_hint,
    format_failed_queries,
    format_worse_than_best,
)
from pytest_retrieval_metrics.settings import ALL_METRICS
from pytest_retrieval_metrics.verdicts import Verdict
from retrieval_metrics import Metric
from retrieval_metrics.integration_api.text import save_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from pytest_retrieval_metrics.baselines import Baseline
    from pytest_retrieval_metrics.settings import Settings
    from pytest_retrieval_metrics.verdicts import Outcome
    from retrieval_metrics import Comparison, Evaluation

# The outcomes with which no baseline is stored, whatever losses are accepted.
NEVER_STORED_OUTCOMES: Final[frozenset[Outcome]] = frozenset(
    ("below_floor", "above_ceiling", "not_checked", "not_measured", "not_stored")
)
# The outcomes that are shown if a baseline is not stored; with "passed", so that a refusal lists every metric it gated.
SHOWN_IF_REFUSED: Final[frozenset[Outcome]] = NEVER_STORED_OUTCOMES | {"worse", "passed"}


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether a baseline may be written.

    Attributes:
        verdicts: The verdicts on the metrics.
        refusal: Why the baseline may not be written; an empty text if it may.
    """

    verdicts: list[Verdict]
    refusal: str


def check_approval(
    evaluation: Evaluation, verdicts: Sequence[Verdict], metrics: Sequence[str], accepted: AbstractSet[str]
) -> Approval:
    """Decide whether a baseline may be written, where losses in the `accepted` metrics are no obstacle."""
    all_verdicts = list(verdicts)
    n_failed = evaluation.counts["failed"]
    if n_failed:
        figures = format_failed_queries(n_failed, evaluation.counts["queries"])
        all_verdicts.insert(0, Verdict(metric=metrics[0], outcome="not_stored", figures=figures))
    outcomes = {verdict.outcome for verdict in all_verdicts}
    worse_metrics = list(dict.fromkeys(verdict.metric for verdict in all_verdicts if verdict.outcome == "worse"))
    refusal = ""
    if not NEVER_STORED_OUTCOMES.isdisjoint(outcomes):
        refusal = NEVER_STORED
    elif not accepted >= set(worse_metrics):
        refusal = format_acceptance_hint(worse_metrics)
    if refusal:
        return Approval([verdict for verdict in all_verdicts if verdict.outcome in SHOWN_IF_REFUSED], refusal)
    return Approval(_stored_verdicts(all_verdicts, metrics), "")


def _stored_verdicts(verdicts: Sequence[Verdict], metrics: Iterable[str]) -> list[Verdict]:
    """Return one verdict per metric, with its difference from the best approved baseline or the last one."""
    compared = {verdict.metric: verdict for verdict in verdicts if verdict.difference is not None}
    stored = []
    for metric in metrics:
        verdict = compared.get(metric, Verdict(metric=metric, outcome="stored"))
        # What a verdict says of failing was about the replaced baseline.
        stored.append(replace(verdict, outcome="stored", details="", mde=inf))
    return stored


def read_accepted_losses(metrics: Iterable[str], check_names: Collection[str], settings: Settings) -> set[str]:
    """Return the metrics in which the check with these names may lose, by `--retrieval-accept-worse`."""
    names = set(settings.accept_worse)
    if ALL_METRICS in names or not names.isdisjoint(check_names):
        return set(metrics)
    for name in settings.accept_worse:
        with suppress(ValueError):  # the name of another check
            names.add(str(Metric.parse(name)))
    return names & set(metrics)


def store_baseline(
    baseline: Baseline,
    evaluation: Evaluation,
    comparison: Comparison | None,
    verdicts: Sequence[Verdict],
    best_verdicts: Sequence[Verdict],
    labels: Mapping[str, str | int],
    *,
    show: int,
    texts: bool = False,
) -> list[str]:
    """Write a baseline that may be written, and return lines on what it replaces.

    Args:
        baseline: The baseline that is replaced.
        evaluation: The evaluation that becomes the baseline.
        comparison: Its comparison with the replaced baseline; None if they could not be compared.
        verdicts: The verdicts against the replaced baseline.
        best_verdicts: The verdicts against the best approved baselines, of metrics that have one.
        labels: The labels of the file.
        show: How many changed queries are listed.
        texts: Whether the file holds the texts of what was retrieved.
    """
    if baseline.evaluation is None:
        forget_best(baseline.path)
    else:
        keep_best(evaluation, baseline, verdicts, best_verdicts)
    has_changed = write_baseline(baseline.path, evaluation, labels, texts=texts)
    if baseline.evaluation is None:
        lines = [f"{baseline.shown_path}: new"]
        if not texts and needs_texts(evaluation):
            lines.append(STORED_TEXTS)
        return lines
    if comparison is None:
        return [f"{baseline.shown_path}: replaced; it could not be compared with the new one"]
    if not has_changed:
        return []
    return format_baseline_changes(baseline.shown_path, comparison, show)


def compare_with_best(evaluation: Evaluation, baseline: Baseline, settings: Settings, alpha: float) -> list[Verdict]:
    """Return the verdict of each metric against its own best approved baseline, so that small drops add up."""
    verdicts = []
    for metric in map(str, evaluation.metrics):
        best_file = best_path(baseline.path, metric)
        best = baseline.best.get(best_file)
        if best is None:
            continue
        try:
            comparison = compare_with_baseline(evaluation, best, alpha)
        except ValueError:  # no question is the same
            continue
        for verdict in regression_gate(evaluation, comparison, best_file.name, settings):
            if verdict.metric == metric:
                verdicts.append(verdict)
    return verdicts


def select_worse_than_best(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on the metrics that are worse than in their best approved baselines."""
    worse = []
    for verdict in verdicts:
        if verdict.outcome == "worse":
            worse.append(replace(verdict, figures=format_worse_than_best(verdict.figures), difference=None))
    return worse


def keep_best(
    evaluation: Evaluation, baseline: Baseline, verdicts: Sequence[Verdict], best_verdicts: Sequence[Verdict]
) -> None:
    """Keep the best approved baseline of each metric before another one replaces it.

    Small accepted drops add up, so that each build is compared with the best one too. The replaced baseline becomes the
    best one if no better is kept and the new one is neither better nor worse. Nothing is kept for a metric in which the
    new evaluation is significantly better than the best one, or in which a loss was accepted: later builds are then
    compared with the new baseline alone.
    """
    verdict_by_metric = {verdict.metric: verdict for verdict in verdicts if verdict.difference is not None}
    best_verdict_by_metric = {verdict.metric: verdict for verdict in best_verdicts if verdict.difference is not None}
    worse_metrics = {verdict.metric for verdict in (*verdicts, *best_verdicts) if verdict.outcome == "worse"}
    for metric in map(str, evaluation.metrics):
        best_file = best_path(baseline.path, metric)
        verdict = best_verdict_by_metric.get(metric, verdict_by_metric.get(metric))
        if verdict is None or metric in worse_metrics or _replaces_best(verdict):
            best_file.unlink(missing_ok=True)
        elif best_file not in baseline.best and _has_changed(verdict):
            best_file.parent.mkdir(parents=True, exist_ok=True)
            save_text(best_file, baseline.path.read_text(encoding="utf-8"))
    _remove_if_empty(best_folder(baseline.path))


def _replaces_best(verdict: Verdict) -> bool:
    """Return whether an evaluation is significantly better than the best baseline, or cannot be compared with it."""
    if verdict.outcome == "not_compared":
        return True
    difference = verdict.difference
    return difference is not None and difference.significant and difference.gain > 0


def _has_changed(verdict: Verdict) -> bool:
    return verdict.difference is not None and not verdict.difference.identical


def forget_best(path: Path) -> None:
    """Remove the best approved baselines, and their folder if it is empty."""
    for best_file in best_paths(path):
        best_file.unlink()
    _remove_if_empty(best_folder(path))


def _remove_if_empty(check_folder: Path) -> None:
    """Remove the folder of the best baselines of a check and the folder around it, if they are empty."""
    for folder in (check_folder, check_folder.parent):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
