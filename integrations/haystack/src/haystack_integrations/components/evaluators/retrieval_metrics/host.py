"""Pipelines, retrievers, documents and chat generators of Haystack for the core and other integrations."""

from __future__ import annotations

from typing import Any

from haystack import Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import (
    PipelineRetriever,
    items_of,
    outputs_of,
    run_async,
    sockets_of,
    ways_of,
)
from retrieval_metrics.integration_api import Host, Ways


def _retriever(thing: Any) -> PipelineRetriever | None:
    """Return a pipeline or a component that returns documents as a retriever."""
    if isinstance(thing, PipelineRetriever):
        return thing
    return PipelineRetriever(thing) if isinstance(thing, Pipeline) or outputs_of(thing) else None


def _ask(thing: Any) -> Ways | None:
    retriever = _retriever(thing)
    return None if retriever is None else ways_of(retriever)


def _model(thing: Any) -> Ways | None:
    if "messages" not in sockets_of(thing, "input") or "replies" not in sockets_of(thing, "output"):
        return None

    def reply(prompt: str) -> Any:
        return thing.run(messages=[ChatMessage.from_user(prompt)])["replies"][0].text

    async def areply(prompt: str) -> Any:
        return (await run_async(thing, messages=[ChatMessage.from_user(prompt)]))["replies"][0].text

    return Ways(reply, areply)


HOST = Host(
    name="haystack",
    ask=_ask,
    items=items_of,
    model=_model,
    documents=items_of,
)
"""Registered as the entry points `haystack` and `haystack_integrations` of the group `retrieval_metrics.hosts`."""
