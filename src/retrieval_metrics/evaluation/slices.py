"""The same table for every slice of the queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.counts import count
from retrieval_metrics.scoring.score import residual_values

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from retrieval_metrics.results.tie_range import TieRange


class Slices(Printed, Mapping[Any, Evaluation]):
    """One evaluation per label, in the order in which the labels come up.

    Attributes:
        unlabelled: How many queries have no label and are in no slice.
    """

    def __init__(self, evaluations: Mapping[Any, Evaluation], unlabelled: int) -> None:
        self._evaluations: dict[Any, Evaluation] = dict(evaluations)
        self.unlabelled = unlabelled

    def __getitem__(self, label: Any) -> Evaluation:
        if label not in self._evaluations:
            raise KeyError(f"no slice is labelled {label!r}; there are {', '.join(map(repr, self._evaluations))}")
        return self._evaluations[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with a row per slice and metric.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [
            {"slice": label, "metric": name, "mean": mean, "low": low, "high": high, "n": evaluation.n[name]}
            for label, evaluation in self.items()
            for name, mean in evaluation.means.items()
            for low, high in (evaluation.intervals()[name],)
        ]
        frame: pd.DataFrame = require("pandas", "to_pandas").DataFrame(rows)
        return frame

    def _tables(self) -> list[Table]:
        rows = [
            [str(label), name, f"{mean:.4f}", numbers.interval(evaluation.intervals()[name]), str(evaluation.n[name])]
            for label, evaluation in self.items()
            for name, mean in evaluation.means.items()
        ]
        notes = [f"{numbers.queries(self.unlabelled)} without a label, in no slice"] if self.unlabelled else []
        return [Table(["slice", "metric", "mean", numbers.level_name(0.95), "n"], rows, notes, words=(0, 1))]

    def __repr__(self) -> str:
        return f"<Slices: {', '.join(f'{label} ({len(one.queries)})' for label, one in self.items())}>"


def slices(evaluation: Evaluation, labels: Mapping[Any, Any] | Callable[[Any], Any]) -> Slices:
    """Cut an evaluation into slices; see `Evaluation.by`."""
    if isinstance(labels, Mapping):
        label_of: Callable[[Any], Any] = labels.get
    elif callable(labels):
        label_of = labels
    else:
        raise TypeError(
            f"labels must map query ids to labels, or be a function of the query id, got {type(labels).__name__}"
        )
    places: dict[Any, list[int]] = {}
    for at, query in enumerate(evaluation.queries):
        if (label := label_of(query)) is not None:
            places.setdefault(label, []).append(at)
    if not places:
        some = ", ".join(map(repr, evaluation.queries[:3]))
        raise ValueError(f"no query has a label; labels are looked up by query id, such as {some}")
    unlabelled = len(evaluation.queries) - sum(map(len, places.values()))
    return Slices({label: _slice(evaluation, chosen) for label, chosen in places.items()}, unlabelled)


def _slice(evaluation: Evaluation, places: list[int]) -> Evaluation:
    judged, run = evaluation.source("cut into slices")
    # What has a judged run was not merged from sums, so its range, if there is one, is that of single queries.
    tie_range = cast("TieRange | None", evaluation.tie_range)
    queries = [evaluation.queries[at] for at in places]
    kept = np.array([evaluation.position(query) for query in queries])
    residuals = {metric: residual_values(judged, metric) for metric in evaluation.metrics}
    return Evaluation(
        metrics=evaluation.metrics,
        queries=queries,
        values=evaluation.values[places],  # noqa: PD011  (an Evaluation's, not a DataFrame's)
        counts=count(judged, run, kept, evaluation.rules, among=kept),
        residuals={metric: residual[kept] for metric, residual in residuals.items() if residual is not None},
        rules=evaluation.rules,
        tie_range=None if tie_range is None else tie_range.of(np.array(places)),
        judged=judged,
        run=run,
        match=evaluation.match,
    )
