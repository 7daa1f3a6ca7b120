"""Retrievers, nodes and models of LlamaIndex for the core and other integrations."""

from __future__ import annotations

import inspect
import json
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import create_model
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Workflow

from llama_index.evaluation.retrieval_metrics.nodes import items_of
from llama_index.evaluation.retrieval_metrics.recording import nodes_found
from retrieval_metrics.adapting import Host, Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llama_index.core.llms import ChatResponse
    from llama_index.core.schema import NodeWithScore

    from retrieval_metrics import Retrieved


def how_to_ask(thing: Any) -> Ways | None:
    """Return how a query text is asked of what returns nodes or a response with `source_nodes`.

    An agent is asked with `user_msg=`; of what its tools found, the first of each call comes first. A chat engine
    answers each question as the first of a new conversation; its memory does not change. A workflow is run with
    `query=`; wrap a workflow with other arguments in a function.

    Args:
        thing: A retriever, a query engine, a chat engine or a workflow; None is returned for anything else.
    """
    if isinstance(thing, BaseRetriever):
        if is_only_synchronous(thing):
            return Ways(thing.retrieve)
        # With use_async=True, it would start an event loop for each query, in which its clients break.
        return Ways(None if getattr(thing, "use_async", False) else thing.retrieve, thing.aretrieve)
    if isinstance(thing, BaseQueryEngine):
        return Ways(thing.query, thing.aquery)
    if isinstance(thing, BaseChatEngine):
        return Ways(lambda text: _of_its_own(thing).chat(text, chat_history=[]), partial(_chat, thing))
    if isinstance(thing, (AgentWorkflow, BaseWorkflowAgent)):
        return Ways(asynchronous=partial(_ask_agent, thing))
    return Ways(asynchronous=partial(_run, thing)) if isinstance(thing, Workflow) else None


async def _chat(engine: BaseChatEngine, text: str) -> Any:
    return await _of_its_own(engine).achat(text, chat_history=[])


def _of_its_own(engine: BaseChatEngine) -> BaseChatEngine:
    """Return a chat engine with a memory of its own, so that several conversations can run at once."""
    engine = copy(engine)
    if hasattr(engine, "_memory"):
        engine._memory = ChatMemoryBuffer.from_defaults()  # noqa: SLF001  (the engines have no other place for it)
    return engine


class _AgentAnswer:
    """What an agent answered; its nodes are looked for where they are read, so that a wrong agent is asked once."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    @property
    def source_nodes(self) -> list[NodeWithScore]:
        return nodes_found(self._answer)


async def _ask_agent(agent: AgentWorkflow | BaseWorkflowAgent, text: str) -> _AgentAnswer:
    return _AgentAnswer(await agent.run(user_msg=text))


def _items(answer: Any) -> Sequence[Retrieved]:
    """Return what a retriever, an engine, a workflow or an agent found, as items."""
    return items_of(nodes_found(answer))


async def _run(workflow: Workflow, text: str) -> Any:
    return await workflow.run(query=text)


def is_only_synchronous(retriever: BaseRetriever) -> bool:
    """Whether `aretrieve` would compute on the event loop, because only `_retrieve` is implemented."""
    # The host wraps some methods for tracing at each access, so the wrapped methods are compared.
    return all(
        inspect.unwrap(getattr(type(retriever), name)) is inspect.unwrap(getattr(BaseRetriever, name))
        for name in ("_aretrieve", "aretrieve")
    )


def is_asynchronous(ask: Callable[[str], Any]) -> bool:
    """Whether a function returns a coroutine: it is then called on the event loop and not in a thread."""
    function = ask.func if isinstance(ask, partial) else ask
    called = getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
    return inspect.iscoroutinefunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(called)


def _model(model: Any) -> Ways | None:
    if not isinstance(model, LLM):
        return None

    def reply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        if schema is None or (caller := _calling(model)) is None:
            return str(model.complete(prompt).text)
        return _called(caller, caller.chat_with_tools([_tool(schema)], user_msg=prompt, tool_required=True))

    async def areply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        if schema is None or (caller := _calling(model)) is None:
            return (await model.acomplete(prompt)).text
        return _called(caller, await caller.achat_with_tools([_tool(schema)], user_msg=prompt, tool_required=True))

    return Ways(reply, areply)


def _calling(model: LLM) -> FunctionCallingLLM | None:
    """Return the model if it calls functions: how LlamaIndex asks for structured output."""
    return model if isinstance(model, FunctionCallingLLM) and model.metadata.is_function_calling_model else None


def _called(model: FunctionCallingLLM, answer: ChatResponse) -> str:
    """Return what a model called its tool with."""
    calls = model.get_tool_calls_from_response(answer, error_on_no_tool_call=False)
    # A model that calls nothing has replied in words, in which the core looks for the object.
    return json.dumps(calls[0].tool_kwargs, ensure_ascii=False) if calls else answer.message.content or ""


def _tool(schema: dict[str, Any]) -> FunctionTool:
    """Return a tool whose arguments are the fields of a JSON schema."""
    fields: dict[str, Any] = {name: (_kind(one), ...) for name, one in schema["properties"].items()}
    arguments = create_model(schema["title"], **fields)
    return FunctionTool.from_defaults(
        fn=arguments, name=schema["title"], description=schema["description"], fn_schema=arguments
    )


def _kind(schema: dict[str, Any]) -> Any:
    return _LISTS[schema["items"]["type"]] if schema["type"] == "array" else _KINDS[schema["type"]]


_KINDS: dict[str, Any] = {"string": str, "integer": int, "boolean": bool}
_LISTS: dict[str, Any] = {"string": list[str], "integer": list[int]}
"""The types of the values that the core asks for."""


HOST = Host(
    name="llama-index",
    ask=how_to_ask,
    items=_items,
    model=_model,
    documents=items_of,
)
"""Registered under the modules of the classes it converts: `llama_index`, and `workflows` for workflows."""
