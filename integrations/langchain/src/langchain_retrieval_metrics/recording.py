"""Record what chains and agents of LangChain search, read and cite."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables.config import merge_configs

from langchain_retrieval_metrics.documents import are_documents, as_retrieved
from retrieval_metrics.integration_api import RecordingOptions, TraceRecording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from uuid import UUID

    from langchain_core.documents import Document
    from langchain_core.outputs import LLMResult
    from langchain_core.runnables import Runnable, RunnableConfig

    from retrieval_metrics import Retrieved
    from retrieval_metrics.types import QueryId


class LangChainRecording(TraceRecording):
    """The recording of what chains and agents did for each question; create it with `record`."""

    def handler(self, query: QueryId) -> SearchHandler:
        """Return the callbacks of one question: `agent.invoke(..., config={"callbacks": [recorded.handler("q1")]})`."""
        return SearchHandler(self, query)


@contextmanager
def record(**options: Unpack[RecordingOptions]) -> Iterator[LangChainRecording]:
    """Record what chains and agents search, read and cite.

    Searches are the runs of retrievers, in the order in which the model asked for them; a tool that searches without a
    retriever is named in `tools=`. What a model reads are its messages, so what a middleware has removed from them was
    not read.

    Args:
        **options: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.retrievers import BaseRetriever
        >>> class Finder(BaseRetriever):
        ...     def _get_relevant_documents(self, query, *, run_manager):
        ...         return [Document("A context manager.", id="d7")]
        >>> with record() as recorded:
        ...     found = Finder().invoke("with", config={"callbacks": [recorded.handler("q1")]})
        >>> recorded.trajectories
        <Trajectories: 1 query, 1 call, 0 failed>
    """
    yield LangChainRecording(**options)


async def run_agent(
    agent: Runnable[Any, Any], text: str, config: RunnableConfig | None = None, *, tools: str | Collection[str] = ()
) -> list[Retrieved]:
    """Ask an agent of LangGraph a question, and return the documents of its searches, the first of each search first.

    Raises:
        RuntimeError: If every search failed, with the error of the last, because an outage behind a tool is not a bad
            retrieval.
    """
    recording = LangChainRecording(tools=tools)
    recorded_config = merge_configs(config, {"callbacks": [recording.handler("the question")]})
    await agent.ainvoke({"messages": [("user", text)]}, config=recorded_config)
    run = recording.trajectories.interleaved()
    for error in run.errors.values():
        raise error
    (ranking,) = run.values()
    return list(ranking)


class SearchHandler(BaseCallbackHandler):
    """The callbacks that record the runs of one question."""

    run_inline = True  # in threads, events of parallel calls would arrive in any order

    def __init__(self, recording: TraceRecording, query: QueryId) -> None:
        self._recording = recording
        self._query = query

    def _start(
        self, kind: str, name: str, run_input: object, run_id: UUID, parent_run_id: UUID | None, **fields: Any
    ) -> None:
        parent = None if parent_run_id is None else str(parent_run_id)
        self._recording.start(str(run_id), parent, kind, name, run_input, query=self._query, **fields)

    def on_chain_start(
        self, serialized: object, inputs: object, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: object
    ) -> None:
        """Record the start of a chain or another step."""
        del serialized, inputs
        self._start("other", str(kwargs.get("name") or "chain"), None, run_id, parent_run_id)

    def on_retriever_start(
        self, serialized: object, query: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: object
    ) -> None:
        """Record the start of a search."""
        del serialized
        self._start("retriever", str(kwargs.get("name") or "retriever"), query, run_id, parent_run_id)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: object,
    ) -> None:
        """Record the start of a tool, with the id of its call."""
        name = kwargs.get("name") or (serialized or {}).get("name") or "tool"
        arguments = kwargs.get("inputs") or input_str
        self._start("tool", str(name), arguments, run_id, parent_run_id, call=kwargs.get("tool_call_id"))

    def on_chat_model_start(
        self,
        serialized: object,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: object,
    ) -> None:
        """Record the messages that a model reads."""
        del serialized
        contents: list[dict[str, Any]] = []
        for batch in messages:
            contents += [_message_content(message) for message in batch]
        self._start("model", str(kwargs.get("name") or "model"), contents, run_id, parent_run_id)

    def on_llm_start(
        self,
        serialized: object,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: object,
    ) -> None:
        """Record the prompts that a model without messages reads."""
        del serialized
        self._start("model", str(kwargs.get("name") or "model"), list(prompts), run_id, parent_run_id)

    def on_chain_end(self, outputs: object, *, run_id: UUID, **kwargs: object) -> None:
        """Record the end of a step."""
        del outputs, kwargs
        self._recording.end(str(run_id))

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: object) -> None:
        """Record the documents that a search returned."""
        del kwargs
        self._recording.end(str(run_id), output=[as_retrieved(document) for document in documents])

    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: object) -> None:
        """Record the output of a tool, or its error."""
        del kwargs
        if isinstance(output, ToolMessage) and output.status == "error":
            self._recording.end(str(run_id), error=output.text)
        else:
            self._recording.end(str(run_id), output=_convert_tool_output(output))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: object) -> None:
        """Record the reply of a model, with the tools that it called."""
        del kwargs
        texts: list[str] = []
        messages: list[dict[str, Any]] = []
        for batch in response.generations:
            for generation in batch:
                texts.append(generation.text)
                message = getattr(generation, "message", None)
                if isinstance(message, BaseMessage):
                    messages.append(_message_content(message))
        self._recording.end(str(run_id), output=messages or texts)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: object) -> None:
        """Record the error of a step, a search, a tool or a model."""
        del kwargs
        self._recording.end(str(run_id), error=f"{type(error).__name__}: {error}")

    on_retriever_error = on_tool_error = on_llm_error = on_chain_error


def _message_content(message: BaseMessage) -> dict[str, Any]:
    """Return the text and the tool calls of a message; the artifact is left out, because models do not get it."""
    return {"content": message.text, "tool_calls": list(getattr(message, "tool_calls", ()))}


def _convert_tool_output(output: object) -> object:
    """Return the output of a tool, with documents converted to items."""
    if isinstance(output, ToolMessage):
        return {"artifact": _convert_tool_output(output.artifact), "content": output.text}
    if isinstance(output, (list, tuple)) and are_documents(list(output)):
        return [as_retrieved(document) for document in output]
    return output
