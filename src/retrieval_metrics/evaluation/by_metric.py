"""A read-only dictionary of results by metric that accepts every spelling of a metric's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.metrics.base.metric import Metric, match_metric_name

if TYPE_CHECKING:
    from collections.abc import Mapping


T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


class ReadOnly(dict[Any, T]):
    """A read-only dict of results by query or system, because nothing else would follow a change."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results cannot be changed; dict(results) returns a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, unpickling fills a dict item by item, which `_refuse` would refuse.
        return type(self), (dict(self),)


class ByMetric(dict[str, T]):
    """A read-only dict by metric names that accepts every spelling: `result["ap"]` is `result["map"]`."""

    def __init__(self, values: Mapping[str, T]) -> None:
        super().__init__(values)

    if TYPE_CHECKING:

        def __getitem__(self, metric: str | Metric, /) -> T: ...

    def __missing__(self, metric: str | Metric) -> T:
        name = match_metric_name(metric, self.keys())
        if not super().__contains__(name):
            raise UnknownKeyError(f"{name} was not computed; computed metrics: {', '.join(self)}")
        return self[name]

    def __contains__(self, metric: object) -> bool:
        try:
            return super().__contains__(match_metric_name(metric, self.keys()))  # type: ignore[arg-type]  # parse refuses other types
        except (TypeError, ValueError):
            return False

    @overload
    def get(self, metric: str | Metric, default: None = None) -> T | None: ...
    @overload
    def get(self, metric: str | Metric, default: T) -> T: ...
    @overload
    def get(self, metric: str | Metric, default: DefaultT) -> T | DefaultT: ...
    def get(self, metric: str | Metric, default: object = None) -> object:
        """Return the value of a metric under any spelling, or the default if it was not computed."""
        if metric not in self:
            return default
        return self[metric]

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results cannot be changed; dict(results) returns a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, unpickling fills a dict item by item, which `_refuse` would refuse.
        return type(self), (dict(self),)
