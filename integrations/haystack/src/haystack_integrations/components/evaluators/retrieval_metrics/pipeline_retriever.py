"""Ask a pipeline or a component of Haystack as a retriever of the core."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from haystack import Document, Pipeline
from haystack.components.routers import ConditionalRouter
from haystack.core.component import Component

from haystack_integrations.components.evaluators.retrieval_metrics.documents import convert_items
from haystack_integrations.components.evaluators.retrieval_metrics.sockets import (
    OutputPlace,
    describe_outputs,
    find_query_inputs,
    format_places,
    get_sockets,
    list_document_outputs,
    list_id_outputs,
)
from retrieval_metrics.integration_api import RetrieverFunctions, StageRankings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from retrieval_metrics import Retrieved
    from retrieval_metrics.types import DocumentId

# A pipeline, or a component that returns documents.
PipelineOrRetriever: TypeAlias = Pipeline | Component

# The outputs of components, by the name of the component.
PipelineOutputs: TypeAlias = Mapping[str, Mapping[str, Any]]

# Stands for the name of a component that is in no pipeline.
SINGLE_COMPONENT = ""


class PipelineRetriever:
    """A pipeline, or a component, as a retriever for the core: a function from the text of a query to documents.

    Only what the documents depend on is run: no prompt builder and no model after the retriever, so an evaluation does
    not pay for answers. A pipeline or a component can be passed to the core directly; this class is for what it needs
    to be told.

    Args:
        pipeline: A pipeline, or a component that returns documents.
        output: Where the documents are: `"ranker.documents"`, or the name of a component with one such output. Several,
            if a router sends each query to one of them: what the query reached counts. None takes the output whose
            documents no other component passes on, or those behind a ConditionalRouter. An output that holds ids in
            place of documents, of type `list[str]`, counts only if it is named.
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
        pipeline: PipelineOrRetriever,
        *,
        output: str | Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Find the outputs, what they depend on, and the inputs that take the query."""
        self.record_costs: Callable[[str], AbstractContextManager[Any]] = nullcontext
        self._fixed_inputs: dict[str, Any] = dict(inputs or {})
        self._components: dict[str, Any] = {}
        if isinstance(pipeline, Pipeline):
            self._components.update(pipeline.walk())
        else:
            self._fixed_inputs = {SINGLE_COMPONENT: self._fixed_inputs}
            self._components[SINGLE_COMPONENT] = pipeline
        for name in self._fixed_inputs:
            if name not in self._components:
                names = ", ".join(map(repr, self._components))
                raise ValueError(f"inputs are given for {name!r}; the components are {names}")
        if output is None:
            self.outputs = self._find_last_outputs(pipeline)
        else:
            self.outputs = self._find_named_outputs([output] if isinstance(output, str) else output)
        # The pipeline without what the outputs do not depend on, or the component.
        self.reduced: PipelineOrRetriever = pipeline
        free_inputs: Mapping[str, Any] = {SINGLE_COMPONENT: get_sockets(pipeline, "input")}
        if isinstance(pipeline, Pipeline):
            self.reduced = _reduce_pipeline(pipeline, self.outputs)
            free_inputs = self.reduced.inputs()
        self._query_inputs: dict[str, dict[str, bool]] = {}
        for name, sockets in free_inputs.items():
            owner = name or type(pipeline).__name__
            self._query_inputs[name] = find_query_inputs(sockets, owner, self._fixed_inputs.get(name, {}))
        if not any(self._query_inputs.values()):
            description = "the pipeline" if isinstance(pipeline, Pipeline) else type(pipeline).__name__
            raise TypeError(
                f"no input of {description} takes the text of a query; a retriever needs a required input of type "
                "str, Any or list[str], or one named 'query'"
            )
        if not isinstance(pipeline, Pipeline) and hasattr(pipeline, "warm_up"):  # a pipeline does it for its components
            pipeline.warm_up()

    @cached_property
    def stages(self) -> dict[str, OutputPlace]:
        """The outputs that hold documents, up to the last ones, by name and in the order of the pipeline.

        A component with one such output gives it its name, as `ranker`; of several, each is named in full.
        """
        places = []
        for name in self._ordered_names():
            places += [OutputPlace(name, output) for output in list_document_outputs(self._components[name])]
        # Outputs that hold ids are among the last ones, where they are named.
        places += [place for place in self.outputs if place not in places]
        # The last outputs come last, whatever the order of the components.
        places.sort(key=lambda place: place in self.outputs)
        n_outputs = Counter(place.component for place in places)
        stages = {}
        for place in places:
            if n_outputs[place.component] == 1 and place.component != SINGLE_COMPONENT:
                stages[place.component] = place
            else:
                stages[place.full_name] = place
        return stages

    def _ordered_names(self) -> list[str]:
        """Return the names of the components that are run, each after those on which it depends."""
        if not isinstance(self.reduced, Pipeline):
            return [SINGLE_COMPONENT]
        graph = self.reduced.graph

        def sort_key(name: str) -> tuple[int, str]:
            # A component has more components before it than each of those on which it depends.
            n_before = len(_find_reachable(graph.predecessors, name))
            return n_before, name

        return sorted(graph.nodes, key=sort_key)

    def __call__(self, text: str) -> list[Document]:
        """Return the documents for a query.

        Raises:
            LookupError: If none of the outputs was reached.
        """
        return self._read_documents(self._run(text))

    async def ask(self, text: str) -> list[Document]:
        """Return the documents for a query; the asynchronous version of calling the retriever."""
        return self._read_documents(await self._run_async(text))

    def steps(self, text: str) -> StageRankings:
        """Return the documents of a query at each stage, as items of the core."""
        return self._read_stages(self._run(text))

    async def steps_async(self, text: str) -> StageRankings:
        """Return the documents of a query at each stage; the asynchronous version of `steps`."""
        return self._read_stages(await self._run_async(text))

    def _read_stages(self, results: PipelineOutputs) -> StageRankings:
        """Return the documents of each stage; None where a router sent the query past it."""
        self._read_documents(results)
        rankings: dict[str, Sequence[Retrieved | DocumentId] | None] = {}
        takes_documents = {}
        for stage, place in self.stages.items():
            documents = (results.get(place.component) or {}).get(place.output)
            rankings[stage] = None if documents is None else _convert_ranking(documents)
            takes_documents[stage] = place.component in self._receivers_of_documents
        return StageRankings(rankings, takes_documents)

    @cached_property
    def _receivers_of_documents(self) -> set[str]:
        """The names of the components that an output with documents is connected to."""
        if not isinstance(self.reduced, Pipeline):
            return set()
        places = set(self._list_places())
        receivers = set()
        for sender, receiver, edge in self.reduced.graph.edges(data=True):
            if OutputPlace(sender, edge["from_socket"].name) in places:
                receivers.add(receiver)
        return receivers

    def _run(self, text: str) -> PipelineOutputs:
        """Return the outputs of every component that returns documents, by the name of the component."""
        inputs = self._make_inputs(text)
        if isinstance(self.reduced, Pipeline):
            with self.record_costs(text):
                return self.reduced.run(inputs, include_outputs_from=self._stage_components)
        return {SINGLE_COMPONENT: self.reduced.run(**inputs[SINGLE_COMPONENT])}

    async def _run_async(self, text: str) -> PipelineOutputs:
        inputs = self._make_inputs(text)
        if isinstance(self.reduced, Pipeline):
            with self.record_costs(text):
                return await self.reduced.run_async(inputs, include_outputs_from=self._stage_components)
        return {SINGLE_COMPONENT: await run_async(self.reduced, **inputs[SINGLE_COMPONENT])}

    def _read_documents(self, results: PipelineOutputs) -> list[Document]:
        """Return the documents of the one output that a query reached; raise if it reached none, or several."""
        reached = [place for place in self.outputs if place.output in (results.get(place.component) or {})]
        if len(reached) != 1:
            reached_text = f"{len(reached)} of them ({format_places(reached)})" if reached else "none of them"
            raise LookupError(
                f"the documents were expected at {format_places(self.outputs)}, and the query reached {reached_text}; "
                "name in output= outputs such that each query reaches exactly one"
            )
        documents: Any = results[reached[0].component][reached[0].output]
        if isinstance(documents, Iterable) and not isinstance(documents, list):
            documents = list(documents)  # any Iterable may be declared
        return documents  # type: ignore[no-any-return]  # the reader refuses what is not a list

    @cached_property
    def _stage_components(self) -> set[str]:
        return {place.component for place in self.stages.values()}

    def _make_inputs(self, text: str) -> dict[str, dict[str, Any]]:
        """Return the inputs of each component, by its name: the text of the query, and the fixed values."""
        inputs = {}
        for name in {**self._query_inputs, **self._fixed_inputs}:
            query_inputs = self._query_inputs.get(name, {})
            is_fixed = name in self._fixed_inputs and name in self._reduced_names
            if not query_inputs and not is_fixed:
                continue
            values: dict[str, Any] = {}
            for input_name, takes_list in query_inputs.items():
                values[input_name] = [text] if takes_list else text
            inputs[name] = {**values, **self._fixed_inputs.get(name, {})}
        return inputs

    @cached_property
    def _reduced_names(self) -> set[str]:
        if isinstance(self.reduced, Pipeline):
            return set(self.reduced.graph.nodes)
        return {SINGLE_COMPONENT}

    def _list_places(self, list_outputs: Callable[[object], list[str]] = list_document_outputs) -> list[OutputPlace]:
        """Return the places of the outputs that a function finds in each component, by default those of documents."""
        places = []
        for name, component in self._components.items():
            places += [OutputPlace(name, output) for output in list_outputs(component)]
        return places

    def _find_last_outputs(self, pipeline: PipelineOrRetriever) -> list[OutputPlace]:
        """Return the outputs whose documents reach no other component that returns documents."""
        places = self._list_places()
        passed_on = set()
        if isinstance(pipeline, Pipeline):
            document_components = {place.component for place in places}
            for sender, receiver, edge in pipeline.graph.edges(data=True):
                receivers = {receiver} | _find_reachable(pipeline.graph.successors, receiver)
                if not document_components.isdisjoint(receivers):
                    passed_on.add(OutputPlace(sender, edge["from_socket"].name))
        last = [place for place in places if place not in passed_on]
        if len(last) == 1:
            return last
        if last and isinstance(pipeline, Pipeline) and _are_routes(pipeline, last):
            return last
        if not places:
            raise TypeError(self._explain_missing_documents(pipeline))
        candidates = last or places
        raise TypeError(
            f"{len(last) or 'no'} outputs hold the last documents: {format_places(candidates)}; name the one that "
            f"counts, PipelineRetriever(pipeline, output={candidates[0].full_name!r}), or several such that each query "
            "reaches exactly one"
        )

    def _explain_missing_documents(self, pipeline: PipelineOrRetriever) -> str:
        """Return why a pipeline or a component without an output of documents is no retriever, and what to do."""
        id_places = self._list_places(list_id_outputs)
        if isinstance(pipeline, Pipeline):
            description = "the pipeline"
            argument = "pipeline"
        else:
            description = type(pipeline).__name__
            argument = "component"
        if id_places:
            return (
                f"nothing in {description} returns documents; if {format_places(id_places)} holds their ids, name it: "
                f"PipelineRetriever({argument}, output={id_places[-1].full_name!r})"
            )
        types = []
        for name, component in self._components.items():
            for output, type_name in describe_outputs(component).items():
                types.append(f"{OutputPlace(name, output).full_name} is {type_name}")
        if types:
            return (
                f"nothing in {description} returns documents ({', '.join(types)}); declare the output of the retriever "
                "as list[Document], or as list[str] if it holds ids"
            )
        advice = "a retriever is a pipeline, or a component with an output of type list[Document]"
        if callable(pipeline):
            advice += "; to evaluate a function, write rm.evaluate(questions, rm.retrieve(function, questions))"
        return f"{description} returns no documents; {advice}"

    def _find_named_outputs(self, names: Sequence[str]) -> list[OutputPlace]:
        all_places = self._list_places()
        id_places = self._list_places(list_id_outputs)
        named = []
        for name in names:
            matching = [place for place in all_places if name in {place.full_name, place.component}]
            if not matching:
                matching = [place for place in id_places if name in {place.full_name, place.component}]
            if len(matching) != 1:
                problem = "is not an output"
                if matching:
                    problem = f"has several outputs: {format_places(matching)}"
                raise ValueError(
                    f"output={name!r} {problem}; the outputs with documents are {format_places(all_places)}"
                    f"{_mention_ids(id_places)}"
                )
            named += matching
        if not named:
            raise ValueError("output= is empty; name at least one output")
        return named

    @property
    def requested_documents(self) -> int | None:
        """How many documents a store is asked for; None if the last component is no store, or the number is unknown."""
        if len(self.outputs) != 1:
            return None
        name = self.outputs[0].component
        component = self._components[name]
        settings = {key.lstrip("_"): value for key, value in vars(component).items()}
        settings |= self._fixed_inputs.get(name, {})
        # Rankers, keyword searches and searches with a threshold may return fewer documents without a fault.
        if "query_embedding" in get_sockets(component, "input") and settings.get("score_threshold") is None:
            return settings.get("top_k")
        return None


def resolve_retriever_functions(retriever: PipelineRetriever) -> RetrieverFunctions:
    """Return the functions that ask a retriever, with the number of documents that a store is asked for, if known."""
    return RetrieverFunctions(retriever.steps, retriever.steps_async, retriever.requested_documents)


async def run_async(component: Component, **inputs: Any) -> Mapping[str, Any]:
    """Return the outputs of a component, which runs in a thread if it is only synchronous."""
    outputs: Mapping[str, Any]
    run_asynchronously = getattr(component, "run_async", None)
    if run_asynchronously is None:
        outputs = await asyncio.to_thread(component.run, **inputs)
    else:
        outputs = await run_asynchronously(**inputs)
    return outputs


def _convert_ranking(documents: Any) -> Sequence[Retrieved | DocumentId]:
    """Return the documents of an output as items of the core; ids stay as they are."""
    if not isinstance(documents, (str, Mapping)) and isinstance(documents, Iterable):
        ranking = list(documents)
        if ranking and all(isinstance(item, (str, int)) for item in ranking):
            return ranking
        documents = ranking
    return convert_items(documents)


def _mention_ids(places: list[OutputPlace]) -> str:
    """Return the end of a message that says which outputs can hold ids."""
    if not places:
        return ""
    return f"; those that can hold ids are {format_places(places)}"


def _reduce_pipeline(pipeline: Pipeline, outputs: Sequence[OutputPlace]) -> Pipeline:
    """Return a copy of a pipeline with only the components on which some outputs depend."""
    needed = {place.component for place in outputs}
    for name in list(needed):
        needed |= _find_reachable(pipeline.graph.predecessors, name)
    reduced = copy(pipeline)
    reduced.graph = pipeline.graph.subgraph(needed).copy()
    return reduced


def _are_routes(pipeline: Pipeline, outputs: Sequence[OutputPlace]) -> bool:
    """Return whether all outputs lie behind one router, which sends each query to one of several components."""
    output_components = {place.component for place in outputs}
    for name, component in pipeline.walk():
        if not isinstance(component, ConditionalRouter):
            continue
        if output_components <= {name} | _find_reachable(pipeline.graph.successors, name):
            return True
    return False


def _find_reachable(neighbours: Callable[[str], Iterable[str]], start: str) -> set[str]:
    """Return the names of the components that can be reached from one: all before it, or all after it."""
    pending = [start]
    reached: set[str] = set()
    while pending:
        new_names = set(neighbours(pending.pop())) - reached
        reached |= new_names
        pending += new_names
    return reached
