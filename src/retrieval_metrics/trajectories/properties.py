"""What can be said of an agent's searches without judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.statistics import Interval, effective_sums, interval_from_sums, paired_difference
from retrieval_metrics.trajectories.items import identity, in_order

if TYPE_CHECKING:
    import pandas as pd

    from retrieval_metrics.aliases import FloatArray, QueryId
    from retrieval_metrics.statistics import PairedDifference
    from retrieval_metrics.trajectories.trajectory import Trajectory

COUNTS = ("calls", "failed", "retrieved", "distinct")
SHARES = ("redundant", "nothing_new", "not_in_context", "uncited", "cited_unread")
LEVEL = 0.95
FEWEST = 6
"""Questions, without which no interval of a difference can be given at 95 %."""


@dataclass(frozen=True, repr=False, eq=False)
class Properties(Printed, Mapping[str, "dict[QueryId, float]"]):
    """The properties of trajectories, by name and query id; printed as means with intervals.

    - `calls`: how many searches; `failed`: how many of them failed
    - `retrieved`: how many documents came back over all calls; `distinct`: how many different ones
    - `redundant`: the share of `retrieved` that an earlier rank or call had found
    - `nothing_new`: the share of the calls that found no new document, failed and empty calls among them
    - `not_in_context`: the share of `distinct` that the answering model did not read
    - `uncited`: the share of what it read that the answer does not cite
    - `cited_unread`: the share of the citations that name nothing that was read

    A share is NaN, and left out of its mean, if there is nothing that it could be a share of, or if context or
    citations are unknown.

    Attributes:
        per_query: The values.
        questions: The question of each query id; the trajectories of one question are a cluster.

    Example:
        >>> import retrieval_metrics as rm
        >>> calls = [rm.SearchCall("a", ["d1", "d2"]), rm.SearchCall("b", ["d2"]), rm.SearchCall("c", error="timeout")]
        >>> found = rm.Trajectories({"q1": rm.Trajectory(calls, context=["d1"])}).properties()
        >>> found["redundant"]["q1"]  # of three documents one is a repeat
        0.3333333333333333
        >>> found["nothing_new"]["q1"], found["not_in_context"]["q1"]  # 2 of 3 calls; d2 of d1 and d2
        (0.6666666666666666, 0.5)
    """

    per_query: Mapping[str, dict[QueryId, float]]
    questions: Mapping[QueryId, Any]

    @classmethod
    def of(cls, trajectories: Mapping[Any, Trajectory], questions: Mapping[QueryId, Any]) -> Properties:
        """Return the properties of trajectories, and keep which question each belongs to."""
        rows = {row: _properties(one) for row, one in trajectories.items()}
        return cls(
            {name: {row: values[name] for row, values in rows.items()} for name in (*COUNTS, *SHARES)},
            questions,
        )

    def __getitem__(self, name: str) -> dict[QueryId, float]:
        if name not in self.per_query:
            raise KeyError(f"no property is called {name!r}; they are {', '.join(self.per_query)}")
        return self.per_query[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_query)

    def __len__(self) -> int:
        return len(self.per_query)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each property over the queries for which it is defined."""
        return {
            name: math.fsum(found) / len(found) if len(found := self._known(name)[0]) else math.nan for name in self
        }

    def intervals(self, level: float = LEVEL) -> dict[str, Interval]:
        """Return the confidence interval of each mean, NaN if it has none; trajectories of a question are a cluster."""
        ends = {}
        for name in self:
            values, clusters = self._known(name)
            bounds = (0.0, 1.0) if name in SHARES else (0.0, math.inf)
            # Equal counts do not show how far a count can go.
            unknown = not len(values) or (name in COUNTS and values.min() == values.max())
            ends[name] = (
                Interval(math.nan, math.nan)
                if unknown
                else interval_from_sums(effective_sums(values, clusters), level=level, bounds=bounds)
            )
        return ends

    def differences(self, baseline: Properties, level: float = LEVEL) -> dict[str, PairedDifference]:
        """Return how each property differs from that of another system, on the questions that both have.

        Several trajectories of a question count as their mean. Of a property with fewer than 6 common questions there
        is no difference.

        Args:
            baseline: The properties of the other system.
            level: The confidence level of the intervals.

        Raises:
            TypeError: If the baseline is no properties.
            ValueError: If the two have no question in common.
        """
        if not isinstance(baseline, Properties):
            raise TypeError(f"the baseline must be the properties() of other trajectories, got {baseline!r:.80}")
        if not {*self.questions.values()} & {*baseline.questions.values()}:
            raise ValueError("the two have no question in common, so nothing can be paired")
        found = {}
        for name in self:
            ours, theirs = self._by_question(name), baseline._by_question(name)
            common = [question for question in ours if question in theirs]
            if len(common) >= FEWEST:
                pair = [np.array([each[question] for question in common]) for each in (ours, theirs)]
                span = 1.0 if name in SHARES else max(1.0, float(np.ptp(np.concatenate(pair))))
                found[name] = paired_difference(*pair, level=level, span=span)
        return found

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per trajectory: its question and every property.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [
            {"query": row, "question": question, **{name: self[name][row] for name in self}}
            for row, question in self.questions.items()
        ]
        frame: pd.DataFrame = require("pandas", "to_pandas").DataFrame(rows)
        return frame

    def _known(self, name: str) -> tuple[FloatArray, list[int]]:
        """Return the values that are known, and the cluster of each."""
        known = {row: value for row, value in self[name].items() if not math.isnan(value)}
        number: dict[Any, int] = {}
        return np.array(list(known.values()), dtype=np.float64), [
            number.setdefault(self.questions[row], len(number)) for row in known
        ]

    def _by_question(self, name: str) -> dict[Any, float]:
        values: dict[Any, list[float]] = {}
        for row, value in self[name].items():
            if not math.isnan(value):
                values.setdefault(self.questions[row], []).append(value)
        return {question: math.fsum(each) / len(each) for question, each in values.items()}

    def _tables(self) -> list[Table]:
        means, ends = self.means, self.intervals()
        rows = [
            [name, numbers.size(means[name]), numbers.interval(ends[name]), str(len(self._known(name)[0]))]
            for name in self
        ]
        return [Table(["property", "mean", numbers.level_name(LEVEL), "n"], rows)]

    def __repr__(self) -> str:
        return f"<Properties of {numbers.count(len(self.questions), 'trajectory', 'trajectories')}>"


def _properties(trajectory: Trajectory) -> dict[str, float]:
    seen: set[Any] = set()
    retrieved = stale = 0
    for call in trajectory.calls:
        found = set(map(identity, in_order(call.ranking)))
        stale += found <= seen
        seen |= found
        retrieved += len(call.ranking)
    read, cited = (
        None if one is None else set(map(identity, one)) for one in (trajectory.context, trajectory.citations)
    )
    nothing = (math.nan, 0)
    return {
        "calls": float(len(trajectory.calls)),
        "failed": float(trajectory.failed),
        "retrieved": float(retrieved),
        "distinct": float(len(seen)),
        "redundant": _share(retrieved - len(seen), retrieved),
        "nothing_new": _share(stale, len(trajectory.calls)),
        "not_in_context": _share(*(nothing if read is None else (len(seen - read), len(seen)))),
        "uncited": _share(*(nothing if read is None or cited is None else (len(read - cited), len(read)))),
        "cited_unread": _share(*(nothing if read is None or cited is None else (len(cited - read), len(cited)))),
    }


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan
