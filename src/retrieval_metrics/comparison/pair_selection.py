"""Choose differences, or what is concluded from them, by metric and systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.metrics.base.metric import match_metric_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.metrics.base.metric import Metric


class PairRecord(Protocol):
    """A record about two systems in a metric."""

    @property
    def metric(self) -> str:
        """The name of the metric."""

    @property
    def system(self) -> str:
        """The system."""

    @property
    def baseline(self) -> str:
        """The system it is compared with."""


PairT = TypeVar("PairT", bound=PairRecord)


def select_pairs(records: Iterable[PairT], metric: str, system: str | None, baseline: str | None) -> list[PairT]:
    """Return the records about a metric, a system and a baseline; None stands for any."""
    selected = []
    for record in records:
        is_system = system is None or record.system == system
        is_baseline = baseline is None or record.baseline == baseline
        if record.metric == metric and is_system and is_baseline:
            selected.append(record)
    return selected


def require_one_pair(
    records: Sequence[PairT], kind: str, metric: str | Metric, system: str | None, baseline: str | None
) -> PairT:
    """Return the only record that fits.

    Args:
        records: The records to choose from.
        kind: What they are called in the message, such as `differences`.
        metric: The metric, in any spelling.
        system: The system; None stands for any.
        baseline: The system it is compared with; None stands for any.

    Raises:
        KeyError: If there is no such record, or more than one.
    """
    name = match_metric_name(metric, {record.metric for record in records})
    selected = select_pairs(records, name, system, baseline)
    if len(selected) != 1:
        pairs = ", ".join(dict.fromkeys(f"{record.system} - {record.baseline}" for record in records))
        metrics = ", ".join(dict.fromkeys(record.metric for record in records))
        requested = [f"metric {name!r}"]
        if system is not None:
            requested.append(f"system {system!r}")
        if baseline is not None:
            requested.append(f"baseline {baseline!r}")
        raise UnknownKeyError(f"{len(selected)} {kind} match {', '.join(requested)}; available: {pairs} in {metrics}")
    return selected[0]
