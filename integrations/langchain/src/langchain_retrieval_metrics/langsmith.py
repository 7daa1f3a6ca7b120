"""The metrics as evaluators of LangSmith, and a target for it that sends nothing anywhere."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from langchain_core.documents import Document

from langchain_retrieval_metrics.documents import as_items, key_of, needs_ids, part
from retrieval_metrics import DEFAULT_METRICS, Matching, Qrels, RetrievalWarning, RetrievedRun, evaluate
from retrieval_metrics.adapting import as_metrics, score_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from langchain_core.runnables import Runnable

    from langchain_retrieval_metrics.documents import Match
    from retrieval_metrics import Evaluation, Metric, Retrieved
    from retrieval_metrics.adapting import QueryScore

    Target = Callable[[dict[str, Any]], dict[str, Any]]
    SummaryEvaluator = Callable[[Sequence[Any], Sequence[Any]], Any]

Outputs: TypeAlias = dict[str, Any]

_QUERY = "query"
_LEVEL = 0.95


class Evaluator(Protocol):
    """What LangSmith calls per example, by the names of its arguments."""

    def __call__(self, outputs: Outputs, reference_outputs: Outputs, run: Any = None) -> Outputs:
        """Return the scores of all metrics, as `{"results": [{"key": ..., "score": ...}]}`."""


def langsmith_evaluators(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: Match = "id",
    documents_key: str = "documents",
    relevant_key: str = "relevant",
) -> list[Evaluator]:
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous twin.

    It is one evaluator, which gives the scores of all metrics, each under its name. Where the target failed they are 0,
    because nothing was retrieved, and the comment holds the error: otherwise LangSmith's means would leave failures
    out. A metric that is undefined for an example has no score but a comment. The evaluator computes locally and asks
    nobody. What `langsmith.evaluate` itself sends is another matter: see `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: Where the target's output holds the documents: a list of Documents, of their JSON, or of ids. It
            is `"context"` for chains that return `{"answer": ..., "context": ...}`.
        relevant_key: Where the example's reference output holds what is relevant: ids, grades, or groups.

    Raises:
        ValueError: If a metric or `match` is unknown. The evaluator raises it for an example without judgments, and,
            called without a run, for an output that cannot be judged; under LangSmith such an output scores 0.

    Warns:
        RetrievalWarning: (the evaluator, under LangSmith) If an output cannot be judged.

    Example:
        >>> (evaluator,) = langsmith_evaluators(["mrr", "recall@1"])
        >>> evaluator({"documents": [Document("a", id="d3"), Document("b", id="d7")]}, {"relevant": ["d7"]})
        {'results': [{'key': 'mrr', 'score': 0.5}, {'key': 'recall@1', 'score': 0.0}]}
    """
    chosen, reading = as_metrics(metrics), _Reading(match, documents_key, relevant_key)

    def retrieval_metrics(outputs: Outputs, reference_outputs: Outputs, run: Any = None) -> Outputs:
        qrels = Qrels({_QUERY: reading.truth(reference_outputs)})
        found, failure = reading.found(outputs, qrels, run)
        scores = score_queries(qrels, {_QUERY: found}, chosen, match=reading.compared)
        return {"results": [_result(str(metric), values[_QUERY], failure) for metric, values in scores.items()]}

    return [retrieval_metrics]


def langsmith_summary_evaluators(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: Match = "id",
    documents_key: str = "documents",
    relevant_key: str = "relevant",
) -> list[SummaryEvaluator]:
    """Return evaluators for `langsmith.evaluate(..., summary_evaluators=...)`: each mean with its interval and its n.

    It is one evaluator. Its means are those of `evaluate_retriever`: what failed counts as 0. If LangSmith repeats the
    examples (`num_repetitions`), the runs of an example are a cluster, so that repeating does not narrow the interval.

    Args:
        metrics: Names,
        match: what identifies a document,
        documents_key: where the output holds the documents, and
        relevant_key: where the reference output holds what is relevant, all as in `langsmith_evaluators`.

    Raises:
        ValueError: If a metric or `match` is unknown.

    Warns:
        RetrievalWarning: (the evaluator) As the core's `evaluate`.
    """
    chosen, reading = as_metrics(metrics), _Reading(match, documents_key, relevant_key)

    def retrieval_metrics(runs: Sequence[Any], examples: Sequence[Any]) -> Outputs:
        qrels = Qrels({at: reading.truth(example.outputs) for at, example in enumerate(examples)})
        found = [reading.found(run.outputs, qrels, run) for run in runs]
        errors: dict[Any, Exception] = {at: RuntimeError(failure) for at, (_, failure) in enumerate(found) if failure}
        retrieved = RetrievedRun({at: items for at, (items, _) in enumerate(found)}, errors)
        by_example = {at: str(example.id) for at, example in enumerate(examples)}
        repeated = len(set(by_example.values())) < len(by_example)
        evaluation = evaluate(
            qrels, retrieved, chosen, match=reading.compared, clusters=by_example if repeated else None
        )
        distinct = len(set(by_example.values())) if repeated else None
        return {"results": [_summary(evaluation, str(metric), distinct, len(errors)) for metric in chosen]}

    return [retrieval_metrics]


def langsmith_target(
    retriever: Runnable[Any, Any], *, query_key: str | None = "query", documents_key: str = "documents"
) -> Target:
    """Return a target for `langsmith.evaluate` that asks a retriever or a chain without tracing it.

    `langsmith.evaluate(..., upload_results=False)` still posts every query and the retrieved texts if its target calls
    a retriever of LangChain, even with LANGSMITH_TRACING=false and without an API key: it traces locally, and
    LangChain takes that for a wish to trace. Turning tracing off inside the target, as this one does, prevents it.
    `langsmith.aevaluate` cannot be prevented: it posts the inputs and outputs of every target. To evaluate
    asynchronously and keep the texts, use `aevaluate_retriever`.

    Args:
        retriever: Any Runnable from a text to Documents, or a chain whose answer holds them. A chain's answer, such as
            `{"answer": ..., "context": ...}`, is the output as it is.
        query_key: Where the inputs of an example hold the query; None hands all inputs to a chain that takes them.
        documents_key: Where the output is to hold the documents; for a chain, where its answer holds them.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> target = langsmith_target(RunnableLambda(lambda query: [Document("yield gives", id="yield#1")]))
        >>> target({"query": "what does yield do?"})
        {'documents': [Document(id='yield#1', metadata={}, page_content='yield gives')]}
    """
    from langsmith import tracing_context  # noqa: PLC0415  (only this function needs it)

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        asked = inputs if query_key is None else part(inputs, query_key, "the input of the example")
        with tracing_context(enabled=False):
            answer = retriever.invoke(asked)
        return dict(answer) if isinstance(answer, Mapping) else {documents_key: answer}

    return target


class _Reading:
    """Where outputs and reference outputs hold what is judged."""

    def __init__(self, match: Match, documents_key: str, relevant_key: str) -> None:
        key_of(match)  # what is wrong with it is said now
        self._match = match
        self._documents_key = documents_key
        self._relevant_key = relevant_key
        self.compared = match if isinstance(match, Matching) else "id"

    def truth(self, reference_outputs: Mapping[str, Any] | None) -> Any:
        """Return what is relevant."""
        return part(reference_outputs, self._relevant_key, "the reference output of the example")

    def found(self, outputs: Outputs | None, qrels: Qrels, run: Any) -> tuple[list[Retrieved], str | None]:
        """Return what was retrieved, and why it is nothing where the target failed or its output cannot be judged."""
        if run is not None and run.error:
            return [], f"the target failed: {run.error}"
        try:
            documents = part(outputs, self._documents_key, "the output of the target")
            return as_items([_as_document(one) for one in documents], self._match, by_id=needs_ids(qrels)), None
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            # Raised, it would only be logged, and the question would be missing from LangSmith's mean.
            failure = f"the output cannot be judged: {type(error).__name__}: {error}"
            warnings.warn(f"{failure}; it scores 0", RetrievalWarning, stacklevel=3)
            return [], failure


def _as_document(found: Any) -> Document:
    """Return a document from itself, from its JSON, or from its id: what a target returned may have been stored."""
    if isinstance(found, Mapping):
        return Document.model_validate({key: value for key, value in found.items() if value is not None})
    return Document("", id=found) if isinstance(found, (str, int)) else found


def _result(key: str, score: QueryScore, failure: str | None) -> dict[str, Any]:
    if not score.is_defined:
        reason = "nothing was retrieved" if score.n_relevant else "nothing is relevant"
        return {"key": key, "score": None, "comment": f"undefined: {reason}"}
    return {"key": key, "score": score.value} | ({} if failure is None else {"comment": failure})


def _summary(evaluation: Evaluation, metric: str, examples: int | None, failed: int) -> dict[str, Any]:
    n, mean = evaluation.n[metric], evaluation.means[metric]
    if not n:
        return {"key": metric, "score": None, "comment": "undefined for every example"}
    interval = evaluation.intervals(_LEVEL)[metric]
    of_examples = "" if examples is None else f" runs of {examples} examples"
    count = f"; {failed} failed and count as 0" if failed else ""
    comment = f"95 % interval [{interval.low:.3f}, {interval.high:.3f}], n = {n}{of_examples}{count}"
    return {"key": metric, "score": mean, "comment": comment}
