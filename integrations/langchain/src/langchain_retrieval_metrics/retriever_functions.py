"""Find the functions that ask a retriever, a chain, an agent or a function of LangChain with the text of a query."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, TypeVar

from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_retrieval_metrics.documents import convert_items
from langchain_retrieval_metrics.parents import ParentRecorder
from langchain_retrieval_metrics.recording import run_agent
from langchain_retrieval_metrics.stage_recording import StageHandler
from retrieval_metrics.integration_api import RetrieverFunctions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from langchain_core.runnables import RunnableConfig

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")

# The option that lets a store examine more documents before it filters them, for messages.
CANDIDATE_OPTION = "FAISS: search_kwargs={'fetch_k': ...}"

# How many documents the retriever of a store returns by default.
STORE_DEFAULT_K = 4


class RefusedAnswer:
    """Stands for the answer of a chain that takes a mapping and not a text; `refuse` raises with a remedy."""

    def __init__(self, error: Exception, keys: list[str]) -> None:
        self._error = error
        self._keys = keys

    def refuse(self, remedy: str | None = None) -> NoReturn:
        """Raise an error that names the keys of the chain's input, and a remedy."""
        keys_note = ""
        key_text = "'input', as create_retrieval_chain calls it"
        if self._keys:
            keys_note = f" with {', '.join(map(repr, self._keys))}"
            key_text = repr(self._keys[0])
        if remedy is None:
            remedy = f"name the key of the query with query_key={key_text}"
        raise TypeError(f"the chain takes a mapping{keys_note}, not a text; {remedy}") from self._error


def resolve_retriever(
    retriever: object,
    config: RunnableConfig | None = None,
    query_key: str | None = None,
    tools: str | Collection[str] = (),
    documents_key: str | None = None,
    *,
    with_stages: bool = False,
) -> RetrieverFunctions:
    """Return the functions that ask a retriever; with `with_stages`, they also record the stages of each answer."""
    if is_graph(retriever) and query_key is None and "messages" in _input_keys(retriever):
        return RetrieverFunctions(asynchronous=partial(run_agent, retriever, config=config, tools=tools))
    if tools:
        kind_note = "not an agent of LangGraph"
        if is_graph(retriever):
            kind_note = "called with query_key="
        raise TypeError(
            f"tools={tools!r} names the tools of an agent that search, but {type(retriever).__name__} is "
            f"{kind_note}; leave tools out"
        )
    if not isinstance(retriever, Runnable):
        return _resolve_function(retriever, query_key)

    def ask(text: str) -> Any:
        handler = StageHandler(convert_items, documents_key)
        call_config = handler.add_to(config) if with_stages else config
        try:
            recorder = ParentRecorder(retriever)
            answer = invoke_runnable(recorder.retriever, _make_input(text, query_key), call_config)
            answer = recorder.add_chunks(answer)
        except NotImplementedError:  # the caller then uses the asynchronous function
            raise
        except Exception as error:
            return _read_refusal(retriever, error, query_key)
        return handler.add_stages(answer) if with_stages else answer

    async def aask(text: str) -> Any:
        handler = StageHandler(convert_items, documents_key)
        call_config = handler.add_to(config) if with_stages else config
        try:
            recorder = ParentRecorder(retriever)
            answer = await recorder.retriever.ainvoke(_make_input(text, query_key), call_config)
            answer = recorder.add_chunks(answer)
        except Exception as error:
            return _read_refusal(retriever, error, query_key)
        return handler.add_stages(answer) if with_stages else answer

    n_requested = None
    if query_key is None and documents_key is None:
        n_requested = find_n_requested(retriever)
    return RetrieverFunctions(ask, aask, n_requested, CANDIDATE_OPTION)


def find_n_requested(retriever: object) -> int | None:
    """Return how many documents a store is asked for; None if it may return fewer, or the number is unknown."""
    if not isinstance(retriever, VectorStoreRetriever):
        n_requested: int | None = getattr(retriever, "n_requested", None)
        return n_requested
    if "score_threshold" in retriever.search_kwargs:
        return None
    k: int | None = retriever.search_kwargs.get("k", STORE_DEFAULT_K)
    return k


def invoke_runnable(
    runnable: Runnable[InputT, OutputT], value: InputT, config: RunnableConfig | None = None, **arguments: object
) -> OutputT:
    """Invoke a Runnable synchronously.

    Raises:
        NotImplementedError: If it is only asynchronous.
    """
    try:
        return runnable.invoke(value, config, **arguments)
    except TypeError as error:
        if "ainvoke" in str(error):
            raise NotImplementedError(f"{type(runnable).__name__} is only asynchronous") from error
        raise


def is_graph(retriever: object) -> TypeGuard[Runnable[Any, Any]]:
    """Return whether an object is a graph or an agent of LangGraph."""
    return any(cls.__module__.partition(".")[0] == "langgraph" for cls in type(retriever).__mro__)


def _make_input(text: str, query_key: str | None) -> str | dict[str, str]:
    return text if query_key is None else {query_key: text}


def _resolve_function(retriever: object, query_key: str | None) -> RetrieverFunctions:
    """Return the functions that call a function with the text of a query."""
    if not callable(retriever):
        hint = "; write store.as_retriever()" if hasattr(retriever, "as_retriever") else ""
        raise TypeError(
            f"a retriever must be a Runnable such as a BaseRetriever, or a function, got {retriever!r}{hint}"
        )

    function: Callable[[Any], Any] = retriever

    def ask(text: str) -> Any:
        return function(_make_input(text, query_key))

    async def aask(text: str) -> Any:
        return await function(_make_input(text, query_key))

    if inspect.iscoroutinefunction(function):
        return RetrieverFunctions(asynchronous=aask)
    return RetrieverFunctions(ask)


def _read_refusal(retriever: Any, error: Exception, query_key: str | None) -> RefusedAnswer:
    """Return the answer that stands for a chain's refusal of a text; raise any other error."""
    if query_key is None and not isinstance(error, OSError):
        keys = _input_keys(retriever)
        # `create_retrieval_chain` does not name its keys; its error says that the input "must be a dict".
        if keys or is_graph(retriever) or "must be a dict" in str(error):
            return RefusedAnswer(error, keys)
    raise error


def _input_keys(retriever: Any) -> list[str]:
    """Return the keys of the mapping that a chain or a graph takes; none if its schema does not name them."""
    if is_graph(retriever):
        channels = getattr(retriever, "input_channels", ())
        if not isinstance(channels, str):
            return list(channels)
        builder = getattr(retriever, "builder", None)
        state = getattr(builder, "state_schema", None)
        return list(getattr(state, "__annotations__", ()))
    schema = retriever.get_input_jsonschema()
    if schema.get("type") != "object":
        return []
    # A schema whose only property is "root" wraps a value that is not a mapping.
    return [key for key in schema.get("properties", ()) if key != "root"]
