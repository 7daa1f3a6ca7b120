"""Define what an agent did for one question: its searches, what the model read, and what the answer cites."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.redaction import describe_error, redact_secrets
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.inputs.kept_rankings import copy_ranking
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, rank_ids
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import Ranking

# The properties that are counts; all others are shares.
COUNT_COLUMNS = ("calls", "failed", "retrieved", "distinct")


@dataclass(frozen=True, slots=True)
class SearchCall:
    """One search of an agent, and what it found.

    Attributes:
        query: The query; None if it is unknown.
        ranking: What was found, as in any run: ids or `Retrieved`, best first, or ids with scores. This is the output
            of the step; after a reranker, that of the reranker.
        turn: In which turn of the agent it was made, from 1; calls of one turn were made side by side.
        attempts: How many times it was tried; a retry is not another call.
        seconds: How long it took, all attempts together; None if that is unknown.
        error: Why it failed; None if it did not. Only the first line of an exception or a text, before any stack
            trace, is kept, because reports show it.
        inner_rankings: Rankings of steps inside the call, such as the input of a reranker.

    Raises:
        TypeError: If the query is not a text, a ranking is not valid, or the turn or the attempts are not integers.
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
    inner_rankings: Sequence[Ranking] = ()

    def __post_init__(self) -> None:
        if self.query is not None and not isinstance(self.query, str):
            raise TypeError(f"the query of a search must be a text, or None if it is unknown, got {self.query!r}")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"the seconds of a search must be 0 or more, or None if unknown, got {self.seconds!r}")
        for ranking in (self.ranking, *self.inner_rankings):
            _require_ranking(ranking, self.query)
        object.__setattr__(self, "ranking", copy_ranking(self.ranking))
        object.__setattr__(self, "inner_rankings", tuple(map(copy_ranking, self.inner_rankings)))
        positive_integer(self.turn, "the turn of a search")
        positive_integer(self.attempts, "the number of attempts of a search")
        if self.error is not None:
            if len(self.ranking):
                raise ValueError(
                    f"the search {self.query!r} failed ({self.error}), so it cannot have found "
                    f"{format_count(len(self.ranking), 'document')}; leave out the error, or the ranking"
                )
            object.__setattr__(self, "error", first_line(self.error))


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The searches of one question, in order, with what was read and cited.

    Attributes:
        calls: The searches, in the order in which the agent made them; those of one turn in the order in which the
            model asked for them.
        context: What the model that answered has read: ids or `Retrieved`. None if that is unknown, which is not the
            same as `()`, nothing.
        citations: What the answer cites, in its order; None if that is unknown, `()` if it cites nothing.

    Raises:
        TypeError: If a call is not a `SearchCall`, or the context or the citations are not a list.
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
        for earlier, later in itertools.pairwise(calls):
            if later.turn < earlier.turn:
                raise ValueError(
                    f"the search {later.query!r} of turn {later.turn} follows {earlier.query!r} of turn {earlier.turn}"
                    "; give the calls in the order in which they were made"
                )
        if self.context is not None:
            _require_ranking(self.context, "the context")
            object.__setattr__(self, "context", copy_ranking(self.context))
        if self.citations is not None:
            _require_ranking(self.citations, "the citations")
            object.__setattr__(self, "citations", copy_ranking(self.citations))
        object.__setattr__(self, "calls", copy_ranking(calls))

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(call.error is not None for call in self.calls)

    @property
    def unproductive(self) -> list[str]:
        """Why each call added nothing: it failed, returned nothing, or nothing new; empty if it added something."""
        earlier_keys: set[Any] = set()
        reasons: list[str] = []
        for call in self.calls:
            result_keys = set(map(result_key, call.ranking))
            if call.error is not None:
                reason = f"failed: {call.error}"
            elif not result_keys:
                reason = "no results"
            elif result_keys <= earlier_keys:
                reason = "nothing new"
            else:
                reason = ""
            reasons.append(reason)
            earlier_keys |= result_keys
        return reasons

    def properties(self) -> dict[str, float]:
        """Return properties that need no judgments, by name.

        - `calls`: how many searches; `failed`: how many of them failed
        - `retrieved`: how many documents all calls returned; `distinct`: how many different ones
        - `redundant`: the share of `retrieved` that an earlier rank or call had found
        - `no_new_results`: the share of the calls that found no new document, failed and empty calls among them
        - `not_in_context`: the share of `distinct` that the answering model did not read
        - `uncited`: the share of what it read that the answer does not cite
        - `cited_not_in_context`: the share of the citations that name nothing that was read

        A share is NaN if its denominator is 0, or if context or citations are unknown.

        Example:
            >>> calls = [SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2"]), SearchCall("c", error="timeout")]
            >>> properties = Trajectory(calls, context=["d1"]).properties()
            >>> properties["redundant"]  # of three documents one is a repeat
            0.3333333333333333
            >>> properties["no_new_results"], properties["not_in_context"]  # 2 of 3 calls; d2 of d1 and d2
            (0.6666666666666666, 0.5)
        """
        retrieved = list(itertools.chain.from_iterable(call.ranking for call in self.calls))
        distinct = set(map(result_key, retrieved))
        context = resolve_items(self.context or (), retrieved)
        read = None if self.context is None else set(map(result_key, context))
        cited = None
        if self.citations is not None:
            cited = set(map(result_key, resolve_items(self.citations, context)))
        n_unproductive = sum(reason != "" for reason in self.unproductive)
        return {
            "calls": float(len(self.calls)),
            "failed": float(self.failed),
            "retrieved": float(len(retrieved)),
            "distinct": float(len(distinct)),
            "redundant": _share(len(retrieved) - len(distinct), len(retrieved)),
            "no_new_results": _share(n_unproductive, len(self.calls)),
            "not_in_context": _share_outside(distinct, read),
            "uncited": _share_outside(read, cited),
            "cited_not_in_context": _share_outside(cited, read),
        }

    def __repr__(self) -> str:
        unknown = [name for name in ("context", "citations") if getattr(self, name) is None]
        unknown_note = f", {' and '.join(unknown)} unknown" if unknown else ""
        return f"<Trajectory: {format_count(len(self.calls), 'call')}, {self.failed} failed{unknown_note}>"


def result_key(item: object) -> Any:
    """Return the key by which two results are the same: the identity of the item, with its text if it has one."""
    if isinstance(item, Retrieved) and item.text:
        return (item_identity(item), item.text)
    return item_identity(item)


def resolve_items(ranking: Iterable[Any], items: Iterable[Any], *, keep_unknown_texts: bool = False) -> list[Any]:
    """Return the items that a ranking names, by id and text, else by id.

    Args:
        ranking: Ids or items.
        items: What they may name.
        keep_unknown_texts: Whether an item stays as it is if none of the items has its text; otherwise it is replaced
            by the items with its id.
    """
    items_by_key: dict[Any, list[Any]] = {}
    distinct_items = {result_key(item): item for item in items}
    for key, item in distinct_items.items():
        for item_key in {key, item_identity(item)}:
            items_by_key.setdefault(item_key, []).append(item)
    resolved: list[Any] = []
    for item in ranking:
        key = result_key(item)
        item_id = item_identity(item)
        named_items = items_by_key.get(key)
        has_text = key != item_id
        if not named_items and not (keep_unknown_texts and has_text):
            named_items = items_by_key.get(item_id)
        resolved += named_items or [item]
    return resolved


def first_line(error: str | BaseException) -> str:
    """Return what a report may show of an error: its first line, cut before a stack trace.

    Example:
        >>> first_line("ConnectionError: index offline Traceback (most recent call last): File '/home/...'")
        'ConnectionError: index offline'
    """
    text = redact_secrets(str(error))
    if isinstance(error, BaseException):
        text = describe_error(error)
    message = text.partition("Traceback (most recent call last)")[0].strip()
    line = message.partition("\n")[0].strip()
    return line or "failed without a message"


def in_rank_order(ranking: Ranking) -> Sequence[Any]:
    """Return the items of a ranking, best first; of equal scores, the greater id as text first, as in trec_eval."""
    if isinstance(ranking, Mapping):
        return rank_ids(ranking, TIES_BY_ID)
    return as_list(ranking, "a call")


def _share(part: int, total: int) -> float:
    return part / total if total else math.nan


def _share_outside(keys: set[Any] | None, other_keys: set[Any] | None) -> float:
    """Return the share of the keys that are not among the other keys; NaN if either are unknown."""
    if keys is None or other_keys is None:
        return math.nan
    return _share(len(keys - other_keys), len(keys))


def _require_ranking(ranking: Any, query: Any) -> None:
    if isinstance(ranking, Mapping):
        require_finite_scores(ranking, query)
    else:
        as_list(ranking, query)
