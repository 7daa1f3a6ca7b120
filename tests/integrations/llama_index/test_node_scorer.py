"""Judgments of every kind score the nodes, whatever the chunking, as the core scores them."""

from typing import Any

import pytest
from llama_index.core.node_parser import (
    TokenTextSplitter,
)
from llama_index.core.schema import BaseNode, Document, NodeWithScore

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvalResult,
    RetrieverEvaluator,
)
from llama_index_hosts import Prepared
from llama_index_hosts import node as node_of

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


@pytest.mark.parametrize("size", [12, 17, 30, 100])
@pytest.mark.parametrize(
    "truth",
    [
        rm.Quote("suspends a generator"),
        rm.Text("The yield expression suspends a generator. Its value comes back when the generator is resumed."),
        rm.Span("reference", CHAPTERS.index("The yield"), CHAPTERS.index("Slots") - 2),
    ],
    ids=lambda truth: type(truth).__name__,
)
def test_one_judgment_serves_every_chunking(size: int, truth: Any) -> None:
    nodes = chunks(size)
    match = rm.Matching(sources={"reference": CHAPTERS})
    result = evaluator(nodes, match=match).evaluate("q", [truth])
    assert result.metric_vals_dict["recall"] == 1.0
    items = [
        rm.Retrieved(chunk.node_id, chunk.get_content(), "reference", chunk.start_char_idx, chunk.end_char_idx)  # type: ignore[attr-defined]  # these are TextNodes
        for chunk in nodes
    ]
    expected = rm.evaluate({"q": [truth]}, {"q": items}, METRICS, match=match)
    assert result.metric_vals_dict == {name: expected.per_query[name]["q"] for name in METRICS}
    dataset = evaluator(nodes, match=match).evaluate_dataset([("q", [truth])])
    assert dict(dataset.evaluation.means) == dict(expected.means)
    assert dataset[0].metric_vals_dict == result.metric_vals_dict


def test_grades_groups_and_ids_stand_beside_pieces() -> None:
    nodes = chunks(17)
    truth: Any = [{rm.Quote("made by def inside def"): 2, nodes[1].node_id: 1}, {rm.Quote("nowhere in the text"): 1}]
    result = evaluator(nodes).evaluate("q", truth)
    assert result.metric_vals_dict["recall"] == 0.5
    assert result.judgments[0] == {"Quote(text='made by def inside def')": 2, nodes[1].node_id: 1}
    assert RetrieverEvalResult.model_validate_json(result.model_dump_json()) == result


def test_whole_documents_are_their_own_source() -> None:
    result = evaluator([DOCUMENT]).evaluate("q", [rm.Span("reference", 0, 20), rm.Span("elsewhere", 0, 20)])
    assert result.metric_vals_dict["recall"] == 0.5


def test_texts_alone_are_judged_by_what_the_nodes_hold() -> None:
    text = "The yield expression suspends a generator. Its value comes back when the generator is resumed."
    result = evaluator(chunks(12)).evaluate("q", expected_texts=[text])
    assert result.metric_vals_dict["recall"] == 1.0
    assert result.expected_texts == [text]


def test_options_of_the_core_reach_it() -> None:
    nodes = chunks(12)
    without_places = [
        node_of(f"n{number}", chunk.get_content(), source="reference") for number, chunk in enumerate(nodes)
    ]
    span = rm.Span("reference", CHAPTERS.index("Slots"), len(CHAPTERS))
    retriever = Prepared({"q": without_places})
    located = rm.Matching(sources={"reference": CHAPTERS})
    result = RetrieverEvaluator.from_metric_names(["recall"], retriever=retriever, match=located).evaluate("q", [span])
    assert result.metric_vals_dict["recall"] == 1.0
    collapsed = rm.Matching(by="source", deduplicate=True)
    result = RetrieverEvaluator.from_metric_names(["precision"], retriever=retriever, match=collapsed).evaluate(
        "q", ["reference"]
    )
    assert result.metric_vals_dict["precision"] == 1.0
    assert set(result.retrieved_ids) == {"reference"}
