"""An LLM of LlamaIndex writes questions on its documents and nodes, and the evaluator takes them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from corpus import topics
from generate_questions import Script
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator

TOPICS = {name: topics()[name] for name in ("with", "yield", "lambda", "assert", "del", "raise", "import")}
SCRIPT = Script()


class Scripted(CustomLLM):
    """An LLM that follows the script of the examples."""

    model_name: str = "scripted-llm"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.model_name)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=SCRIPT(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


class Calling(FunctionCallingLLM):
    """An LLM that calls functions: it is given the form of its reply as a tool, and need not call it."""

    says_words: bool = False
    tools: list[Any] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="calling-llm", is_function_calling_model=True)

    def _prepare_chat_with_tools(
        self, tools: Sequence[Any], user_msg: Any = None, *_: Any, tool_required: bool = False, **__: Any
    ) -> dict[str, Any]:
        assert tool_required
        self.tools.extend(tool.metadata.get_parameters_dict() for tool in tools)
        return {"messages": [ChatMessage(content=user_msg)]}

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        content = SCRIPT(str(messages[0].content))
        return ChatResponse(message=ChatMessage(content=f"Here it is: {content}"), raw=content)

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **_: Any,
    ) -> list[ToolSelection]:
        assert not error_on_no_tool_call
        if self.says_words:
            return []
        return [ToolSelection(tool_id="1", tool_name="reply", tool_kwargs=json.loads(str(response.raw)))]

    async def acomplete(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("it is asked for the form of its reply")

    def _never(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    chat = complete = stream_complete = astream_complete = stream_chat = astream_chat = _never


@pytest.mark.parametrize("says_words", [False, True])
def test_an_llm_that_calls_functions_is_asked_for_the_form_of_its_replies(says_words: bool) -> None:
    llm = Calling(says_words=says_words)
    generated = rm.generate_questions(documents(), llm, 5, kinds="one_passage")
    assert generated.questions.qrels == generate(documents()).questions.qrels
    (form,) = [tool for tool in llm.tools if "question" in tool["properties"]][:1]
    assert form["required"] == ["question", "quotes", "answer"]
    assert form["properties"]["quotes"]["items"] == {"type": "string"}
    assert {tuple(tool["properties"]) for tool in llm.tools} >= {("answerable",), ("supported",)}


def documents() -> list[Document]:
    return [Document(text=text, id_=name) for name, text in TOPICS.items()]


def nodes() -> list[Any]:
    return SentenceSplitter(chunk_size=256, chunk_overlap=32).get_nodes_from_documents(documents())


def generate(corpus: Any, n: int = 5, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(corpus, Scripted(), n, kinds="one_passage", **how)


def pieces(generated: rm.types.GeneratedQuestions) -> list[Any]:
    qrels: Any = generated.questions.qrels
    judged_pieces = []
    for groups in qrels.values():
        for group in groups:
            judged_pieces += group
    return judged_pieces


def test_an_llm_writes_the_questions_of_a_function() -> None:
    host_questions = generate(documents())
    core_questions = rm.generate_questions(dict(TOPICS), Script(), 5, kinds="one_passage")
    assert host_questions.questions.queries == core_questions.questions.queries
    assert host_questions.questions.qrels == core_questions.questions.qrels
    assert {provenance.model for provenance in host_questions.questions.provenance.values()} == {"scripted-llm"}


def test_nodes_give_places_in_the_documents_they_were_cut_from() -> None:
    generated = generate(nodes())
    spans = [piece for piece in pieces(generated) if isinstance(piece, rm.Span)]
    quotes = {piece.text for piece in pieces(generated) if isinstance(piece, rm.Quote)}
    assert {span.source for span in spans} <= TOPICS.keys()
    assert all(TOPICS[span.source][span.start : span.end] in quotes for span in spans)


class Search(BaseRetriever):
    """Returns every node, those that share most words with the query first."""

    def __init__(self, nodes: list[TextNode]) -> None:
        super().__init__()
        self._nodes = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query_words = set(query_bundle.query_str.lower().split())
        ranked = sorted(self._nodes, key=lambda node: -len(query_words & set(node.text.lower().split())))
        return [NodeWithScore(node=node, score=1.0) for node in ranked]


@pytest.mark.parametrize("size", [64, 256])
def test_the_evaluator_takes_them_whatever_the_chunking(size: int) -> None:
    generated = generate(documents())
    nodes: Any = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(documents())
    evaluator = RetrieverEvaluator.from_metric_names(["recall", "mrr"], retriever=Search(nodes))
    results = evaluator.evaluate_dataset(generated.questions)
    assert results.means["recall"] == 1.0
    assert 0 < results.means["mrr"] <= 1


def test_its_retriever_is_used_to_check_them() -> None:
    generated = generate(nodes(), retriever=Search(nodes()))
    assert len(generated) == 5
