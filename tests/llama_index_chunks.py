"""Chunks of documents by the parsers of LlamaIndex, and evaluators of what holds a text."""

import re
from collections.abc import Iterable
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    NodeParser,
    SemanticSplitterNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    TokenTextSplitter,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, Document, NodeWithScore

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvaluator,
)
from llama_index_hosts import Prepared


def read_nodes(parser: NodeParser | IngestionPipeline, documents: list[Document]) -> list[Any]:
    if isinstance(parser, IngestionPipeline):
        return [*parser.run(documents=documents)]
    return [*parser.get_nodes_from_documents(documents)]


def with_scores(nodes: Iterable[BaseNode]) -> list[NodeWithScore]:
    return [NodeWithScore(node=node) for node in nodes]


def select_with(text: str, nodes: list[BaseNode], *, holds: bool = True) -> list[NodeWithScore]:
    return with_scores(node for node in nodes if (text in node.get_content()) is holds)


def make_paragraph(part: int) -> str:
    sentences = [
        f"Sentence number {number} of part {part} says something of its own about topic {number * 7}."
        for number in range(12)
    ]
    return " ".join(sentences)


PLAIN = "\n\n".join(map(make_paragraph, range(5)))


MARKDOWN = "\n\n".join(
    f"# Heading {number}\n\nThe section {number} tells of topic {number * 7} and of nothing else."
    for number in range(9)
)


def find_span(part: str, text: str) -> rm.Span:
    start = text.index(part.strip())
    return rm.Span("doc", start, start + len(part.strip()))


def by_sentences(text: str) -> list[str]:
    return re.findall(r".+?\.\s*", text, re.DOTALL)


class Hashed(BaseEmbedding):
    """Embeds a text by its letters, so that the semantic splitter has something to split by."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(text.count(letter)) + 1 for letter in "abcdefghij0123456789"]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


# Parsers that keep the text as it is.
PARSERS: dict[str, tuple[NodeParser, str]] = {
    "sentence": (SentenceSplitter(chunk_size=64, chunk_overlap=10), PLAIN),
    "token": (TokenTextSplitter(chunk_size=40, chunk_overlap=5), PLAIN),
    "window": (SentenceWindowNodeParser.from_defaults(sentence_splitter=by_sentences, window_size=1), PLAIN),
    "semantic": (SemanticSplitterNodeParser(embed_model=Hashed(), sentence_splitter=by_sentences), PLAIN),
    "hierarchical": (HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64]), PLAIN),
    "markdown": (MarkdownNodeParser(), MARKDOWN),
}


def parse(parser: NodeParser, text: str) -> list[BaseNode]:
    nodes = read_nodes(parser, [Document(text=text, id_="doc")])
    return [node for node in nodes if node.get_content().strip()]


def make_evaluator(*postprocessors: BaseNodePostprocessor, nodes: list[BaseNode], **options: Any) -> RetrieverEvaluator:
    answer = {"q": [NodeWithScore(node=node.model_copy(deep=True), score=1.0) for node in nodes]}
    return RetrieverEvaluator.from_metric_names(
        ["recall", "mrr"], retriever=Prepared(answer), node_postprocessors=list(postprocessors), **options
    )
