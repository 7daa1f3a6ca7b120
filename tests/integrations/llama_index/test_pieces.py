"""Judgments that survive re-chunking: quotes, texts and spans against nodes that LlamaIndex cut."""

from typing import Any

import pytest
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import BaseNode, Document, NodeWithScore

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvalResult, RetrieverEvaluator, judged_by_text
from llama_index_hosts import Prepared, node

TEXT = (
    "A closure keeps the variables of the function that made it. It is made by def inside def.\n\n"
    "The yield expression suspends a generator. Its value comes back when the generator is resumed.\n\n"
    "Slots take the place of the dictionary of an instance. They save memory when there are many instances."
)
DOCUMENT = Document(id_="reference", text=TEXT)
METRICS = ["recall", "mrr", "ndcg", "map", "precision"]


def chunks(size: int, overlap: int = 5) -> list[BaseNode]:
    """The document in chunks of so many words that overlap a little; their ids are made anew each time."""
    splitter = TokenTextSplitter(chunk_size=size, chunk_overlap=overlap, tokenizer=str.split)
    return list(splitter.get_nodes_from_documents([DOCUMENT]))


def evaluator(nodes: list[BaseNode], **arguments: Any) -> RetrieverEvaluator:
    answer = [NodeWithScore(node=one, score=1.0) for one in nodes]
    return RetrieverEvaluator.from_metric_names(METRICS, retriever=Prepared({"q": answer}), **arguments)


@pytest.mark.parametrize("size", [12, 17, 30, 100])
@pytest.mark.parametrize(
    "truth",
    [
        rm.Quote("suspends a generator"),
        rm.Text("The yield expression suspends a generator. Its value comes back when the generator is resumed."),
        rm.Span("reference", TEXT.index("The yield"), TEXT.index("Slots") - 2),
    ],
    ids=lambda truth: type(truth).__name__,
)
def test_one_judgment_serves_every_chunking(size: int, truth: Any) -> None:
    nodes, match = chunks(size), rm.Matching(sources={"reference": TEXT})
    result = evaluator(nodes, match=match).evaluate("q", [truth])
    assert result.metric_vals_dict["recall"] == 1.0
    items = [
        rm.Retrieved(one.node_id, one.get_content(), "reference", one.start_char_idx, one.end_char_idx)  # type: ignore[attr-defined]  # these are TextNodes
        for one in nodes
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
    found = evaluator([DOCUMENT]).evaluate("q", [rm.Span("reference", 0, 20), rm.Span("elsewhere", 0, 20)])
    assert found.metric_vals_dict["recall"] == 0.5


def test_texts_alone_are_judged_by_what_the_nodes_hold() -> None:
    wanted = "The yield expression suspends a generator. Its value comes back when the generator is resumed."
    result = evaluator(chunks(12)).evaluate("q", expected_texts=[wanted])
    assert result.metric_vals_dict["recall"] == 1.0
    assert result.expected_texts == [wanted]


def test_options_of_the_core_reach_it() -> None:
    nodes = chunks(12)
    without_places = [node(f"n{at}", one.get_content(), source="reference") for at, one in enumerate(nodes)]
    span = rm.Span("reference", TEXT.index("Slots"), len(TEXT))
    retriever = Prepared({"q": without_places})
    located = rm.Matching(sources={"reference": TEXT})
    result = RetrieverEvaluator.from_metric_names(["recall"], retriever=retriever, match=located).evaluate("q", [span])
    assert result.metric_vals_dict["recall"] == 1.0
    collapsed = rm.Matching(by="source", collapse=True)
    result = RetrieverEvaluator.from_metric_names(["precision"], retriever=retriever, match=collapsed).evaluate(
        "q", ["reference"]
    )
    assert result.metric_vals_dict["precision"] == 1.0
    assert set(result.retrieved_ids) == {"reference"}


def test_a_dataset_with_a_corpus_is_judged_by_its_texts_after_the_index_was_built_anew() -> None:
    old, new = chunks(17), chunks(12)
    content = {
        "queries": {"q1": "q"},
        "corpus": {one.node_id: one.get_content() for one in old},
        "relevant_docs": {"q1": [old[1].node_id]},
    }
    with pytest.warns(rm.RetrievalWarning, match="none of the retrieved documents is judged"):
        by_id = evaluator(new).evaluate_dataset(content)
    assert by_id.evaluation.means["recall"] == 0.0
    by_text = evaluator(new).evaluate_dataset(judged_by_text(content))
    assert by_text.evaluation.means["recall"] == 1.0


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
        judged_by_text(dataset)
