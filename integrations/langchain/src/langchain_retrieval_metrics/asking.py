"""Ask anything of LangChain for documents: retrievers, chains, agents and functions."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable

from langchain_retrieval_metrics.recording import searches_of
from retrieval_metrics.adapting import Ways

if TYPE_CHECKING:
    from collections.abc import Collection

    from langchain_core.runnables import RunnableConfig


class Refused:
    """Stands for the answer of a chain that cannot take a text; reading it raises."""

    def __init__(self, error: Exception, keys: list[str]) -> None:
        self._error, self._keys = error, keys

    def read(self, cure: str | None = None) -> None:
        """Raise, naming what the chain takes, and what to do.

        Raises:
            TypeError: Always.
        """
        takes = f" with {', '.join(map(repr, self._keys))}" if self._keys else ""
        key = repr(self._keys[0]) if self._keys else ""
        cure = f"name the key of the query with query_key={key}" if cure is None else cure
        raise TypeError(f"the chain takes a mapping{takes}, not a text; {cure}") from self._error


def how_to_ask(
    retriever: Any,
    config: RunnableConfig | None = None,
    query_key: str | None = None,
    tools: str | Collection[str] = (),
) -> Ways:
    """Return how the text of a query is asked of a retriever.

    Raises:
        TypeError: If it is no retriever, or there are `tools` and it is no agent.
    """
    if is_graph(retriever) and query_key is None and "messages" in _keys(retriever):
        return Ways(asynchronous=partial(searches_of, retriever, config=config, tools=tools))
    if tools:
        raise TypeError(
            f"tools={tools!r} names the tools of an agent that search, but {type(retriever).__name__} is "
            f"{'asked with query_key=' if is_graph(retriever) else 'no agent of LangGraph'}; leave tools out"
        )
    if not isinstance(retriever, Runnable):
        return _of_function(retriever, query_key)

    def ask(text: str) -> Any:
        try:
            return invoked(retriever, _given(text, query_key), config)
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001  (chains that take a mapping raise anything for a text)
            return _refused(retriever, error, query_key)

    async def aask(text: str) -> Any:
        try:
            return await retriever.ainvoke(_given(text, query_key), config)
        except Exception as error:  # noqa: BLE001  (as above)
            return _refused(retriever, error, query_key)

    return Ways(ask, aask)


def invoked(runnable: Runnable[Any, Any], given: Any, config: RunnableConfig | None = None, **arguments: Any) -> Any:
    """Return what a Runnable returns.

    Raises:
        NotImplementedError: If it can only be awaited; a RunnableLambda raises a TypeError then.
    """
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


def _of_function(retriever: Any, query_key: str | None) -> Ways:
    if not callable(retriever):
        hint = "; write store.as_retriever()" if hasattr(retriever, "as_retriever") else ""
        raise TypeError(
            f"a retriever must be a Runnable such as a BaseRetriever, or a function, got {retriever!r}{hint}"
        )

    def ask(text: str) -> Any:
        return retriever(_given(text, query_key))

    async def aask(text: str) -> Any:
        return await retriever(_given(text, query_key))

    return Ways(asynchronous=aask) if inspect.iscoroutinefunction(retriever) else Ways(ask)


def _refused(retriever: Any, error: Exception, query_key: str | None) -> Refused:
    """Return the refusal of a text by a chain that takes a mapping; raise any other failure."""
    if query_key is None and not isinstance(error, OSError):
        keys = _keys(retriever)
        if keys or is_graph(retriever):
            return Refused(error, keys)
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
