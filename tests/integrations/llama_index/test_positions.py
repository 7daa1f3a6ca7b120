"""Offsets that parsers and postprocessors leave behind are checked before a span is looked for by them."""

import pytest
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.schema import BaseNode, Document, NodeWithScore

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from llama_index_hosts import Prepared

TEXT = " ".join(f"Sentence number {number} says something of its own about topic {number * 7}." for number in range(60))
SOURCES = rm.Matching(sources={"doc": TEXT})


def leaves() -> list[BaseNode]:
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64])
    return [one for one in parser.get_nodes_from_documents([Document(text=TEXT, id_="doc")]) if one.parent_node]


def place(node: BaseNode) -> rm.Span:
    start = TEXT.index(node.get_content())
    return rm.Span("doc", start, start + len(node.get_content()))


def evaluated(found: dict[str, BaseNode], match: str | rm.Matching = "id", **options: object) -> rm.Evaluation:
    """The evaluation of a retriever that finds just the chunk that holds the span."""
    answers = {query: [NodeWithScore(node=node.model_copy())] for query, node in found.items()}
    ours = RetrieverEvaluator.from_metric_names(["recall@1"], retriever=Prepared(answers), match=match, **options)
    return ours.evaluate_dataset({query: [place(node)] for query, node in found.items()}).evaluation


def test_leaves_whose_offsets_are_those_in_their_parent_are_found_in_the_source() -> None:
    nodes = {f"query {at}": node for at, node in enumerate(leaves())}
    wrong = [node for node in nodes.values() if getattr(node, "start_char_idx", None) != place(node).start]
    assert len(wrong) > len(nodes) / 2, "the parser gives offsets in the document now: the case is gone"
    assert evaluated(nodes, SOURCES).means["recall@1"] == 1


@pytest.mark.filterwarnings("ignore:none of the retrieved documents:retrieval_metrics.RetrievalWarning")
def test_without_the_source_the_place_of_such_leaves_is_unknown_and_counted() -> None:
    nodes = {f"query {at}": node for at, node in enumerate(leaves())}
    result = evaluated(nodes)
    assert (result.means["recall@1"], result.counts["unplaced"]) == (0, len(nodes))


def test_offsets_of_a_splitter_are_right_and_not_warned_of() -> None:
    nodes = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents([Document(text=TEXT, id_="doc")])
    for match in ("id", SOURCES):
        result = evaluated({f"query {at}": node for at, node in enumerate(nodes)}, match)
        assert (result.means["recall@1"], result.counts["misplaced"]) == (1, 0)


def test_a_text_that_was_cut_keeps_offsets_that_are_not_believed() -> None:
    (node, *_) = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents(
        [Document(text=TEXT, id_="doc")]
    )
    cut = node.model_copy(update={"text": node.get_content()[:50]})
    end = len(node.get_content())
    qrels = {"q": [rm.Span("doc", end - 40, end)]}  # in what was cut off
    for match, found, unplaced in (("id", 0, 1), (SOURCES, 1, 0)):
        ours = RetrieverEvaluator.from_metric_names(
            ["recall@1"], retriever=Prepared({"q": [NodeWithScore(node=cut)]}), match=match
        )
        said = f"offsets of 1 retrieved items do not fit .* {found} were found in their source"
        with pytest.warns(rm.RetrievalWarning, match=said), pytest.warns(rm.RetrievalWarning, match="none of the"):
            result = ours.evaluate_dataset(qrels).evaluation
        assert result.means["recall@1"] == 0
        assert (result.counts["misplaced"], result.counts["unplaced"]) == (1, unplaced)
        assert "1 retrieved items whose offsets do not fit their text or source" in str(result)


def test_a_window_that_replaced_a_text_is_found_where_it_is() -> None:
    (node, *_) = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents(
        [Document(text=TEXT, id_="doc")]
    )
    window = TEXT[: len(node.get_content()) + 100]
    node.metadata["window"] = window
    answers = {"q": [NodeWithScore(node=node)]}
    qrels = {"q": [rm.Span("doc", len(window) - 90, len(window))]}  # in the window, not in the chunk
    ours = RetrieverEvaluator.from_metric_names(
        ["recall@1"],
        retriever=Prepared(answers),
        node_postprocessors=[MetadataReplacementPostProcessor(target_metadata_key="window")],
        match=SOURCES,
    )
    with pytest.warns(rm.RetrievalWarning, match="offsets of 1 retrieved items"):
        result = ours.evaluate_dataset(qrels).evaluation
    assert (result.means["recall@1"], result.counts["misplaced"], result.counts["unplaced"]) == (1, 1, 0)
