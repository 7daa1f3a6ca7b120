"""The metrics as evaluators for LangSmith, and a target that does not trace."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from langchain_retrieval_metrics.asking import Refused, how_to_ask
from langchain_retrieval_metrics.items import part
from langchain_retrieval_metrics.langsmith_rows import Outputs, Row, RowSettings, unscored, warned_of
from retrieval_metrics.adapting.twins import arguments_of, passed_on, run_until_complete

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.runnables import Runnable

    Target = Callable[[dict[str, Any]], dict[str, Any]]


class Evaluator(Protocol):
    """A function that LangSmith calls for each example, with arguments by name."""

    def __call__(
        self, outputs: Outputs, reference_outputs: Outputs, run: Any = None, inputs: Outputs | None = None
    ) -> Outputs:
        """Return the scores of all metrics, as `{"results": [{"key": ..., "score": ...}]}`."""


@arguments_of(RowSettings)
def langsmith_evaluators(*args: Any, **options: Any) -> list[Evaluator]:  # noqa: D417  (they are those of RowSettings)
    """Return evaluators for `langsmith.evaluate(target, data, evaluators=...)` and its asynchronous twin.

    A single evaluator returns the scores of all metrics, each under its name, with the ranks behind them as comment. If
    the target failed, they are 0, because nothing was retrieved, and the comment has the error; LangSmith's means would
    otherwise leave failures out. A metric that is undefined for an example, or an output that cannot be judged, has a
    comment but no score. The evaluator computes everything locally. For what `langsmith.evaluate` itself sends, see
    `langsmith_target`.

    Args:
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What identifies a document, as in `evaluate_retriever`.
        documents_key: The key of the documents in the target's output: a list of Documents, of their JSON, or of ids.
            It is `"context"` for chains that return `{"answer": ..., "context": ...}`; dots lead into nested outputs.
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
        RetrievalWarning: (the evaluator, under LangSmith) If an example or an output cannot be judged.

    Example:
        >>> from langchain_core.documents import Document
        >>> (evaluator,) = langsmith_evaluators("mrr")
        >>> evaluator({"documents": [Document("a", id="d3"), Document("b", id="d7")]}, {"relevant": ["d7"]})
        {'results': [{'key': 'mrr', 'score': 0.5, 'comment': '1 relevant, 2 retrieved; ranks of the relevant: 2'}]}
    """
    settings = passed_on("langsmith_evaluators", RowSettings, args, options)
    scorer = settings.row_scorer()

    def retrieval_metrics(
        outputs: Outputs,
        reference_outputs: Outputs,
        run: Any = None,
        inputs: Outputs | None = None,  # noqa: ARG001  (evaluators of openevals are called with it)
    ) -> Outputs:
        row = Row.of(outputs, reference_outputs, run)
        try:
            scores = row.scores(scorer, settings.paths)
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            return unscored(settings, warned_of(error))
        return {
            "results": [
                {"key": settings.keys[metric], "score": score.known, "comment": score.reason}
                for metric, score in scores.items()
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
