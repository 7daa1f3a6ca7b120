"""Record the searches of chains and agents from their callbacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables.config import merge_configs

from langchain_retrieval_metrics.items import as_retrieved
from retrieval_metrics.adapting import Recording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from uuid import UUID

    from langchain_core.outputs import LLMResult
    from langchain_core.runnables import RunnableConfig

    from retrieval_metrics import Retrieved
    from retrieval_metrics.types import QueryId


class LangChainRecording(Recording):
    """What chains and agents did for each question; `record` makes one."""

    def handler(self, query: QueryId) -> SearchHandler:
        """Return the callbacks of one question: `agent.invoke(..., config={"callbacks": [recorded.handler("q1")]})`.

        Args:
            query: The id of the question in the judgments. Several runs with one id are rows of one cluster.
        """
        return SearchHandler(self, query)


@contextmanager
def record(**settings: Any) -> Iterator[LangChainRecording]:
    """Record what chains and agents search, read and cite.

    Searches are the runs of retrievers, in the order in which the model asked for them; a tool that searches without a
    retriever is named in `tools=`. What a model reads are its messages, so what a middleware has removed from them was
    not read.

    Args:
        **settings: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

    Example:
        >>> from langchain_core.retrievers import BaseRetriever
        >>> class Finder(BaseRetriever):
        ...     def _get_relevant_documents(self, query, *, run_manager):
        ...         return [Document("A context manager.", id="d7")]
        >>> with record() as recorded:
        ...     found = Finder().invoke("with", config={"callbacks": [recorded.handler("q1")]})
        >>> recorded.trajectories
        <Trajectories: 1 query, 1 call, 0 failed>
    """
    yield LangChainRecording(**settings)


async def searches_of(
    agent: Any, text: str, config: RunnableConfig | None = None, *, tools: str | Collection[str] = ()
) -> list[Retrieved]:
    """Ask an agent of LangGraph a question, and return what its searches found, the first of each call first.

    Args:
        agent: The agent.
        text: The question.
        config: The config of LangChain.
        tools: The names of tools that search without a retriever.

    Raises:
        ValueError: If a tool ran whose searches leave no documents.
    """
    recorded = LangChainRecording(tools=tools)
    whole = merge_configs(config, {"callbacks": [recorded.handler("the question")]})
    await agent.ainvoke({"messages": [("user", text)]}, config=whole)
    (ranking,) = recorded.trajectories.interleaved().values()
    return list(ranking)


class SearchHandler(BaseCallbackHandler):
    """The callbacks that record the runs of one question."""

    run_inline = True  # in threads, events of parallel calls would arrive in any order

    def __init__(self, recording: Recording, query: QueryId) -> None:
        self._recording = recording
        self._query = query

    def _start(self, kind: str, name: str, given: Any, run_id: UUID, parent_run_id: UUID | None, **more: Any) -> None:
        parent = None if parent_run_id is None else str(parent_run_id)
        self._recording.start(str(run_id), parent, kind, name, given, query=self._query, **more)

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note a step."""
        del serialized, inputs
        self._start("other", str(kwargs.get("name") or "chain"), None, run_id, parent_run_id)

    def on_retriever_start(
        self, serialized: Any, query: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note a search."""
        del serialized
        self._start("retriever", str(kwargs.get("name") or "retriever"), query, run_id, parent_run_id)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note a tool, with the id of its call."""
        name = kwargs.get("name") or (serialized or {}).get("name") or "tool"
        given = kwargs.get("inputs") or input_str
        self._start("tool", str(name), given, run_id, parent_run_id, call=kwargs.get("tool_call_id"))

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note what a model reads."""
        del serialized
        given = [_said(message) for batch in messages for message in batch]
        self._start("model", str(kwargs.get("name") or "model"), given, run_id, parent_run_id)

    def on_llm_start(
        self, serialized: Any, prompts: list[str], *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note what a model without messages reads."""
        del serialized
        self._start("model", str(kwargs.get("name") or "model"), list(prompts), run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the end of a step."""
        del outputs, kwargs
        self._recording.end(str(run_id))

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a search found."""
        del kwargs
        self._recording.end(str(run_id), output=[as_retrieved(document) for document in documents])

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool returned."""
        del kwargs
        if isinstance(output, ToolMessage) and output.status == "error":
            self._recording.end(str(run_id), error=output.text)
        else:
            self._recording.end(str(run_id), output=_plain(output))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a model said, and which tools it called."""
        del kwargs
        generated = [one for batch in response.generations for one in batch]
        messages = [message for one in generated if isinstance(message := getattr(one, "message", None), BaseMessage)]
        said: Any = [_said(message) for message in messages] if messages else [one.text for one in generated]
        self._recording.end(str(run_id), output=said)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note a step, a search, a tool or a model that failed."""
        del kwargs
        self._recording.end(str(run_id), error=f"{type(error).__name__}: {error}")

    on_retriever_error = on_tool_error = on_llm_error = on_chain_error


def _said(message: BaseMessage) -> dict[str, Any]:
    """Return what a model reads or says: the text and the calls, but not the artifact, which is not sent."""
    return {"content": message.text, "tool_calls": list(getattr(message, "tool_calls", ()))}


def _plain(output: Any) -> Any:
    """Return what a tool returned, with documents as items."""
    if isinstance(output, ToolMessage):
        return {"artifact": _plain(output.artifact), "content": output.text}
    if isinstance(output, (list, tuple)) and output and all(isinstance(one, Document) for one in output):
        return [as_retrieved(document) for document in output]
    return output
