"""Run a retriever over many queries, concurrently, with a progress bar and a record of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import arguments_of, passed_on
from retrieval_metrics.retrieving.event_loop import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from retrieval_metrics.inputs.items import QueryTexts, Retrieved, RunMapping
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.run import RetrievedRun
    from retrieval_metrics.judging.ranking_order import MatchBy

WORKERS = 8


async def aretrieve(
    retriever: Any,
    questions: QueryTexts | Questions,
    *,
    workers: int = WORKERS,
    timeout: float | None = None,  # noqa: ASYNC109  (of each query, not of the whole)
    retries: int = 0,
    show_progress: bool = False,
    raise_on_error: bool = False,
    match: MatchBy = "id",
    check: Callable[[RunMapping], object] | None = None,
    items: Callable[[Any], Sequence[Retrieved]] | None = None,
    resume: str | PathLike[str] | None = None,
) -> RetrievedRun:
    """Ask a retriever every question and collect its rankings, on the running event loop.

    This is the asynchronous twin of `retrieve`, with the same arguments, result and errors. Synchronous functions run
    in threads and do not block the loop. Cancelling it cancels the queries that are under way.
    """
    # Imported here, because it imports asyncio, which takes as long as numpy.
    from retrieval_metrics.retrieving.asking import Asking, ask_all  # noqa: PLC0415

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


@arguments_of(aretrieve)
def retrieve(*args: Any, **options: Any) -> RetrievedRun:  # noqa: D417  (they are those of aretrieve)
    """Ask a retriever every question and collect its rankings.

    The first question is asked alone, and its answer is checked before the others are asked. An error in every answer,
    such as documents without ids, is thus raised after one question. If the first answer is empty or the retriever
    fails, the next answer is checked instead. A later answer that cannot be read is a failure of its query.

    A setup error is no score: where the first three queries fail with the same words, or all fail, the first failure is
    raised. Where some fail, they have empty rankings, score 0 and are listed in `errors`.

    Retrievers of hosts are asked in threads, by their synchronous way, so that their asynchronous clients meet only the
    event loop of `aretrieve` and of your own `await`. What can only be awaited runs in one event loop that all
    synchronous calls of the process share; an asynchronous client used there and in your own loop as well breaks, and
    the error or a warning says so. It works in notebooks and in any running loop, and the retriever sees the context
    variables of the caller.

    Args:
        retriever: A synchronous or asynchronous function of a query text that returns document ids, best first, a
            mapping of ids to scores, a list of `Retrieved`, or documents of an installed host; or a retriever of an
            installed host (LangChain, LlamaIndex, Haystack). Synchronous functions run in threads.
        questions: Query texts by query id, or an `EvaluationSet`. With the latter, judgments are checked before the
            first question, and answers against the judgments.
        workers: How many queries may be under way at once.
        timeout: Seconds that one attempt may take; a slower query fails with a `TimeoutError`. Asynchronous functions
            are cancelled. Synchronous ones cannot be: their thread is abandoned and ends when the function returns, or
            with the program. None sets no limit.
        retries: How often a failed query is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30.
        show_progress: Show a progress bar on stderr; needs rich.
        raise_on_error: Raise the first failure instead of recording it.
        match: What the judgments of an `EvaluationSet` are compared with, as in `evaluate`.
        check: Called with the first answer, as a run of one query, before the others are asked. Its exceptions are
            raised.
        items: Converts an answer of the retriever into `Retrieved`, best first. None takes rankings as they are, and
            converts objects of a host with its integration.
        resume: A file such as `run.jsonl` to which every answer is written as it arrives. If it exists, only questions
            without an answer, with a failure or with a new text are asked. `load` reads it as a run. Use one file per
            retriever: the file does not record which retriever answered.

    Returns:
        The rankings in the order of the questions, with the errors of failed queries, whose rankings are empty, and the
        seconds of each.

    Raises:
        TypeError: If `retriever` is not a retriever, `questions` are not query texts by id, or the first answer is not
            a ranking.
        ValueError: If `workers` or `timeout` is not positive, `retries` is negative, a judgment can be found in no
            answer, such as a quote that is too short, or the first answer cannot be judged; if `resume` is not such a
            file, or JSON cannot hold the metadata of an item.
        OSError: If `resume` cannot be written.
        ImportError: If the retriever is of a host whose integration is not installed, or `show_progress` is set and
            rich is not installed.
        Exception: The failure of the first query, if the first ones fail alike or all fail.

    Example:
        >>> run = retrieve(lambda text: ["d7", "d1"], {"q1": "what is a closure?"})
        >>> run["q1"], run.errors
        (['d7', 'd1'], {})
    """
    return run_until_complete(passed_on("retrieve", aretrieve, args, options))
