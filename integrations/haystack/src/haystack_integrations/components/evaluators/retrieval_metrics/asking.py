"""A pipeline or a component as a retriever: the query goes in by type, the documents of a named output come out."""

from __future__ import annotations

import asyncio
from copy import copy
from typing import TYPE_CHECKING, Any

from haystack import Document, Pipeline

from haystack_integrations.components.evaluators.retrieval_metrics.sockets import given, outputs_of, sockets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
            documents no other component passes on, if there is one.
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
        self._fixed: dict[str, Any] = dict(inputs or {}) if whole else {ITSELF: dict(inputs or {})}
        self._names = dict(pipeline.walk()) if whole else {ITSELF: pipeline}
        if stray := [name for name in self._fixed if name not in self._names]:
            raise ValueError(f"inputs are given for {stray[0]!r}; the components are {_listed(self._names)}")
        self.outputs = self._last(pipeline) if output is None else self._named(output)
        self._thing, free = pipeline, {ITSELF: sockets_of(pipeline, "input")}
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
        places = [(name, output) for name in order for output in outputs_of(self._names[name])]
        places.sort(key=lambda place: place in self.outputs)
        one = {name for name in order if len(outputs_of(self._names[name])) == 1}
        return {name if name in one and name else _shown([(name, output)]): (name, output) for name, output in places}

    def __call__(self, text: str) -> list[Document]:
        """Return the documents for a query, by the synchronous way.

        Raises:
            LookupError: If none of the outputs was reached.
        """
        return self.reached(self.results(text))

    async def ask(self, text: str) -> list[Document]:
        """Return the documents for a query; the asynchronous twin."""
        return self.reached(await self.results_async(text))

    def results(self, text: str) -> Mapping[str, Any]:
        """Return the outputs of every component that holds documents, by its name."""
        data = self._data(text)
        if isinstance(self._thing, Pipeline):
            return self._thing.run(data, include_outputs_from=self._included)
        return {ITSELF: self._thing.run(**data[ITSELF])}

    async def results_async(self, text: str) -> Mapping[str, Any]:
        """Return the outputs of every component that holds documents; the asynchronous twin."""
        data = self._data(text)
        if isinstance(self._thing, Pipeline):
            return await self._thing.run_async(data, include_outputs_from=self._included)
        return {ITSELF: await run_async(self._thing, **data[ITSELF])}

    def reached(self, results: Mapping[str, Any]) -> list[Document]:
        """Return the documents of the output that a query reached.

        Raises:
            LookupError: If it reached none of them, or several.
        """
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
        makers = {name: outputs for name, one in self._names.items() if (outputs := outputs_of(one))}
        passed_on = set()
        if isinstance(pipeline, Pipeline):
            for start, end, edge in pipeline.graph.edges(data=True):
                if not makers.keys().isdisjoint({end} | _reached(pipeline.graph.successors, end)):
                    passed_on.add((start, edge["from_socket"].name))
        last = [(name, one) for name, outputs in makers.items() for one in outputs if (name, one) not in passed_on]
        if len(last) == 1:
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
            known = [(name, one) for name, thing in self._names.items() for one in outputs_of(thing)]
            fitting = [(name, one) for name, one in known if said in {f"{name}.{one}".lstrip("."), name}]
            if len(fitting) != 1:
                wrong = f"has several outputs with documents: {_shown(fitting)}" if fitting else "is no output"
                raise ValueError(f"output={said!r} {wrong}; the outputs with documents are {_shown(known)}")
            found += fitting
        if not found:
            raise ValueError("output names nothing")
        return found


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
