"""Results by metric, under every spelling of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from retrieval_metrics.scoring.metric import Metric, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


class ByMetric(dict[str, T]):
    """A dict by metric names that accepts every spelling, `result["ap"]` for `result["map"]`, and cannot be changed."""

    def __init__(self, values: Mapping[str, T]) -> None:
        super().__init__(values)

    if TYPE_CHECKING:

        def __getitem__(self, metric: str | Metric, /) -> T: ...

    def __missing__(self, metric: str | Metric) -> T:
        name = spelled(metric, self.keys())
        if not super().__contains__(name):
            raise KeyError(f"{name} was not computed; the computed metrics are {', '.join(self)}")
        return self[name]

    def __contains__(self, metric: object) -> bool:
        try:
            return super().__contains__(spelled(metric, self.keys()))  # type: ignore[arg-type]  # parse refuses other types
        except (TypeError, ValueError):
            return False

    def get(self, metric: Any, default: Any = None) -> Any:
        """Return the value of a metric under any spelling, or the default if it was not computed."""
        return self[metric] if metric in self else default  # noqa: SIM401  (this is get)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results cannot be changed; dict(results) returns a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)  # otherwise a dict is filled item by item, which is refused
