"""LangChain for the core: how anything of it is asked, what its documents are, and what it searches."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.config import merge_configs
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_retrieval_metrics.stepping import StageHandler, with_stages
from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import (
    HostAdapter,
    RetrieverFunctions,
    TraceRecording,
    as_list_of,
    finite_score_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from uuid import UUID

    from langchain_core.outputs import LLMResult
    from langchain_core.runnables import RunnableConfig

    from retrieval_metrics.integration_api import StageRankings
    from retrieval_metrics.types import QueryId


class RefusedAnswer:
    """Stands for the answer of a chain that cannot take a text; reading it raises."""

    def __init__(self, error: Exception, keys: list[str]) -> None:
        self._error, self._keys = error, keys

    def read(self, cure: str | None = None) -> None:
        """Raise, naming what the chain takes, and what to do."""
        takes = f" with {', '.join(map(repr, self._keys))}" if self._keys else ""
        key = repr(self._keys[0]) if self._keys else "'input', as create_retrieval_chain calls it"
        cure = f"name the key of the query with query_key={key}" if cure is None else cure
        raise TypeError(f"the chain takes a mapping{takes}, not a text; {cure}") from self._error


def resolve_retriever(
    retriever: Any,
    config: RunnableConfig | None = None,
    query_key: str | None = None,
    tools: str | Collection[str] = (),
    documents_key: str | None = None,
    *,
    tells: bool = False,
) -> RetrieverFunctions:
    """Return how the text of a query is asked of a retriever, which `tells` its steps or returns its answer alone."""
    if is_graph(retriever) and query_key is None and "messages" in _keys(retriever):
        return RetrieverFunctions(asynchronous=partial(searches_of, retriever, config=config, tools=tools))
    if tools:
        raise TypeError(
            f"tools={tools!r} names the tools of an agent that search, but {type(retriever).__name__} is "
            f"{'asked with query_key=' if is_graph(retriever) else 'no agent of LangGraph'}; leave tools out"
        )
    if not isinstance(retriever, Runnable):
        return _of_function(retriever, query_key)

    def ask(text: str) -> Any:
        handler = StageHandler(convert_items, documents_key)
        try:
            answer = invoke_runnable(retriever, _given(text, query_key), handler.config(config) if tells else config)
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001  (chains that take a mapping raise anything for a text)
            return _refused(retriever, error, query_key)
        return handler.told(answer) if tells else answer

    async def aask(text: str) -> Any:
        handler = StageHandler(convert_items, documents_key)
        try:
            answer = await retriever.ainvoke(_given(text, query_key), handler.config(config) if tells else config)
        except Exception as error:  # noqa: BLE001  (as above)
            return _refused(retriever, error, query_key)
        return handler.told(answer) if tells else answer

    wanted = find_n_requested(retriever) if query_key is None and documents_key is None else None
    return RetrieverFunctions(ask, aask, wanted, MORE)


MORE = "FAISS: search_kwargs={'fetch_k': ...}"
"""What lets a store look at more documents before it filters them."""


def find_n_requested(retriever: Any) -> int | None:
    """Return how many documents a search of a store is asked for; None where fewer are in order, or it is unknown."""
    if not isinstance(retriever, VectorStoreRetriever):
        wanted: int | None = getattr(retriever, "wanted", None)
        return wanted
    known = retriever.search_kwargs
    return None if "score_threshold" in known else known.get("k", 4)


def invoke_runnable(
    runnable: Runnable[Any, Any], given: Any, config: RunnableConfig | None = None, **arguments: Any
) -> Any:
    """Return what a Runnable returns."""
    try:
        return runnable.invoke(given, config, **arguments)
    except TypeError as error:
        if "ainvoke" in str(error):
            raise NotImplementedError(f"{type(runnable).__name__} is only asynchronous") from error
        raise


def is_graph(retriever: Any) -> bool:
    """Whether it is a graph or an agent of LangGraph."""
    return any(kind.__module__.partition(".")[0] == "langgraph" for kind in type(retriever).__mro__)


def _given(text: str, query_key: str | None) -> Any:
    return text if query_key is None else {query_key: text}


def _of_function(retriever: Any, query_key: str | None) -> RetrieverFunctions:
    if not callable(retriever):
        hint = "; write store.as_retriever()" if hasattr(retriever, "as_retriever") else ""
        raise TypeError(
            f"a retriever must be a Runnable such as a BaseRetriever, or a function, got {retriever!r}{hint}"
        )

    def ask(text: str) -> Any:
        return retriever(_given(text, query_key))

    async def aask(text: str) -> Any:
        return await retriever(_given(text, query_key))

    return RetrieverFunctions(asynchronous=aask) if inspect.iscoroutinefunction(retriever) else RetrieverFunctions(ask)


def _refused(retriever: Any, error: Exception, query_key: str | None) -> RefusedAnswer:
    """Return the refusal of a text by a chain that takes a mapping; raise any other failure."""
    if query_key is None and not isinstance(error, OSError):
        keys = _keys(retriever)
        if keys or is_graph(retriever) or "must be a dict" in str(error):  # as `create_retrieval_chain` says it
            return RefusedAnswer(error, keys)
    raise error


def _keys(retriever: Any) -> list[str]:
    """Return the keys of the mapping that a chain or a graph takes, as far as it says so."""
    if is_graph(retriever):
        channels = getattr(retriever, "input_channels", ())
        if not isinstance(channels, str):
            return list(channels)
        state = getattr(getattr(retriever, "builder", None), "state_schema", None)
        return list(getattr(state, "__annotations__", ()))
    schema = retriever.get_input_jsonschema()
    keys = list(schema.get("properties", ())) if schema.get("type") == "object" else []
    return [key for key in keys if key != "root"]


class LangChainRecording(TraceRecording):
    """What chains and agents did for each question; `record` makes one."""

    def handler(self, query: QueryId) -> SearchHandler:
        """Return the callbacks of one question: `agent.invoke(..., config={"callbacks": [recorded.handler("q1")]})`."""
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

    Raises:
        RuntimeError: If every search failed, with the error of the last: an outage behind a tool is no bad retrieval.
    """
    recorded = LangChainRecording(tools=tools)
    whole = merge_configs(config, {"callbacks": [recorded.handler("the question")]})
    await agent.ainvoke({"messages": [("user", text)]}, config=whole)
    found = recorded.trajectories.interleaved()
    for error in found.errors.values():
        raise error
    (ranking,) = found.values()
    return list(ranking)


class SearchHandler(BaseCallbackHandler):
    """The callbacks that record the runs of one question."""

    run_inline = True  # in threads, events of parallel calls would arrive in any order

    def __init__(self, recording: TraceRecording, query: QueryId) -> None:
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


SOURCE = "source"
START_INDEX = "start_index"
"""The metadata in which LangChain's text splitters write the offset of a chunk, if configured."""


def as_retrieved(document: Document) -> Retrieved:
    """Return a document as an item of the core: its id, its text, and its place in its source.

    Args:
        document: A document; it is not changed. Its source and its offset are `metadata["source"]` and
            `metadata["start_index"]`, as written by loaders and splitters of LangChain; its score is
            `metadata["relevance_score"]` or `metadata["score"]`, as written by rerankers.

    Example:
        >>> chunk = Document("The with statement", id="with#2", metadata={"source": "with.txt", "start_index": 120})
        >>> item = as_retrieved(chunk)
        >>> item.id, item.source, item.start, item.end
        ('with#2', 'with.txt', 120, 138)
    """
    metadata = document.metadata
    source, start = metadata.get(SOURCE), metadata.get(START_INDEX)
    placed = isinstance(start, int) and start >= 0  # splitters write -1 where they do not find a chunk again
    _, score = score_in(metadata)
    return Retrieved(
        document.id,
        text=document.page_content,
        source=source if isinstance(source, str) else None,
        start=start if placed else None,
        score=finite_score_or_none(score),
        metadata=metadata,
        offsets_unverified=True,
    )


def convert_items(documents: Any) -> list[Retrieved]:
    """Return what a retriever returned as items of the core, each under its own id; items stay as they are."""
    if isinstance(documents, list) and all(isinstance(one, Retrieved) for one in documents):
        return documents  # of the searches of an agent
    found = as_list_of(documents, Document, "a retriever must return a list of Documents")
    return [as_retrieved(document) for document in found]


def get_key(of: Any, key: str, what: str) -> Any:
    """Return the value of a key of an input, an output or an answer."""
    if isinstance(of, Mapping) and key in of:
        return of[key]
    has = ", ".join(map(repr, of or ())) or "nothing"
    raise ValueError(f"{what} has no {key!r}; it has {has}")


def describe_document(document: Document) -> str:
    """Return a short description of a document, for messages."""
    text = document.page_content
    return f"document {document.id!r}, {text[:40]!r}{'...' if len(text) > 40 else ''}"  # noqa: PLR2004  (what fits a line)


SCORE_KEYS = ("relevance_score", "score")
"""The metadata in which rerankers of LangChain write scores."""


def score_in(metadata: Mapping[str, Any], key: str | None = None) -> tuple[Sequence[str], Any]:
    """Return the keys that may hold a score, and the value of the first that exists; None if none does."""
    keys = SCORE_KEYS if key is None else (key,)
    return keys, next((metadata[name] for name in keys if metadata.get(name) is not None), None)


def read_score(document: Document, key: str | None) -> float:
    """Return the score in the metadata of a document."""
    keys, found = score_in(document.metadata, key)
    if found is None:
        has = ", ".join(map(repr, document.metadata)) or "none"
        raise ValueError(
            f"document {document.id!r} has no metadata {' or '.join(map(repr, keys))} with its score; it has {has}. "
            "Name its key with score_key=..., or use relevance='rank'"
        )
    if (score := finite_score_or_none(found)) is None:
        raise ValueError(f"the score of document {document.id!r} must be a finite number, got {found!r}")
    return score


def _ask(retriever: Any) -> RetrieverFunctions | None:
    """Return how to invoke a retriever: asynchronously if that is more than `invoke` in a thread."""
    if not isinstance(retriever, Runnable) or isinstance(retriever, BaseLanguageModel):
        return None
    if is_graph(retriever):
        return RetrieverFunctions(asynchronous=partial(searches_of, retriever))
    ways = resolve_retriever(retriever, tells=True)
    return ways._replace(asynchronous=None) if _is_only_synchronous(retriever) else ways


def _items(answer: Any) -> list[Retrieved] | StageRankings:
    if isinstance(answer, RefusedAnswer):
        answer.read("pass a function: lambda text: chain.invoke({...})")
    return with_stages(answer, convert_items)


def _is_only_synchronous(runnable: Any) -> bool:
    if isinstance(runnable, RunnableLambda):
        return not hasattr(runnable, "afunc")
    kind = type(runnable)
    if isinstance(runnable, BaseRetriever):
        # The method that retrievers implement is private to those outside their class.
        return kind._aget_relevant_documents is BaseRetriever._aget_relevant_documents  # noqa: SLF001
    return kind.ainvoke is Runnable.ainvoke


def _model(model: Any) -> RetrieverFunctions | None:
    if not isinstance(model, Runnable) or isinstance(model, BaseRetriever):
        return None

    def reply(prompt: str, schema: dict[str, Any] | None = None) -> Any:
        return _text(invoke_runnable(_that_replies(model, schema), prompt))

    async def areply(prompt: str, schema: dict[str, Any] | None = None) -> Any:
        return _text(await _that_replies(model, schema).ainvoke(prompt))

    return RetrieverFunctions(reply, areply)


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


def _text(answer: Any) -> Any:
    return str(answer.text) if isinstance(answer, BaseMessage) else answer


HOST = HostAdapter(
    name="langchain",
    resolve_retriever=_ask,
    convert_items=_items,
    model=_model,
    documents=convert_items,
)
"""Registered as the entry point `langchain_core` of the group `retrieval_metrics.hosts`."""
