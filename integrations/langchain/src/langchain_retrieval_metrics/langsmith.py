"""The metrics as evaluators for LangSmith, and a target that does not trace."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from langchain_retrieval_metrics.asking import Refused, how_to_ask
from langchain_retrieval_metrics.documents import part
from langchain_retrieval_metrics.langsmith_reading import ExampleReading
from retrieval_metrics import Qrels, RetrievedRun, evaluate
from retrieval_metrics.adapting.printing import numbers
from retrieval_metrics.adapting.twins import arguments_of, passed_on, run_until_complete

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.runnables import Runnable

    from retrieval_metrics import Evaluation, Metric
    from retrieval_metrics.types import QueryScore

    Target = Callable[[dict[str, Any]], dict[str, Any]]
    SummaryEvaluator = Callable[[Sequence[Any], Sequence[Any]], Any]

Outputs: TypeAlias = dict[str, Any]

_LEVEL = 0.95


class Evaluator(Protocol):
    """A function that LangSmith calls for each example, with arguments by name."""

    def __call__(
        self, outputs: Outputs, reference_outputs: Outputs, run: Any = None, inputs: Outputs | None = None
    ) -> Outputs:
        """Return the scores of all metrics, as `{"results": [{"key": ..., "score": ...}]}`."""


@arguments_of(ExampleReading)
def langsmith_evaluators(*args: Any, **options: Any) -> list[Evaluator]:  # noqa: D417  (they are those of ExampleReading)
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous twin.

    A single evaluator returns the scores of all metrics, each under its name. If the target failed, they are 0, because
    nothing was retrieved, and the comment has the error; LangSmith's means would otherwise leave failures out. A metric
    that is undefined for an example, or an output that cannot be judged, has a comment instead of a score. The
    evaluator computes everything locally. For what `langsmith.evaluate` itself sends, see `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: The key of the documents in the target's output: a list of Documents, of their JSON, or of ids.
            It is `"context"` for chains that return `{"answer": ..., "context": ...}`.
        relevant_key: The key of the judgments in the example's reference output: ids, grades, or groups; quotes, texts
            and spans as `EvaluationSet.to_langsmith` writes them.
        documents: The documents that chunks were cut from, as in `evaluate_retriever`, if spans are judged.
        max_grade: The largest grade of all judgments, which `err` and `rbp` divide by; one example does not show it.
        prefix: What stands before the name of each metric. LangSmith pools feedback with equal keys, so by default a
            key holds every argument that is not the default, as in `mrr-documents_key-context`.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown, or a metric needs `max_grade`. Called without a run, the
            evaluator raises it for an example without judgments and for an output that cannot be judged. Under
            LangSmith, both have comments instead of scores.

    Warns:
        RetrievalWarning: (the evaluator, under LangSmith) If an output cannot be judged.

    Example:
        >>> from langchain_core.documents import Document
        >>> (evaluator,) = langsmith_evaluators(["mrr", "recall@1"])
        >>> evaluator({"documents": [Document("a", id="d3"), Document("b", id="d7")]}, {"relevant": ["d7"]})
        {'results': [{'key': 'mrr', 'score': 0.5}, {'key': 'recall@1', 'score': 0.0}]}
    """
    reading = passed_on("langsmith_evaluators", ExampleReading, args, options).of_single_examples()

    def retrieval_metrics(
        outputs: Outputs,
        reference_outputs: Outputs,
        run: Any = None,
        inputs: Outputs | None = None,  # noqa: ARG001  (evaluators of openevals are called with it)
    ) -> Outputs:
        try:
            truth = reading.truth(reference_outputs)
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            # An exception would become a column of its own, without the names of the metrics.
            return _unscored(reading, f"the example is not judged: {error}")
        _, scores, failure = reading.read(outputs, truth, run)
        if scores is None:
            return _unscored(reading, failure)
        return {"results": [_result(reading.keys[metric], score, failure) for metric, score in scores.items()]}

    return [retrieval_metrics]


@arguments_of(ExampleReading)
def langsmith_summary_evaluators(*args: Any, **options: Any) -> list[SummaryEvaluator]:
    """Return evaluators for `langsmith.evaluate(..., summary_evaluators=...)`: each mean with its interval and its n.

    It is a single evaluator. Its means are those of `evaluate_retriever`: failures score 0, and where every example
    failed there is a comment instead of a score. If LangSmith repeats the examples (`num_repetitions`), the runs of an
    example are a cluster, so repeating does not narrow the interval. Examples with the same `source` in their metadata
    are a cluster too. Examples without judgments are left out, and counted.

    The arguments are those of `langsmith_evaluators`; without `max_grade`, the largest grade is that of all examples.

    Raises:
        TypeError: If the prefix is not a text.
        ValueError: If a metric or `match` is unknown.

    Warns:
        RetrievalWarning: (the evaluator) As in the core's `evaluate`.
    """
    reading = passed_on("langsmith_summary_evaluators", ExampleReading, args, options)

    def retrieval_metrics(runs: Sequence[Any], examples: Sequence[Any]) -> Outputs:
        truths, unjudged = reading.truths(examples)
        if not truths:
            return _unscored(reading, f"no example is judged: {unjudged[0]}" if unjudged else "there is no example")
        found = {at: reading.read(runs[at].outputs, truth, runs[at]) for at, truth in truths.items()}
        unreadable = [one.failure for one in found.values() if one.scores is None]
        found = {at: one for at, one in found.items() if one.scores is not None}
        if not found:
            return _unscored(reading, f"no output can be judged: {unreadable[0]}")
        errors: dict[Any, Exception] = {at: RuntimeError(one.failure) for at, one in found.items() if one.failure}
        if len(errors) == len(found):
            return _unscored(reading, f"every example failed, so nothing is scored: {next(iter(errors.values()))}")
        judged: dict[Any, Any] = {at: truths[at].judgments(0) for at in found}
        retrieved = RetrievedRun({at: one.items for at, one in found.items()}, errors)
        names = {at: str(examples[at].id) for at in found}
        distinct = len(set(names.values()))
        clusters = _clusters({at: examples[at] for at in found}, names)
        qrels = reading.on_scale(Qrels(judged))
        evaluation = evaluate(
            qrels, retrieved, reading.metrics, match=reading.match, clusters=clusters, documents=reading.documents
        )
        said = ["" if distinct == len(names) else f" runs of {numbers.count(distinct, 'example')}"]
        if errors:
            said.append(f"{len(errors)} failed and count as 0")
        if unreadable:
            left_out = numbers.count(len(unreadable), "output")
            said.append(f"{left_out} left out, which cannot be judged: {unreadable[0]}")
        if unjudged:
            said.append(f"{numbers.count(len(unjudged), 'example')} left out, without judgments: {unjudged[0]}")
        return {
            "results": [
                _summary(evaluation, metric, key, distinct, "; ".join(said)) for metric, key in reading.keys.items()
            ]
        }

    return [retrieval_metrics]


def langsmith_target(
    retriever: Runnable[Any, Any] | Callable[[Any], Any],
    *,
    query_key: str | None = "query",
    documents_key: str = "documents",
) -> Target:
    """Return a target for `langsmith.evaluate` that invokes a retriever or a chain without tracing it.

    `langsmith.evaluate(..., upload_results=False)` still posts every query and the retrieved texts if its target calls
    a retriever of LangChain, even with LANGSMITH_TRACING=false and without an API key: it traces locally, which turns
    on tracing in LangChain. This target prevents that by turning tracing off while it runs. With `langsmith.aevaluate`
    this is not possible: it posts the inputs and outputs of every target. To evaluate asynchronously without sending
    texts, use `aevaluate_retriever`.

    Args:
        retriever: Any Runnable or function from a text to Documents, also only asynchronous, or a chain whose answer
            holds them. The answer of a chain, such as `{"answer": ..., "context": ...}`, is the output.
        query_key: The key of the query in the inputs of an example; None passes all inputs to a chain.
        documents_key: The key of the documents in the output; for a chain, their key in its answer.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> target = langsmith_target(RunnableLambda(lambda query: [Document("yield gives", id="yield#1")]))
        >>> target({"query": "what does yield do?"})
        {'documents': [Document(id='yield#1', metadata={}, page_content='yield gives')]}
    """
    from langsmith import tracing_context  # noqa: PLC0415  (only this function needs it)

    ask = how_to_ask(retriever).in_threads  # inputs are passed as they are

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        asked = inputs if query_key is None else part(inputs, query_key, "the input of the example")
        with tracing_context(enabled=False):
            answer = ask(asked)
            if inspect.isawaitable(answer):
                answer = run_until_complete(_awaited(answer))
        if isinstance(answer, Refused):
            answer.read("pass query_key=None, which gives it all inputs of an example")
        return dict(answer) if isinstance(answer, Mapping) else {documents_key: answer}

    return target


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def _unscored(reading: ExampleReading, comment: str | None) -> dict[str, Any]:
    """Return a comment instead of a score under each key."""
    return {"results": [{"key": key, "score": None, "comment": comment} for key in reading.keys.values()]}


def _result(key: str, score: QueryScore, failure: str | None) -> dict[str, Any]:
    if not score.is_defined:
        reason = "nothing was retrieved" if score.n_relevant else "nothing is relevant"
        return {"key": key, "score": None, "comment": f"undefined: {reason}"}
    return {"key": key, "score": score.value} | ({} if failure is None else {"comment": failure})


def _clusters(examples: Mapping[int, Any], names: Mapping[int, str]) -> Mapping[int, Any] | None:
    """Return what makes runs depend on each other: the same example, or examples from one source."""
    sources = {at: (getattr(one, "metadata", None) or {}).get("source") for at, one in examples.items()}
    repeated = len(set(names.values())) < len(names)
    if len(set(names.values())) == 1 or (not repeated and all(source is None for source in sources.values())):
        return None
    if None not in sources.values() and len(set(sources.values())) == 1:  # one source for all says nothing
        return names if repeated else None
    return {at: (f"example {names[at]}", *([] if sources[at] is None else [sources[at]])) for at in names}


def _summary(evaluation: Evaluation, metric: Metric, key: str, examples: int, said: str) -> dict[str, Any]:
    n, mean = evaluation.n[metric], evaluation.means[metric]
    if not n:
        return {"key": key, "score": None, "comment": "undefined for every example"}
    low, high = evaluation.intervals(_LEVEL)[metric]
    interval = f"95 % interval [{low:.3f}, {high:.3f}]" if examples > 1 or n == 1 else "no interval from one example"
    return {"key": key, "score": mean, "comment": f"{interval}, n = {n}{said}"}
