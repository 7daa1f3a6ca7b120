"""The arguments of a call of `retrieval_check`, read before anything is retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.floors import floors_of, queries_of, query_floors_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_retrieval_metrics.baseline import Baseline
    from pytest_retrieval_metrics.retrieving import Task
    from retrieval_metrics.types import QueryId


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call, and the baseline that it is compared with.

    Attributes:
        name: The name of the check within its test.
        task: What to retrieve and judge.
        floors: The floor of each metric, by its full name.
        query_floors: The floors of single queries.
        never_worse: The queries that must not get worse.
        deterministic: Whether the retriever always returns the same.
        given: Further arguments of `evaluate`.
        baseline: What it is compared with; None without one.
    """

    name: str
    task: Task
    floors: Mapping[str, float | None]
    query_floors: Mapping[str, float | Mapping[QueryId, float]]
    never_worse: Sequence[QueryId]
    deterministic: bool
    given: Mapping[str, Any]
    baseline: Baseline | None = None

    @classmethod
    def of(
        cls, name: str, task: Task, gates: tuple[Any, Any, Any], given: Mapping[str, Any], *, deterministic: bool
    ) -> Call:
        """Read what is demanded of each metric and query.

        Args:
            name: The name of the check.
            task: What to retrieve and judge.
            gates: The arguments `at_least`, `at_least_per_query` and `never_worse`.
            given: Further arguments of `evaluate`.
            deterministic: As given.

        Raises:
            TypeError: If something has the wrong type.
            ValueError: If a metric or a query is unknown, a floor is not finite, or arguments contradict each other.
        """
        at_least, per_query, never_worse = gates
        floors = floors_of(at_least)
        query_floors = query_floors_of(per_query, task.qrels.queries)
        golden = queries_of(never_worse, task.qrels.queries)
        if deterministic and task.repeats > 1:
            raise ValueError(
                f"a deterministic retriever returns the same in every round; pass deterministic=True or "
                f"repeats={task.repeats}, not both"
            )
        floors |= {metric: None for metric in query_floors if metric not in floors}
        return cls(name, task, floors, query_floors, golden, deterministic, given)

    def check(self, *, baseline: bool) -> None:
        """Raise if something needs a baseline and there is none, or a baseline cannot hold something.

        Raises:
            ValueError: If so.
        """
        if self.never_worse and not baseline:
            raise ValueError("never_worse needs a baseline: pass baseline=True")
        if self.deterministic and not baseline:
            raise ValueError("deterministic=True says how to compare with a baseline: pass baseline=True")
        if baseline and callable(self.given["match"]):
            raise ValueError(
                f"a baseline cannot hold match={self.given['match']!r}, because loading a file runs no code; match by "
                "'source' or 'metadata:<name>'"
            )
