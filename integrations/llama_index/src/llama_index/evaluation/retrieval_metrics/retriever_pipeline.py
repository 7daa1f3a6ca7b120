"""Ask a retriever and its postprocessors a question, and record the nodes after each of them."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index.evaluation.retrieval_metrics.agent_answers import find_answer_nodes
from llama_index.evaluation.retrieval_metrics.mmr_postprocessor import embed_query
from llama_index.evaluation.retrieval_metrics.nodes import get_nodes
from llama_index.evaluation.retrieval_metrics.retriever_functions import is_asynchronous, resolve_retriever
from llama_index.evaluation.retrieval_metrics.stage_recording import RETRIEVED_STAGE, StageRecorder
from retrieval_metrics.integration_api import RetrieverFunctions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence

    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    from retrieval_metrics import Retrieved
    from retrieval_metrics.integration_api import StageRankings

    ConvertItems = Callable[[Any], list[Retrieved]]


class RetrieverPipeline:
    """A retriever and its postprocessors; with a function that converts nodes, it returns the stages too."""

    def __init__(
        self,
        retriever: object,
        postprocessors: Sequence[BaseNodePostprocessor] = (),
        convert: ConvertItems | None = None,
        *,
        always_records_retrieval: bool = True,
    ) -> None:
        """Set what is asked.

        Args:
            retriever: What returns nodes, or a response with nodes.
            postprocessors: Applied to the nodes, in order.
            convert: Converts nodes to items of the core; None returns the nodes of the last stage alone.
            always_records_retrieval: Whether retrieval is a stage even if it is the only one.
        """
        self._retriever: Any = retriever
        self._takes_bundles = isinstance(retriever, BaseRetriever)
        self._postprocessors = postprocessors
        self._convert = convert
        self._always_records_retrieval = always_records_retrieval

    @property
    def functions(self) -> RetrieverFunctions:
        """The functions that retrieve and postprocess.

        The asynchronous function of a synchronous retriever is called in a thread, and what it returns is awaited.
        """
        functions = resolve_retriever(self._retriever) or RetrieverFunctions(self._retriever)
        synchronous = partial(self._run, functions.prefer_sync)
        ask = functions.prefer_async
        asynchronous: Callable[[str], Any] = partial(self._run_in_thread, ask)
        if is_asynchronous(ask):
            asynchronous = partial(self._arun, ask)
        n_requested = None if self._postprocessors else functions.n_requested
        return RetrieverFunctions(synchronous, asynchronous, n_requested, functions.candidate_option)

    async def retrieve(self, text: str) -> list[NodeWithScore]:
        """Return the nodes for a query text; synchronous retrievers run in a thread."""
        ask = self.functions.prefer_async
        if is_asynchronous(ask):
            answer = ask(text)
        else:
            answer = await asyncio.to_thread(ask, text)
        return get_nodes(await answer)

    def _make_recorder(self) -> StageRecorder | None:
        return None if self._convert is None else StageRecorder(self._convert, self._retriever)

    def _make_input(self, query: QueryBundle) -> QueryBundle | str:
        """Return the bundle for a retriever, which keeps the vector that it computes there, and the text for others."""
        return query if self._takes_bundles else query.query_str

    def _has_only_answer(self, recorder: StageRecorder | None) -> bool:
        """Return whether no stage is recorded beside the answer of the retriever."""
        if self._postprocessors:
            return False
        return recorder is None or not (self._always_records_retrieval or recorder.has_stages)

    def _run(self, ask: Callable[[Any], Any], text: str) -> Any:
        query = QueryBundle(text)
        recorder = self._make_recorder()
        with recorder or nullcontext():
            answer = ask(self._make_input(query))
        if inspect.isawaitable(answer):
            return _LazyCoroutine(partial(self._afinish, answer, query, recorder))
        if self._has_only_answer(recorder):
            return answer
        nodes = _note_retrieved(answer, recorder)
        for position, postprocessor in enumerate(self._postprocessors):
            try:
                nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query)
            except NotImplementedError:
                remaining = self._postprocessors[position:]
                return _LazyCoroutine(partial(self._apostprocess, remaining, nodes, query, recorder))
            _note_postprocessed(postprocessor, nodes, recorder)
        return _make_answer(nodes, recorder)

    async def _arun(self, ask: Callable[[str], Any], text: str) -> Any:
        query = QueryBundle(text)
        answer = self._aretrieve(query) if self._takes_bundles else ask(text)
        return await self._afinish(answer, query, self._make_recorder())

    def _run_in_thread(self, ask: Callable[[Any], Any], text: str) -> Awaitable[Any]:
        query = QueryBundle(text)
        recorder = self._make_recorder()
        with recorder or nullcontext():
            answer = ask(self._make_input(query))
        return _LazyCoroutine(partial(self._afinish, answer, query, recorder))

    async def _aretrieve(self, query: QueryBundle) -> list[NodeWithScore]:
        await embed_query(query, self._retriever, self._postprocessors)
        nodes: list[NodeWithScore] = await self._retriever.aretrieve(query)
        return nodes

    async def _afinish(self, answer: Any, query: QueryBundle, recorder: StageRecorder | None) -> Any:
        """Wait for an answer if it must be awaited, and postprocess it."""
        with recorder or nullcontext():
            if inspect.isawaitable(answer):
                answer = await answer
        if self._has_only_answer(recorder):
            return answer
        return await self._apostprocess(self._postprocessors, _note_retrieved(answer, recorder), query, recorder)

    async def _apostprocess(
        self,
        postprocessors: Sequence[BaseNodePostprocessor],
        nodes: list[NodeWithScore],
        query: QueryBundle,
        recorder: StageRecorder | None,
    ) -> Any:
        for postprocessor in postprocessors:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=query)
            _note_postprocessed(postprocessor, nodes, recorder)
        return _make_answer(nodes, recorder)


def _note_retrieved(answer: Any, recorder: StageRecorder | None) -> list[NodeWithScore]:
    nodes = find_answer_nodes(answer)
    if recorder is not None:
        recorder.note(RETRIEVED_STAGE, nodes)
    return nodes


def _note_postprocessed(
    postprocessor: BaseNodePostprocessor, nodes: list[NodeWithScore], recorder: StageRecorder | None
) -> None:
    if recorder is not None:
        recorder.note(type(postprocessor).__name__, nodes)


def _make_answer(nodes: list[NodeWithScore], recorder: StageRecorder | None) -> list[NodeWithScore] | StageRankings:
    return nodes if recorder is None else recorder.stages


class _LazyCoroutine:
    """Creates a coroutine when it is awaited, so that none stays unawaited if another query fails."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, None, Any]:
        return self._make().__await__()
