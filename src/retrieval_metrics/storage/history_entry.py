"""An entry of a history: the numbers of an evaluation, and fingerprints of its data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.version import __version__
from retrieval_metrics.evaluation.data_findings import find_warnings_without_examples
from retrieval_metrics.evaluation.score_fingerprints import (
    evaluation_set_fingerprint,
    rankings_fingerprint,
    rules_fingerprint,
)
from retrieval_metrics.evaluation.summary import LEVEL
from retrieval_metrics.evaluation.summary import intervals as intervals_by_metric
from retrieval_metrics.files.saved_format import format_current_time, validate_labels
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.statistics.mean_intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.data_warnings import WarningKind
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The relative difference up to which means are equal: another processor may add the numbers in another order.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Entry:
    """An evaluation in a history.

    Attributes:
        label: Its label, such as a commit or a model.
        date: When it was added.
        means: The mean of each metric.
        intervals: The 95% CI of each mean.
        n: The number of queries for which each metric is defined.
        questions: The fingerprint of the questions and their judgments.
        rules: The fingerprint of the rules.
        rankings: The fingerprint of what was retrieved; None if the evaluation does not have it.
        saved: The file in which it was saved, as a path relative to the history; None if it was not saved.
        labels: The labels of the evaluation.
        version: The version of this package.
        warnings: Why no conclusion may be drawn from its means, such as ids that match no judgment, without
            examples; the means are then neither printed nor drawn.
    """

    label: str
    date: datetime
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    n: Mapping[str, int]
    questions: str
    rules: str
    rankings: str | None
    saved: str | None
    labels: Mapping[str, Any]
    version: str
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, evaluation: Evaluation, label: str, saved: str | None, labels: Mapping[str, Any]) -> Entry:
        """Return the entry of an evaluation, added now.

        Raises:
            TypeError: If a label cannot be saved.
        """
        scores = evaluation.scores
        return cls(
            label=label,
            date=datetime.fromisoformat(format_current_time()),
            means=dict(evaluation.means),
            intervals=dict(evaluation.intervals()),
            n=dict(evaluation.n),
            questions=evaluation_set_fingerprint(scores),
            rules=rules_fingerprint(scores),
            rankings=rankings_fingerprint(scores),
            saved=saved,
            labels=validate_labels(labels),
            version=__version__,
            warnings=find_reasons_against_means(scores),
        )

    @property
    def is_measured(self) -> bool:
        """Whether its means say how good the system is, so that they can be compared with those of other entries."""
        return not self.warnings

    def mean(self, metric: str | Metric) -> float | None:
        """Return the mean of a metric, in any spelling; None if it was not computed."""
        return self.means.get(match_metric_name(metric, self.means))

    def describe_difference(self, evaluation: Evaluation) -> str:
        """Describe how an evaluation differs from the one of the entry; empty if it may be the same evaluation."""
        other = Entry.of(evaluation, self.label, self.saved, {})
        for metric, mean in self.means.items():
            other_mean = other.means.get(metric)
            if other_mean is None:
                return f"it has no {metric}"
            are_both_nan = isnan(mean) and isnan(other_mean)
            if not isclose(mean, other_mean, rel_tol=ROUNDING) and not are_both_nan:
                actual, expected = numbers.format_distinct(other_mean, mean)
                return f"its {metric} is {actual} and not {expected}"
        # Another version of the package may compute fingerprints in another way.
        if self.version == other.version:
            for name in ("questions", "rules", "rankings"):
                if getattr(self, name) != getattr(other, name):
                    return f"its {name} differ"
        return ""

    def differs_from(self, other: Entry) -> list[str]:
        """Return which differ, the questions with their judgments or the rules; means are then not comparable."""
        return [name for name in ("questions", "rules") if getattr(self, name) != getattr(other, name)]


# The warnings about data in which a mean says how ids match, not how good the system is.
UNMEASURED: frozenset[WarningKind] = frozenset({"shifted_ids", "unused_exclusion"})
# Those about ids and values that nearly match, which matter if they explain more than the confidence interval does.
NEAR_IDS: frozenset[WarningKind] = frozenset({"near_misses", "near_queries", "value_types"})


def find_reasons_against_means(scores: Scores) -> tuple[str, ...]:
    """Return the warnings because of which no conclusion may be drawn from the means of scores, without examples."""
    warnings = find_warnings_without_examples(scores)
    kinds = set(UNMEASURED)
    if any(warning.kind in NEAR_IDS for warning in warnings) and _depend_on_near_ids(scores):
        kinds |= NEAR_IDS
    return tuple(warning.message for warning in warnings if warning.is_blocking or warning.kind in kinds)


def _depend_on_near_ids(scores: Scores) -> bool:
    """Return whether a mean would leave its confidence interval if near ids counted as found."""
    # Imported here because few entries have near ids.
    from retrieval_metrics.evaluation.near_miss_effect import measure_near_miss_effect

    intervals = intervals_by_metric(scores, LEVEL)
    for metric, changes in measure_near_miss_effect(scores, scores.metrics).items():
        sums = scores.sums("value", metric)
        if sums is None or not sums.count:
            continue
        corrected = sums.mean + sum(changes.values()) / sums.count
        interval = intervals[metric]
        if not interval.low - ROUNDING <= corrected <= interval.high + ROUNDING:
            return True
    return False


class MetricLine(NamedTuple):
    """The numbers of a metric in a line of a history; null where the mean or an end is undefined."""

    mean: float | None
    low: float | None
    high: float | None
    n_queries: int


def encode_entry(entry: Entry) -> dict[str, Any]:
    """Return an entry as a line of a history."""
    metrics = {}
    for name, mean in entry.means.items():
        low, high = entry.intervals[name]
        metrics[name] = MetricLine(_or_null(mean), _or_null(low), _or_null(high), entry.n[name])
    line: dict[str, Any] = {
        "label": entry.label,
        "date": entry.date.isoformat(),
        "metrics": metrics,
        "questions": entry.questions,
        "rules": entry.rules,
        "rankings": entry.rankings,
        "saved": entry.saved,
        "labels": entry.labels,
        "version": entry.version,
    }
    if entry.warnings:
        line["warnings"] = entry.warnings
    return line


def decode_entry(line: Mapping[str, Any], place: str) -> Entry:
    """Return the entry of a line; an error about a damaged line names its place.

    Raises:
        ValueError: If it is damaged.
    """
    try:
        means = {}
        intervals = {}
        n = {}
        for name, numbers_of_metric in line["metrics"].items():
            metric_line = MetricLine(*numbers_of_metric)
            means[name] = _or_nan(metric_line.mean)
            intervals[name] = Interval(_or_nan(metric_line.low), _or_nan(metric_line.high))
            n[name] = int(metric_line.n_queries)
        return Entry(
            label=str(line["label"]),
            date=datetime.fromisoformat(line["date"]),
            means=means,
            intervals=intervals,
            n=n,
            questions=line["questions"],
            rules=line["rules"],
            rankings=line.get("rankings"),
            saved=line.get("saved"),
            labels=dict(line.get("labels", {})),
            version=str(line.get("version", "")),
            warnings=tuple(map(str, line.get("warnings", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{place} is damaged: {reason}") from error


def count_looks(entries: Sequence[Entry], entry: Entry) -> int:
    """Return how many of the entries have the same questions and judgments as an entry."""
    return sum(other.questions == entry.questions for other in entries)


def count_result_pairs(entries: Sequence[Entry], entry: Entry) -> int:
    """Count the pairs of different results on the questions and rules of an entry; return at least 1.

    Two entries have the same result if they have the same rankings. Unknown rankings count as different.
    """
    known_rankings = set()
    n_unknown = 0
    for other in entries:
        if other.differs_from(entry):
            continue
        if other.rankings is None:
            n_unknown += 1
        else:
            known_rankings.add(other.rankings)
    n_results = len(known_rankings) + n_unknown
    return max(n_results * (n_results - 1) // 2, 1)


def _or_null(number: float) -> float | None:
    if isnan(number):
        return None
    return float(number)


def _or_nan(number: float | None) -> float:
    if number is None:
        return float("nan")
    return number
