# /// script
# requires-python = ">=3.11"
# dependencies = ["anthropic", "httpx2", "langchain", "llama-index-core", "openai", "pydantic-ai-slim"]
# ///
"""Record lists of messages: `uv run tests/recorders/record_messages.py all tests/traces/conversations/all.json`.

The first argument is a form, written to the file, or `all`, each written beside it. Every library runs every scenario
with a model that says what the scenario tells; what it keeps is written, without what only fills the file. Transcripts
of coding agents cannot be recorded here: they are written in the form that their documentation shows.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import CitationBlock, TextBlock
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, ToolOutput, ToolSelection
from llama_index.core.workflow import Context
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parent.parent))
from agent_scenarios import CUT, FAILS, SCENARIOS, Scenario

QUESTIONS = ["Which letter comes when?", "And which comes next?"]


class Script:
    """What the model says, step by step, and what the tools find."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.rounds: list[list[Any]] = [[]]
        for turn in scenario.turns:
            if turn is None:
                self.rounds.append([])
            else:
                self.rounds[-1].append(turn)
        self.n_steps_taken = 0
        self._n_by_query: Counter[str] = Counter()

    def step(self) -> list[tuple[str, str, str]] | None:
        """Return the calls of the next message of the model: id, tool and query; None if it answers."""
        steps = [step for round_ in self.rounds for step in (*round_, None)]
        turn, self.n_steps_taken = steps[self.n_steps_taken], self.n_steps_taken + 1
        return turn and [(f"call_{self.n_steps_taken}_{n}", round_.tool, round_.query) for n, round_ in enumerate(turn)]

    def find(self, query: str) -> Any:
        """Return what a search finds; the second time it is asked for the same, what it finds then."""
        of_query = [search for turn in self.scenario.turns if turn for search in turn if search.query == query]
        search = of_query[min(self._n_by_query[query], len(of_query) - 1)]
        self._n_by_query[query] += 1
        if search.found == FAILS:
            raise ConnectionError(FAILS)
        return [] if search.found == CUT else search.found


def write_results(name: str, documents: Any) -> str:
    """Return what a tool hands to the model: a list, or of an agent that searched an object around it."""
    return json.dumps(documents if name == "search" else {"answer": "Alpha is first.", "documents": documents})


def serving(say: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the settings of a client that is answered by a function."""
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=say()))
    return {"api_key": "none", "http_client": httpx2.Client(transport=transport)}


def record_anthropic(scenario: Scenario) -> list[Any]:
    """Return the messages of a loop around Anthropic's client."""
    script = Script(scenario)

    def say() -> dict[str, Any]:
        calls = script.step()
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": id_, "name": name, "input": {"query": query}} for id_, name, query in calls or ()
        ]
        for text, source in () if calls else scenario.blocks:
            cited = {"type": "search_result_location", "cited_text": text, "source": source, "title": source}
            cited |= {"search_result_index": 1, "start_block_index": 0, "end_block_index": 1}
            content.append({"type": "text", "text": text, "citations": [cited] if source else None})
        response = {
            "id": f"msg_{script.n_steps_taken}",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
        }
        usage = {"input_tokens": 1, "output_tokens": 1}
        return response | {"stop_reason": "tool_use" if calls else "end_turn", "usage": usage}

    client = anthropic.Anthropic(**serving(say))
    messages: list[Any] = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        messages.append({"role": "user", "content": question})
        while True:
            reply = client.messages.create(model="m", max_tokens=9, messages=messages)
            messages.append({"role": "assistant", "content": [block.model_dump() for block in reply.content]})
            if reply.stop_reason != "tool_use":
                break
            results = []
            for block in reply.content:
                result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id}
                try:
                    text = write_results(block.name, script.find(block.input["query"]))
                    results.append(result | {"content": [{"type": "text", "text": text}]})
                except ConnectionError as error:
                    results.append(result | {"content": str(error), "is_error": True})
            messages.append({"role": "user", "content": results})
    return messages


def result_of(script: Script, name: str, arguments: str) -> str:
    """Return what a loop around OpenAI's client sends back; their messages have no other place for a failure."""
    try:
        return write_results(name, script.find(json.loads(arguments)["query"]))
    except ConnectionError as error:
        return json.dumps({"error": str(error)})


def record_openai_chat(scenario: Scenario) -> list[Any]:
    """Return the messages of a loop around OpenAI's client of chat completions."""
    script = Script(scenario)

    def say() -> dict[str, Any]:
        calls = script.step()
        response: dict[str, Any] = {
            "role": "assistant",
            "content": None if calls else "".join(t for t, _ in scenario.blocks),
        }
        if calls:
            response["tool_calls"] = [
                {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps({"query": query})}}
                for id_, name, query in calls
            ]
        elif sources := [source for _, source in scenario.blocks if source]:
            cited = {"url": sources[0], "title": "A letter", "start_index": 0, "end_index": 1}
            response["annotations"] = [{"type": "url_citation", "url_citation": cited}]
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": response}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    client = openai.OpenAI(**serving(say))
    messages: list[Any] = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        messages.append({"role": "user", "content": question})
        while True:
            message = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = result_of(script, call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return messages


def record_openai_responses(scenario: Scenario) -> list[Any]:
    """Return the input of the last request of a loop around OpenAI's client of responses, and its output."""
    script = Script(scenario)

    def say() -> dict[str, Any]:
        calls = script.step()
        output: list[dict[str, Any]] = [
            {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name, "status": "completed"}
            | {"arguments": json.dumps({"query": query})}
            for id_, name, query in calls or ()
        ]
        if not calls:
            blocks = []
            for text, source in scenario.blocks:
                cited = {"type": "url_citation", "url": source, "title": "A letter", "start_index": 0, "end_index": 1}
                blocks.append({"type": "output_text", "text": text, "annotations": [cited] if source else []})
            message = {"type": "message", "id": f"m_{script.n_steps_taken}", "status": "completed", "role": "assistant"}
            output.append(message | {"content": blocks})
        response = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": output, "tools": []}
        return response | {"parallel_tool_calls": True, "tool_choice": "auto"}

    client = openai.OpenAI(**serving(say))
    items: list[Any] = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        items.append({"role": "user", "content": question})
        while True:
            output = client.responses.create(model="m", input=items).output
            items += [item.model_dump(exclude_none=True) for item in output]
            calls = [item for item in output if item.type == "function_call"]
            if not calls:
                break
            for item in calls:
                result = result_of(script, item.name, item.arguments)
                items.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
    return items


class LangChainModel(BaseChatModel):
    """Says what a script tells."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> LangChainModel:
        del tools
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        del messages, stop, run_manager
        calls = self.script.step()
        blocks: list[dict[str, Any]] = []
        for text, source in () if calls else self.script.scenario.blocks:
            cited = [{"type": "citation", "url": source, "cited_text": text}] if source else []
            blocks.append({"type": "text", "text": text, "annotations": cited})
        tool_calls = [{"name": name, "args": {"query": query}, "id": id_} for id_, name, query in calls or ()]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(blocks or "", tool_calls=tool_calls))])


@wrap_tool_call
def keep_going(request: Any, handler: Any) -> Any:
    """Tell the model of a failure instead of ending."""
    try:
        return handler(request)
    except ConnectionError as error:
        return ToolMessage(f"Tool error: {error}", tool_call_id=request.tool_call["id"], status="error")


def record_langgraph(scenario: Scenario) -> list[Any]:
    """Return the messages in the state of an agent of LangChain, which runs on LangGraph."""
    script = Script(scenario)

    def retrieve(query: str) -> tuple[str, list[Document]]:
        documents = [Document(message["text"], id=message.get("id")) for message in script.find(query)]
        return "\n\n".join(f"[{n}] {message.page_content}" for n, message in enumerate(documents, start=1)), documents

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the documents."""
        return retrieve(query)

    @tool(response_format="content_and_artifact")
    def ask(query: str) -> tuple[str, dict[str, Any]]:
        """Ask an agent that searches."""
        return "Alpha is first.", {"answer": "Alpha is first.", "documents": retrieve(query)[1]}

    agent = create_agent(LangChainModel(script=script), [search, ask], middleware=[keep_going])
    messages: list[Any] = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        messages = agent.invoke({"messages": [*messages, ("user", question)]}, {"max_concurrency": 1})["messages"]
    return [message.model_dump(mode="json") for message in messages]


class LlamaIndexModel(FunctionCallingLLM):
    """Says what a script tells."""

    script: Any

    @property
    def metadata(self) -> LLMMetadata:
        """Say that it calls functions."""
        return LLMMetadata(is_function_calling_model=True)

    def _no(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    chat = complete = stream_chat = stream_complete = _no

    async def achat(self, *_: Any, **__: Any) -> ChatResponse:
        """Say the next thing."""
        calls = self.script.step()
        blocks: list[Any] = []
        for text, source in () if calls else self.script.scenario.blocks:
            blocks.append(TextBlock(text=text))
            if source:
                blocks.append(
                    CitationBlock(
                        cited_content=TextBlock(text=text), source=source, title="A letter", additional_location_info={}
                    )
                )
        tool_calls = [{"id": id_, "name": name, "query": query} for id_, name, query in calls or ()]
        return ChatResponse(
            message=ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"asked": tool_calls})
        )

    acomplete = astream_chat = astream_complete = _no

    async def achat_with_tools(self, *_: Any, **__: Any) -> ChatResponse:
        """Say the next thing."""
        return await self.achat()

    def _prepare_chat_with_tools(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> Any:
        """Return the calls that a message asks for."""
        tool_calls = response.message.additional_kwargs.get("asked", ())
        return [
            ToolSelection(tool_id=o["id"], tool_name=o["name"], tool_kwargs={"query": o["query"]}) for o in tool_calls
        ]


async def record_llama_index(scenario: Scenario) -> list[Any]:
    """Return the events of an agent of LlamaIndex, as its stream hands them over."""
    script = Script(scenario)

    def search(query: str) -> Any:
        documents = script.find(query)
        if not documents or not all("id" in document for document in documents):  # a node without an id gets a new one
            return documents
        nodes = [
            NodeWithScore(node=TextNode(text=document["text"], id_=document["id"]), score=0.5) for document in documents
        ]
        content = "\n\n".join(document["text"] for document in documents)  # as their RetrieverTool writes it
        return ToolOutput(content=content, tool_name="search", raw_input={"kwargs": {"query": query}}, raw_output=nodes)

    def ask(query: str) -> dict[str, Any]:
        return {"answer": "Alpha is first.", "documents": script.find(query)}

    tools = [FunctionTool.from_defaults(fn=event, description="Search") for event in (search, ask)]
    agent = FunctionAgent(tools=tools, llm=LlamaIndexModel(script=script), streaming=False)
    context = Context(agent)
    events = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        handler = agent.run(question, ctx=context)
        events += [event async for event in handler.stream_events()]
        await handler
    return [json.loads(event.model_dump_json()) for event in events]


def record_pydantic_ai(scenario: Scenario) -> list[Any]:
    """Return the messages of an agent of Pydantic AI."""
    script = Script(scenario)

    def say(*_: Any) -> ModelResponse:
        calls = script.step()
        if not calls:
            return ModelResponse([TextPart(text) for text, _ in scenario.blocks or (("Stopped.", None),)])
        return ModelResponse([ToolCallPart(name, {"query": query}, tool_call_id=id_) for id_, name, query in calls])

    agent = Agent(FunctionModel(say), retries=3)

    def retrieve(query: str) -> Any:
        try:
            return script.find(query)
        except ConnectionError as error:
            raise ModelRetry(str(error)) from error

    @agent.tool_plain
    def search(query: str) -> list[dict[str, Any]]:
        return retrieve(query)

    @agent.tool_plain
    def ask(query: str) -> dict[str, Any]:
        return {"answer": "Alpha is first.", "documents": retrieve(query)}

    messages: list[Any] = []
    for question, _ in zip(QUESTIONS, script.rounds, strict=False):
        messages = agent.run_sync(question, message_history=messages).all_messages()
    return ModelMessagesTypeAdapter.dump_python(messages, mode="json")


def as_transcript(scenario: Scenario) -> list[Any]:
    """Return a session of Claude Code: a line for each block, results between, and the lines of an agent."""
    lines: list[Any] = [{"type": "summary", "summary": "Letters", "leafUuid": "u0"}]

    def add(kind: str, message: dict[str, Any], **fields: Any) -> None:
        before = f"u{len(lines) - 1}" if len(lines) > 1 else None
        uuid = f"u{len(lines)}"
        facts = {"parentUuid": before, "isSidechain": False, "sessionId": "s1", "uuid": uuid, "type": kind}
        lines.append(facts | {"message": {"role": kind} | message} | fields)

    messages = record_anthropic(scenario)
    for number, message in enumerate(messages):
        if isinstance(message["content"], str):
            add("user", {"content": message["content"]})
            continue
        if message["role"] == "user":
            continue  # beside their calls
        after = messages[number + 1]["content"] if number + 1 < len(messages) else []
        results = {} if isinstance(after, str) else {tool_result["tool_use_id"]: tool_result for tool_result in after}
        for block in message["content"]:
            agent = block.get("name") == "ask"
            shown_block = {**block, "name": "Task", "input": {"prompt": "a"}} if agent else block
            add("assistant", {"id": f"msg_{number}", "type": "message", "content": [shown_block]})
            if agent:
                result_text = results[block["id"]]["content"][0]["text"]
                text = [{"type": "text", "text": json.dumps(json.loads(result_text)["documents"])}]
                asks = {"type": "tool_use", "id": "inner", "name": "search", "input": block["input"]}
                add("user", {"content": "a"}, isSidechain=True)
                add("assistant", {"id": "msg_in", "content": [asks]}, isSidechain=True)
                result = {"type": "tool_result", "tool_use_id": "inner", "content": text}
                add("user", {"content": [result]}, isSidechain=True)
                add("assistant", {"id": "msg_out", "content": [{"type": "text", "text": "Alpha."}]}, isSidechain=True)
                results[block["id"]] |= {"content": [{"type": "text", "text": "Alpha is first."}]}
            if block["type"] == "tool_use":
                add("user", {"content": [results[block["id"]]]}, toolUseResult={"not": "sent"})
    return lines


def as_rollout(scenario: Scenario) -> list[Any]:
    """Return a rollout of Codex: items of responses in lines, between lines of other kinds."""
    lines: list[Any] = [{"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s1"}}]
    for item in record_openai_responses(scenario):
        if item.get("role") == "user":
            content = [{"type": "input_text", "text": item["content"]}]
            lines.append({"type": "event_msg", "payload": {"type": "user_message", "message": item["content"]}})
            lines.append({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}})
        else:
            lines.append({"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": item})
    return lines


DOCUMENTED = "not recorded: written in the form that its documentation shows"
FORMS: dict[str, tuple[Any, str | None]] = {
    "anthropic": (record_anthropic, "anthropic"),
    "openai_chat": (record_openai_chat, "openai"),
    "openai_responses": (record_openai_responses, "openai"),
    "langgraph": (record_langgraph, "langchain"),
    "llama_index": (lambda scenario: asyncio.run(record_llama_index(scenario)), "llama-index-core"),
    "pydantic_ai": (record_pydantic_ai, "pydantic-ai-slim"),
    "claude_code": (as_transcript, None),
    "codex": (as_rollout, None),
}
"""What makes the messages of each form, and the package that is recorded."""
FILLING = {
    "usage", "timestamp", "model_name", "model_id", "provider_name", "provider_url", "provider_details", "run_id",
    "provider_response_id", "canonical_system", "workspace_ref", "history_digest", "failed_attempts", "finish_reason",
    "instructions", "embedding", "excluded_embed_metadata_keys", "excluded_llm_metadata_keys", "metadata_template",
    "metadata_separator", "text_template", "mimetype", "start_char_idx", "end_char_idx", "relationships", "leafUuid",
    "parentUuid", "uuid", "class_name", "structured_response", "retry_messages", "return_direct", "response_metadata",
    "invalid_tool_calls", "usage_metadata", "caller", "toolset_name",
}  # fmt: skip
"""What no reader looks at and nothing can be taken for: it would be half of what is written."""


def cut(scenario: Scenario, messages: list[Any]) -> list[Any]:
    """Return the messages up to the call whose result is missing: what an agent that was stopped has kept."""
    numbered = [(n, text) for n, text in enumerate(map(json.dumps, messages)) if '\\"b\\"' in text or '"b"' in text]
    return messages[: numbered[0][0] + 1] if any(turn and turn[0].found == CUT for turn in scenario.turns) else messages


def without_filling(payload: Any) -> Any:
    """Return what was kept without what only fills the file."""
    if isinstance(payload, dict):
        return {key: without_filling(value) for key, value in payload.items() if key not in FILLING}
    return [without_filling(value) for value in payload] if isinstance(payload, list) else payload


def main(form: str, file: Path) -> None:
    """Write the file of a form, a conversation in each line below a header that says where they are from."""
    write, package = FORMS[form]
    header = f"{package} {version(package)}, with a model that says what the scenario tells" if package else DOCUMENTED
    lines = [
        f"{json.dumps(name)}: {json.dumps(without_filling(cut(scenario, write(scenario))), separators=(',', ':'))}"
        for name, scenario in SCENARIOS.items()
    ]
    text = ",\n".join(lines)
    file.write_text(f'{{"recorded": {json.dumps(header)}, "conversations": {{\n{text}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    chosen_form = sys.argv[1]
    place = Path(sys.argv[2])
    for form_name in FORMS if chosen_form == "all" else [chosen_form]:
        main(form_name, place.with_name(f"{form_name}.json") if chosen_form == "all" else place)
