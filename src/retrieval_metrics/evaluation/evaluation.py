"""The result of an evaluation: per query, means, counts; printed, in a notebook, or as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, TypeVar

from retrieval_metrics.evaluation.counts import describe
from retrieval_metrics.metrics.metric import Metric
from retrieval_metrics.presentation import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.tie_range import TieRange
    from retrieval_metrics.judging.rules import Rules
    from retrieval_metrics.types import FloatArray, QueryId

T = TypeVar("T")


class ByMetric(Mapping[str, T]):
    """A mapping from metric names that accepts every spelling: `result["ap"]` is `result["map"]`."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._values = dict(values)

    def __getitem__(self, metric: str | Metric) -> T:
        if metric in self._values:
            return self._values[str(metric)]
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        if name not in self._values:
            msg = f"{name} was not computed; there are {', '.join(self._values)}"
            raise KeyError(msg)
        return self._values[name]

    def __contains__(self, metric: object) -> bool:
        try:
            return str(metric if isinstance(metric, Metric) else Metric.parse(metric)) in self._values  # type: ignore[arg-type]  # parse says what is no name
        except (TypeError, ValueError):
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Evaluation:
    """The values of some metrics for some queries.

    Attributes:
        metrics: The metrics, in the order asked for.
        queries: The ids of the queries, in the order of the judgments.
        values: Shape (queries, metrics); NaN where a metric is undefined for a query.
        counts: What was missing, repeated, unjudged, tied or undefined.
        residuals: For metrics that know it (rbp): by how much unjudged and unseen documents could raise the mean.
        rules: The rule set it was computed under.
        tie_range: The smallest and the largest values over all orders of equal scores; None unless ties="expected".

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate(
        ...     {"q1": ["d7"], "q2": ["d1"]}, {"q1": ["d3", "d7"], "q2": ["d1"]}, ["mrr", "hit_rate@1"]
        ... )
        >>> print(result)
        metric        mean  n
        mrr         0.7500  2
        hit_rate@1  0.5000  2
        2 queries
        >>> result.per_query["rr"]["q1"]
        0.5
    """

    def __init__(
        self,
        *,
        metrics: Sequence[Metric],
        queries: Sequence[QueryId],
        values: FloatArray,
        counts: Counts,
        residuals: Mapping[Metric, float],
        rules: Rules,
        tie_range: TieRange | None = None,
    ) -> None:
        self.metrics = tuple(metrics)
        self.queries = tuple(queries)
        self.values = values
        self.counts = counts
        self.residuals = ByMetric({str(metric): value for metric, value in residuals.items()})
        self.rules = rules
        self.tie_range = tie_range

    @cached_property
    def means(self) -> ByMetric[float]:
        """The mean of each metric over the queries for which it is defined; NaN if there is none.

        Sums are exact before their one rounding, so the order of the queries never shows.
        """
        return ByMetric({name: fsum(column) / len(column) if column else nan for name, column in self._defined.items()})

    @cached_property
    def n(self) -> ByMetric[int]:
        """For how many queries each metric is defined: what its mean divides by."""
        return ByMetric({name: len(column) for name, column in self._defined.items()})

    @cached_property
    def per_query(self) -> ByMetric[dict[QueryId, float]]:
        """The value of each metric for each query, NaN where it is undefined."""
        return ByMetric(
            {
                str(metric): dict(zip(self.queries, column, strict=True))
                for metric, column in zip(self.metrics, self.values.T.tolist(), strict=True)
            }
        )

    @cached_property
    def _defined(self) -> dict[str, list[float]]:
        return {
            str(metric): [value for value in column if not isnan(value)]
            for metric, column in zip(self.metrics, self.values.T.tolist(), strict=True)
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with a row per query and a column per metric.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        try:
            import pandas as pd  # noqa: PLC0415  (an extra: imported where it is used)
        except ImportError as error:
            msg = "to_pandas needs pandas: pip install 'retrieval-metrics[pandas]'"
            raise ImportError(msg) from error
        index = pd.Index(self.queries, name="query")
        return pd.DataFrame(self.values, index=index, columns=[str(metric) for metric in self.metrics])

    def to_markdown(self) -> str:
        """Return the table of means as Markdown, with the notes below it."""
        return tables.markdown(*self._table(), self._notes())

    def __str__(self) -> str:
        return tables.text(*self._table(), self._notes())

    def _repr_html_(self) -> str:
        return tables.html(*self._table(), self._notes())

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in self.means.items())
        return f"<Evaluation of {len(self.queries)} queries: {means}>"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[name, f"{mean:.4f}", str(self.n[name])] for name, mean in self.means.items()]
        return ["metric", "mean", "n"], rows

    def _notes(self) -> list[str]:
        notes = describe(self.counts, self.rules)
        if self.tie_range is not None:
            notes += self.tie_range.notes()
        return notes + [
            f"{name}: residual {residual:.4f}, what unjudged and unseen documents could add to the mean"
            for name, residual in self.residuals.items()
        ]
