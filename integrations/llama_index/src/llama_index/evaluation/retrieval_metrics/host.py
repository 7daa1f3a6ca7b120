"""What the core and other integrations take of LlamaIndex: retrievers, nodes and models."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import LLM

from llama_index.evaluation.retrieval_metrics.nodes import items_of
from retrieval_metrics.adapting import Host

if TYPE_CHECKING:
    from collections.abc import Callable


def _ask(retriever: Any) -> Callable[[str], Any] | None:
    if not isinstance(retriever, BaseRetriever):
        return None
    return retriever.retrieve if is_only_synchronous(retriever) else retriever.aretrieve


def is_only_synchronous(retriever: BaseRetriever) -> bool:
    """Whether `aretrieve` would compute on the event loop, because only `_retrieve` is implemented."""
    # The host wraps some methods to trace them, anew at each access: what they wrap is compared.
    return all(
        inspect.unwrap(getattr(type(retriever), name)) is inspect.unwrap(getattr(BaseRetriever, name))
        for name in ("_aretrieve", "aretrieve")
    )


def _model(model: Any) -> Callable[[str], Any] | None:
    if not isinstance(model, LLM):
        return None

    async def reply(prompt: str) -> str:
        return (await model.acomplete(prompt)).text

    return reply


HOST = Host(name="llama-index", ask=_ask, items=items_of, model=_model, documents=items_of)
"""Announced as the entry point `llama_index` of the group `retrieval_metrics.hosts`."""
