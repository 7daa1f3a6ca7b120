"""Pipelines, retrievers, documents and chat generators of Haystack for the core and other integrations."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.documents import items_of
from retrieval_metrics.adapting import Host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QUERY = "query"
"""The names of inputs for the text of a query; rankers can take it without requiring it."""


def _ask(thing: Any) -> Callable[[str], Any] | None:
    """Return a function that calls a pipeline or a component that returns documents."""
    if isinstance(thing, Pipeline):
        return _ask_pipeline(thing)
    output = _documents_of(thing)
    if output is None:
        return None
    needed = {name: (socket.type, socket.is_mandatory) for name, socket in _sockets(thing, "input").items()}
    inputs = _inputs(needed, type(thing).__name__)
    if hasattr(thing, "warm_up"):  # which a pipeline does for its components
        thing.warm_up()

    async def ask(text: str) -> Any:
        return (await _run(thing, dict.fromkeys(inputs, text)))[output]

    return ask


def _ask_pipeline(pipeline: Pipeline) -> Callable[[str], Any]:
    """Return a function that returns the final documents of a pipeline, which none of its components processes."""
    name, output = _last_documents(pipeline)
    inputs = {
        component: _inputs({socket: (one["type"], one["is_mandatory"]) for socket, one in sockets.items()}, component)
        for component, sockets in pipeline.inputs().items()
    }

    async def ask(text: str) -> Any:
        data = {component: dict.fromkeys(names, text) for component, names in inputs.items() if names}
        return (await pipeline.run_async(data, include_outputs_from={name})).get(name, {}).get(output, [])

    return ask


def _last_documents(pipeline: Pipeline) -> tuple[str, str]:
    makers = {name: output for name, one in pipeline.walk() if (output := _documents_of(one)) is not None}
    passed_on = {start for start, end in pipeline.graph.edges() if start in makers and end in makers}
    last = [name for name in makers if name not in passed_on]
    if len(last) != 1:
        raise TypeError(
            f"{len(last)} components of the pipeline return the last documents{': ' if last else ''}{', '.join(last)}; "
            "choose them with a function: lambda text: pipeline.run({...})['retriever']['documents']"
        )
    return last[0], makers[last[0]]


def _documents_of(component: Any) -> str | None:
    """Return the name of the output that holds documents, of a component that has one."""
    types = {name: socket.type for name, socket in _sockets(component, "output").items()}
    return next(
        (name for name, kind in types.items() if (get_origin(kind), get_args(kind)) == (list, (Document,))), None
    )


def _sockets(thing: Any, side: Literal["input", "output"]) -> dict[str, Any]:
    """Return the inputs or outputs of a component by name; none of what is not a component."""
    sockets = getattr(thing, f"__haystack_{side}__", None)
    return {} if sockets is None else sockets._sockets_dict  # noqa: SLF001  (public only once it is in a pipeline)


def _inputs(sockets: Mapping[str, tuple[Any, bool]], owner: str) -> list[str]:
    """Return the inputs that receive the text of a query: the required ones, and those with a usual name."""
    for name, (kind, needed) in sockets.items():
        if needed and kind is not Any and str not in {kind, *get_args(kind)}:
            raise TypeError(
                f"{owner} needs {name!r}, which is not a text; put a component that makes it from the query before it, "
                "such as a text embedder in a pipeline, or pass a function: "
                "lambda text: pipeline.run({...})['retriever']['documents']"
            )
    return [name for name, (_, needed) in sockets.items() if needed or name == QUERY]


async def _run(component: Any, inputs: Mapping[str, Any]) -> Any:
    if hasattr(component, "run_async"):
        return await component.run_async(**inputs)
    return await asyncio.to_thread(component.run, **inputs)


def _model(thing: Any) -> Callable[[str], Any] | None:
    if "messages" not in _sockets(thing, "input") or "replies" not in _sockets(thing, "output"):
        return None

    async def reply(prompt: str) -> str:
        answer = await _run(thing, {"messages": [ChatMessage.from_user(prompt)]})
        text = answer["replies"][0].text
        if not isinstance(text, str):
            raise TypeError(f"a model must reply with a text, got {answer['replies'][0]!r:.80}")
        return text

    return reply


HOST = Host(name="haystack", ask=_ask, items=items_of, model=_model, documents=items_of)
"""Registered as the entry points `haystack` and `haystack_integrations` of the group `retrieval_metrics.hosts`."""
