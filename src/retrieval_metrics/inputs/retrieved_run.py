"""The run of a retriever with its failures, durations and stages, and with the calls that found each item."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.run import load_into_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking


class MergedRanking(NamedTuple):
    """One ranking made of several searches, and which of them found each item.

    Attributes:
        ranking: The items, best first.
        origins: The number of the call that found each item, from 1, and its rank in that call.
        in_call_order: Whether the items are in the order of the calls.
        failure: Why nothing was found, if every search failed.
    """

    ranking: Ranking
    origins: tuple[tuple[int, int], ...] = ()
    in_call_order: bool = True
    failure: str | None = None

    @property
    def calls(self) -> list[int]:
        """The number of the call that found each item; empty if the items are not in the order of the calls."""
        if not self.in_call_order:
            return []
        return [call for call, _ in self.origins]


class RetrievedRun(dict[Any, Any]):
    """A run, with the errors of the queries that failed and the seconds that each query took.

    A failed query has an empty ranking, because nothing was retrieved for it: it scores 0 and is counted.

    Attributes:
        errors: The exception of each failed query, by query id.
        seconds: How long the retriever took for each query, by query id; for several attempts, the last. Other queries
            under way at the same time (`workers`) slow it down, as they would in production.
        calls: For the searches of an agent: the number of the call that found each item of a ranking, by query id. It
            is what cutoffs such as `recall@3calls` count; empty for a retriever.
        stages: The run after each stage of the retriever, by name and in order; the last one is this run. A question
            that did not reach a stage is not in its run. Empty if the stages are unknown.
        takes_documents: By stage whether it was given documents; one that was not is a source, which searches for
            itself and loses nothing. LangChain, LlamaIndex and Haystack record it, and `sources=["bm25", "dense"]`
            states it. A stage is absent if it is unknown; the rankings then decide, see `Stages.first_stage`.

    Example:
        >>> run = RetrievedRun({"q1": ["d7"], "q2": []}, {"q2": TimeoutError("too slow")}, {"q1": 0.02, "q2": 5.0})
        >>> run
        <RetrievedRun: 2 queries, 1 failed>
        >>> bm25, reranked = {"q1": ["d3"], "q2": ["d7", "d1"]}, {"q1": ["d3"], "q2": ["d1", "d7"]}  # two files
        >>> RetrievedRun(reranked, stages={"bm25": bm25, "reranked": reranked})
        <RetrievedRun: 2 queries, 0 failed; bm25, reranked>
    """

    def __init__(
        self,
        rankings: Mapping[Any, Ranking],
        errors: Mapping[QueryId, Exception] | None = None,
        seconds: Mapping[QueryId, float] | None = None,
        *,
        calls: Mapping[QueryId, Sequence[int]] | None = None,
        stages: Mapping[str, Mapping[Any, Ranking]] | None = None,
        sources: Collection[str] | None = None,
        takes_documents: Mapping[str, bool] | None = None,
    ) -> None:
        # Imported here because the runs of most callers have no stages.
        from retrieval_metrics.inputs.stage_rankings import declare_sources, with_final_stage

        super().__init__(load_into_memory(rankings))
        self.errors: dict[QueryId, Exception] = dict(errors or {})
        self.seconds: dict[QueryId, float] = dict(seconds or {})
        self.calls: dict[QueryId, Sequence[int]] = dict(calls or {})
        loaded_stages = {name: load_into_memory(run) for name, run in (stages or {}).items()}
        self.stages: dict[str, Mapping[Any, Any]] = with_final_stage(loaded_stages, self, self.errors)
        self.takes_documents: dict[str, bool] = dict(takes_documents or {})
        if sources is not None:
            self.takes_documents = declare_sources(self.stages, sources)

    def with_rankings(self, rankings: Mapping[Any, Any], stages: Mapping[str, Mapping[Any, Any]]) -> RetrievedRun:
        """Return a run of the same class with other rankings; the stage with these very rankings is the run itself."""
        run = type(self).__new__(type(self))
        vars(run).update(vars(self))
        dict.update(run, rankings)
        run.errors = dict(self.errors)
        run.seconds = dict(self.seconds)
        run.calls = {query: tuple(numbers) for query, numbers in self.calls.items()}
        run.stages = {name: run if stage is rankings else stage for name, stage in stages.items()}
        return run

    def __repr__(self) -> str:
        stage_names = f"; {', '.join(self.stages)}" if self.stages else ""
        return f"<RetrievedRun: {len(self)} queries, {len(self.errors)} failed{stage_names}>"

    def require_an_answer(self) -> None:
        """Raise if every query failed, because nothing can be concluded from such a run.

        Raises:
            ValueError: If every query failed. The message names the first failure, which is also the cause.
        """
        every_query_failed = self and len(self.errors) >= len(self)
        if every_query_failed:
            # Imported here because only an error needs it.
            from retrieval_metrics._internal.redaction import show_error

            query, error = next(iter(self.errors.items()))
            raise ValueError(
                f"there is nothing to evaluate: the retriever failed for every query, {len(self.errors)} of "
                f"{len(self)}; the first, {query!r}: {show_error(error)}"
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        errors = {query: _make_picklable(error) for query, error in self.errors.items()}
        rankings = dict(self)
        stages: dict[str, Mapping[Any, Any]] = {}
        for name, run in self.stages.items():
            stages[name] = rankings if run is self else run  # the last stage is this run, which would pickle itself
        return _restore, (type(self), rankings, errors, self.seconds, self.calls, stages, self.takes_documents)


def _restore(
    run_class: type[RetrievedRun],
    rankings: Mapping[Any, Ranking],
    errors: Mapping[QueryId, Exception],
    seconds: Mapping[QueryId, float],
    calls: Mapping[QueryId, Sequence[int]],
    stages: Mapping[str, Mapping[Any, Ranking]],
    takes_documents: Mapping[str, bool],
) -> RetrievedRun:
    """Create the run that was pickled; pickle passes arguments by position only."""
    return run_class(rankings, errors, seconds, calls=calls, stages=stages, takes_documents=takes_documents)


def _make_picklable(error: Exception) -> Exception:
    """Return an exception, or one with its message if it cannot be pickled, like the exceptions of many clients."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (made in the line itself)
    except Exception:
        # Imported here because few errors need it.
        from retrieval_metrics._internal.redaction import describe_error

        return RuntimeError(describe_error(error))
    return error
