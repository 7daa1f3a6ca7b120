"""How the text of a query is asked: of retrievers, engines, agents and workflows, with postprocessors behind them."""

from __future__ import annotations

import asyncio
import inspect
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import QueryBundle
from llama_index.core.workflow import Workflow

from llama_index.evaluation.retrieval_metrics.items import nodes_of
from llama_index.evaluation.retrieval_metrics.mmr_postprocessor import embed_query
from llama_index.evaluation.retrieval_metrics.recording import nodes_found
from retrieval_metrics.adapting import Ways

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence

    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore

    Note = Callable[[int, str, Any], None]


RETRIEVED = "retrieved"
"""The stage after retrieval."""


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


def stage_names(postprocessors: Sequence[BaseNodePostprocessor]) -> list[str]:
    """Return `retrieved`, then the class of each postprocessor, numbered where it comes again."""
    names = [RETRIEVED]
    for one in postprocessors:
        name = type(one).__name__
        again = sum(known.partition(" ")[0] == name for known in names)
        names.append(f"{name} {again + 1}" if again else name)
    return names


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
