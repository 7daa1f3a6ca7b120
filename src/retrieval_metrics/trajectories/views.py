"""One ranking from the searches of one question, and the runs that such rankings make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.checks import argument
from retrieval_metrics.inputs.items import Retrieved, identity
from retrieval_metrics.inputs.run import RetrievedRun, Seen
from retrieval_metrics.trajectories.trajectory import Trajectory, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Ranking

CallsView: TypeAlias = Literal["interleaved", "union", "first", "last", "context", "cited"]
"""The views of one trajectory, by name."""

KNOWN: Mapping[str, tuple[str, ...]] = {"context": ("context",), "cited": ("citations", "context")}
"""What must be known of a trajectory for a view."""
UNKNOWN = {
    "context": "what the answering model has read is unknown, which is not the same as nothing; a trace tells it if it "
    "holds the input of the model, and the texts of what was found",
    "citations": "what the answer cites is unknown, which is not the same as nothing; pass {}",
}


def seen_in(trajectory: Trajectory, view: CallsView, per_call: int | None = None) -> Seen:
    """Return the ranking that a view makes of a trajectory; of one search that is its own ranking, scores included.

    An item that an earlier search has found is left out; a repeat within one search stays a repeat.

    Args:
        trajectory: The searches, and what came of them.
        view: `"union"`, all items in the order of the calls; `"interleaved"`, the first of each call, then the second
            of each; `"first"` or `"last"`, the items of one call, failed or not; `"context"`, what the model that
            answered has read; `"cited"`, what of that the answer cites.
        per_call: Only the first so many items of each call; None takes all.

    Raises:
        ValueError: If what the model has read, or what the answer cites, is needed and unknown.

    Example:
        >>> from retrieval_metrics import SearchCall, Trajectory
        >>> found = Trajectory([SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2", "d7"])], context=["d7"])
        >>> seen_in(found, "union").ranking
        ['d1', 'd2', 'd7']
        >>> seen_in(found, "interleaved").ranking  # d2 is the first of the second call before it is the second here
        ['d1', 'd2', 'd7']
        >>> seen_in(found, "context").ranking
        ['d7']
    """
    if view in KNOWN:
        for name in KNOWN[view]:
            if getattr(trajectory, name) is None:
                raise ValueError(UNKNOWN[name].format(argument(name)))
        return _placed(trajectory, _read_or_cited(trajectory, view))
    calls = trajectory.calls
    if not calls:
        return Seen([])
    if len(calls) == 1 or view in {"first", "last"}:
        number = len(calls) if view == "last" else 1
        ranking = first_of(calls[number - 1].ranking, per_call)
        return Seen(ranking, tuple((number, rank) for rank in range(1, len(ranking) + 1)))
    placed = [
        ((number, rank), item)
        for number, call in enumerate(calls, start=1)
        for rank, item in enumerate(in_order(call.ranking)[:per_call], start=1)
    ]
    if view == "interleaved":
        placed.sort(key=lambda one: one[0][::-1])
    found_by: dict[Any, int] = {}
    kept = [one for one in placed if found_by.setdefault(identity(one[1]), one[0][0]) == one[0][0]]
    return Seen([item for _, item in kept], tuple(place for place, _ in kept), view != "interleaved")


def first_of(ranking: Ranking, k: int | None) -> Any:
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
    there = set(map(identity, read))
    if isinstance(cited, Mapping):
        return {item: score for item, score in cited.items() if item in there}
    return [item for item in cited if identity(item) in there]


def _placed(trajectory: Trajectory, ranking: Ranking) -> Seen:
    """Return what was read or cited, with the places where it was found; an id stands for the item that was found."""
    union = seen_in(trajectory, "union")
    found: dict[Any, tuple[Any, tuple[int, int]]] = {}
    for item, place in zip(in_order(union.ranking), union.places, strict=True):
        found.setdefault(identity(item), (item, place))
    told = [(item, *found.get(identity(item), (item, (0, 0)))) for item in in_order(ranking)]
    items = [item if isinstance(item, Retrieved) else known for item, known, _ in told]
    if any(isinstance(item, Retrieved) for item in items):
        ranking = items
    return Seen(ranking, tuple(place for *_, place in told), in_call_order=False)


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
        seen = {query: seen_in(one, view, per_call) for query, one in trajectories.items()}
        self.places = {query: one.places for query, one in seen.items()}
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

    def place(self, query: QueryId, rank: int) -> tuple[int, int] | None:
        """Return the number of the call that found an item and its rank in that call; None if no call found it."""
        places = self.places.get(query, ())
        return places[rank - 1] if rank <= len(places) and places[rank - 1][0] else None

    def searches(self, query: QueryId) -> list[tuple[str, str]]:
        """Return what each call asked for, and why it added nothing if so: it failed, or found what was known."""
        trajectory = self.trajectories.get(query, Trajectory())
        return [(call.query or "", why) for call, why in zip(trajectory.calls, trajectory.in_vain, strict=True)]

    def everything(self, query: QueryId) -> list[Retrieved]:
        """Return every item that the searches of a query found or that the model has read, each once."""
        one = self.trajectories.get(query, Trajectory())
        rankings = [ranking for call in one.calls for ranking in (call.ranking, *call.before)]
        found = {
            identity(item): item
            for ranking in (*rankings, one.context or (), one.citations or ())
            for item in ranking
            if isinstance(item, Retrieved)
        }
        return list(found.values())

    def story(self, query: QueryId, wanted: Callable[[Any], bool]) -> str:
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
        cut = [str(n) for n, call in enumerate(trajectory.calls, start=1) if any(map(holds, call.before))]
        said = [f"found by call {found[0]}"] if found else []
        if not found:
            said += [f"dropped inside call {cut[0]}" if cut else "found by no call"]
        if found[1:]:
            said += [f"repeated by call {' and '.join(found[1:])}"]
        for ranking, what in ((trajectory.context, "read"), (trajectory.citations, "cited")):
            if ranking is not None and (found or holds(ranking)):
                said += [what if holds(ranking) else f"not {what}"]
        return ", ".join(said)


def _of_one_form(rankings: Mapping[QueryId, Ranking]) -> dict[QueryId, Any]:
    """Return rankings of `Retrieved` throughout if one of them holds any, because a run has one form."""
    if not any(isinstance(item, Retrieved) for ranking in rankings.values() for item in ranking):
        return dict(rankings)
    return {
        query: [item if isinstance(item, Retrieved) else Retrieved(item) for item in in_order(ranking)]
        for query, ranking in rankings.items()
    }
