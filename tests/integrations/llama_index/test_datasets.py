"""Datasets of LlamaIndex, their files and their judgments."""

from typing import Any

import pytest
from llama_index.core.node_parser import (
    TokenTextSplitter,
)
from llama_index.core.schema import BaseNode, Document, NodeWithScore, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvaluator,
    match_by_text,
)
from llama_index_hosts import Prepared

CHAPTERS = (
    "A closure keeps the variables of the function that made it. It is made by def inside def.\n\n"
    "The yield expression suspends a generator. Its value comes back when the generator is resumed.\n\n"
    "Slots take the place of the dictionary of an instance. They save memory when there are many instances."
)


DOCUMENT = Document(id_="reference", text=CHAPTERS)


METRICS = ["recall", "mrr", "ndcg", "map", "precision"]


def chunks(size: int, overlap: int = 5) -> list[BaseNode]:
    """The document in chunks of so many words that overlap a little; their ids are made anew each time."""
    splitter = TokenTextSplitter(chunk_size=size, chunk_overlap=overlap, tokenizer=str.split)
    return list(splitter.get_nodes_from_documents([DOCUMENT]))


def evaluator(nodes: list[BaseNode], **arguments: Any) -> RetrieverEvaluator:
    answer = [NodeWithScore(node=chunk, score=1.0) for chunk in nodes]
    return RetrieverEvaluator.from_metric_names(METRICS, retriever=Prepared({"q": answer}), **arguments)


def test_a_dataset_with_a_corpus_is_judged_by_its_texts_after_the_index_was_built_anew() -> None:
    old = chunks(17)
    new = chunks(12)
    content = {
        "queries": {"q1": "q"},
        "corpus": {chunk.node_id: chunk.get_content() for chunk in old},
        "relevant_docs": {"q1": [old[1].node_id]},
    }
    by_text = evaluator(new).evaluate_dataset(match_by_text(content))
    assert by_text.evaluation.means["recall"] == 1.0
    with pytest.warns(
        rm.RetrievalWarning, match="no retrieved node has an ID of the dataset's corpus: the index was probably rebuilt"
    ):
        by_itself = evaluator(new).evaluate_dataset(content)
    assert by_itself.evaluation.means == by_text.evaluation.means
    assert evaluator(old).evaluate_dataset(content).evaluation.means["recall"] == 1.0
    content["relevant_docs"] = {"q1": {old[1].node_id: 2}}
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        assert evaluator(new).evaluate_dataset(content).evaluation.means["recall"] == 0.0


def test_excluded_nodes_stay_excluded_where_texts_are_judged_instead_of_ids() -> None:
    texts = {"old 1": "Slots save memory.", "old 2": "The yield expression suspends a generator."}
    new: list[BaseNode] = [TextNode(id_=f"new {number}", text=text) for number, text in enumerate(texts.values(), 1)]
    content = {"queries": {"q1": "q"}, "corpus": texts, "relevant_docs": {"q1": ["old 2"]}}
    with pytest.warns(rm.RetrievalWarning, match="the index was probably rebuilt"):
        everything = evaluator(new).evaluate_dataset(content).evaluation
    with pytest.warns(rm.RetrievalWarning, match="the index was probably rebuilt"):
        without_first = evaluator(new).evaluate_dataset(content, exclude={"q1": ["new 1"]}).evaluation
    assert (everything.means["mrr"], without_first.means["mrr"]) == (0.5, 1.0)
    assert without_first.counts["excluded"] == 1


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        (
            {"queries": {}, "relevant_docs": {}},
            TypeError,
            "queries, corpus and relevant_docs; corpus of the dict is None",
        ),
        (7, TypeError, "queries of the int is None"),
        (
            {"queries": {"q": "why?"}, "corpus": {"a": "b"}, "relevant_docs": {"q": ["z"]}},
            ValueError,
            "'z', relevant to query 'q', is not in the corpus of 1 texts",
        ),
    ],
)
def test_a_dataset_without_the_texts_is_refused(dataset: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        match_by_text(dataset)
