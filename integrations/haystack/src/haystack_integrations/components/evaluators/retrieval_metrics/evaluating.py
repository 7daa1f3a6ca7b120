"""Evaluate a pipeline after each of its steps: what reached each output that holds documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_integrations.components.evaluators.retrieval_metrics.asking import PipelineRetriever
from haystack_integrations.components.evaluators.retrieval_metrics.items import items_of
from retrieval_metrics import DEFAULT_METRICS, aretrieve, retrieve
from retrieval_metrics.adapting import Asked, Ways
from retrieval_metrics.adapting.twins import WORKERS, arguments_of, passed_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack import Document

    from retrieval_metrics import Metric, RetrievedRun, Rules
    from retrieval_metrics.types import ClustersBy, MatchBy, Stages

REACHED = "reached"
"""The stage behind several outputs, of which each question reaches one."""


class _Evaluating:
    """A pipeline and the questions that it is asked: the arguments of both functions, checked."""

    def __init__(
        self,
        pipeline: Any,
        questions: Any,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        semantics: str | Rules = "standard",
        clusters: ClustersBy = "source",
        documents: Any = None,
        workers: int = WORKERS,
        timeout: float | None = None,
        retries: int = 0,
        show_progress: bool = False,
        raise_on_error: bool = False,
    ) -> None:
        self._retriever = pipeline if isinstance(pipeline, PipelineRetriever) else PipelineRetriever(pipeline)
        options: dict[str, Any] = {"semantics": semantics, "clusters": clusters, "documents": documents}
        self._asked = Asked(questions, metrics, match, **options, stages=[*self._retriever.stages], stacklevel=5)
        self.asking = self._asked.asking | {
            "items": items_of,
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
        }
        self.ways = Ways(self._ask, self._aask)

    def _ask(self, text: str) -> list[Document]:
        """Return the documents for a question, and keep those of each stage."""
        return self._reached(text, self._retriever.results(text))

    async def _aask(self, text: str) -> list[Document]:
        return self._reached(text, await self._retriever.results_async(text))

    def _reached(self, text: str, results: Mapping[str, Any]) -> list[Document]:
        for stage, (name, output) in self._retriever.stages.items():
            if (found := (results.get(name) or {}).get(output)) is not None:
                self._asked.note(stage, text, items_of(found))
        return self._retriever.reached(results)

    def stages(self, run: RetrievedRun) -> Stages:
        """Return the evaluation of each stage; only that of the last warns."""
        last = REACHED if len(self._retriever.outputs) > 1 else None
        return self._asked.stages(run, self._asked.evaluation(run), last)


@arguments_of(_Evaluating)
def evaluate_pipeline(*args: Any, **options: Any) -> Stages:  # noqa: D417  (they are those of _Evaluating)
    """Ask a pipeline every question, and evaluate what it holds after each of its steps.

    Each question is run once, and only as far as its documents depend on it: no prompt builder and no model after them.
    The stages are the outputs that hold documents, in the order of the pipeline: those of retrievers, joiners and
    rankers. A question that a router sends past an output is left out there, and a question that failed has retrieved
    nothing anywhere.

    Args:
        pipeline: A pipeline, a component that returns documents, or a `PipelineRetriever`, which can name the output
            that counts and give values to other inputs. If it names several, of which each question reaches one, the
            last stage is `reached`.
        questions: Questions with their judgments: an `EvaluationSet`, or anything that `EvaluationSet.of` reads, such
            as pairs `(query, relevant)`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What an id of the judgments is compared with, as in the core's `evaluate`: `"id"`, `"source"`,
            `"metadata:<key>"`, a function, or a `Matching`. A `Quote` or a `Span` in the judgments does not need it.
        semantics: The rules, as in `evaluate`.
        clusters: The clusters of the questions, as in `evaluate`.
        documents: The whole documents before they were split, if a `Span` is judged.
        workers: How many questions may be under way at once.
        timeout: Seconds that one attempt may take, as in `retrieve`.
        retries: How often a failed question is repeated, as in `retrieve`.
        show_progress: Show a progress bar on stderr; needs rich.
        raise_on_error: Raise the first failure instead of counting it.

    Returns:
        The evaluation of each stage by name, in their order. Print it, or pass it to `retrieval_metrics.compare`, which
        tests what the steps change.

    Raises:
        TypeError: If it is no retriever, the questions have another shape, or several outputs hold the last documents.
        ValueError: If a metric or a rule set is unknown, or as in `evaluate`.
        Exception: The first failure, if the first questions fail alike or all fail.

    Warns:
        RetrievalWarning: As in `evaluate`.

    Example:
        >>> from haystack import Document, Pipeline, component
        >>> @component
        ... class Finder:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, query: str):
        ...         return {"documents": [Document(id="d3", content="three"), Document(id="d7", content="seven")]}
        >>> @component
        ... class Turner:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, documents: list[Document]):
        ...         return {"documents": documents[::-1]}
        >>> pipeline = Pipeline()
        >>> _ = pipeline.add_component("finder", Finder())
        >>> _ = pipeline.add_component("turner", Turner())
        >>> _ = pipeline.connect("finder.documents", "turner.documents")
        >>> stages = evaluate_pipeline(pipeline, [("what is seven?", ["d7"])], "mrr")
        >>> {name: one.means["mrr"] for name, one in stages.items()}  # at rank 2, then at rank 1
        {'finder': 0.5, 'turner': 1.0}
    """
    call = passed_on("evaluate_pipeline", _Evaluating, args, options)
    return call.stages(retrieve(call.ways, **call.asking))


@arguments_of(_Evaluating)
async def aevaluate_pipeline(*args: Any, **options: Any) -> Stages:
    """Ask a pipeline every question, and evaluate each of its steps; the asynchronous twin of `evaluate_pipeline`."""
    call = passed_on("aevaluate_pipeline", _Evaluating, args, options)
    return call.stages(await aretrieve(call.ways, **call.asking))
