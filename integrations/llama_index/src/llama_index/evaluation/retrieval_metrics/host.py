"""Tell the core how to ask retrievers and models of LlamaIndex, and how to read nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import create_model
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool

from llama_index.evaluation.retrieval_metrics.agent_answers import find_answer_nodes
from llama_index.evaluation.retrieval_metrics.nodes import convert_items
from llama_index.evaluation.retrieval_metrics.retriever_functions import resolve_retriever
from llama_index.evaluation.retrieval_metrics.retriever_pipeline import RetrieverPipeline
from retrieval_metrics.integration_api import HostAdapter, RetrieverFunctions

if TYPE_CHECKING:
    from llama_index.core.llms import ChatResponse

    from retrieval_metrics import Retrieved

# The Python types of the JSON types in the schemas that the core passes to a model.
VALUE_TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool}
LIST_TYPES: dict[str, Any] = {"string": list[str], "integer": list[int]}


def _resolve_retriever(retriever: object) -> RetrieverFunctions | None:
    """Return the functions that ask a retriever, an engine, a workflow or an agent; None for other objects."""
    if resolve_retriever(retriever) is None:
        return None
    return RetrieverPipeline(retriever, convert=_convert_answer, always_records_retrieval=False).functions


def _convert_answer(answer: object) -> list[Retrieved]:
    """Return what a retriever, an engine, a workflow or an agent found, as items."""
    return convert_items(find_answer_nodes(answer))


def _resolve_model(model: object) -> RetrieverFunctions | None:
    """Return the functions that ask a model; None for other objects."""
    if not isinstance(model, LLM):
        return None

    def reply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        caller = _find_function_caller(model, schema)
        if schema is None or caller is None:
            return str(model.complete(prompt).text)
        answer = caller.chat_with_tools([_make_tool(schema)], user_msg=prompt, tool_required=True)
        return _read_tool_call(caller, answer)

    async def areply(prompt: str, schema: dict[str, Any] | None = None) -> str:
        caller = _find_function_caller(model, schema)
        if schema is None or caller is None:
            return (await model.acomplete(prompt)).text
        answer = await caller.achat_with_tools([_make_tool(schema)], user_msg=prompt, tool_required=True)
        return _read_tool_call(caller, answer)

    return RetrieverFunctions(reply, areply)


def _find_function_caller(model: LLM, schema: dict[str, Any] | None) -> FunctionCallingLLM | None:
    """Return the model if it calls functions, which is how LlamaIndex asks for output of a schema."""
    if schema is None:
        return None
    if isinstance(model, FunctionCallingLLM) and model.metadata.is_function_calling_model:
        return model
    return None


def _read_tool_call(model: FunctionCallingLLM, answer: ChatResponse) -> str:
    """Return the arguments of a model's tool call as JSON, or its text if it called no tool."""
    calls = model.get_tool_calls_from_response(answer, error_on_no_tool_call=False)
    if not calls:
        # The core looks for the JSON object in the text.
        return answer.message.content or ""
    return json.dumps(calls[0].tool_kwargs, ensure_ascii=False)


def _make_tool(schema: dict[str, Any]) -> FunctionTool:
    """Return a tool whose arguments are the fields of a JSON schema."""
    fields: dict[str, Any] = {}
    for name, property_schema in schema["properties"].items():
        fields[name] = (_property_type(property_schema), ...)
    arguments = create_model(schema["title"], **fields)
    return FunctionTool.from_defaults(
        fn=arguments, name=schema["title"], description=schema["description"], fn_schema=arguments
    )


def _property_type(schema: dict[str, Any]) -> Any:
    if schema["type"] == "array":
        return LIST_TYPES[schema["items"]["type"]]
    return VALUE_TYPES[schema["type"]]


# Registered under the modules of the classes it converts: `llama_index`, and `workflows` for workflows.
HOST = HostAdapter(
    name="llama-index",
    resolve_retriever=_resolve_retriever,
    convert_items=_convert_answer,
    model=_resolve_model,
    documents=convert_items,
)
