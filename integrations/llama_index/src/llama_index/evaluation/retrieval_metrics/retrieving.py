"""Retrieve for one query with any kind of retriever, and apply the postprocessors."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import QueryBundle

from llama_index.evaluation.retrieval_metrics.host import how_to_ask, is_asynchronous
from llama_index.evaluation.retrieval_metrics.mmr_postprocessor import embed_query
from llama_index.evaluation.retrieval_metrics.nodes import nodes_of
from retrieval_metrics.adapting import Ways

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence

    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore

    Note = Callable[[int, str, Any], None]


class Retrieving:
    """A retriever and its postprocessors.

    Args:
        retriever: A retriever, an engine, a workflow, or a function of the query text.
        postprocessors: Applied in order, and awaited if they are asynchronous.
        note: Called with the number of each stage, the query text and the nodes: 0 after retrieval, then after each
            postprocessor; immediately, because postprocessors may change them.
    """

    def __init__(
        self, retriever: Any, postprocessors: Sequence[BaseNodePostprocessor], note: Note | None = None
    ) -> None:
        self._retriever = retriever
        self._takes_bundles = isinstance(retriever, BaseRetriever)
        self._postprocessors = postprocessors
        self._noted = note

    @property
    def ways(self) -> Ways:
        """The functions that retrieve and postprocess; the asynchronous one of a synchronous retriever is for a thread.

        What it returns there is awaited afterwards, because its postprocessors may be asynchronous.
        """
        found = how_to_ask(self._retriever) or Ways(self._retriever)
        ask = found.in_a_loop
        waiting = self._asynchronously if is_asynchronous(ask) else self._in_a_thread
        return Ways(partial(self._synchronously, found.in_threads), partial(waiting, ask))

    async def nodes(self, text: str) -> list[NodeWithScore]:
        """Return the nodes for a query text; synchronous retrievers run in a thread.

        Raises:
            TypeError: If the answer holds anything else.
        """
        ask = self.ways.in_a_loop
        answer = ask(text) if is_asynchronous(ask) else await asyncio.to_thread(ask, text)
        return nodes_of(await answer)

    def _synchronously(self, ask: Callable[[Any], Any], text: str) -> Any:
        query = QueryBundle(text)
        # The bundle and not the text, so that a vector put into it by the retriever is not computed again.
        answer = ask(query if self._takes_bundles else text)
        if inspect.isawaitable(answer):
            return _Later(partial(self._postprocessed, answer, query))
        if self._noted is None and not self._postprocessors:
            return answer
        nodes = nodes_of(answer)
        self._note(0, query, nodes)
        for at, postprocessor in enumerate(self._postprocessors, start=1):
            try:
                nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query)
            except NotImplementedError:
                return _Later(partial(self._postprocessed_from, at, nodes, query))
            self._note(at, query, nodes)
        return nodes

    async def _asynchronously(self, ask: Callable[[str], Any], text: str) -> Any:
        query = QueryBundle(text)
        return await self._postprocessed(self._retrieved(query) if self._takes_bundles else ask(text), query)

    def _in_a_thread(self, ask: Callable[[Any], Any], text: str) -> Awaitable[Any]:
        query = QueryBundle(text)
        return _Later(partial(self._postprocessed, ask(query if self._takes_bundles else text), query))

    async def _retrieved(self, query: QueryBundle) -> list[NodeWithScore]:
        await embed_query(query, self._retriever, self._postprocessors)
        found: list[NodeWithScore] = await self._retriever.aretrieve(query)
        return found

    async def _postprocessed(self, answer: Any, query: QueryBundle) -> list[NodeWithScore]:
        found = await answer if inspect.isawaitable(answer) else answer
        if self._noted is None and not self._postprocessors:
            return found  # type: ignore[no-any-return]  # the reader raises if it is wrong
        nodes = nodes_of(found)
        self._note(0, query, nodes)
        return await self._postprocessed_from(1, nodes, query)

    async def _postprocessed_from(
        self, first: int, nodes: list[NodeWithScore], query: QueryBundle
    ) -> list[NodeWithScore]:
        for at, postprocessor in enumerate(self._postprocessors[first - 1 :], start=first):
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=query)
            self._note(at, query, nodes)
        return nodes

    def _note(self, stage: int, query: QueryBundle, nodes: Any) -> None:
        if self._noted is not None:
            self._noted(stage, query.query_str, nodes)


class _Later:
    """Creates a coroutine when it is awaited, so that none stays unawaited if another query fails."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, list[NodeWithScore]]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, None, list[NodeWithScore]]:
        return self._make().__await__()
