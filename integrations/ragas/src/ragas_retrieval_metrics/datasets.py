"""Ask a retriever every query, and build a dataset of ragas with the ids that ragas does not fill in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from ragas_retrieval_metrics.ragas_imports import SingleTurnSample
from ragas_retrieval_metrics.retrieved_dataset import RetrievedDataset
from retrieval_metrics import Qrels
from retrieval_metrics.integration_api import find_host, warn
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of

if TYPE_CHECKING:
    from ragas.dataset_schema import MultiTurnSample

    from retrieval_metrics.types import Key, QrelsMapping


# The names of the hosts in messages.
_HOST_LABELS = {"langchain": "LangChain", "llama-index": "LlamaIndex"}


@dataclass(frozen=True)
class _RetrievalTask:
    """The arguments of every function that asks a retriever."""

    retriever: Any
    queries: Any
    qrels: QrelsMapping | None = None
    _: KW_ONLY
    match: str | Key = "id"
    workers: int = WORKERS
    show_progress: bool = True
    raise_on_error: bool = False

    def read_questions(self, host: str) -> rm.EvaluationSet:
        """Return the questions; raise if they or the retriever cannot be used, before anything is asked."""
        questions = _read_questions(self.queries, self.qrels, self.match)
        _require_retriever_of(host, self.retriever)
        return questions

    @property
    def retrieve_options(self) -> dict[str, Any]:
        """The options of `rm.retrieve`."""
        return {
            "match": self.match,
            "workers": self.workers,
            "show_progress": self.show_progress,
            "raise_on_error": self.raise_on_error,
        }

    def make_dataset(self, host: str) -> RetrievedDataset:
        """Ask a retriever of this host, and return the rows."""
        questions = self.read_questions(host)
        run = rm.retrieve(self.retriever, questions, **self.retrieve_options)
        return _build_dataset(questions, run, self.match)

    async def amake_dataset(self, host: str) -> RetrievedDataset:
        """Ask a retriever of this host on the running event loop, and return the rows."""
        questions = self.read_questions(host)
        run = await rm.aretrieve(self.retriever, questions, **self.retrieve_options)
        return _build_dataset(questions, run, self.match)


@takes_arguments_of(_RetrievalTask)
def from_llama_index(*args: object, **options: object) -> RetrievedDataset:
    """Run a LlamaIndex retriever on every query and return the rows to evaluate.

    Every row has `user_input`, `retrieved_contexts` and `retrieved_context_ids`, and also `reference_context_ids` (or
    `reference_contexts` for `rm.Text` judgments) if the judgments are a flat list. Grades, groups, quotes, spans,
    offsets and sources do not fit into a row; the dataset keeps them for `evaluate_dataset`. For `ragas.evaluate`, pass
    the dataset to the metrics too: `metric_suite(qrels=dataset)`.

    A query whose retriever raises has retrieved nothing and scores 0.

    Args:
        retriever: A retriever of LlamaIndex, such as `index.as_retriever()`.
        queries: Texts by id, a list of texts, or without `qrels` a whole dataset in any shape of
            `rm.EvaluationSet.from_dataset`.
        qrels: The judgments, by query id (the text if there is no id).
        match: What an id of the judgments is compared with: `"id"` (the id of the node), `"source"` (of the document it
            was cut from), `"metadata:<name>"`, or a callable that takes an `rm.Retrieved`.
        workers: How many queries may run at once, each in a thread.
        show_progress: Show a progress bar on stderr.
        raise_on_error: Raise the first failure instead of scoring it 0.

    Raises:
        TypeError: If the retriever is not one of LlamaIndex, or the dataset has another shape.
        ValueError: If a query has no judgments, or an item has no value for `match`.
        ImportError: If the LlamaIndex integration is not installed; the message says how to install it.

    Warns:
        RetrievalWarning: If the retriever failed for some queries.

    Example:
        >>> from llama_index.core.retrievers import BaseRetriever
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> class Always(BaseRetriever):
        ...     def _retrieve(self, query):
        ...         return [NodeWithScore(node=TextNode(id_="with#2", text="The with statement"), score=0.9)]
        >>> dataset = from_llama_index(Always(), {"how do I close a file?": ["with#2"]}, show_progress=False)
        >>> dataset[0].retrieved_context_ids, dataset[0].reference_context_ids
        (['with#2'], ['with#2'])
    """
    return forward_arguments("from_llama_index", _RetrievalTask, args, options).make_dataset("llama-index")


@takes_arguments_of(_RetrievalTask)
async def afrom_llama_index(*args: object, **options: object) -> RetrievedDataset:
    """Ask a LlamaIndex retriever on the running event loop; the asynchronous version of `from_llama_index`."""
    return await forward_arguments("afrom_llama_index", _RetrievalTask, args, options).amake_dataset("llama-index")


@takes_arguments_of(_RetrievalTask)
def from_langchain(*args: object, **options: object) -> RetrievedDataset:
    """Run a LangChain retriever on every query and return the rows to evaluate.

    The rows, errors and warnings are those of `from_llama_index`. Documents of LangChain often have no id;
    `match="metadata:<name>"` takes one from their metadata.

    Args:
        retriever: A retriever of LangChain, such as `store.as_retriever()`, or another Runnable from a text to
            documents.
        queries: Texts by id, a list of texts, or without `qrels` a whole dataset.
        qrels: The judgments, by query id.
        match: What an id of the judgments is compared with: `"id"`, `"source"`, `"metadata:<name>"` or a callable.
        workers: How many queries may run at once, each in a thread.
        show_progress: Show a progress bar on stderr.
        raise_on_error: Raise the first failure instead of scoring it 0.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> found = [Document("The with statement", metadata={"key": "with#2"})]
        >>> questions = {"how do I close a file?": ["with#2"]}
        >>> retriever = RunnableLambda(lambda text: found)
        >>> dataset = from_langchain(retriever, questions, match="metadata:key", show_progress=False)
        >>> dataset[0].retrieved_context_ids
        ['with#2']
    """
    return forward_arguments("from_langchain", _RetrievalTask, args, options).make_dataset("langchain")


@takes_arguments_of(_RetrievalTask)
async def afrom_langchain(*args: object, **options: object) -> RetrievedDataset:
    """Ask a LangChain retriever on the running event loop; the asynchronous version of `from_langchain`."""
    return await forward_arguments("afrom_langchain", _RetrievalTask, args, options).amake_dataset("langchain")


def _read_questions(queries: Any, qrels: QrelsMapping | None, match: str | Key) -> rm.EvaluationSet:
    """Return the questions, checked before the retriever is asked."""
    if qrels is None:
        questions = rm.EvaluationSet.from_dataset(queries)
    else:
        texts = queries if isinstance(queries, Mapping) else {text: text for text in queries}
        questions = rm.EvaluationSet.from_dataset({"queries": texts, "relevant_docs": qrels})
    Qrels(questions.qrels)
    if isinstance(match, rm.Matching):
        raise TypeError(
            "a dataset of ragas holds one ID for each item, so match must be 'id', 'source', 'metadata:<name>' or a "
            "callable, not a Matching; for its options, retrieve with rm.retrieve and call rm.evaluate"
        )
    rm.Matching(by=match)
    return questions


def _require_retriever_of(host_name: str, retriever: Any) -> None:
    host = find_host(retriever)
    if host is None or host.name != host_name or host.resolve_retriever(retriever) is None:
        remedy = "rm.evaluate(questions, rm.retrieve(retriever, questions)) evaluates any retriever or function"
        if host_name == "langchain" and callable(retriever):
            remedy = f"pass RunnableLambda(function) if it returns Documents; {remedy}"
        raise TypeError(
            f"the retriever must be one of {_HOST_LABELS[host_name]}, got {_describe_retriever(retriever)}; {remedy}"
        )


def _describe_retriever(retriever: Any) -> str:
    name = getattr(retriever, "__name__", None)
    type_name = type(retriever).__name__
    return f"the {type_name} {name}" if isinstance(name, str) else f"an object of type {type_name}"


def _build_dataset(questions: rm.EvaluationSet, run: rm.RetrievedRun, match: str | Key) -> RetrievedDataset:
    """Return a dataset with a row per question, and warn if the retriever failed for some of them."""
    if run.errors:
        query, error = next(iter(run.errors.items()))
        warn(
            f"the retriever failed for {len(run.errors)} of {len(run)} queries, for example {query!r}: "
            f"{type(error).__name__}: {error}; these queries score 0",
            host="ragas",
        )
    qrels = Qrels(questions.qrels)
    rankings = _rankings_with_ids(questions, run, qrels, match)
    reference_ids = _reference_ids(qrels)
    reference_texts = _reference_texts(qrels)
    texts: Mapping[Any, str] = questions.queries
    samples: list[SingleTurnSample | MultiTurnSample] = []  # the type of a list in a dataset
    for query, text in texts.items():
        sample = SingleTurnSample(
            user_input=text,
            retrieved_contexts=[item.text or "" for item in rankings[query]],
            retrieved_context_ids=_ids_if_complete(rankings[query]),
            reference_context_ids=reference_ids.get(query),
            reference_contexts=reference_texts.get(query),
        )
        samples.append(sample)
    return RetrievedDataset(samples, questions=questions, run=rm.RetrievedRun(rankings, run.errors, run.seconds))


def _rankings_with_ids(
    questions: rm.EvaluationSet, run: rm.RetrievedRun, qrels: Qrels, match: str | Key
) -> dict[Any, list[rm.Retrieved]]:
    """Return what was retrieved for each query, each item with the id that `match` chooses."""
    is_judged_by_id = qrels.document_kind is not None or not qrels.has_pieces
    find_key = rm.Matching(by=match).key
    make_placeholder = _placeholder_maker(qrels, match)
    rankings: dict[Any, list[rm.Retrieved]] = {}
    texts: Mapping[Any, str] = questions.queries
    for query in texts:
        ranking = []
        for rank, item in enumerate(run[query], start=1):
            document_id = find_key(item)
            if document_id is None and is_judged_by_id:
                document_id = make_placeholder(rank)
            ranking.append(replace(item, id=document_id))
        rankings[query] = ranking
    return rankings


def _placeholder_maker(qrels: Qrels, match: object) -> Callable[[int], str | int]:
    """Return a function that makes an id for an item without one from its rank.

    A list of ids in ragas cannot have an empty place, and the placeholder equals no judged id.
    """
    if qrels.document_kind is int:
        whole_numbers = [document for document in qrels.documents if isinstance(document, int)]
        smallest = min([0, *whole_numbers])
        return lambda rank: smallest - rank
    return lambda rank: f"no {match} at rank {rank}"


def _ids_if_complete(items: Sequence[rm.Retrieved]) -> list[str | int] | None:
    """Return the ids of a ranking; None if an item has none, as items may if nothing is judged by id."""
    ids = []
    for item in items:
        if item.id is None:
            return None
        ids.append(item.id)
    return ids


def _reference_ids(qrels: Qrels) -> dict[Any, list[str | int]]:
    """Return the relevant ids of every query; nothing if a flat list would change their meaning."""
    if qrels.has_pieces or not _fits_flat_lists(qrels):
        return {}
    return dict(zip(qrels.queries, _documents_by_query(qrels), strict=True))


def _reference_texts(qrels: Qrels) -> dict[Any, list[str]]:
    """Return the relevant texts of every query; nothing if a flat list of texts would change their meaning."""
    if not qrels.has_pieces or not _fits_flat_lists(qrels):
        return {}
    if not all(isinstance(piece, rm.Text) for piece in qrels.documents):
        return {}
    texts: dict[Any, list[str]] = {}
    for query, pieces in zip(qrels.queries, _documents_by_query(qrels), strict=True):
        texts[query] = [piece.text for piece in pieces]
    return texts


def _fits_flat_lists(qrels: Qrels) -> bool:
    """Return whether the judgments have neither groups nor grades other than 1."""
    # The columns of ragas hold flat lists. A list of the ids of a graded or grouped dataset would be scored as if all
    # of them were needed and equally relevant.
    return qrels.is_flat and not (qrels.document_grade != 1).any()


def _documents_by_query(qrels: Qrels) -> list[list[Any]]:
    starts = qrels.bounds[:-1]
    ends = qrels.bounds[1:]
    return [list(qrels.documents[start:end]) for start, end in zip(starts, ends, strict=True)]
