"""One run of an agent: its searches, and the rankings that they make."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics._internal.validation import format_argument, positive_integer
from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.inputs.retrieved_run import MergedRanking, RetrievedRun
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, rank_ids
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.items import Ranking


COUNT_COLUMNS = ("calls", "failed", "retrieved", "distinct")
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
        inner_rankings: Rankings of steps inside the call, such as the input of a reranker.

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
    inner_rankings: Sequence[Ranking] = ()

    def __post_init__(self) -> None:
        if self.query is not None and not isinstance(self.query, str):
            raise TypeError(f"the query of a search must be a text, or None if it is unknown, got {self.query!r}")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"the seconds of a search must be 0 or more, or None if unknown, got {self.seconds!r}")
        for ranking in (self.ranking, *self.inner_rankings):
            _check(ranking, self.query)
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
    def unproductive(self) -> list[str]:
        """Why each call added nothing: it failed, nothing came back, or nothing new; empty if it did."""
        seen: set[Any] = set()
        found: list[str] = []
        for call in self.calls:
            here = set(map(result_key, call.ranking))
            nothing = "" if here - seen else "nothing new" if here else "nothing came back"
            found.append(nothing if call.error is None else f"failed: {call.error}")
            seen |= here
        return found

    def properties(self) -> dict[str, float]:
        """Return what can be said without judgments, by name.

        - `calls`: how many searches; `failed`: how many of them failed
        - `retrieved`: how many documents came back over all calls; `distinct`: how many different ones
        - `redundant`: the share of `retrieved` that an earlier rank or call had found
        - `no_new_results`: the share of the calls that found no new document, failed and empty calls among them
        - `not_in_context`: the share of `distinct` that the answering model did not read
        - `uncited`: the share of what it read that the answer does not cite
        - `cited_not_in_context`: the share of the citations that name nothing that was read

        A share is NaN if there is nothing that it could be a share of, or if context or citations are unknown.

        Example:
            >>> calls = [SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2"]), SearchCall("c", error="timeout")]
            >>> found = Trajectory(calls, context=["d1"]).properties()
            >>> found["redundant"]  # of three documents one is a repeat
            0.3333333333333333
            >>> found["no_new_results"], found["not_in_context"]  # 2 of 3 calls; d2 of d1 and d2
            (0.6666666666666666, 0.5)
        """
        there = [item for call in self.calls for item in call.ranking]
        seen, retrieved, context = set(map(result_key, there)), len(there), named(self.context or (), there)
        read = None if self.context is None else set(map(result_key, context))
        cited = None if self.citations is None else set(map(result_key, named(self.citations, context)))
        return {
            "calls": float(len(self.calls)),
            "failed": float(self.failed),
            "retrieved": float(retrieved),
            "distinct": float(len(seen)),
            "redundant": _share(retrieved - len(seen), retrieved),
            "no_new_results": _share(sum(map(bool, self.unproductive)), len(self.calls)),
            "not_in_context": _share_outside(seen, read),
            "uncited": _share_outside(read, cited),
            "cited_not_in_context": _share_outside(cited, read),
        }

    def __repr__(self) -> str:
        unknown = [name for name in ("context", "citations") if getattr(self, name) is None]
        said = f", {' and '.join(unknown)} unknown" if unknown else ""
        return f"<Trajectory: {format_count(len(self.calls), 'call')}, {self.failed} failed{said}>"


def result_key(item: Any) -> Any:
    """Return what makes two finds the same: what makes items the same, and their text."""
    return (item_identity(item), item.text) if isinstance(item, Retrieved) and item.text else item_identity(item)


def named(ranking: Iterable[Any], items: Iterable[Any], *, keep: bool = False) -> list[Any]:
    """Return the items that a ranking names, by id and text, else by id; `keep` leaves a text that no item has."""
    by: dict[Any, list[Any]] = {}
    for item in {result_key(item): item for item in items}.values():
        for key in {result_key(item), item_identity(item)}:
            by.setdefault(key, []).append(item)

    def meant(item: Any) -> list[Any]:
        kept = keep and result_key(item) != item_identity(item)
        return by.get(result_key(item)) or (not kept and by.get(item_identity(item))) or [item]

    return [one for item in ranking for one in meant(item)]


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
    return rank_ids(ranking, TIES_BY_ID) if isinstance(ranking, Mapping) else as_list(ranking, "a call")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _share_outside(items: set[Any] | None, others: set[Any] | None) -> float:
    return math.nan if items is None or others is None else _share(len(items - others), len(items))


def _check(ranking: Any, query: Any) -> None:
    if isinstance(ranking, Mapping):
        require_finite_scores(ranking, query)
    else:
        as_list(ranking, query)


# One ranking from the searches of one question, and the runs that such rankings make.

CallsView: TypeAlias = Literal["interleaved", "union", "first", "last", "context", "cited"]
"""The views of one trajectory, by name."""

VIEW_FIELDS: Mapping[str, tuple[str, ...]] = {"context": ("context",), "cited": ("citations", "context")}
"""What must be known of a trajectory for a view."""
UNKNOWN = {
    "context": "what the answering model has read is unknown, which is not the same as nothing; a trace tells it if it "
    "holds the input of the model, and the texts of what was found",
    "citations": "what the answer cites is unknown, which is not the same as nothing; pass {}",
}


def merge_searches(trajectory: Trajectory, view: CallsView, per_call: int | None = None) -> MergedRanking:
    """Return the ranking that a view makes of a trajectory; of one search that is its own ranking, scores included.

    Example:
        >>> from retrieval_metrics import SearchCall, Trajectory
        >>> found = Trajectory([SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2", "d7"])], context=["d7"])
        >>> merge_searches(found, "union").ranking
        ['d1', 'd2', 'd7']
        >>> merge_searches(
        ...     found, "interleaved"
        ... ).ranking  # d2 is the first of the second call before it is the second here
        ['d1', 'd2', 'd7']
        >>> merge_searches(found, "context").ranking
        ['d7']
    """
    if view in VIEW_FIELDS:
        for name in VIEW_FIELDS[view]:
            if getattr(trajectory, name) is None:
                raise ValueError(UNKNOWN[name].format(format_argument(name)))
        return _placed(trajectory, _read_or_cited(trajectory, view))
    calls = trajectory.calls
    if not calls:
        return MergedRanking([])
    if len(calls) == 1 or view in {"first", "last"}:
        number = len(calls) if view == "last" else 1
        ranking = truncate_ranking(calls[number - 1].ranking, per_call)
        return MergedRanking(ranking, tuple((number, rank) for rank in range(1, len(ranking) + 1)))
    placed = [
        ((number, rank), item)
        for number, call in enumerate(calls, start=1)
        for rank, item in enumerate(in_order(call.ranking)[:per_call], start=1)
    ]
    if view == "interleaved":
        placed.sort(key=lambda one: one[0][::-1])
    found_by: dict[Any, int] = {}
    kept = [one for one in placed if found_by.setdefault(result_key(one[1]), one[0][0]) == one[0][0]]
    return MergedRanking([item for _, item in kept], tuple(place for place, _ in kept), view != "interleaved")


def truncate_ranking(ranking: Ranking, k: int | None) -> Any:
    """Return the first `k` of a ranking, in its form; None returns the ranking itself."""
    if k is None or len(ranking) <= k:
        return ranking
    first = in_order(ranking)[:k]
    return {item: ranking[item] for item in first} if isinstance(ranking, Mapping) else first


def _read_or_cited(trajectory: Trajectory, view: str) -> Any:
    """Return what was read, or what was cited of that, in its form."""
    read, cited = trajectory.context or (), trajectory.citations or ()
    if view == "context":
        return read
    there = set(map(result_key, read))
    if isinstance(cited, Mapping):
        return {item: score for item, score in cited.items() if item in there}
    return [item for item in named(cited, read) if result_key(item) in there]


def _placed(trajectory: Trajectory, ranking: Ranking) -> MergedRanking:
    """Return what was read or cited, with the places where it was found; an id stands for the item that was found."""
    union = merge_searches(trajectory, "union")
    found = in_order(union.ranking)
    at: dict[Any, tuple[int, int]] = {}
    for item, place in zip(found, union.origins, strict=True):
        at = {item_identity(item): place, result_key(item): place} | at
    items = named(in_order(ranking), found, keep=True)
    places = tuple(at.get(result_key(item), at.get(item_identity(item), (0, 0))) for item in items)
    return MergedRanking(
        items if any(isinstance(item, Retrieved) for item in items) else ranking, places, in_call_order=False
    )


class View(RetrievedRun):
    """A run made of the searches of an agent: an ordinary run that also knows where its items come from.

    Attributes:
        trajectories: The trajectories by query id.
        places: For each item of each ranking the number of the call that found it, and its rank in that call; (0, 0)
            if no call found it.
        questions: The question of each query id: another one if a question has several trajectories.
    """

    def __init__(
        self,
        trajectories: Mapping[QueryId, Trajectory],
        questions: Mapping[QueryId, Any],
        view: CallsView,
        per_call: int | None = None,
    ) -> None:
        self.trajectories = dict(trajectories)
        self.questions = dict(questions)
        self._made_by = view, per_call
        seen = {query: merge_searches(one, view, per_call) for query, one in trajectories.items()}
        self.origins = {query: one.origins for query, one in seen.items()}
        part = {"first": slice(1), "last": slice(-1, None)}.get(view, slice(None))
        calls = {query: one.calls[part] for query, one in trajectories.items() if one.calls}
        errors = {query: [call.error for call in of_query] for query, of_query in calls.items()}
        seconds = {query: [call.seconds for call in of_query] for query, of_query in calls.items()}
        ordered = all(one.in_call_order for one in seen.values())
        super().__init__(
            _of_one_form({query: one.ranking for query, one in seen.items()}),
            {query: RuntimeError(str(said[-1])) for query, said in errors.items() if None not in said},
            {query: sum(took) for query, took in seconds.items() if None not in took},  # type: ignore[arg-type]
            calls={query: one.calls for query, one in seen.items()} if ordered else None,
            stages=_steps_to(view, self.trajectories) if per_call is None else None,
        )

    def __repr__(self) -> str:
        return f"<View: {len(self)} queries, {len(self.errors)} failed>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.trajectories, self.questions, *self._made_by)

    def require_an_answer(self) -> None:
        """Raise if every search of every question failed; that one view has none that did not is no such failure.

        Raises:
            ValueError: If so.
        """
        if all(call.error is not None for trajectory in self.trajectories.values() for call in trajectory.calls):
            super().require_an_answer()

    def require_judged_rows(self, judged: Container[QueryId]) -> None:
        """Raise if a judged question has rows of its own here, which its judgments do not name.

        Raises:
            ValueError: If so: the question would count as one for which nothing was retrieved.
        """
        for row, question in self.questions.items():
            if row != question and row not in judged and question in judged:
                raise ValueError(
                    f"the searches of question {question!r} are rows of their own, such as {row!r}, and the judgments "
                    "do not name them; evaluate(trajectories.judgments(qrels), ...), of the same trajectories"
                )

    def origin_of(self, query: QueryId, rank: int) -> tuple[int, int] | None:
        """Return the number of the call that found an item and its rank in that call; None if no call found it."""
        places = self.origins.get(query, ())
        return places[rank - 1] if rank <= len(places) and places[rank - 1][0] else None

    def search_notes(self, query: QueryId) -> list[tuple[str, str]]:
        """Return what each call asked for, and why it added nothing if so: it failed, or found what was known."""
        trajectory = self.trajectories.get(query, Trajectory())
        return [(call.query or "", why) for call, why in zip(trajectory.calls, trajectory.unproductive, strict=True)]

    def all_retrieved(self, query: QueryId) -> list[Retrieved]:
        """Return every item that the searches of a query found or that the model has read, each once."""
        one = self.trajectories.get(query, Trajectory())
        rankings = [ranking for call in one.calls for ranking in (call.ranking, *call.inner_rankings)]
        found = {
            result_key(item): item
            for ranking in (*rankings, one.context or (), one.citations or ())
            for item in ranking
            if isinstance(item, Retrieved)
        }
        return list(found.values())

    def document_story(self, query: QueryId, wanted: Callable[[Any], bool]) -> str:
        """Return what became of a document, call by call: `found by call 2, repeated by call 3, not read`.

        Args:
            query: The query.
            wanted: Whether an item is the document, or holds it.
        """
        trajectory = self.trajectories.get(query)
        if trajectory is None:
            return ""

        def holds(ranking: Ranking | None) -> bool:
            return any(map(wanted, ranking or ()))

        found = [str(number) for number, call in enumerate(trajectory.calls, start=1) if holds(call.ranking)]
        cut = [str(n) for n, call in enumerate(trajectory.calls, start=1) if any(map(holds, call.inner_rankings))]
        said = [f"found by call {found[0]}"] if found else []
        if not found:
            said += [f"dropped inside call {cut[0]}" if cut else "found by no call"]
        if found[1:]:
            said += [f"repeated by call {' and '.join(found[1:])}"]
        for ranking, what in ((trajectory.context, "read"), (trajectory.citations, "cited")):
            if ranking is not None and (found or holds(ranking)):
                said += [what if holds(ranking) else f"not {what}"]
        return ", ".join(said)


STEPS: Mapping[str, Sequence[tuple[str, CallsView]]] = {
    "union": [("union", "union")],
    "context": [("union", "union"), ("read", "context")],
    "cited": [("union", "union"), ("read", "context"), ("cited", "cited")],
}
"""The steps to a view, each with the view that it holds."""


def _steps_to(view: CallsView, trajectories: Mapping[QueryId, Trajectory]) -> dict[str, dict[QueryId, Any]]:
    """Return the steps to a view as runs, before them what rerankers inside the calls were given; none if it is one."""
    inside: dict[QueryId, Any] = {
        query: list(
            {item_identity(item): item for call in one.calls for part in call.inner_rankings for item in part}.values()
        )
        for query, one in trajectories.items()
    }
    steps: dict[str, dict[QueryId, Any]] = {"inside calls": inside} if any(inside.values()) else {}
    for name, of in STEPS.get(view, ()):
        steps[name] = {query: merge_searches(one, of).ranking for query, one in trajectories.items()}
    return {name: _of_one_form(step) for name, step in steps.items()} if len(steps) > 1 and view in STEPS else {}


def _of_one_form(rankings: Mapping[QueryId, Ranking]) -> dict[QueryId, Any]:
    """Return rankings of `Retrieved` throughout if one of them holds any, because a run has one form."""
    if not any(isinstance(item, Retrieved) for ranking in rankings.values() for item in ranking):
        return dict(rankings)
    return {
        query: [item if isinstance(item, Retrieved) else Retrieved(item) for item in in_order(ranking)]
        for query, ranking in rankings.items()
    }
