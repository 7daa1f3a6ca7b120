"""Define a run that is made of the searches of an agent, and knows which call found each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.search_history import SearchHistory
from retrieval_metrics.traces.merged_searches import merge_searches
from retrieval_metrics.traces.trajectory import Trajectory, in_rank_order, result_key

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking
    from retrieval_metrics.traces.merged_searches import CallsView
    from retrieval_metrics.traces.trajectory import SearchCall

# The stages of each view: the name of the stage, and the view that makes its rankings.
STAGES: Mapping[str, Mapping[str, CallsView]] = {
    "union": {"union": "union"},
    "context": {"union": "union", "read": "context"},
    "cited": {"union": "union", "read": "context", "cited": "cited"},
}
# The stage before all others: the input of rerankers inside the calls.
INSIDE_CALLS = "inside calls"


class View(RetrievedRun, SearchHistory):
    """A run made of the searches of an agent: an ordinary run that also knows where its items come from.

    Attributes:
        trajectories: The trajectories by query id.
        origins: For each item of each ranking the number of the call that found it, and its rank in that call; (0, 0)
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
        self._view: CallsView = view
        self._per_call = per_call
        merged = {query: merge_searches(trajectory, view, per_call) for query, trajectory in trajectories.items()}
        self.origins = {query: ranking.origins for query, ranking in merged.items()}
        calls = None
        if all(ranking.in_call_order for ranking in merged.values()):
            calls = {query: ranking.calls for query, ranking in merged.items()}
        errors: dict[QueryId, Exception] = {}
        seconds: dict[QueryId, float] = {}
        for query, trajectory in trajectories.items():
            counted_calls = _counted_calls(trajectory, view)
            error = _find_error(counted_calls)
            if error is not None:
                errors[query] = RuntimeError(error)
            duration = _add_seconds(counted_calls)
            if duration is not None:
                seconds[query] = duration
        super().__init__(
            _unify_forms({query: ranking.ranking for query, ranking in merged.items()}),
            errors,
            seconds,
            calls=calls,
            stages=_find_stages(view, self.trajectories) if per_call is None else None,
        )

    def __repr__(self) -> str:
        return f"<View: {len(self)} queries, {len(self.errors)} failed>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.trajectories, self.questions, self._view, self._per_call)

    def require_an_answer(self) -> None:
        """Raise if every search of every question failed.

        All searches count, not only those of this view: a view of the last calls may hold failed calls alone.

        Raises:
            ValueError: If every search failed.
        """
        for trajectory in self.trajectories.values():
            if any(call.error is None for call in trajectory.calls):
                return
        super().require_an_answer()

    def require_judged_rows(self, judged: Container[QueryId]) -> None:
        """Raise if a judged question has rows of its own here, which its judgments do not name.

        Raises:
            ValueError: If so: the question would count as one for which nothing was retrieved.
        """
        for row, question in self.questions.items():
            if row != question and row not in judged and question in judged:
                raise ValueError(
                    f"each search of question {question!r} is a row of its own, such as {row!r}, for which qrels has "
                    "no judgments. Write evaluate(trajectories.judgments(qrels), ...), with the same trajectories."
                )

    def origin_of(self, query: QueryId, rank: int) -> tuple[int, int] | None:
        """Return the number of the call that found an item and its rank in that call; None if no call found it."""
        origins = self.origins.get(query, ())
        if rank > len(origins):
            return None
        call, rank_in_call = origins[rank - 1]
        return (call, rank_in_call) if call else None

    def search_notes(self, query: QueryId) -> list[tuple[str, str]]:
        """Return the query of each call, and the reason if it added nothing: it failed, or found nothing new."""
        trajectory = self.trajectories.get(query, Trajectory())
        reasons = trajectory.unproductive
        return [(call.query or "", reason) for call, reason in zip(trajectory.calls, reasons, strict=True)]

    def all_retrieved(self, query: QueryId) -> list[Retrieved]:
        """Return every item that the searches of a query found or that the model has read, each once."""
        trajectory = self.trajectories.get(query, Trajectory())
        rankings: list[Ranking] = []
        for call in trajectory.calls:
            rankings += [call.ranking, *call.inner_rankings]
        rankings += [trajectory.context or (), trajectory.citations or ()]
        items: dict[Any, Retrieved] = {}
        for ranking in rankings:
            for item in ranking:
                if isinstance(item, Retrieved):
                    items[result_key(item)] = item
        return list(items.values())

    def document_story(self, query: QueryId, is_document: Callable[[Any], bool]) -> str:
        """Return the history of a document, call by call: `found by call 2, repeated by call 3, not read`.

        Args:
            query: The query.
            is_document: Whether an item is the document, or holds it.
        """
        trajectory = self.trajectories.get(query)
        if trajectory is None:
            return ""
        finding_calls = []
        dropping_calls = []
        for number, call in enumerate(trajectory.calls, start=1):
            if any(map(is_document, call.ranking)):
                finding_calls.append(str(number))
            if any(any(map(is_document, ranking)) for ranking in call.inner_rankings):
                dropping_calls.append(str(number))
        events = []
        if finding_calls:
            events.append(f"found by call {finding_calls[0]}")
        elif dropping_calls:
            events.append(f"dropped inside call {dropping_calls[0]}")
        else:
            events.append("not found by any call")
        repeating_calls = finding_calls[1:]
        if repeating_calls:
            events.append(f"repeated by call {' and '.join(repeating_calls)}")
        for ranking, event in ((trajectory.context, "read"), (trajectory.citations, "cited")):
            if ranking is None:
                continue
            if any(map(is_document, ranking)):
                events.append(event)
            elif finding_calls:
                events.append(f"not {event}")
        return ", ".join(events)


def _counted_calls(trajectory: Trajectory, view: CallsView) -> Sequence[SearchCall]:
    """Return the calls whose failures and durations count in a view."""
    if view == "first":
        return trajectory.calls[:1]
    if view == "last":
        return trajectory.calls[-1:]
    return trajectory.calls


def _find_error(calls: Sequence[SearchCall]) -> str | None:
    """Return the error of the last call if every call failed; None if not, or without calls."""
    if not calls or any(call.error is None for call in calls):
        return None
    return str(calls[-1].error)


def _add_seconds(calls: Sequence[SearchCall]) -> float | None:
    """Return the seconds that calls took together; None if those of one are unknown, or without calls."""
    seconds = [call.seconds for call in calls if call.seconds is not None]
    if not calls or len(seconds) < len(calls):
        return None
    return sum(seconds)


def _find_stages(view: CallsView, trajectories: Mapping[QueryId, Trajectory]) -> dict[str, dict[QueryId, Any]]:
    """Return the stages of a view as runs, with the input of rerankers inside the calls as the first stage.

    A single stage would be the run itself, so none is returned then.
    """
    if view not in STAGES:
        return {}
    stages: dict[str, dict[QueryId, Any]] = {}
    reranked = {query: _find_inner_items(trajectory) for query, trajectory in trajectories.items()}
    if any(reranked.values()):
        stages[INSIDE_CALLS] = reranked
    for name, stage_view in STAGES[view].items():
        stages[name] = {
            query: merge_searches(trajectory, stage_view).ranking for query, trajectory in trajectories.items()
        }
    if len(stages) == 1:
        return {}
    return {name: _unify_forms(rankings) for name, rankings in stages.items()}


def _find_inner_items(trajectory: Trajectory) -> list[Any]:
    """Return what the steps inside the calls of a question found, each document once."""
    items: dict[Any, Any] = {}
    for call in trajectory.calls:
        for ranking in call.inner_rankings:
            for item in ranking:
                items[item_identity(item)] = item
    return list(items.values())


def _unify_forms(rankings: Mapping[QueryId, Ranking]) -> dict[QueryId, Any]:
    """Return rankings of `Retrieved` throughout if one of them holds any, because a run has one form."""
    if not any(_holds_items(ranking) for ranking in rankings.values()):
        return dict(rankings)
    return {query: _as_items(ranking) for query, ranking in rankings.items()}


def _holds_items(ranking: Ranking) -> bool:
    return any(isinstance(item, Retrieved) for item in ranking)


def _as_items(ranking: Ranking) -> list[Retrieved]:
    return [item if isinstance(item, Retrieved) else Retrieved(item) for item in in_rank_order(ranking)]
