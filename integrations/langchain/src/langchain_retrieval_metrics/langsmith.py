"""The metrics as evaluators of LangSmith, and a target for it that sends nothing anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from langchain_retrieval_metrics.documents import as_items, key_of, needs_ids
from retrieval_metrics import DEFAULT_METRICS, Matching, Qrels
from retrieval_metrics.adapting import as_metrics, score_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from langchain_core.runnables import Runnable

    from langchain_retrieval_metrics.documents import Match
    from retrieval_metrics import Metric

    Evaluator = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    Target = Callable[[dict[str, Any]], dict[str, Any]]

_QUERY = "query"


def langsmith_evaluators(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: Match = "id",
    documents_key: str = "documents",
    relevant_key: str = "relevant",
) -> list[Evaluator]:
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous twin.

    It is one evaluator, which gives the scores of all metrics, each under its name. A metric that is undefined for an
    example has no score but a comment. The evaluator computes locally and asks nobody. What `langsmith.evaluate` itself
    sends is another matter: see `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: Where the target's output holds the documents: a list of Documents, of their JSON, or of ids.
        relevant_key: Where the example's reference output holds what is relevant: ids, grades, or groups.

    Raises:
        ValueError: If a metric or `match` is unknown.

    Example:
        >>> (evaluator,) = langsmith_evaluators(["mrr", "recall@1"])
        >>> evaluator({"documents": [Document("a", id="d3"), Document("b", id="d7")]}, {"relevant": ["d7"]})
        {'results': [{'key': 'mrr', 'score': 0.5}, {'key': 'recall@1', 'score': 0.0}]}
    """
    key_of(match)
    chosen = as_metrics(metrics)

    def retrieval_metrics(outputs: dict[str, Any], reference_outputs: dict[str, Any]) -> dict[str, Any]:
        documents = _part(outputs, documents_key, "the output of the target")
        qrels = Qrels({_QUERY: _part(reference_outputs, relevant_key, "the reference output of the example")})
        found = as_items([_as_document(one) for one in documents], match, by_id=needs_ids(qrels))
        compared = match if isinstance(match, Matching) else "id"
        scores = score_queries(qrels, {_QUERY: found}, chosen, match=compared)
        return {"results": [_result(str(metric), values[_QUERY].value) for metric, values in scores.items()]}

    return [retrieval_metrics]


def langsmith_target(
    retriever: Runnable[str, Sequence[Document]], *, query_key: str = "query", documents_key: str = "documents"
) -> Target:
    """Return a target for `langsmith.evaluate` that asks a retriever without tracing it.

    `langsmith.evaluate(..., upload_results=False)` still posts every query and the retrieved texts if its target calls
    a retriever of LangChain, even with LANGSMITH_TRACING=false and without an API key: it traces locally, and
    LangChain takes that for a wish to trace. Turning tracing off inside the target, as this one does, prevents it.
    `langsmith.aevaluate` cannot be prevented: it posts the inputs and outputs of every target. To evaluate
    asynchronously and keep the texts, use `aevaluate_retriever`.

    Args:
        retriever: Any Runnable from a text to Documents.
        query_key: Where the inputs of an example hold the query.
        documents_key: Where the output is to hold the documents.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> target = langsmith_target(RunnableLambda(lambda query: [Document("yield gives", id="yield#1")]))
        >>> target({"query": "what does yield do?"})
        {'documents': [Document(id='yield#1', metadata={}, page_content='yield gives')]}
    """
    from langsmith import tracing_context  # noqa: PLC0415  (only this function needs it)

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        with tracing_context(enabled=False):
            return {documents_key: retriever.invoke(_part(inputs, query_key, "the input of the example"))}

    return target


def _part(of: Mapping[str, Any] | None, key: str, what: str) -> Any:
    if of and key in of:
        return of[key]
    has = ", ".join(map(repr, of or ())) or "nothing"
    raise ValueError(f"{what} has no {key!r}; it has {has}")


def _as_document(found: Any) -> Document:
    """Return a document from itself, from its JSON, or from its id: what a target returned may have been stored."""
    if isinstance(found, Mapping):
        return Document.model_validate({key: value for key, value in found.items() if value is not None})
    return Document("", id=found) if isinstance(found, (str, int)) else found


def _result(key: str, value: float) -> dict[str, Any]:
    if isnan(value):
        return {"key": key, "score": None, "comment": "undefined: nothing is relevant"}
    return {"key": key, "score": value}
