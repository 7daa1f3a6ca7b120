"""Evaluations of slices of the queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from retrieval_metrics.checks import data_frame
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.counts import count, counts_of_given
from retrieval_metrics.results.summary import LEVEL, intervals, means, numbers_of_queries

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.statistics import Interval

T_co = TypeVar("T_co", covariant=True)


class Slices(Printed, Mapping[Any, T_co], Generic[T_co]):
    """One evaluation per label, in the order in which the labels first appear.

    Attributes:
        unlabelled: How many queries have no label and are in no slice.
    """

    def __init__(self, of_labels: Mapping[Any, Scores], unlabelled: int, make: Callable[[Scores], T_co]) -> None:
        self._scores: dict[Any, Scores] = dict(of_labels)
        self._made = {label: make(scores) for label, scores in of_labels.items()}
        self.unlabelled = unlabelled

    def __getitem__(self, label: Any) -> T_co:
        if label not in self._made:
            raise KeyError(f"no slice has the label {label!r}; the labels are {', '.join(map(repr, self._made))}")
        return self._made[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per slice and metric.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        rows = [
            {"slice": label, "metric": name, "mean": mean, "low": interval.low, "high": interval.high, "n": n}
            for label, name, mean, interval, n in self._rows()
        ]
        return data_frame(rows)

    def _rows(self) -> Iterator[tuple[Any, str, float, Interval, int]]:
        for label, scores in self._scores.items():
            ends, n = intervals(scores, LEVEL), numbers_of_queries(scores)
            for name, mean in means(scores).items():
                yield label, name, mean, ends[name], n[name]

    def _tables(self) -> list[Table]:
        rows = [
            [str(label), name, numbers.value(mean), numbers.interval(interval), str(n)]
            for label, name, mean, interval, n in self._rows()
        ]
        notes = [f"{numbers.queries(self.unlabelled)} without a label, in no slice"] if self.unlabelled else []
        return [Table(["slice", "metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes, words=(0, 1))]

    def __repr__(self) -> str:
        return f"<Slices: {', '.join(f'{label} ({len(one.queries)})' for label, one in self._scores.items())}>"


def slices(
    scores: Scores, labels: Mapping[Any, Any] | Callable[[Any], Any], make: Callable[[Scores], T_co]
) -> Slices[T_co]:
    """Cut scores into slices; see `Evaluation.by`."""
    given = all(metric.definition.given for metric in scores.metrics)
    origin = None if given and scores.origin is None else scores.needed_origin("cut into slices")
    if isinstance(labels, Mapping):
        label_of: Callable[[Any], Any] = labels.get
    elif callable(labels):
        label_of = labels
    else:
        raise TypeError(
            f"labels must map query ids to labels, or be a function of the query id, got {type(labels).__name__}"
        )
    rows: dict[Any, list[int]] = {}
    for at, query in enumerate(scores.queries):
        if (label := label_of(query)) is not None:
            rows.setdefault(label, []).append(at)
    if not rows:
        some = ", ".join(map(repr, scores.queries[:3]))
        raise ValueError(f"no query has a label; labels are looked up by query id, such as {some}")

    def of(chosen: list[int]) -> Scores:
        at = np.array(chosen)
        if origin is None:
            return scores.of(at, counts_of_given(scores.values[at]))  # noqa: PD011  (of Scores, not of a DataFrame)
        among = scores.positions[at]
        return scores.of(at, count(origin.judged, origin.run, scores.rules, kept=among, among=among))

    unlabelled = len(scores.queries) - sum(map(len, rows.values()))
    return Slices({label: of(chosen) for label, chosen in rows.items()}, unlabelled, make)
