"""Run a retriever over many queries: concurrently, with progress, and without losing a failure."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.inputs.progress import progress

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from retrieval_metrics.types import QueryId, QueryTexts, Ranking

    Retriever: TypeAlias = Callable[[str], Ranking | Awaitable[Ranking]]

WORKERS = 8


class RetrievedRun(dict[Any, Any]):
    """A run, and the errors of the queries that failed.

    A query whose retriever raised has an empty ranking, because a failure retrieves nothing: it scores 0 and is
    counted.

    Attributes:
        errors: The exception of each query that failed, by query id.
    """

    def __init__(self, rankings: Mapping[QueryId, Ranking], errors: Mapping[QueryId, Exception] | None = None) -> None:
        super().__init__(rankings)
        self.errors: dict[QueryId, Exception] = dict(errors or {})

    def __repr__(self) -> str:
        return f"<RetrievedRun: {len(self)} queries, {len(self.errors)} failed>"


def retrieve(
    retriever: Retriever,
    queries: QueryTexts,
    *,
    workers: int = WORKERS,
    show_progress: bool = False,
    raise_on_error: bool = False,
) -> RetrievedRun:
    """Ask a retriever every query and collect its rankings.

    Args:
        retriever: Called with the text of a query; returns a ranking, or an awaitable of one. A synchronous retriever
            runs in threads.
        queries: Query texts by query id.
        workers: How many queries may run at once.
        show_progress: Show a progress bar on stderr; needs rich.
        raise_on_error: Raise the first failure instead of recording it.

    Returns:
        The rankings in the order of the queries, with the errors of those that failed.

    Raises:
        TypeError: If the retriever cannot be called, or `queries` is not a mapping of ids to texts.
        ValueError: If `workers` is not positive.
        ImportError: If a progress bar is wanted and rich is not installed.

    Example:
        >>> run = retrieve(lambda text: ["d7", "d1"], {"q1": "what is a closure?"})
        >>> run["q1"], run.errors
        (['d7', 'd1'], {})
    """
    import asyncio  # noqa: PLC0415  (costs as much as numpy's import, and only this module needs it)

    work = aretrieve(retriever, queries, workers=workers, show_progress=show_progress, raise_on_error=raise_on_error)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # Inside a running loop (a notebook): another thread gets a loop of its own.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (as above)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def aretrieve(
    retriever: Retriever,
    queries: QueryTexts,
    *,
    workers: int = WORKERS,
    show_progress: bool = False,
    raise_on_error: bool = False,
) -> RetrievedRun:
    """Ask a retriever every query and collect its rankings; the asynchronous twin of `retrieve`.

    Args:
        retriever: Called with the text of a query; returns a ranking, or an awaitable of one. A synchronous retriever
            runs in threads, so the event loop stays free.
        queries: Query texts by query id.
        workers: How many queries may run at once.
        show_progress: Show a progress bar on stderr; needs rich.
        raise_on_error: Raise the first failure instead of recording it.

    Returns:
        The rankings in the order of the queries, with the errors of those that failed.

    Raises:
        TypeError: If the retriever cannot be called, or `queries` is not a mapping of ids to texts.
        ValueError: If `workers` is not positive.
        ImportError: If a progress bar is wanted and rich is not installed.
    """
    import asyncio  # noqa: PLC0415  (costs as much as numpy's import, and only this module needs it)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (as above)

    if not callable(retriever):
        raise TypeError(f"a retriever must be callable with the text of a query, got {type(retriever).__name__}")
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries must map query ids to texts, got {type(queries).__name__}")
    positive_integer(workers, "workers")
    answers: dict[Any, Ranking] = {}
    errors: dict[Any, Exception] = {}
    waiting = iter(queries.items())
    asynchronous = _is_async(retriever)

    async def work(pool: ThreadPoolExecutor, advance: Callable[[int], None]) -> None:
        loop = asyncio.get_running_loop()
        for query, text in waiting:  # one iterator for all workers: each takes the next query
            try:
                if asynchronous:
                    answer: Any = retriever(text)
                else:  # in the caller's context, where hosts keep their callbacks
                    answer = await loop.run_in_executor(pool, copy_context().run, retriever, text)
                answers[query] = await answer if inspect.isawaitable(answer) else answer
            except Exception as error:
                if raise_on_error:
                    error.add_note(f"while retrieving for query {query!r}")
                    raise
                errors[query] = error
            advance(len(answers) + len(errors))

    with progress("retrieving", len(queries), enabled=show_progress) as advance, ThreadPoolExecutor(workers) as pool:
        tasks = [asyncio.ensure_future(work(pool, advance)) for _ in range(min(workers, len(queries)))]
        try:
            await asyncio.gather(*tasks)
        finally:  # after a failure that is raised, or a cancellation, no worker starts another query
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return RetrievedRun({query: answers.get(query, []) for query in queries}, errors)


def _is_async(retriever: Any) -> bool:
    return inspect.iscoroutinefunction(retriever) or inspect.iscoroutinefunction(type(retriever).__call__)
