"""The metrics as evaluators for LangSmith, and a target that does not trace."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from langchain_core.documents import Document

from langchain_retrieval_metrics.documents import items_of, part
from retrieval_metrics import DEFAULT_METRICS, Qrels, RetrievalWarning, RetrievedRun, evaluate
from retrieval_metrics.adapting import Judgeable, as_matching, as_metrics, score_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from langchain_core.runnables import Runnable

    from retrieval_metrics import Evaluation, Metric, Retrieved
    from retrieval_metrics.adapting import MatchBy, QueryScore

    Target = Callable[[dict[str, Any]], dict[str, Any]]
    SummaryEvaluator = Callable[[Sequence[Any], Sequence[Any]], Any]

Outputs: TypeAlias = dict[str, Any]

_QUERY = "query"
_LEVEL = 0.95


class Evaluator(Protocol):
    """A function that LangSmith calls for each example, with arguments by name."""

    def __call__(self, outputs: Outputs, reference_outputs: Outputs, run: Any = None) -> Outputs:
        """Return the scores of all metrics, as `{"results": [{"key": ..., "score": ...}]}`."""


def langsmith_evaluators(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: MatchBy = "id",
    documents_key: str = "documents",
    relevant_key: str = "relevant",
) -> list[Evaluator]:
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous twin.

    A single evaluator returns the scores of all metrics, each under its name. If the target failed, they are 0, because
    nothing was retrieved, and the comment has the error; LangSmith's means would otherwise leave failures out. A metric
    that is undefined for an example has a comment instead of a score. The evaluator computes everything locally. For
    what `langsmith.evaluate` itself sends, see `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: The key of the documents in the target's output: a list of Documents, of their JSON, or of ids.
            It is `"context"` for chains that return `{"answer": ..., "context": ...}`.
        relevant_key: The key of the judgments in the example's reference output: ids, grades, or groups.

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
        scores = score_queries(qrels, {_QUERY: found}, chosen, match=reading.match)
        return {"results": [_result(str(metric), values[_QUERY], failure) for metric, values in scores.items()]}

    return [retrieval_metrics]


def langsmith_summary_evaluators(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    match: MatchBy = "id",
    documents_key: str = "documents",
    relevant_key: str = "relevant",
) -> list[SummaryEvaluator]:
    """Return evaluators for `langsmith.evaluate(..., summary_evaluators=...)`: each mean with its interval and its n.

    It is a single evaluator. Its means are those of `evaluate_retriever`: failures score 0. If LangSmith repeats the
    examples (`num_repetitions`), the runs of an example are a cluster, so repeating does not narrow the interval.

    Args:
        metrics: Names, as in `langsmith_evaluators`.
        match: What identifies a document, as in `langsmith_evaluators`.
        documents_key: The key of the documents in the output, as in `langsmith_evaluators`.
        relevant_key: The key of the judgments in the reference output, as in `langsmith_evaluators`.

    Raises:
        ValueError: If a metric or `match` is unknown.

    Warns:
        RetrievalWarning: (the evaluator) As in the core's `evaluate`.
    """
    chosen, reading = as_metrics(metrics), _Reading(match, documents_key, relevant_key)

    def retrieval_metrics(runs: Sequence[Any], examples: Sequence[Any]) -> Outputs:
        qrels = Qrels({at: reading.truth(example.outputs) for at, example in enumerate(examples)})
        found = [reading.found(run.outputs, qrels, run) for run in runs]
        errors: dict[Any, Exception] = {at: RuntimeError(failure) for at, (_, failure) in enumerate(found) if failure}
        retrieved = RetrievedRun({at: items for at, (items, _) in enumerate(found)}, errors)
        by_example = {at: str(example.id) for at, example in enumerate(examples)}
        repeated = len(set(by_example.values())) < len(by_example)
        evaluation = evaluate(qrels, retrieved, chosen, match=reading.match, clusters=by_example if repeated else None)
        distinct = len(set(by_example.values())) if repeated else None
        return {"results": [_summary(evaluation, str(metric), distinct, len(errors)) for metric in chosen]}

    return [retrieval_metrics]


def langsmith_target(
    retriever: Runnable[Any, Any], *, query_key: str | None = "query", documents_key: str = "documents"
) -> Target:
    """Return a target for `langsmith.evaluate` that invokes a retriever or a chain without tracing it.

    `langsmith.evaluate(..., upload_results=False)` still posts every query and the retrieved texts if its target calls
    a retriever of LangChain, even with LANGSMITH_TRACING=false and without an API key: it traces locally, which turns
    on tracing in LangChain. This target prevents that by turning tracing off while it runs. With `langsmith.aevaluate`
    this is not possible: it posts the inputs and outputs of every target. To evaluate asynchronously without sending
    texts, use `aevaluate_retriever`.

    Args:
        retriever: Any Runnable from a text to Documents, or a chain whose answer holds them. The answer of a chain,
            such as `{"answer": ..., "context": ...}`, is the output.
        query_key: The key of the query in the inputs of an example; None passes all inputs to a chain.
        documents_key: The key of the documents in the output; for a chain, their key in its answer.

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
    """Reads documents and judgments from outputs and reference outputs."""

    def __init__(self, match: MatchBy, documents_key: str, relevant_key: str) -> None:
        as_matching(match)  # raises now if it is wrong
        self.match = match
        self._documents_key = documents_key
        self._relevant_key = relevant_key

    def truth(self, reference_outputs: Mapping[str, Any] | None) -> Any:
        """Return the judgments."""
        return part(reference_outputs, self._relevant_key, "the reference output of the example")

    def found(self, outputs: Outputs | None, qrels: Qrels, run: Any) -> tuple[list[Retrieved], str | None]:
        """Return what was retrieved, and the reason if the target failed or its output cannot be judged."""
        if run is not None and run.error:
            return [], f"the target failed: {run.error}"
        try:
            documents = part(outputs, self._documents_key, "the output of the target")
            items = items_of([_as_document(one) for one in documents])
            Judgeable(qrels, self.match).check(items, _QUERY if run is None else run.id)
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            # An exception would only be logged, and the question would be missing from LangSmith's mean.
            failure = f"the output cannot be judged: {type(error).__name__}: {error}"
            warnings.warn(f"{failure}; it scores 0", RetrievalWarning, stacklevel=3)
            return [], failure
        return items, None


def _as_document(found: Any) -> Document:
    """Return a document from a Document, its JSON, or its id, because outputs may have been stored."""
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
