"""Find the functions that ask a retriever, an engine, a workflow or an agent of LlamaIndex."""

from __future__ import annotations

import inspect
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Workflow

from llama_index.evaluation.retrieval_metrics.agent_answers import find_answer_nodes
from retrieval_metrics.integration_api import RetrieverFunctions

if TYPE_CHECKING:
    from collections.abc import Callable

    from llama_index.core.schema import NodeWithScore

# The option that lets the store of an index examine more nodes, for messages.
CANDIDATE_OPTION = "vector_store_kwargs={...} with the option of your store"


def resolve_retriever(retriever: object) -> RetrieverFunctions | None:
    """Return the functions that ask a retriever of LlamaIndex with the text of a query; None for other objects.

    An agent is asked with `user_msg=`, and a workflow is run with `query=`. A chat engine answers each question as the
    first of a new conversation, and its memory does not change.
    """
    if isinstance(retriever, BaseRetriever):
        return _resolve_base_retriever(retriever)
    if isinstance(retriever, BaseQueryEngine):
        return RetrieverFunctions(retriever.query, retriever.aquery)
    if isinstance(retriever, BaseChatEngine):
        return RetrieverFunctions(partial(_chat, retriever), partial(_achat, retriever))
    if isinstance(retriever, (AgentWorkflow, BaseWorkflowAgent)):
        return RetrieverFunctions(asynchronous=partial(_ask_agent, retriever))
    if isinstance(retriever, Workflow):
        return RetrieverFunctions(asynchronous=partial(_run_workflow, retriever))
    return None


def _resolve_base_retriever(retriever: BaseRetriever) -> RetrieverFunctions:
    if is_only_synchronous(retriever):
        return RetrieverFunctions(retriever.retrieve)
    # With use_async=True, it would start an event loop for each query, in which its clients break.
    use_async = getattr(retriever, "use_async", False)
    retrieve = None if use_async else retriever.retrieve
    return RetrieverFunctions(retrieve, retriever.aretrieve, _find_n_requested(retriever), CANDIDATE_OPTION)


def _find_n_requested(retriever: BaseRetriever) -> int | None:
    """Return how many nodes the store of an index is asked for; None for modes in which it may return fewer."""
    if not isinstance(retriever, VectorIndexRetriever):
        return None
    if retriever._vector_store_query_mode != "default":  # noqa: SLF001  (public nowhere)
        return None
    return retriever.similarity_top_k


def _chat(engine: BaseChatEngine, text: str) -> Any:
    return _copy_with_own_memory(engine).chat(text, chat_history=[])


async def _achat(engine: BaseChatEngine, text: str) -> Any:
    return await _copy_with_own_memory(engine).achat(text, chat_history=[])


def _copy_with_own_memory(engine: BaseChatEngine) -> BaseChatEngine:
    """Return a chat engine with a memory of its own, so that several conversations can run at once."""
    engine = copy(engine)
    if hasattr(engine, "_memory"):
        engine._memory = ChatMemoryBuffer.from_defaults()  # noqa: SLF001  (the engines have no other place for it)
    return engine


class _AgentAnswer:
    """The answer of an agent, whose nodes are looked for when they are read.

    An agent whose tools return no nodes raises then, and not while it is asked, so it is not asked again.
    """

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    @property
    def source_nodes(self) -> list[NodeWithScore]:
        return find_answer_nodes(self._answer)


async def _ask_agent(agent: AgentWorkflow | BaseWorkflowAgent, text: str) -> _AgentAnswer:
    return _AgentAnswer(await agent.run(user_msg=text))


async def _run_workflow(workflow: Workflow, text: str) -> Any:
    return await workflow.run(query=text)


def is_only_synchronous(retriever: BaseRetriever) -> bool:
    """Return whether `aretrieve` would block the event loop, because only `_retrieve` is implemented."""
    # The host wraps some methods for tracing at each access, so the wrapped methods are compared.
    for name in ("_aretrieve", "aretrieve"):
        method = inspect.unwrap(getattr(type(retriever), name))
        if method is not inspect.unwrap(getattr(BaseRetriever, name)):
            return False
    return True


def is_asynchronous(ask: Callable[[str], Any]) -> bool:
    """Return whether a function returns a coroutine, so that it is called on the event loop and not in a thread."""
    function = ask.func if isinstance(ask, partial) else ask
    call_method = getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
    return inspect.iscoroutinefunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(call_method)
