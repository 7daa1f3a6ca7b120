"""Pipelines, retrievers, documents and chat generators of Haystack for the core and other integrations."""

from __future__ import annotations

from typing import Any

from haystack import Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import (
    PipelineRetriever,
    convert_items,
    get_sockets,
    list_document_outputs,
    resolve_retriever_functions,
    run_async,
)
from retrieval_metrics.integration_api import HostAdapter, RetrieverFunctions


def _retriever(thing: Any) -> PipelineRetriever | None:
    """Return a pipeline or a component that returns documents as a retriever."""
    if isinstance(thing, PipelineRetriever):
        return thing
    return PipelineRetriever(thing) if isinstance(thing, Pipeline) or list_document_outputs(thing) else None


def _ask(thing: Any) -> RetrieverFunctions | None:
    retriever = _retriever(thing)
    return None if retriever is None else resolve_retriever_functions(retriever)


def _model(thing: Any) -> RetrieverFunctions | None:
    if "messages" not in get_sockets(thing, "input") or "replies" not in get_sockets(thing, "output"):
        return None

    def reply(prompt: str) -> Any:
        return thing.run(messages=[ChatMessage.from_user(prompt)])["replies"][0].text

    async def areply(prompt: str) -> Any:
        return (await run_async(thing, messages=[ChatMessage.from_user(prompt)]))["replies"][0].text

    return RetrieverFunctions(reply, areply)


HOST = HostAdapter(
    name="haystack",
    resolve_retriever=_ask,
    convert_items=convert_items,
    model=_model,
    documents=convert_items,
)
"""Registered as the entry points `haystack` and `haystack_integrations` of the group `retrieval_metrics.hosts`."""
