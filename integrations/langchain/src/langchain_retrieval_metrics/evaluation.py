"""Ask any retriever of LangChain every question of a dataset, and evaluate the documents that it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from langchain_retrieval_metrics.documents import convert_items, get_key
from langchain_retrieval_metrics.retriever_functions import RefusedAnswer, resolve_retriever
from langchain_retrieval_metrics.stage_recording import with_stages
from retrieval_metrics import DEFAULT_METRICS, Retrieved, aretrieve, retrieve
from retrieval_metrics.integration_api.async_support import (
    WORKERS,
    forward_arguments,
    positive_integer,
    takes_arguments_of,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from retrieval_metrics import Evaluation, Metric, Rules
    from retrieval_metrics.integration_api import EvaluationTask, RetrieverFunctions, StageRankings
    from retrieval_metrics.types import ClustersBy, Exclude, MatchBy, QuestionDataset

DocumentList: TypeAlias = Sequence[Document]
Answer: TypeAlias = DocumentList | Mapping[str, Any]
# A BaseRetriever, any other Runnable from a text to Documents, a chain whose answer holds them, or a function.
LangChainRetriever: TypeAlias = (
    Runnable[str, DocumentList] | Runnable[str, dict[str, Any]] | Callable[[str], Answer | Awaitable[Answer]]
)
# The Documents that chunks were cut from, as a loader returns them, or their texts by source.
LoadedDocuments: TypeAlias = Iterable[Document] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _PreparedEvaluation:
    """The functions that ask a retriever, the other arguments of `rm.retrieve`, and the task that evaluates the run."""

    functions: RetrieverFunctions
    retrieve_arguments: dict[str, Any]
    evaluation: EvaluationTask


def _prepare_evaluation(
    retriever: LangChainRetriever,
    dataset: QuestionDataset,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: MatchBy = "id",
    rules: str | Rules = "standard",
    clusters: ClustersBy = "source",
    query_key: str | None = None,
    documents_key: str | None = None,
    tools: str | Collection[str] = (),
    max_concurrency: int = WORKERS,
    timeout: float | None = None,
    retries: int = 0,
    show_progress: bool = False,
    raise_on_error: bool = False,
    config: RunnableConfig | None = None,
    documents: LoadedDocuments | None = None,
    exclude: Exclude | None = None,
) -> _PreparedEvaluation:
    """Check the arguments of `evaluate_retriever` before anything is asked."""
    # Imported here because only evaluating needs it, and importing this package should cost little beside LangChain.
    from retrieval_metrics.integration_api import EvaluationTask

    evaluation = EvaluationTask(
        dataset, metrics, match, rules=rules, clusters=clusters, documents=documents, exclude=exclude
    )
    functions = resolve_retriever(retriever, config, query_key, tools, documents_key, with_stages=True)
    retrieve_arguments = evaluation.retrieve_arguments | {
        "convert": partial(convert_answer, documents_key=documents_key),
        "workers": choose_n_workers(max_concurrency, config),
        "timeout": timeout,
        "retries": retries,
        "show_progress": show_progress,
        "raise_on_error": raise_on_error,
    }
    return _PreparedEvaluation(functions, retrieve_arguments, evaluation)


@takes_arguments_of(_prepare_evaluation)
def evaluate_retriever(*args: Any, **options: Any) -> Evaluation:
    """Run a retriever on every question of a dataset, several at a time, and score the results.

    Args:
        retriever: A BaseRetriever, any other Runnable from a text to Documents (`prompt | chain | retriever`), or a
            function. It is invoked in threads, or awaited if it is only asynchronous.
        dataset: Rows `{"query": ..., "relevant": ...}`, pairs `(query, relevant)`, LangSmith's `Example`s or rows
            `{"inputs": {"query": ...}, "outputs": {"relevant": ...}}`, or anything else that the core's
            `EvaluationSet.from_dataset` reads. `relevant` is a list of ids, `{id: grade}`, or groups `[[id, id], [id]]`
            that are all needed, each by any of its members. A `Quote`, `Text`, `Span` or `Metadata` of the core can
            replace an id: quotes and texts are searched for in `page_content`, spans are compared with
            `metadata["source"]` and `metadata["start_index"]`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What an id of the judgments is compared with: `"id"`, `"source"`, `"metadata:<key>"`, a function of
            the core's `Retrieved` such as `lambda item: item.text`, or its `Matching`. Several chunks with one
            `metadata:<key>` keep their ranks, and the first counts; `Matching(by="metadata:<key>", deduplicate=True)`
            ranks each key once.
        rules: The rules for cases that libraries treat differently; see the core's `evaluate`.
        clusters: The clusters of the questions, for the intervals, as in the core's `evaluate`: a mapping of question
            ids to clusters, a function of the id, `"source"` (the document that a question comes from, if the dataset
            has it), or None.
        query_key: The key under which a chain takes the query, such as `"input"` for `create_retrieval_chain`; None
            passes the text, to a LangGraph agent as a message.
        documents_key: The key of the documents in the answer of a chain, such as `"context"` for
            `{"answer": ..., "context": ...}`; None for a retriever.
        tools: The names of an agent's tools that search without a retriever and keep their Documents as an
            artifact. The searches of retrievers are found without it.
        max_concurrency: How many questions may run at once.
        timeout: Seconds that one attempt may take, as in the core's `retrieve`.
        retries: How many times a failed question is repeated, as in the core's `retrieve`.
        show_progress: Show a progress bar on stderr.
        raise_on_error: Raise the first failure of the retriever. Otherwise a failed question scores 0, because nothing
            was retrieved; it is counted and warned of, and its exception is in `errors` of the result.
        config: The config of LangChain (callbacks, tags, metadata, configurable) for every call.
        documents: The Documents that the chunks were cut from, as a loader returns them, or their texts by source, if a
            `Span` is judged. Each chunk is then found in its document by its text, whatever the splitters recorded.
        exclude: Documents to leave out before scoring, as in the core's `evaluate`: `"query_id"`, or `{query: ids}`.

    Returns:
        The core's result: means and counts (print it), `per_query`, `errors`, `seconds`, `to_pandas()`.

    Raises:
        TypeError: If the dataset has another shape, the first answer is anything but Documents, or a chain takes a
            mapping and there is no `query_key`.
        ValueError: If the dataset is empty or incomplete, a metric is unknown, `clusters` has none of the questions, or
            a document of the first answer cannot be judged, for example because it has no id. In later answers, that is
            a failure of the question.
        Exception: The first failure, if every question failed.

    Warns:
        RetrievalWarning: If nothing was retrieved for a question, or no retrieved document is judged for its question.

    Example:
        >>> documents = [Document("a closure is", id="naming#2"), Document("yield gives", id="yield#1")]
        >>> result = evaluate_retriever(lambda query: documents, [("what does yield do?", ["yield#1"])], "mrr")
        >>> result.means["mrr"]  # 1/2
        0.5
    """
    task = forward_arguments("evaluate_retriever", _prepare_evaluation, args, options)
    run = retrieve(task.functions, **task.retrieve_arguments)
    return task.evaluation.evaluation(run)


@takes_arguments_of(_prepare_evaluation)
async def aevaluate_retriever(*args: Any, **options: Any) -> Evaluation:
    """Run a retriever on every question of a dataset, several at a time, and score the results.

    This is the asynchronous version of `evaluate_retriever`, with the same arguments, result and errors. It calls
    `ainvoke`, or awaits a function.
    """
    task = forward_arguments("aevaluate_retriever", _prepare_evaluation, args, options)
    run = await aretrieve(task.functions, **task.retrieve_arguments)
    return task.evaluation.evaluation(run)


def convert_answer(answer: object, documents_key: str | None) -> list[Retrieved] | StageRankings:
    """Return the documents of an answer as items of the core, with those of earlier stages if they were recorded."""
    if isinstance(answer, RefusedAnswer):
        answer.refuse()
    if documents_key is None:
        return with_stages(answer, _convert_documents)
    convert = partial(_convert_documents_of_chain, documents_key=documents_key)
    return with_stages(answer, convert, mapping_has_stages=False)


def _convert_documents(answer: Any) -> list[Retrieved]:
    if isinstance(answer, Mapping):
        raise TypeError(
            "a retriever must return a list of Documents; this one returned a mapping with "
            f"{', '.join(map(repr, answer)) or 'nothing'}; name the key of the documents with documents_key="
        )
    return convert_items(answer)


def _convert_documents_of_chain(answer: Any, documents_key: str) -> list[Retrieved]:
    if not isinstance(answer, Mapping):
        raise TypeError(
            f"documents_key={documents_key!r} is for chains that return a mapping, but the "
            f"retriever returned {type(answer).__name__}; leave documents_key out"
        )
    return convert_items(get_key(answer, documents_key, "the answer of the retriever"))


def choose_n_workers(max_concurrency: int, config: RunnableConfig | None) -> int:
    """Return how many questions may run at once: the smaller of the two limits."""
    n_workers = positive_integer(max_concurrency, "max_concurrency")
    config_limit = (config or {}).get("max_concurrency")
    if config_limit is None:
        return n_workers
    return min(n_workers, positive_integer(config_limit, "max_concurrency of config"))
