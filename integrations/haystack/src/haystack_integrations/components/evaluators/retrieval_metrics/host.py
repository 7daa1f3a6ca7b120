"""Tell the core how to ask pipelines, retrievers and chat generators of Haystack, and how to read documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack import Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.documents import convert_items
from haystack_integrations.components.evaluators.retrieval_metrics.pipeline_retriever import (
    PipelineRetriever,
    resolve_retriever_functions,
    run_async,
)
from haystack_integrations.components.evaluators.retrieval_metrics.sockets import (
    get_sockets,
    list_document_outputs,
    list_id_outputs,
)
from retrieval_metrics.integration_api import HostAdapter, RetrieverFunctions

if TYPE_CHECKING:
    from collections.abc import Mapping


def _resolve_retriever(retriever: Any) -> RetrieverFunctions | None:
    """Return the functions that ask a pipeline or a component; None for another object."""
    if isinstance(retriever, PipelineRetriever):
        return resolve_retriever_functions(retriever)
    # A component whose outputs can only hold ids is refused, with how to name the output.
    if isinstance(retriever, Pipeline) or list_document_outputs(retriever) or list_id_outputs(retriever):
        return resolve_retriever_functions(PipelineRetriever(retriever))
    return None


def _resolve_model(model: Any) -> RetrieverFunctions | None:
    """Return the functions that ask a chat generator; None if it is another object."""
    if "messages" not in get_sockets(model, "input") or "replies" not in get_sockets(model, "output"):
        return None

    def reply(prompt: str) -> str | None:
        return _first_text(model.run(messages=[ChatMessage.from_user(prompt)]))

    async def areply(prompt: str) -> str | None:
        return _first_text(await run_async(model, messages=[ChatMessage.from_user(prompt)]))

    return RetrieverFunctions(reply, areply)


def _first_text(outputs: Mapping[str, Any]) -> str | None:
    reply: ChatMessage = outputs["replies"][0]
    return reply.text


# Registered as the entry points `haystack` and `haystack_integrations` of the group `retrieval_metrics.hosts`.
HOST = HostAdapter(
    name="haystack",
    resolve_retriever=_resolve_retriever,
    convert_items=convert_items,
    model=_resolve_model,
    documents=convert_items,
)
