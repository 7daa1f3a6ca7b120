"""Results by metric, found under every spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from retrieval_metrics.definition.metric import Metric, as_metric

T = TypeVar("T")


class ByMetric(Mapping[str, T]):
    """A mapping from metric names that accepts every spelling: `result["ap"]` is `result["map"]`."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._values = dict(values)

    def __getitem__(self, metric: str | Metric) -> T:
        if metric in self._values:
            return self._values[str(metric)]
        name = str(as_metric(metric))
        if name not in self._values:
            raise KeyError(f"{name} was not computed; there are {', '.join(self._values)}")
        return self._values[name]

    def __contains__(self, metric: object) -> bool:
        try:
            return str(as_metric(metric)) in self._values  # type: ignore[arg-type]  # parse says what is no name
        except (TypeError, ValueError):
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)
