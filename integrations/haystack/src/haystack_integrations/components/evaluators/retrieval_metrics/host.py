"""Pipelines, retrievers, documents and chat generators of Haystack for the core and other integrations."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from haystack import Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.documents import items_of
from haystack_integrations.components.evaluators.retrieval_metrics.pipelines import PipelineRetriever
from haystack_integrations.components.evaluators.retrieval_metrics.sockets import outputs_of, sockets_of
from retrieval_metrics.adapting import Host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _retriever(thing: Any) -> PipelineRetriever | None:
    """Return a pipeline or a component that returns documents as a retriever."""
    if isinstance(thing, PipelineRetriever):
        return thing
    return PipelineRetriever(thing) if isinstance(thing, Pipeline) or outputs_of(thing) else None


def _ask(thing: Any) -> Callable[[str], Any] | None:
    retriever = _retriever(thing)
    return None if retriever is None else retriever.ask


def _ask_synchronously(thing: Any) -> Callable[[str], Any] | None:
    """Return the synchronous way, or, where a component has none and says so, an awaitable."""
    retriever = _retriever(thing)
    if retriever is None:
        return None

    def ask(text: str) -> Any:
        try:
            return retriever(text)
        except Exception as error:
            if not any(isinstance(one, NotImplementedError) for one in (error, error.__cause__)):
                raise
            return retriever.ask(text)

    return ask


async def _run(component: Any, inputs: Mapping[str, Any]) -> Any:
    if hasattr(component, "run_async"):
        return await component.run_async(**inputs)
    return await asyncio.to_thread(component.run, **inputs)


def _model(thing: Any) -> Callable[[str], Any] | None:
    if "messages" not in sockets_of(thing, "input") or "replies" not in sockets_of(thing, "output"):
        return None

    async def reply(prompt: str) -> str:
        answer = await _run(thing, {"messages": [ChatMessage.from_user(prompt)]})
        text = answer["replies"][0].text
        if not isinstance(text, str):
            raise TypeError(f"a model must reply with a text, got {answer['replies'][0]!r:.80}")
        return text

    return reply


HOST = Host(
    name="haystack",
    ask=_ask,
    ask_synchronously=_ask_synchronously,
    items=items_of,
    model=_model,
    documents=items_of,
)
"""Registered as the entry points `haystack` and `haystack_integrations` of the group `retrieval_metrics.hosts`."""
