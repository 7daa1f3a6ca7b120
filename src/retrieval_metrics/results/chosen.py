"""Choose differences by metric and systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from retrieval_metrics.scoring.metric import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.scoring.metric import Metric


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


def only_one(
    differences: Sequence[PairT], kind: str, metric: str | Metric, system: str | None, baseline: str | None
) -> PairT:
    """Return the one that fits, of `differences` of a kind; the metric is in any spelling.

    Raises:
        KeyError: If there is none, or more than one.
    """
    name = spelled(metric, {each.metric for each in differences})
    found = fitting(differences, name, system, baseline)
    if len(found) != 1:
        there = ", ".join(dict.fromkeys(f"{each.system} - {each.baseline}" for each in differences))
        metrics = ", ".join(dict.fromkeys(each.metric for each in differences))
        raise KeyError(f"{len(found)} {kind} match {name!r}, {system!r}, {baseline!r}; there are {there} in {metrics}")
    return found[0]
