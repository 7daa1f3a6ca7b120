"""Evaluate a pipeline after each of its steps, asked as a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from haystack import Document, Pipeline
from haystack.components.routers import ConditionalRouter

from haystack_integrations.components.evaluators.retrieval_metrics.tracing import ComponentCosts
from retrieval_metrics import DEFAULT_METRICS, Retrieved, aretrieve, retrieve
from retrieval_metrics.integration_api import (
    EvaluationTask,
    RetrieverFunctions,
    StageRankings,
    as_list_of,
    finite_score_or_none,
)
from retrieval_metrics.integration_api.async_support import WORKERS, forward_arguments, takes_arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from retrieval_metrics import Metric, RetrievedRun, Rules
    from retrieval_metrics.types import ClustersBy, DocumentId, MatchBy, Stages


class PipelineEvaluationTask:
    """A pipeline and the questions that it is asked: the arguments of both functions, checked."""

    def __init__(
        self,
        pipeline: Any,
        questions: Any,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        rules: str | Rules = "standard",
        clusters: ClustersBy = "source",
        documents: Any = None,
        workers: int = WORKERS,
        timeout: float | None = None,
        retries: int = 0,
        show_progress: bool = False,
        raise_on_error: bool = False,
        costs: bool = False,
    ) -> None:
        retriever = pipeline if isinstance(pipeline, PipelineRetriever) else PipelineRetriever(pipeline)
        asked = EvaluationTask(questions, metrics, match, rules=rules, clusters=clusters, documents=documents)
        self.asking = asked.retrieve_arguments | {
            "workers": workers,
            "timeout": timeout,
            "retries": retries,
            "show_progress": show_progress,
            "raise_on_error": raise_on_error,
        }
        if costs and not isinstance(retriever._thing, Pipeline):  # noqa: SLF001  (of this file)
            raise TypeError(
                "costs=True needs a pipeline, whose components it tells apart; the seconds of a single component are "
                "those of each question, stages.last.seconds"
            )
        self._asked, self._costs = asked, ComponentCosts() if costs else None
        self.listening = nullcontext if self._costs is None else self._costs.listening
        if self._costs is not None:
            retriever = copy(retriever)
            retriever.noting = self._costs.of
        self.ways = resolve_retriever_functions(retriever)

    def stages(self, run: RetrievedRun) -> Stages:
        """Return the evaluation of each stage, the last with what the components cost."""
        evaluation = self._asked.evaluation(run)
        if self._costs is None:
            return evaluation.stages
        scores: dict[str, dict[Any, float]] = {}
        for query in evaluation.scores.queries:
            for name, cost in self._costs.by_text.get(self._asked.texts[query], {}).items():
                scores.setdefault(name, {})[query] = cost
        return evaluation.with_scores(scores, bounds=(0, None), lower_is_better=[*scores]).stages


@takes_arguments_of(PipelineEvaluationTask)
def evaluate_pipeline(*args: Any, **options: Any) -> Stages:  # noqa: D417  (they are those of _Evaluating)
    """Ask a pipeline every question, and evaluate what it holds after each of its steps.

    It is `rm.evaluate(questions, rm.retrieve(pipeline, questions), metrics).stages`, with all arguments checked before
    the first question is asked. Each question is run once, and only as far as its documents depend on it: no prompt
    builder and no model after them. The stages are the outputs that hold documents, in the order of the pipeline: those
    of retrievers, joiners and rankers. A question that a router sends past an output is left out there, and a question
    that failed has retrieved nothing anywhere.

    Args:
        pipeline: A pipeline, a component that returns documents, or a `PipelineRetriever`, which can name the output
            that counts and give values to other inputs. Behind a router, the last stage is `returned`: what each
            question got.
        questions: Questions with their judgments: an `EvaluationSet`, or anything that `EvaluationSet.from_dataset`
            reads, such as pairs `(query, relevant)`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        match: What an id of the judgments is compared with, as in the core's `evaluate`: `"id"`, `"source"`,
            `"metadata:<key>"`, a function, or a `Matching`. A `Quote` or a `Span` in the judgments does not need it.
        rules: The rules, as in `evaluate`.
        clusters: The clusters of the questions, as in `evaluate`.
        documents: The whole documents before they were split, if a `Span` is judged.
        workers: How many questions may be under way at once.
        timeout: Seconds that one attempt may take, as in `retrieve`.
        retries: How often a failed question is repeated, as in `retrieve`.
        show_progress: Show a progress bar on stderr, if rich is installed.
        raise_on_error: Raise the first failure instead of counting it.
        costs: Also note what the components cost per question, from Haystack's tracing: `"retriever seconds"`, and the
            tokens that generators and embedders report, such as `"rewriter prompt_tokens"`. They are metrics of the
            last stage; a component that a question did not reach is undefined there. Your own tracer goes on.

    Returns:
        The evaluation of each stage by name, in their order. Print it, pass it to `retrieval_metrics.compare`, which
        tests what the steps change, or ask it for `losses("recall@5")`.

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
    call = forward_arguments("evaluate_pipeline", PipelineEvaluationTask, args, options)
    with call.listening():
        run = retrieve(call.ways, **call.asking)
    return call.stages(run)


@takes_arguments_of(PipelineEvaluationTask)
async def aevaluate_pipeline(*args: Any, **options: Any) -> Stages:
    """Ask a pipeline every question, and evaluate each of its steps; the asynchronous twin of `evaluate_pipeline`."""
    call = forward_arguments("aevaluate_pipeline", PipelineEvaluationTask, args, options)
    with call.listening():
        run = await aretrieve(call.ways, **call.asking)
    return call.stages(run)


ITSELF = ""
"""Stands for the name of a component that is in no pipeline."""


class PipelineRetriever:
    """A pipeline, or a component, as a retriever for the core: a function from the text of a query to documents.

    Only what the documents depend on is run: no prompt builder and no model after the retriever, so an evaluation does
    not pay for answers. A pipeline or a component can be passed to the core directly; this class is for what it needs
    to be told.

    Args:
        pipeline: A pipeline, or a component that returns documents.
        output: Where the documents are: `"ranker.documents"`, or the name of a component with one such output. Several,
            if a router sends each query to one of them: what the query reached counts. None takes the output whose
            documents no other component passes on, or those behind a ConditionalRouter.
        inputs: Values of other inputs, by component and name as for `Pipeline.run`, or by name for a component. The
            query goes to every other required input, and to inputs named `query`; an input of type `list[str]` gets a
            list.

    Raises:
        TypeError: If nothing takes a query or returns documents, a required input takes no text, or several outputs
            hold the last documents.
        ValueError: If there is no such output or component.

    Example:
        >>> from haystack import component
        >>> @component
        ... class Finder:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, queries: list[str]):
        ...         return {"documents": [Document(id=f"about {query}", content="a text") for query in queries]}
        >>> [document.id for document in PipelineRetriever(Finder())("closures")]
        ['about closures']
    """

    def __init__(
        self,
        pipeline: Any,
        *,
        output: str | Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Find the outputs, what they depend on, and the inputs that take the query."""
        whole = isinstance(pipeline, Pipeline)
        self.noting: Callable[[str], AbstractContextManager[Any]] = nullcontext
        self._fixed: dict[str, Any] = dict(inputs or {}) if whole else {ITSELF: dict(inputs or {})}
        self._names = dict(pipeline.walk()) if whole else {ITSELF: pipeline}
        if stray := [name for name in self._fixed if name not in self._names]:
            raise ValueError(f"inputs are given for {stray[0]!r}; the components are {_listed(self._names)}")
        self.outputs = self._last(pipeline) if output is None else self._named(output)
        self._thing, free = pipeline, {ITSELF: get_sockets(pipeline, "input")}
        if isinstance(pipeline, Pipeline):
            last = {name for name, _ in self.outputs}
            needed = last.union(*(_reached(pipeline.graph.predecessors, name) for name in last))
            self._thing = copy(pipeline)
            self._thing.graph = pipeline.graph.subgraph(needed).copy()
            free = self._thing.inputs()
        self._receive = {
            name: given(_described(sockets), name or type(pipeline).__name__, self._fixed.get(name, {}))
            for name, sockets in free.items()
        }
        if not any(self._receive.values()):
            raise TypeError(
                f"no input of {_said(pipeline)} takes the text of a query; a retriever needs a required input of type "
                "str, Any or list[str], or one named 'query'"
            )
        if not isinstance(pipeline, Pipeline) and hasattr(pipeline, "warm_up"):  # a pipeline does it for its components
            pipeline.warm_up()

    @property
    def stages(self) -> dict[str, tuple[str, str]]:
        """The outputs that hold documents, up to the last ones, by name and in the order of the pipeline.

        A component with one such output gives it its name, as `ranker`; of several, each is named in full.
        """
        order = [ITSELF]
        if isinstance(self._thing, Pipeline):
            graph = self._thing.graph  # what comes before another has fewer components before it
            order = sorted(graph.nodes, key=lambda name: (len(_reached(graph.predecessors, name)), name))
        places = [(name, output) for name in order for output in list_document_outputs(self._names[name])]
        places.sort(key=lambda place: place in self.outputs)
        one = {name for name in order if len(list_document_outputs(self._names[name])) == 1}
        return {name if name in one and name else _shown([(name, output)]): (name, output) for name, output in places}

    def __call__(self, text: str) -> list[Document]:
        """Return the documents for a query, by the synchronous way.

        Raises:
            LookupError: If none of the outputs was reached.
        """
        return self._reached(self._results(text))

    async def ask(self, text: str) -> list[Document]:
        """Return the documents for a query; the asynchronous twin."""
        return self._reached(await self._results_async(text))

    def steps(self, text: str) -> StageRankings:
        """Return what a query got at each stage, as items of the core."""
        return self._steps(self._results(text))

    async def steps_async(self, text: str) -> StageRankings:
        """Return what a query got at each stage; the asynchronous twin."""
        return self._steps(await self._results_async(text))

    def _steps(self, results: Mapping[str, Any]) -> StageRankings:
        self._reached(results)
        found = {stage: (results.get(name) or {}).get(output) for stage, (name, output) in self.stages.items()}
        return StageRankings(
            {stage: None if documents is None else convert_items(documents) for stage, documents in found.items()}
        )

    def _results(self, text: str) -> Mapping[str, Any]:
        """Return the outputs of every component that holds documents, by its name."""
        data = self._data(text)
        if isinstance(self._thing, Pipeline):
            with self.noting(text):
                return self._thing.run(data, include_outputs_from=self._included)
        return {ITSELF: self._thing.run(**data[ITSELF])}

    async def _results_async(self, text: str) -> Mapping[str, Any]:
        data = self._data(text)
        if isinstance(self._thing, Pipeline):
            with self.noting(text):
                return await self._thing.run_async(data, include_outputs_from=self._included)
        return {ITSELF: await run_async(self._thing, **data[ITSELF])}

    def _reached(self, results: Mapping[str, Any]) -> list[Document]:
        """Return the documents of the output that a query reached; raise if it reached none of them, or several."""
        found = [(name, output) for name, output in self.outputs if output in (results.get(name) or {})]
        if len(found) != 1:
            reached = f"{len(found)} of them ({_shown(found)})" if found else "none of them"
            raise LookupError(
                f"the documents were expected at {_shown(self.outputs)}, and the query reached {reached}; name in "
                "output= the outputs of which each query reaches one"
            )
        ((name, output),) = found
        documents: list[Document] = results[name][output]
        return documents

    @property
    def _included(self) -> set[str]:
        return {name for name, _ in self.stages.values()}

    def _data(self, text: str) -> dict[str, Any]:
        return {
            name: {
                **{one: [text] if as_list else text for one, as_list in self._receive.get(name, {}).items()},
                **self._fixed.get(name, {}),
            }
            for name in {**self._receive, **self._fixed}
            if self._receive.get(name) or (name in self._fixed and name in self._thing_names)
        }

    @property
    def _thing_names(self) -> set[str]:
        return set(self._thing.graph.nodes) if isinstance(self._thing, Pipeline) else {ITSELF}

    def _last(self, pipeline: Any) -> list[tuple[str, str]]:
        """Return the outputs whose documents reach no other component that returns documents."""
        makers = {name: outputs for name, one in self._names.items() if (outputs := list_document_outputs(one))}
        passed_on = set()
        if isinstance(pipeline, Pipeline):
            for start, end, edge in pipeline.graph.edges(data=True):
                if not makers.keys().isdisjoint({end} | _reached(pipeline.graph.successors, end)):
                    passed_on.add((start, edge["from_socket"].name))
        last = [(name, one) for name, outputs in makers.items() for one in outputs if (name, one) not in passed_on]
        if len(last) == 1 or (last and isinstance(pipeline, Pipeline) and _are_routes(pipeline, last)):
            return last
        if not makers:
            raise TypeError(
                "nothing in the pipeline returns documents; a retriever has an output of type list[Document]"
            )
        where = _shown(last or [(name, one) for name, outputs in makers.items() for one in outputs])
        raise TypeError(
            f"{len(last) or 'no'} outputs hold the last documents: {where}; name the one that counts, "
            f"PipelineRetriever(pipeline, output={where.split(', ')[0]!r}), or several of which each query reaches one"
        )

    def _named(self, output: str | Sequence[str]) -> list[tuple[str, str]]:
        found = []
        for said in [output] if isinstance(output, str) else output:
            known = [(name, one) for name, thing in self._names.items() for one in list_document_outputs(thing)]
            fitting = [(name, one) for name, one in known if said in {f"{name}.{one}".lstrip("."), name}]
            if len(fitting) != 1:
                wrong = f"has several outputs with documents: {_shown(fitting)}" if fitting else "is no output"
                raise ValueError(f"output={said!r} {wrong}; the outputs with documents are {_shown(known)}")
            found += fitting
        if not found:
            raise ValueError("output names nothing")
        return found


def resolve_retriever_functions(retriever: PipelineRetriever) -> RetrieverFunctions:
    """Return how the text of a query is asked, and how many documents a store is asked for, if the last is a store."""
    wanted = None
    if len(retriever.outputs) == 1:
        ((name, _),) = retriever.outputs
        one = retriever._names[name]  # noqa: SLF001  (of this file)
        said = {key.lstrip("_"): value for key, value in vars(one).items()} | retriever._fixed.get(name, {})  # noqa: SLF001
        # Rankers and searches by words may have fewer, and so has a threshold.
        if "query_embedding" in get_sockets(one, "input") and said.get("score_threshold") is None:
            wanted = said.get("top_k")
    return RetrieverFunctions(retriever.steps, retriever.steps_async, wanted)


def _are_routes(pipeline: Pipeline, outputs: Sequence[tuple[str, str]]) -> bool:
    """Return whether a router that takes one of several ways leads to all of some outputs."""
    routers = [name for name, one in pipeline.walk() if isinstance(one, ConditionalRouter)]
    ends = {name for name, _ in outputs}
    return any(ends <= {router} | _reached(pipeline.graph.successors, router) for router in routers)


async def run_async(component: Any, **inputs: Any) -> Mapping[str, Any]:
    """Return the outputs of a component, which runs in a thread if it is only synchronous."""
    outputs: Mapping[str, Any]
    if hasattr(component, "run_async"):
        outputs = await component.run_async(**inputs)
    else:
        outputs = await asyncio.to_thread(component.run, **inputs)
    return outputs


def _reached(neighbours: Callable[[str], Iterable[str]], start: str) -> set[str]:
    """Return what can be reached from a component: all before it, or all behind it."""
    waiting, found = [start], set[str]()
    while waiting:
        new = set(neighbours(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def _described(sockets: Mapping[str, Any]) -> dict[str, tuple[Any, bool]]:
    """Return type and necessity of each input, as a component or as a pipeline describes it."""
    return {
        name: (one["type"], one["is_mandatory"]) if isinstance(one, dict) else (one.type, one.is_mandatory)
        for name, one in sockets.items()
    }


def _shown(outputs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name}.{output}".lstrip(".") for name, output in outputs) or "none"


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names))


def _said(thing: Any) -> str:
    return "the pipeline" if isinstance(thing, Pipeline) else type(thing).__name__


QUERY = "query"
"""The name of inputs for the text of a query; rankers can take it without requiring it."""


def get_sockets(thing: Any, side: Literal["input", "output"]) -> dict[str, Any]:
    """Return the inputs or outputs of a component by name; none of what is not a component."""
    sockets = getattr(thing, f"__haystack_{side}__", None)
    return {} if sockets is None else sockets._sockets_dict  # noqa: SLF001  (public only once it is in a pipeline)


def list_document_outputs(component: Any) -> list[str]:
    """Return the names of the outputs that hold documents."""
    outputs = get_sockets(component, "output").items()
    return [name for name, socket in outputs if any(kind == list[Document] for kind in _kinds(socket.type))]


def given(inputs: Mapping[str, tuple[Any, bool]], owner: str, fixed: Mapping[str, Any]) -> dict[str, bool]:
    """Return the inputs that receive the query, required or with a usual name, and whether as a list."""
    receive: dict[str, bool] = {}
    for name, (kind, needed) in inputs.items():
        if name in fixed or not (needed or name == QUERY):
            continue
        kinds = set(_kinds(kind))
        if kinds & {str, Any}:
            receive[name] = False
        elif list[str] in kinds:
            receive[name] = True
        elif needed:
            raise TypeError(
                f"{owner} needs {name!r}, which is not a text; put a component that makes it from the query before it, "
                f"such as a text embedder in a pipeline, or give {name!r} a value by PipelineRetriever(..., inputs=)"
            )
    return receive


def _kinds(kind: Any) -> Iterator[Any]:
    """Yield a type, or the members of a union."""
    if get_origin(kind) is Annotated:
        yield from _kinds(get_args(kind)[0])
    elif get_origin(kind) in {Union, UnionType}:
        for one in get_args(kind):
            yield from _kinds(one)
    else:
        yield kind


META = "meta."
SOURCE_KEY = "source_id"
START_KEY = "split_idx_start"
"""The metadata in which Haystack's splitters write the document of a chunk, and its offset there."""
LEVEL = "__level"
"""The metadata in which the hierarchical splitter writes how often a chunk was split; its source is then a chunk."""


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, its score, and its place in its source, if known.

    Example:
        >>> chunk = Document(id="c2", content="The with statement", meta={"source_id": "book", "split_idx_start": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('c2', 'book', 120, 138)
    """
    source, start = document.meta.get(SOURCE_KEY), document.meta.get(START_KEY)
    if isinstance(level := document.meta.get(LEVEL), int) and level > 1:
        source = None
    text = document.content
    placed = source is not None and text is not None and isinstance(start, int) and start >= 0
    if SOURCE_KEY not in document.meta and text is not None:
        # Converters keep the line ends of Windows in whole documents, but spans are written against what `open` reads.
        text = text.replace("\r\n", "\n")
    return Retrieved(
        document.id,
        text=text,
        source=source if isinstance(source, str) else None,
        start=start if placed else None,
        score=finite_score_or_none(document.score),
        metadata=document.meta,
        offsets_unverified=True,
    )


def convert_items(documents: Any) -> list[Retrieved]:
    """Return what a retriever returned as items of the core: documents, or a component's outputs with `documents`."""
    found = documents["documents"] if isinstance(documents, Mapping) and "documents" in documents else documents
    found = as_list_of(found, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in found]


def get_match_value(document: Document, field: str) -> DocumentId | None:
    """Return the value by which a document is compared; None if it has none.

    Example:
        >>> compared(Document(content="text", meta={"source": {"url": "a.html"}}), "meta.source.url")
        'a.html'
    """
    if field in {"content", "id"}:
        return document.content if field == "content" else document.id
    value: Any = document.meta
    for key in field.removeprefix(META).split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)):
        return value
    raise TypeError(
        f"documents can be compared by a str or an int; {field} of {describe_document(document)} is {value!r}"
    )


def require_field(field: str, name: str, others: Sequence[str] = ()) -> None:
    """Raise if a setting does not name a field of a document."""
    if field not in others and (not field.startswith(META) or field == META):
        allowed = ", ".join(map(repr, [*others, "meta.<key>"]))
        raise ValueError(f"{name} must be one of {allowed}, got {field!r}")


def describe_document(document: Document) -> str:
    """Return a short description of a document, for messages."""
    return f"document {document.id[:12]!r}, {document.content or '':.40}"
