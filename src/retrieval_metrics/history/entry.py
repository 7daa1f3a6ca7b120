"""An entry of a history: the numbers of an evaluation, and fingerprints of its data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isclose, isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.keeping.document import (
    checked_labels,
    now,
    questions_fingerprint,
    rankings_fingerprint,
    rules_fingerprint,
)
from retrieval_metrics.presentation import numbers
from retrieval_metrics.scoring.metric import spelled
from retrieval_metrics.statistics.means import Interval
from retrieval_metrics.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.scoring.metric import Metric

ROUNDING = 1e-9
"""Another processor may add the same numbers in another order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An evaluation in a history.

    Attributes:
        label: Its label, such as a commit or a model.
        date: When it was added.
        means: The mean of each metric.
        intervals: The 95 % interval of each mean.
        n: The number of queries for which each metric is defined.
        questions: The fingerprint of the questions and their judgments.
        rules: The fingerprint of the rules.
        rankings: The fingerprint of what was retrieved; None if the evaluation does not have it.
        saved: The file in which it was saved, as a path relative to the history; None if it was not saved.
        labels: The labels of the evaluation.
        version: The version of this package.
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

    def mean(self, metric: str | Metric) -> float | None:
        """Return the mean of a metric, in any spelling; None if it was not computed."""
        return self.means.get(spelled(metric, self.means))

    def unlike(self, evaluation: Evaluation) -> str:
        """Return what an evaluation has otherwise than the entry, in words; empty if it may be that of the entry."""
        other = entry_of(line_of(evaluation, self.label, self.saved, {}), "the evaluation")
        for metric, mean in self.means.items():
            there = other.means.get(metric)
            if there is None:
                return f"it has no {metric}"
            if not isclose(mean, there, rel_tol=ROUNDING) and not (isnan(mean) and isnan(there)):
                one, two = numbers.apart(there, mean)
                return f"its {metric} is {one} and not {two}"
        if self.version == other.version:  # another version may take fingerprints in another way
            for what in ("questions", "rules", "rankings"):
                if getattr(self, what) != getattr(other, what):
                    return f"its {what} are others"
        return ""

    def differs_from(self, other: Entry) -> list[str]:
        """Return what differs, the questions with their judgments or the rules; the means are then not comparable."""
        return [what for what in ("questions", "rules") if getattr(self, what) != getattr(other, what)]


def line_of(evaluation: Evaluation, label: str, saved: str | None, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation as a line of a history.

    Raises:
        ValueError: If the evaluation was merged from totals.
    """
    intervals = evaluation.intervals()
    scores = evaluation.scores
    return {
        "label": label,
        "date": now(),
        "metrics": {
            name: [_or_null(mean), *map(_or_null, intervals[name]), evaluation.n[name]]
            for name, mean in evaluation.means.items()
        },
        "questions": questions_fingerprint(scores),
        "rules": rules_fingerprint(scores),
        "rankings": rankings_fingerprint(scores),
        "saved": saved,
        "labels": checked_labels(labels),
        "version": __version__,
    }


def entry_of(line: Mapping[str, Any], where: str) -> Entry:
    """Return the entry of a line.

    Raises:
        ValueError: If the line lacks something; the message names it.
    """
    try:
        metrics = {name: [_or_nan(one) for one in held] for name, held in line["metrics"].items()}
        return Entry(
            label=str(line["label"]),
            date=datetime.fromisoformat(line["date"]),
            means={name: mean for name, (mean, *_) in metrics.items()},
            intervals={name: Interval(low, high) for name, (_, low, high, _) in metrics.items()},
            n={name: int(n) for name, (*_, n) in metrics.items()},
            questions=line["questions"],
            rules=line["rules"],
            rankings=line.get("rankings"),
            saved=line.get("saved"),
            labels=dict(line.get("labels", {})),
            version=str(line.get("version", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{where} is damaged: {said}") from error


def _or_null(number: float) -> float | None:
    return float(number) if number == number else None  # noqa: PLR0124  (NaN alone differs from itself)


def _or_nan(number: float | None) -> float:
    return float("nan") if number is None else number
