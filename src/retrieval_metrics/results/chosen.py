"""Choose differences by metric and systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfPair(Protocol):
    """A difference of two systems in a metric."""

    @property
    def metric(self) -> str:
        """The name of the metric."""

    @property
    def system(self) -> str:
        """The system."""

    @property
    def baseline(self) -> str:
        """The system it is compared with."""


PairT = TypeVar("PairT", bound=OfPair)


def fitting(differences: Iterable[PairT], metric: str, system: str | None, baseline: str | None) -> list[PairT]:
    """Return the differences in a metric between a system and a baseline; None stands for any."""
    return [
        each
        for each in differences
        if each.metric == metric and system in {None, each.system} and baseline in {None, each.baseline}
    ]
