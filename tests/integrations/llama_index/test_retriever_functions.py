"""Twenty questions through each kind of pipeline that LlamaIndex has: to the last bit what `rm.evaluate` gives.

What is expected is asked as a user asks it, one question after the other, without the package.
"""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from llama_index.core import SummaryIndex, VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_selector import BaseSelector, MultiSelection, SingleSelection
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import Field
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever, RouterRetriever, TransformRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

import retrieval_metrics as rm
from judged_words import METRICS, QRELS, QUESTIONS, TEXTS, rank_documents, vector_of
from llama_index.evaluation.retrieval_metrics import MMRPostprocessor, RetrieverEvaluator
from llama_index_hosts import Scripted

NODES = {name: TextNode(id_=name, text=text) for name, text in TEXTS.items()}


class Bag(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return vector_of(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector_of(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector_of(query)


class Words(BaseRetriever):
    """Searches by shared words."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        names = rank_documents(query_bundle.query_str)
        return [NodeWithScore(node=NODES[name], score=1 / rank) for rank, name in enumerate(names, start=1)]


class ByWord(BaseSelector):
    """Selects the first choice for some questions, and the second for the others."""

    def _select(self, choices: Any, query: QueryBundle) -> MultiSelection:
        index = len(query.query_str) % len(choices)
        return MultiSelection(selections=[SingleSelection(index=index, reason="its length")])

    async def _aselect(self, choices: Any, query: QueryBundle) -> MultiSelection:
        return self._select(choices, query)

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        del prompts


class Searcher(Scripted):
    """Searches once, for what the user says, and answers."""

    hops: list[list[str]] = Field(default=[["the question"]])

    def _next(self, messages: Any) -> ChatResponse:
        question = next(str(message.content) for message in messages if message.role == "user")
        answer = super()._next(messages)
        answer.message.additional_kwargs |= {"asked": question}
        return answer

    def get_tool_calls_from_response(self, response: Any, **kwargs: Any) -> list[ToolSelection]:  # type: ignore[override]  # the rest is not needed
        calls = super().get_tool_calls_from_response(response, **kwargs)
        for call in calls:
            call.tool_kwargs = {"input": response.message.additional_kwargs["asked"]}
        return calls


class Reasoner(Scripted):
    """The same, in words."""

    def _next(self, messages: Any) -> ChatResponse:
        user_messages = [str(message.content) for message in messages if message.role == "user"]
        if any(content.startswith("Observation") for content in user_messages):
            content = "Thought: I can answer without using any more tools.\nAnswer: It is so."
        else:
            content = f'Thought: I search.\nAction: search\nAction Input: {{"input": "{user_messages[0]}"}}'
        return ChatResponse(message=ChatMessage(role="assistant", content=content), delta=content)


@cache
def vectors(k: int = 6) -> Any:
    return VectorStoreIndex([*NODES.values()], embed_model=Bag()).as_retriever(similarity_top_k=k)


def fused(mode: FUSION_MODES, *, use_async: bool) -> BaseRetriever:
    return QueryFusionRetriever(
        [vectors(), Words()], llm=MockLLM(), mode=mode, num_queries=1, similarity_top_k=8, use_async=use_async
    )


def tool(retriever: Any) -> RetrieverTool:
    return RetrieverTool.from_defaults(retriever, name="search", description="Search the documents")


def engine(retriever: Any, *postprocessors: Any) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()), [*postprocessors])


def router_engine() -> RouterQueryEngine:
    tools = [
        QueryEngineTool.from_defaults(engine(retriever), description="documents") for retriever in (vectors(), Words())
    ]
    return RouterQueryEngine(ByWord(), tools, llm=MockLLM())


class Steps(Workflow):
    @step
    async def search(self, start: StartEvent) -> StopEvent:
        return StopEvent(result=Response("an answer", source_nodes=await vectors().aretrieve(start.query)))


def agent() -> FunctionAgent:
    return FunctionAgent(tools=[tool(vectors())], llm=Searcher(), streaming=False)


def names(nodes: Any) -> list[str]:
    return [scored.node.node_id for scored in nodes]


def item_ids(items: Any) -> list[str]:
    return [item.id for item in items]


def ask_agent(pipeline: Any, text: str) -> list[str]:
    async def ask() -> Any:
        return await pipeline.run(user_msg=text)

    (call,) = asyncio.run(ask()).tool_calls
    return names(call.tool_output.raw_output)


def ask_workflow(pipeline: Any, text: str) -> list[str]:
    async def ask() -> Any:
        return await pipeline.run(query=text)

    return names(asyncio.run(ask()).source_nodes)


def ask_retriever(pipeline: Any, text: str) -> list[str]:
    return names(pipeline.retrieve(text))


def ask_engine(pipeline: Any, text: str) -> list[str]:
    return names(pipeline.query(text).source_nodes)


def ask_chat(pipeline: Any, text: str) -> list[str]:
    pipeline.reset()
    return names(pipeline.chat(text).source_nodes)


PIPELINES: dict[str, tuple[Callable[[], Any], Callable[[Any, str], list[str]]]] = {
    "vector index": (vectors, ask_retriever),
    "retriever of one's own": (Words, ask_retriever),
    "summary index": (lambda: SummaryIndex([*NODES.values()]).as_retriever(), ask_retriever),
    "fusion by rank": (lambda: fused(FUSION_MODES.RECIPROCAL_RANK, use_async=False), ask_retriever),
    "fusion by score": (lambda: fused(FUSION_MODES.RELATIVE_SCORE, use_async=False), ask_retriever),
    "router": (lambda: RouterRetriever(ByWord(), [tool(vectors()), tool(Words())], llm=MockLLM()), ask_retriever),
    "transformed": (lambda: TransformRetriever(Words(), IdentityQueryTransform()), ask_retriever),
    "query engine": (lambda: engine(vectors()), ask_engine),
    "query engine with postprocessors": (
        lambda: engine(vectors(12), SimilarityPostprocessor(similarity_cutoff=0.2), LongContextReorder()),
        ask_engine,
    ),
    "query engine with MMR": (lambda: engine(vectors(12), MMRPostprocessor(top_n=5, embed_model=Bag())), ask_engine),
    "router query engine": (router_engine, ask_engine),
    "transformed query engine": (lambda: TransformQueryEngine(engine(Words()), IdentityQueryTransform()), ask_engine),
    "chat engine": (lambda: ContextChatEngine.from_defaults(vectors(), llm=MockLLM()), ask_chat),
    "workflow": (Steps, ask_workflow),
    "FunctionAgent": (agent, ask_agent),
    "AgentWorkflow": (lambda: AgentWorkflow(agents=[agent()]), ask_agent),
    "ReActAgent": (lambda: ReActAgent(tools=[tool(Words())], llm=Reasoner(), streaming=False), ask_agent),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the workflows of the host
@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_gives_what_its_rankings_give(name: str) -> None:
    make, ask = PIPELINES[name]
    by_hand = make()
    expected = {query: ask(by_hand, text) for query, text in QUESTIONS.items()}
    assert len({tuple(ranking) for ranking in expected.values()}) > 1 or name == "summary index"
    scored = rm.evaluate(QRELS, expected, METRICS)
    questions = rm.EvaluationSet.from_dataset(
        [{"id": q, "query": QUESTIONS[q], "relevant": QRELS[q]} for q in QUESTIONS]
    )
    run = rm.retrieve(make(), questions)
    assert {query: item_ids(ranking) for query, ranking in run.items()} == expected
    assert rm.evaluate(questions, run, METRICS).per_query == scored.per_query
    assert asyncio.run(rm.aretrieve(make(), questions)) == run
    evaluator = RetrieverEvaluator.from_metric_names(METRICS, retriever=make())
    for result in (evaluator.evaluate_dataset(questions), asyncio.run(evaluator.aevaluate_dataset(questions))):
        assert not result.errors
        assert result.evaluation.means == scored.means
        assert result.evaluation.per_query == scored.per_query
