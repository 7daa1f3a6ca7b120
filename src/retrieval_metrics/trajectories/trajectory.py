"""One run of an agent: its searches, what the answering model read, and what it cited."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.inputs.items import identity
from retrieval_metrics.inputs.run import as_list, refuse_bad_score
from retrieval_metrics.judging.ranking_order import BY_ID, ranked
from retrieval_metrics.presentation.numbers import count

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import Ranking

COUNTED = ("calls", "failed", "retrieved", "distinct")
"""The properties that are no shares."""


@dataclass(frozen=True, slots=True)
class SearchCall:
    """One search of an agent, and what it found.

    Attributes:
        query: What was asked for; None if it is unknown.
        ranking: What was found, as in any run: ids or `Retrieved`, best first, or ids with scores. This is what the
            step handed on: after a reranker, what the reranker left.
        turn: In which turn of the agent it was made, from 1; calls of one turn were made side by side.
        attempts: How often it was tried; a retry is no further call.
        seconds: How long it took, all attempts together; None if that is unknown.
        error: Why it failed; None if it did not. Of an exception or a text, the first line before any stack trace is
            kept, because reports show it.
        before: Rankings of steps inside the call, such as the input of a reranker.

    Raises:
        TypeError: If the query is no text, a ranking is not one, or the turn or the attempts are no integers.
        ValueError: If a score is not finite, a failed call has found something, the turn or the attempts are not
            positive, or the seconds are negative or not finite.

    Example:
        >>> SearchCall("swallow it", error=TimeoutError("too slow"), turn=2).error
        'TimeoutError: too slow'
    """

    query: str | None = None
    ranking: Ranking = ()
    turn: int = 1
    attempts: int = 1
    seconds: float | None = None
    error: str | Exception | None = None
    before: Sequence[Ranking] = ()

    def __post_init__(self) -> None:
        if self.query is not None and not isinstance(self.query, str):
            raise TypeError(f"the query of a search must be a text, or None if it is unknown, got {self.query!r}")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"the seconds of a search must be 0 or more, or None if unknown, got {self.seconds!r}")
        for ranking in (self.ranking, *self.before):
            _check(ranking, self.query)
        positive_integer(self.turn, "the turn of a search")
        positive_integer(self.attempts, "the number of attempts of a search")
        if self.error is not None:
            if len(self.ranking):
                raise ValueError(
                    f"the search {self.query!r} failed ({self.error}), so it cannot have found "
                    f"{count(len(self.ranking), 'document')}; leave out the error, or the ranking"
                )
            object.__setattr__(self, "error", first_line(self.error))


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The searches of one question, in order, with what came of them.

    Attributes:
        calls: The searches, in the order in which the agent made them; those of one turn in the order in which the
            model asked for them.
        context: What the model that answered has read: ids or `Retrieved`. None if that is unknown, which is not the
            same as `()`, nothing.
        citations: What the answer cites, in its order; None if that is unknown, `()` if it cites nothing.

    Raises:
        TypeError: If the calls are no `SearchCall`, or the context or the citations no list.
        ValueError: If the calls are not in the order of their turns.
    """

    calls: Sequence[SearchCall] = ()
    context: Ranking | None = None
    citations: Ranking | None = None

    def __post_init__(self) -> None:
        calls = self.calls
        if isinstance(calls, SearchCall) or not isinstance(calls, Sequence):
            raise TypeError(f"the calls of a trajectory must be a list of SearchCall, got {type(calls).__name__}")
        for call in calls:
            if not isinstance(call, SearchCall):
                raise TypeError(
                    f"the calls of a trajectory must be SearchCall, got {call!r}; write SearchCall(query, ids)"
                )
        for before, after in itertools.pairwise(calls):
            if after.turn < before.turn:
                raise ValueError(
                    f"the search {after.query!r} of turn {after.turn} follows {before.query!r} of turn {before.turn}; "
                    "give the calls in the order in which they were made"
                )
        for ranking, what in ((self.context, "the context"), (self.citations, "the citations")):
            if ranking is not None:
                _check(ranking, what)

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(call.error is not None for call in self.calls)

    @property
    def in_vain(self) -> list[str]:
        """Why each call added nothing: it failed, nothing came back, or nothing new; empty if it did."""
        seen: set[Any] = set()
        found: list[str] = []
        for call in self.calls:
            here = set(map(identity, call.ranking))
            nothing = "" if here - seen else "nothing new" if here else "nothing came back"
            found.append(nothing if call.error is None else f"failed: {call.error}")
            seen |= here
        return found

    def properties(self) -> dict[str, float]:
        """Return what can be said without judgments, by name.

        - `calls`: how many searches; `failed`: how many of them failed
        - `retrieved`: how many documents came back over all calls; `distinct`: how many different ones
        - `redundant`: the share of `retrieved` that an earlier rank or call had found
        - `nothing_new`: the share of the calls that found no new document, failed and empty calls among them
        - `not_in_context`: the share of `distinct` that the answering model did not read
        - `uncited`: the share of what it read that the answer does not cite
        - `cited_unread`: the share of the citations that name nothing that was read

        A share is NaN if there is nothing that it could be a share of, or if context or citations are unknown.

        Example:
            >>> calls = [SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2"]), SearchCall("c", error="timeout")]
            >>> found = Trajectory(calls, context=["d1"]).properties()
            >>> found["redundant"]  # of three documents one is a repeat
            0.3333333333333333
            >>> found["nothing_new"], found["not_in_context"]  # 2 of 3 calls; d2 of d1 and d2
            (0.6666666666666666, 0.5)
        """
        seen = {identity(item) for call in self.calls for item in call.ranking}
        retrieved = sum(len(call.ranking) for call in self.calls)
        read, cited = (None if one is None else set(map(identity, one)) for one in (self.context, self.citations))
        return {
            "calls": float(len(self.calls)),
            "failed": float(self.failed),
            "retrieved": float(retrieved),
            "distinct": float(len(seen)),
            "redundant": _share(retrieved - len(seen), retrieved),
            "nothing_new": _share(sum(map(bool, self.in_vain)), len(self.calls)),
            "not_in_context": _share_outside(seen, read),
            "uncited": _share_outside(read, cited),
            "cited_unread": _share_outside(cited, read),
        }

    def __repr__(self) -> str:
        unknown = [name for name in ("context", "citations") if getattr(self, name) is None]
        said = f", {' and '.join(unknown)} unknown" if unknown else ""
        return f"<Trajectory: {count(len(self.calls), 'call')}, {self.failed} failed{said}>"


def first_line(error: str | BaseException) -> str:
    """Return what a report may show of an error: its first line, cut before a stack trace.

    Example:
        >>> first_line("ConnectionError: index offline Traceback (most recent call last): File '/home/...'")
        'ConnectionError: index offline'
    """
    said = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
    line = said.partition("Traceback (most recent call last)")[0].strip().partition("\n")[0].strip()
    return line or "failed without a message"


def in_order(ranking: Ranking) -> Sequence[Any]:
    """Return the items of a ranking, best first; of equal scores, the greater id as text first, as in trec_eval."""
    return ranked(ranking, BY_ID) if isinstance(ranking, Mapping) else as_list(ranking, "a call")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _share_outside(items: set[Any] | None, others: set[Any] | None) -> float:
    return math.nan if items is None or others is None else _share(len(items - others), len(items))


def _check(ranking: Any, query: Any) -> None:
    if isinstance(ranking, Mapping):
        refuse_bad_score(ranking, query)
    else:
        as_list(ranking, query)
