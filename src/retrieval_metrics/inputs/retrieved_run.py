"""The answers of a retriever to many queries, with their failures and durations."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.inputs.shapes import Ranking


class Seen(NamedTuple):
    """One ranking, and which of several searches found its items.

    Attributes:
        ranking: The items, best first.
        places: The number of the call that found each item, from 1, and its rank in that call.
        in_call_order: Whether the items stand in the order of the calls.
    """

    ranking: Ranking
    places: tuple[tuple[int, int], ...] = ()
    in_call_order: bool = True

    @property
    def calls(self) -> list[int]:
        """The number of the call that found each item; empty if the items do not stand in that order."""
        return [call for call, _ in self.places] if self.in_call_order else []


class RetrievedRun(dict[Any, Any]):
    """A run, with the errors of the queries that failed and the seconds that each query took.

    A failed query has an empty ranking, because nothing was retrieved for it: it scores 0 and is counted.

    Attributes:
        errors: The exception of each failed query, by query id.
        seconds: How long the retriever took for each query, by query id; for several attempts, the last. Other queries
            under way at the same time (`workers`) slow it down, as they would in production.
        calls: For the searches of an agent: the number of the call that found each item of a ranking, by query id. It
            is what cut-offs such as `recall@3calls` count; empty for a retriever.

    Example:
        >>> run = RetrievedRun({"q1": ["d7"], "q2": []}, {"q2": TimeoutError("too slow")}, {"q1": 0.02, "q2": 5.0})
        >>> run
        <RetrievedRun: 2 queries, 1 failed>
    """

    def __init__(
        self,
        rankings: Mapping[QueryId, Ranking],
        errors: Mapping[QueryId, Exception] | None = None,
        seconds: Mapping[QueryId, float] | None = None,
        *,
        calls: Mapping[QueryId, Sequence[int]] | None = None,
    ) -> None:
        super().__init__(rankings)
        self.errors: dict[QueryId, Exception] = dict(errors or {})
        self.seconds: dict[QueryId, float] = dict(seconds or {})
        self.calls: dict[QueryId, Sequence[int]] = dict(calls or {})

    def __repr__(self) -> str:
        return f"<RetrievedRun: {len(self)} queries, {len(self.errors)} failed>"

    def require_an_answer(self) -> None:
        """Raise if every query failed: from nothing follows nothing, not that the retriever is bad.

        Raises:
            ValueError: If so; it names the first failure, which is its cause.
        """
        if self and len(self.errors) >= len(self):
            query, error = next(iter(self.errors.items()))
            raise ValueError(
                f"there is nothing to evaluate: the retriever failed for every query, {len(self.errors)} of "
                f"{len(self)}; the first, {query!r}: {type(error).__name__}: {error}"
            ) from error

    def require_judged_rows(self, judged: Container[QueryId]) -> None:
        """Raise if the judgments are of questions whose rows have other ids; those of a retriever have none."""

    def place(self, query: QueryId, rank: int) -> tuple[int, int] | None:  # noqa: ARG002  (a retriever has no calls)
        """Return the number of the call that found an item of a ranking and its rank in that call; None if unknown."""
        return None

    def everything(self, query: QueryId) -> list[Retrieved]:  # noqa: ARG002  (likewise)
        """Return every item on the way into a ranking; none for the answer of a retriever, which is the ranking."""
        return []

    def searches(self, query: QueryId) -> list[tuple[str, str]]:  # noqa: ARG002  (a retriever is asked once)
        """Return what each search of an agent asked for, and why it added nothing if so; nothing for a retriever."""
        return []

    def story(self, query: QueryId, wanted: Callable[[Any], bool]) -> str:  # noqa: ARG002  (likewise)
        """Return what became of a document on its way into the ranking; empty for the answer of a retriever."""
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        errors = {query: _portable(error) for query, error in self.errors.items()}
        return _restored, (type(self), dict(self), errors, self.seconds, self.calls)


def _restored(kind: type[RetrievedRun], *given: Any) -> RetrievedRun:
    *others, calls = given
    return kind(*others, calls=calls)


def _portable(error: Exception) -> Exception:
    """Return an exception, or a copy of its message if it cannot be pickled, as those of many clients cannot."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (made in the line itself)
    except Exception:  # noqa: BLE001  (a foreign class may raise anything)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
