"""Run a retriever over many queries: concurrently, with progress, and without losing a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.event_loop import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from retrieval_metrics.inputs.answers import Match
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.types import QueryTexts, RunMapping

WORKERS = 8


def retrieve(
    retriever: Any,
    questions: QueryTexts | Questions,
    *,
    workers: int = WORKERS,
    timeout: float | None = None,
    retries: int = 0,
    show_progress: bool = False,
    raise_on_error: bool = False,
    match: Match = "id",
    check: Callable[[RunMapping], object] | None = None,
    items: Callable[[Any], Sequence[Retrieved]] | None = None,
    resume: str | PathLike[str] | None = None,
) -> RetrievedRun:
    """Ask a retriever every question and collect its rankings.

    The first question is asked alone and its answer is read before the others are asked: what is wrong with every
    answer, such as documents without ids, costs one question and is raised. If the answer is empty or the retriever
    fails, the next answer takes its place. A later answer that cannot be read is the failure of its query.

    Synchronous callers share one event loop per process, so that an asynchronous client can be used again by the next
    call. It works in a notebook and in any running loop too, and context variables of the caller reach the retriever.

    Args:
        retriever: A function of the text of a query that returns document ids, best first, a mapping of ids to scores,
            a list of `Retrieved`, or documents of an installed host; or an asynchronous function; or a retriever of an
            installed host (LangChain, LlamaIndex, Haystack). Synchronous functions run in threads.
        questions: Query texts by query id, or an `EvaluationSet`, by whose judgments the answers are then checked.
        workers: How many queries may be under way at once.
        timeout: Seconds that one attempt may take; a query that takes longer has failed with a `TimeoutError`. An
            asynchronous function is cancelled. A synchronous one cannot be: its thread is left behind and ends when the
            function returns, or with the program. None sets no limit.
        retries: How often a query that fails is asked again, after 0.5 seconds, then 1, 2, 4 ... and at most 30.
        show_progress: Show a progress bar on stderr; needs rich.
        raise_on_error: Raise the first failure instead of recording it.
        match: What the ids of an `EvaluationSet` are compared with, as in `evaluate`.
        check: Called with the first answer, as a run of one query, before the others are asked; what it raises is
            raised.
        items: Converts what the retriever returns into `Retrieved`, best first, where that is something else; None
            takes rankings as they are and leaves objects of a host to its integration.
        resume: A file such as `run.jsonl` that every answer is written to as it comes. If it is there already, only
            what is missing, failed or reworded in it is asked; `load` reads it as a run. Give every retriever a file of
            its own: which one answered is not recorded.

    Returns:
        The rankings in the order of the questions, with the errors of those that failed (they have an empty ranking)
        and the seconds of each.

    Raises:
        TypeError: If `retriever` is no retriever, `questions` are no query texts by id, or the first answer is no
            ranking.
        ValueError: If `workers` or `timeout` is not positive, `retries` is negative, or the first answer lacks what it
            is to be judged by; if `resume` is another file, or the metadata of an item is something that JSON cannot
            hold.
        OSError: If `resume` cannot be written.
        ImportError: If the retriever is of a host whose integration is not installed, or a progress bar is wanted and
            rich is not.

    Example:
        >>> run = retrieve(lambda text: ["d7", "d1"], {"q1": "what is a closure?"})
        >>> run["q1"], run.errors
        (['d7', 'd1'], {})
    """
    return run_until_complete(
        aretrieve(
            retriever,
            questions,
            workers=workers,
            timeout=timeout,
            retries=retries,
            show_progress=show_progress,
            raise_on_error=raise_on_error,
            match=match,
            check=check,
            items=items,
            resume=resume,
        )
    )


async def aretrieve(
    retriever: Any,
    questions: QueryTexts | Questions,
    *,
    workers: int = WORKERS,
    timeout: float | None = None,  # noqa: ASYNC109  (of each query, not of the whole)
    retries: int = 0,
    show_progress: bool = False,
    raise_on_error: bool = False,
    match: Match = "id",
    check: Callable[[RunMapping], object] | None = None,
    items: Callable[[Any], Sequence[Retrieved]] | None = None,
    resume: str | PathLike[str] | None = None,
) -> RetrievedRun:
    """Ask a retriever every question and collect its rankings, on the running event loop; the twin of `retrieve`.

    Arguments, result and errors are those of `retrieve`. Synchronous functions run in threads, so the loop stays free.
    Cancelling it cancels the queries that are under way.
    """
    # Imported here, because it brings asyncio, which costs as much to import as numpy.
    from retrieval_metrics.inputs.asking import Asking, ask_all  # noqa: PLC0415

    asking = Asking(
        retriever,
        questions,
        workers=workers,
        timeout=timeout,
        retries=retries,
        raise_on_error=raise_on_error,
        match=match,
        check=check,
        items=items,
        resume=resume,
    )
    (run,) = await ask_all([asking], show_progress=show_progress)
    return run
