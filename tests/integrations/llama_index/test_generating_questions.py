"""An LLM of LlamaIndex writes questions on its documents and nodes, and the evaluator takes them."""

from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
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

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002, FBT001, FBT002  (the host's)
        return CompletionResponse(text=SCRIPT(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:  # noqa: FBT001, FBT002  (the host's)
        raise NotImplementedError


def documents() -> list[Document]:
    return [Document(text=text, id_=name) for name, text in TOPICS.items()]


def nodes() -> list[Any]:
    return SentenceSplitter(chunk_size=256, chunk_overlap=32).get_nodes_from_documents(documents())


def made(corpus: Any, n: int = 5, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(corpus, Scripted(), n, kinds="one_passage", **how)


def pieces(found: rm.types.GeneratedQuestions) -> list[Any]:
    qrels: Any = found.questions.qrels
    return [one for groups in qrels.values() for group in groups for one in group]


def test_an_llm_writes_the_questions_of_a_function() -> None:
    of_host = made(documents())
    of_core = rm.generate_questions(dict(TOPICS), Script(), 5, kinds="one_passage")
    assert of_host.questions.queries == of_core.questions.queries
    assert of_host.questions.qrels == of_core.questions.qrels
    assert {each.model for each in of_host.questions.provenance.values()} == {"scripted-llm"}


def test_nodes_give_places_in_the_documents_they_were_cut_from() -> None:
    found = made(nodes())
    spans = [one for one in pieces(found) if isinstance(one, rm.Span)]
    quotes = {one.text for one in pieces(found) if isinstance(one, rm.Quote)}
    assert {span.source for span in spans} <= TOPICS.keys()
    assert all(TOPICS[span.source][span.start : span.end] in quotes for span in spans)


class Search(BaseRetriever):
    """Returns every node, those that share most words with the query first."""

    def __init__(self, held: list[TextNode]) -> None:
        super().__init__()
        self._held = held

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        wanted = set(query_bundle.query_str.lower().split())
        ranked = sorted(self._held, key=lambda one: -len(wanted & set(one.text.lower().split())))
        return [NodeWithScore(node=node, score=1.0) for node in ranked]


@pytest.mark.parametrize("size", [64, 256])
def test_the_evaluator_takes_them_whatever_the_chunking(size: int) -> None:
    found = made(documents())
    held: Any = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(documents())
    evaluator = RetrieverEvaluator.from_metric_names(["recall", "mrr"], retriever=Search(held))
    results = evaluator.evaluate_dataset(found.questions)
    assert results.means["recall"] == 1.0
    assert 0 < results.means["mrr"] <= 1


def test_its_retriever_is_used_to_check_them() -> None:
    found = made(nodes(), retriever=Search(nodes()))
    assert len(found) == 5
