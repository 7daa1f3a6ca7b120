"""Retrievers, documents and models of LangChain for the core and other integrations."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda

from langchain_retrieval_metrics.asking import Refused, how_to_ask, invoked, is_graph
from langchain_retrieval_metrics.items import items_of
from langchain_retrieval_metrics.recording import searches_of
from retrieval_metrics.adapting import Host, Ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics import Retrieved


def _ask(retriever: Any) -> Ways | None:
    """Return how to invoke a retriever: asynchronously if that is more than `invoke` in a thread."""
    if not isinstance(retriever, Runnable) or isinstance(retriever, BaseLanguageModel):
        return None
    if is_graph(retriever):
        return Ways(asynchronous=partial(searches_of, retriever))
    ways = how_to_ask(retriever)
    return Ways(ways.synchronous) if _is_only_synchronous(retriever) else ways


def _items(answer: Any) -> Sequence[Retrieved]:
    if isinstance(answer, Refused):
        answer.read("pass a function: lambda text: chain.invoke({...})")
    return items_of(answer)


def _is_only_synchronous(runnable: Any) -> bool:
    if isinstance(runnable, RunnableLambda):
        return not hasattr(runnable, "afunc")
    kind = type(runnable)
    if isinstance(runnable, BaseRetriever):
        # The method that retrievers implement is private to those outside their class.
        return kind._aget_relevant_documents is BaseRetriever._aget_relevant_documents  # noqa: SLF001
    return kind.ainvoke is Runnable.ainvoke


def _model(model: Any) -> Ways | None:
    if not isinstance(model, Runnable) or isinstance(model, BaseRetriever):
        return None

    def reply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        return _text(invoked(_that_replies(model, schema), prompt))

    async def areply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        return _text(await _that_replies(model, schema).ainvoke(prompt))

    return Ways(reply, areply)


def _that_replies(model: Runnable[Any, Any], schema: dict[str, Any] | None) -> Runnable[Any, Any]:
    """Return a model that replies in the form of a schema, if it can."""
    # A chat model without a method of its own raises when it is asked for structured output.
    if (
        schema is None
        or not isinstance(model, BaseChatModel)
        or type(model).with_structured_output is BaseChatModel.with_structured_output
    ):
        return model
    return model.with_structured_output(schema, include_raw=True) | _parsed_or_raw


def _parsed_or_raw(both: Any) -> Any:
    return both["raw"] if both["parsed"] is None else json.dumps(both["parsed"], ensure_ascii=False)


def _text(answer: Any) -> str:
    text = answer.text if isinstance(answer, BaseMessage) else answer
    if not isinstance(text, str):
        raise TypeError(f"a model must reply with a text or a message, got {type(answer).__name__}")
    return str(text)


HOST = Host(
    name="langchain",
    ask=_ask,
    items=_items,
    model=_model,
    documents=items_of,
)
"""Registered as the entry point `langchain_core` of the group `retrieval_metrics.hosts`."""
