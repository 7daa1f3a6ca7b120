"""Tell the core how to ask retrievers and models of LangChain, and how to read documents."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda

from langchain_retrieval_metrics.documents import convert_items
from langchain_retrieval_metrics.recording import run_agent
from langchain_retrieval_metrics.retriever_functions import (
    RefusedAnswer,
    invoke_runnable,
    is_graph,
    resolve_retriever,
)
from langchain_retrieval_metrics.stage_recording import with_stages
from retrieval_metrics.integration_api import HostAdapter, RetrieverFunctions

if TYPE_CHECKING:
    from retrieval_metrics import Retrieved
    from retrieval_metrics.integration_api import StageRankings


def _resolve_retriever(retriever: Any) -> RetrieverFunctions | None:
    """Return the functions that ask a retriever; the asynchronous one only if it is more than `invoke` in a thread."""
    if not isinstance(retriever, Runnable) or isinstance(retriever, BaseLanguageModel):
        return None
    if is_graph(retriever):
        return RetrieverFunctions(asynchronous=partial(run_agent, retriever))
    functions = resolve_retriever(retriever, with_stages=True)
    if _is_only_synchronous(retriever):
        return functions._replace(asynchronous=None)
    return functions


def _convert_answer(answer: object) -> list[Retrieved] | StageRankings:
    """Return the documents of an answer as items, with those of earlier stages if they were recorded."""
    if isinstance(answer, RefusedAnswer):
        answer.refuse("pass a function: lambda text: chain.invoke({...})")
    return with_stages(answer, convert_items)


def _is_only_synchronous(runnable: Runnable[Any, Any]) -> bool:
    """Return whether a Runnable has no asynchronous implementation of its own."""
    if isinstance(runnable, RunnableLambda):
        return not hasattr(runnable, "afunc")
    cls = type(runnable)
    if isinstance(runnable, BaseRetriever):
        # The method that retrievers implement is private to those outside their class.
        return cls._aget_relevant_documents is BaseRetriever._aget_relevant_documents  # type: ignore[attr-defined]  # noqa: SLF001
    return cls.ainvoke is Runnable.ainvoke


def _resolve_model(model: Any) -> RetrieverFunctions | None:
    """Return the functions that ask a model; None for other objects."""
    if not isinstance(model, Runnable) or isinstance(model, BaseRetriever):
        return None

    def reply(prompt: str, schema: dict[str, Any] | None = None) -> Any:
        return _reply_text(invoke_runnable(_with_schema(model, schema), prompt))

    async def areply(prompt: str, schema: dict[str, Any] | None = None) -> Any:
        return _reply_text(await _with_schema(model, schema).ainvoke(prompt))

    return RetrieverFunctions(reply, areply)


def _with_schema(model: Runnable[Any, Any], schema: dict[str, Any] | None) -> Runnable[Any, Any]:
    """Return a model that replies in the form of a schema, if it can."""
    if schema is None or not isinstance(model, BaseChatModel):
        return model
    # A chat model without a method of its own raises when it is asked for structured output.
    if type(model).with_structured_output is BaseChatModel.with_structured_output:
        return model
    return model.with_structured_output(schema, include_raw=True) | _choose_parsed_or_raw


def _choose_parsed_or_raw(output: Any) -> Any:
    if output["parsed"] is None:
        return output["raw"]
    return json.dumps(output["parsed"], ensure_ascii=False)


def _reply_text(reply: Any) -> Any:
    return str(reply.text) if isinstance(reply, BaseMessage) else reply


# Registered as the entry point `langchain_core` of the group `retrieval_metrics.hosts`.
HOST = HostAdapter(
    name="langchain",
    resolve_retriever=_resolve_retriever,
    convert_items=_convert_answer,
    model=_resolve_model,
    documents=convert_items,
)
