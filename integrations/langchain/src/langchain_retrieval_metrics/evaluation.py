"""Evaluate any retriever of LangChain: ask it every question, and score the documents with the core."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from langchain_retrieval_metrics.documents import as_items, key_of, needs_ids
from retrieval_metrics import (
    DEFAULT_METRICS,
    EvaluationSet,
    Matching,
    Qrels,
    Retrieved,
    aretrieve,
    evaluate,
    retrieve,
)
from retrieval_metrics.adapting import WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.runnables import RunnableConfig

    from langchain_retrieval_metrics.documents import Match
    from retrieval_metrics import Evaluation, Metric, Rules

Documents: TypeAlias = Sequence[Document]
Retriever: TypeAlias = Runnable[str, Documents] | Callable[[str], Documents | Awaitable[Documents]]
"""A BaseRetriever, any other Runnable from a text to Documents, or a plain function."""


def evaluate_retriever(
    retriever: Retriever,
    dataset: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: Match = "id",
    semantics: str | Rules = "standard",
    max_concurrency: int = WORKERS,
    show_progress: bool = False,
    raise_on_error: bool = False,
    config: RunnableConfig | None = None,
) -> Evaluation:
    """Ask a retriever every question of a dataset, several at a time, and score what it returns.

    Args:
        retriever: A BaseRetriever, any other Runnable from a text to Documents (`prompt | chain | retriever`), or a
            function. It is invoked in threads.
        dataset: Rows `{"query": ..., "relevant": ...}`, pairs `(query, relevant)`, or anything else that the core's
            `EvaluationSet.of` reads. Relevant is a list of ids, `{id: grade}`, or groups `[[id, id], [id]]` of which
            all are needed and one member suffices. A `Quote`, `Text`, `Span` or `Metadata` of the core may stand for an
            id: quotes and texts are found in `page_content`, spans by `metadata["source"]` and
            `metadata["start_index"]`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What an id of the judgments is compared with: `"id"`, `"metadata:<key>"`, `"content"`, a function of a
            Document, or the core's `Matching`. Several chunks of one `metadata:<key>` keep their places and the first
            counts; `Matching(by="metadata:<key>", collapse=True)` ranks each key once.
        semantics: The rules for what libraries treat differently; see the core's `evaluate`.
        max_concurrency: How many questions may be under way at once.
        show_progress: Show a progress bar on stderr.
        raise_on_error: Raise the first failure of the retriever. Otherwise a question that fails scores 0, because it
            retrieved nothing; it is counted, warned of, and its exception is in `errors` of the result.
        config: The config of LangChain (callbacks, tags, metadata, configurable) for every call.

    Returns:
        The core's result: means and counts (print it), `per_query`, `errors`, `to_pandas()`.

    Raises:
        TypeError: If the dataset has another shape, or the retriever returns anything but Documents.
        ValueError: If the dataset is empty or incomplete, a metric unknown, or a document lacks what it is to be judged
            by, such as an id.

    Warns:
        RetrievalWarning: If nothing was retrieved for a question, or nothing that was retrieved is judged anywhere.

    Example:
        >>> documents = [Document("a closure is", id="naming#2"), Document("yield gives", id="yield#1")]
        >>> result = evaluate_retriever(lambda query: documents, [("what does yield do?", ["yield#1"])], "mrr")
        >>> result.means["mrr"]  # 1/2
        0.5
    """
    judge = _Judge(dataset, match)
    run = retrieve(
        _synchronous(retriever, config),
        judge.questions.queries,
        items=judge.items,
        workers=max_concurrency,
        show_progress=show_progress,
        raise_on_error=raise_on_error,
    )
    return evaluate(judge.qrels, run, metrics, semantics=semantics, match=judge.match)


async def aevaluate_retriever(
    retriever: Retriever,
    dataset: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: Match = "id",
    semantics: str | Rules = "standard",
    max_concurrency: int = WORKERS,
    show_progress: bool = False,
    raise_on_error: bool = False,
    config: RunnableConfig | None = None,
) -> Evaluation:
    """Ask a retriever every question of a dataset and score what it returns; the twin of `evaluate_retriever`.

    Arguments, result and errors are the same; the retriever is asked by `ainvoke`, or awaited if it is a function.
    """
    judge = _Judge(dataset, match)
    run = await aretrieve(
        _asynchronous(retriever, config),
        judge.questions.queries,
        items=judge.items,
        workers=max_concurrency,
        show_progress=show_progress,
        raise_on_error=raise_on_error,
    )
    return evaluate(judge.qrels, run, metrics, semantics=semantics, match=judge.match)


class _Judge:
    """The questions, their judgments, and what is compared with them; read before the first question is asked."""

    def __init__(self, dataset: Any, match: Match) -> None:
        key_of(match)  # what is wrong with it is said now
        self.questions = EvaluationSet.of(dataset)
        self.qrels = Qrels(self.questions.qrels)
        self.match = match if isinstance(match, Matching) else "id"
        self._named_by = match
        self._by_id = needs_ids(self.qrels)

    def items(self, documents: Any) -> list[Retrieved]:
        """Return what was retrieved for a query as items of the core."""
        return as_items(documents, self._named_by, by_id=self._by_id)


def _synchronous(retriever: Any, config: RunnableConfig | None) -> Any:
    if isinstance(retriever, Runnable):
        return lambda text: retriever.invoke(text, config)
    _require_callable(retriever)
    return retriever


def _asynchronous(retriever: Any, config: RunnableConfig | None) -> Any:
    if not isinstance(retriever, Runnable):
        _require_callable(retriever)
        return retriever

    async def ask(text: str) -> Any:
        return await retriever.ainvoke(text, config)

    return ask


def _require_callable(retriever: Any) -> None:
    if not callable(retriever):
        hint = "; write store.as_retriever()" if hasattr(retriever, "as_retriever") else ""
        raise TypeError(
            f"a retriever must be a Runnable such as a BaseRetriever, or a function, got {retriever!r}{hint}"
        )
