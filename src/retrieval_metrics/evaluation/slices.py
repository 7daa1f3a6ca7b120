"""Evaluate slices of the queries, such as the queries of one topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.evaluation.counts import count_given_scores, count_issues_of_slice
from retrieval_metrics.evaluation.summary import LEVEL, summarize
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.statistics import Interval


T_co = TypeVar("T_co", covariant=True)

# The number of query ids that a message shows.
MAX_SHOWN_QUERIES = 3


class Slices(Printed, Mapping[Any, T_co], Generic[T_co]):
    """One evaluation per label, in the order in which the labels first appear.

    Attributes:
        unlabelled: How many queries have no label and are in no slice.
    """

    def __init__(
        self, scores_by_label: Mapping[Any, Scores], unlabelled: int, make_evaluation: Callable[[Scores], T_co]
    ) -> None:
        self._scores: dict[Any, Scores] = dict(scores_by_label)
        self._evaluations = {label: make_evaluation(scores) for label, scores in scores_by_label.items()}
        self.unlabelled = unlabelled

    def __getitem__(self, label: Any) -> T_co:
        if label not in self._evaluations:
            raise UnknownKeyError(
                f"no slice has the label {label!r}; the labels are {', '.join(map(repr, self._evaluations))}"
            )
        return self._evaluations[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per slice and metric.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        rows = []
        for row in self._rows():
            rows.append(
                {
                    "slice": row.label,
                    "metric": row.metric,
                    "mean": row.mean,
                    "ci_low": row.interval.low,
                    "ci_high": row.interval.high,
                    "n": row.n_queries,
                }
            )
        return to_data_frame(rows)

    def _rows(self) -> Iterator[_SliceRow]:
        for label, scores in self._scores.items():
            for metric in summarize(scores).metrics:
                yield _SliceRow(label, metric.name, metric.mean, metric.interval, metric.n_queries)

    def _tables(self) -> list[Table]:
        rows = []
        for row in self._rows():
            mean = numbers.format_value(row.mean)
            interval = numbers.format_interval(row.interval)
            rows.append([str(row.label), row.metric, mean, interval, str(row.n_queries)])
        notes = []
        if self.unlabelled:
            verb = "is" if self.unlabelled == 1 else "are"
            notes.append(f"{numbers.format_query_count(self.unlabelled)} without a label {verb} in no slice")
        return [Table(["slice", "metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes, words=(0, 1))]

    def __repr__(self) -> str:
        slices = ", ".join(f"{label} ({len(scores.queries)})" for label, scores in self._scores.items())
        return f"<Slices: {slices}>"


@dataclass(frozen=True, slots=True)
class _SliceRow:
    label: Any
    metric: str
    mean: float
    interval: Interval
    n_queries: int


def cut_into_slices(
    scores: Scores, labels: Mapping[Any, Any] | Callable[[Any], Any], make_evaluation: Callable[[Scores], T_co]
) -> Slices[T_co]:
    """Cut scores into slices; see `Evaluation.group_by`."""
    are_given = all(metric.definition.is_given for metric in scores.metrics)
    if scores.origin is None and not are_given:
        scores.require_origin("cut into slices")
    rows_by_label = _group_rows(scores, labels)
    scores_by_label = {label: _select(scores, np.array(rows)) for label, rows in rows_by_label.items()}
    n_labelled = sum(map(len, rows_by_label.values()))
    return Slices(scores_by_label, len(scores.queries) - n_labelled, make_evaluation)


def _group_rows(scores: Scores, labels: Mapping[Any, Any] | Callable[[Any], Any]) -> dict[Any, list[int]]:
    """Return the rows of the queries of each label, in the order in which the labels first appear."""
    if isinstance(labels, Mapping):
        get_label: Callable[[Any], Any] = labels.get
    elif callable(labels):
        get_label = labels
    else:
        raise TypeError(
            f"labels must map query IDs to labels, or be a function of the query ID, got {type(labels).__name__}"
        )
    rows_by_label: dict[Any, list[int]] = {}
    for row, query in enumerate(scores.queries):
        label = get_label(query)
        if label is not None:
            rows_by_label.setdefault(label, []).append(row)
    if not rows_by_label:
        examples = ", ".join(map(repr, scores.queries[:MAX_SHOWN_QUERIES]))
        raise ValueError(f"no query has a label; labels are looked up by query ID, such as {examples}")
    return rows_by_label


def _select(scores: Scores, rows: IntArray) -> Scores:
    """Return the scores and the counts of the queries in some rows."""
    origin = scores.origin
    if origin is None:
        return scores.select(rows, count_given_scores(scores.values[rows]))
    positions = scores.positions[rows]
    counts = count_issues_of_slice(origin.judged, origin.run, scores.metrics, scores.rules, positions)
    return scores.select(rows, counts)
