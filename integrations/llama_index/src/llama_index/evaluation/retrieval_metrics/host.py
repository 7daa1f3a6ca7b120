"""Retrievers, nodes and models of LlamaIndex for the core and other integrations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import create_model
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool

from llama_index.evaluation.retrieval_metrics.evaluator import RetrieverPipeline, resolve_retriever
from llama_index.evaluation.retrieval_metrics.recording import find_agent_nodes
from llama_index.evaluation.retrieval_metrics.scoring import convert_items
from retrieval_metrics.integration_api import HostAdapter, RetrieverFunctions

if TYPE_CHECKING:
    from llama_index.core.llms import ChatResponse

    from retrieval_metrics import Retrieved


def _ask(thing: Any) -> RetrieverFunctions | None:
    return None if resolve_retriever(thing) is None else RetrieverPipeline(thing, convert=_items, alone=False).ways


def _items(answer: Any) -> list[Retrieved]:
    """Return what a retriever, an engine, a workflow or an agent found, as items."""
    return convert_items(find_agent_nodes(answer))


def _model(model: Any) -> RetrieverFunctions | None:
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

    return RetrieverFunctions(reply, areply)


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


HOST = HostAdapter(
    name="llama-index",
    resolve_retriever=_ask,
    convert_items=_items,
    model=_model,
    documents=convert_items,
)
"""Registered under the modules of the classes it converts: `llama_index`, and `workflows` for workflows."""
