"""Nodes as the core sees them: offsets are checked before they count."""

import json
import warnings
from itertools import pairwise

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    HTMLNodeParser,
    JSONNodeParser,
    MarkdownNodeParser,
    NodeParser,
    SentenceSplitter,
    SimpleFileNodeParser,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import AutoMergingRetriever, VectorIndexRetriever
from llama_index.core.schema import (
    BaseNode,
    Document,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvaluator,
    source_text_by_name,
)
from llama_index_chunks import (
    PARSERS,
    PLAIN,
    Hashed,
    by_sentences,
    find_span,
    make_evaluator,
    parse,
    read_nodes,
    select_with,
    with_scores,
)
from llama_index_hosts import Prepared

TEXT = " ".join(f"Sentence number {number} says something of its own about topic {number * 7}." for number in range(60))

SOURCES = rm.Matching(sources={"doc": TEXT})


def leaves() -> list[BaseNode]:
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64])
    nodes = read_nodes(parser, [Document(text=TEXT, id_="doc")])
    return [node for node in nodes if node.parent_node]


def place(node: BaseNode) -> rm.Span:
    start = TEXT.index(node.get_content())
    return rm.Span("doc", start, start + len(node.get_content()))


def evaluate_chunks(
    node_by_query: dict[str, BaseNode], match: str | rm.Matching = "id", **options: object
) -> rm.Evaluation:
    """The evaluation of a retriever that finds just the chunk that holds the span."""
    answers = {query: with_scores([node.model_copy()]) for query, node in node_by_query.items()}
    ours = RetrieverEvaluator.from_metric_names(["recall@1"], retriever=Prepared(answers), match=match, **options)
    return ours.evaluate_dataset({query: [place(node)] for query, node in node_by_query.items()}).evaluation


def test_leaves_whose_offsets_are_those_in_their_parent_are_found_in_the_source() -> None:
    nodes = {f"query {number}": node for number, node in enumerate(leaves())}
    wrong = [node for node in nodes.values() if getattr(node, "start_char_idx", None) != place(node).start]
    assert len(wrong) > len(nodes) / 2, "the parser gives offsets in the document now: the case is gone"
    assert evaluate_chunks(nodes, SOURCES).means["recall@1"] == 1


@pytest.mark.filterwarnings("ignore:no retrieved document is judged:retrieval_metrics.RetrievalWarning")
def test_without_the_source_the_place_of_such_leaves_is_unknown_counted_and_warned_of() -> None:
    nodes = {f"query {number}": node for number, node in enumerate(leaves())}
    with pytest.warns(rm.RetrievalWarning, match=f"{len(nodes)} results could not be located"):
        result = evaluate_chunks(nodes)
    assert (result.means["recall@1"], result.counts["unlocated"]) == (0, len(nodes))


def test_offsets_of_a_splitter_are_right_where_the_source_or_a_quote_confirms_them() -> None:
    nodes = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents([Document(text=TEXT, id_="doc")])
    node_by_query = {f"query {number}": node for number, node in enumerate(nodes)}
    result = evaluate_chunks(node_by_query, SOURCES)
    assert (result.means["recall@1"], result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, 0, 0)
    answers = {query: with_scores([node]) for query, node in node_by_query.items()}
    ours = RetrieverEvaluator.from_metric_names(["recall@1"], retriever=Prepared(answers))
    truth = {query: [[place(node), rm.Quote(node.get_content())]] for query, node in node_by_query.items()}
    beside = ours.evaluate_dataset(truth).evaluation  # a warning would be an error
    assert (beside.means["recall@1"], beside.counts["unlocated"]) == (1, 0)


def make_section(part: int, count: int) -> str:
    facts = [f"Fact {part}-{number} is told here." for number in range(count)]
    return f"# Section {part}\n\n" + " ".join(facts)


@pytest.mark.parametrize("counts", [[60] * 6, [3, 10, 20, 30, 60, 90], [2**power for power in range(7)]])
def test_after_chained_parsers_only_the_chunk_that_holds_a_fact_is_a_hit(counts: list[int]) -> None:
    text = "\n\n".join(make_section(part, count) for part, count in enumerate(counts))
    documents = [Document(text=text, id_="doc")]
    parsers: list[TransformComponent] = [MarkdownNodeParser(), SentenceSplitter(chunk_size=120, chunk_overlap=0)]
    nodes = read_nodes(IngestionPipeline(transformations=parsers), documents)
    facts = []
    for part, count in enumerate(counts):
        facts += [f"Fact {part}-{number} is told here." for number in range(0, count, 7)]
    spans = {fact: [rm.Span("doc", text.index(fact), text.index(fact) + len(fact))] for fact in facts}
    chunks_with_fact = {fact: select_with(fact, nodes) for fact in facts}
    chunks_without_fact = {fact: select_with(fact, nodes, holds=False) for fact in facts}
    assert all(chunks_with_fact.values())
    offsets = [(node.start_char_idx, text.find(node.get_content())) for node in nodes]
    assert any(start != position for start, position in offsets), "the case is gone"
    for answers, expected in ((chunks_with_fact, 1.0), (chunks_without_fact, 0.0)):
        options = {"retriever": Prepared(answers), "match": rm.Matching(sources=source_text_by_name(documents))}
        ours = RetrieverEvaluator.from_metric_names(["hit_rate"], **options)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no retrieved document is judged")
            result = ours.evaluate_dataset(spans).evaluation
        assert (result.means["hit_rate"], result.counts["unlocated"]) == (expected, 0)
        blind = RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=Prepared(answers))
        with pytest.warns(rm.RetrievalWarning) as caught:
            result = blind.evaluate_dataset(spans).evaluation
        assert result.counts["unlocated"] == sum(map(len, answers.values()))
        assert f"{result.counts['unlocated']:,} result" in str(caught[0].message)


def test_a_text_that_was_cut_keeps_offsets_that_are_not_believed() -> None:
    (node, *_) = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents(
        [Document(text=TEXT, id_="doc")]
    )
    cut = node.model_copy(update={"text": node.get_content()[:50]})
    end = len(node.get_content())
    qrels = {"q": [rm.Span("doc", end - 40, end)]}  # in what was cut off
    for match, unplaced in (("id", 1), (SOURCES, 0)):
        ours = RetrieverEvaluator.from_metric_names(
            ["recall@1"], retriever=Prepared({"q": [NodeWithScore(node=cut)]}), match=match
        )
        with pytest.warns(rm.RetrievalWarning) as caught:
            result = ours.evaluate_dataset(qrels).evaluation
        assert (
            any("1 with offsets that contradict their text" in str(warning.message) for warning in caught) == unplaced
        )
        assert result.means["recall@1"] == 0
        assert (result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, unplaced)
        assert "1 result whose offsets contradict their text or source" in str(result)


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
    result = ours.evaluate_dataset(qrels).evaluation
    assert (result.means["recall@1"], result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, 1, 0)


HTML = "".join(
    f"<h1>Part {number}</h1><p>The paragraph {number} tells of topic {number * 7} alone.</p>" for number in range(9)
)

JSON = json.dumps([{"name": f"entry {number}", "about": f"topic {number * 7}"} for number in range(9)])


def shares_sentence(node: BaseNode, text: str) -> bool:
    sentences = by_sentences(node.get_content()) or [""]
    return any(sentence in text for sentence in sentences)


def recall(node: BaseNode, span: rm.Span, sources: dict[str, str] | None) -> float:
    return float(
        RetrieverEvaluator.from_metric_names(
            ["recall@1"],
            retriever=Prepared({"q": [NodeWithScore(node=node)]}),
            match="id" if sources is None else rm.Matching(sources=sources),
        )
        .evaluate("q", [span])
        .metric_vals_dict["recall@1"]
    )


@pytest.mark.parametrize("name", PARSERS)
def test_the_chunk_that_holds_a_span_is_found_and_no_other(name: str) -> None:
    parser, text = PARSERS[name]
    nodes = parse(parser, text)
    assert len(nodes) > 2
    sources = {"doc": text}
    for node in nodes[:: max(1, len(nodes) // 6)]:
        inside = node.get_content().strip()
        start = text.index(inside)
        span = rm.Span("doc", start, start + len(inside))
        assert recall(node, span, sources) == 1
        elsewhere = [
            chunk for chunk in nodes if inside not in chunk.get_content() and chunk.get_content() not in inside
        ]
        distant = [chunk for chunk in elsewhere if not shares_sentence(chunk, inside)]
        for other in distant[:3]:
            assert recall(other, span, sources) == 0
            with pytest.warns(rm.RetrievalWarning, match="1 result could not be located"):
                assert recall(other, span, None) == 0, "offsets that are wrong were believed"


@pytest.mark.filterwarnings("ignore:1 result could not be located:retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("parser", "text"), [(JSONNodeParser(), JSON), (SimpleFileNodeParser(), PLAIN)], ids=["json", "file"]
)
def test_a_parser_that_rewrites_a_text_gives_no_place_that_is_believed_without_its_text(
    parser: NodeParser, text: str
) -> None:
    nodes = parse(parser, text)
    assert nodes
    for node in nodes[:3]:
        content = node.get_content()
        span = rm.Span("doc", 0, len(text))
        expected = 1.0 if "".join(content.split()) == "".join(text.split()) else 0.0
        assert recall(node, span, {"doc": text}) == expected


def test_a_paragraph_of_html_is_found_in_its_page() -> None:
    pytest.importorskip("bs4", reason="the HTML parser of the host needs beautifulsoup4")
    nodes = parse(HTMLNodeParser(tags=["h1", "p"]), HTML)
    paragraphs = [chunk for chunk in nodes if chunk.get_content().startswith("The paragraph")]
    assert len(paragraphs) == 9
    for node, other in pairwise(paragraphs):
        assert recall(node, place_in(node, HTML), {"doc": HTML}) == 1
        assert recall(other, place_in(node, HTML), {"doc": HTML}) == 0


def test_a_reordering_keeps_the_places() -> None:
    nodes = parse(*PARSERS["sentence"])
    ours = make_evaluator(LongContextReorder(), nodes=nodes, match=rm.Matching(sources={"doc": PLAIN}))
    for node in nodes[::5]:
        assert ours.evaluate("q", [place_in(node, PLAIN)]).metric_vals_dict["recall"] == 1


def test_a_sentence_window_is_judged_by_the_window() -> None:
    nodes = parse(*PARSERS["window"])
    window = str(nodes[5].metadata["window"])
    start = PLAIN.index(by_sentences(window)[0].strip())
    span = rm.Span("doc", start, start + len(window.rstrip()))
    replaced = MetadataReplacementPostProcessor(target_metadata_key="window")
    judged = {"match": rm.Matching(sources={"doc": PLAIN})}
    assert make_evaluator(nodes=[nodes[5]], **judged).evaluate("q", [span]).metric_vals_dict["recall"] == 0
    after = make_evaluator(replaced, nodes=[nodes[5]], **judged).evaluate("q", [span])
    assert after.metric_vals_dict["recall"] == 1


class Compress(BaseNodePostprocessor):
    """Keeps the first sentence of each node, as compressors do, and its offsets, as they do too."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,
    ) -> list[NodeWithScore]:
        for scored in nodes:
            scored.node.set_content(by_sentences(scored.node.get_content())[0])
        return nodes


@pytest.mark.parametrize("sources", [None, {"doc": PLAIN}])
def test_what_a_compressor_cut_off_is_not_there(sources: dict[str, str] | None) -> None:
    (node, *_) = parse(*PARSERS["sentence"])
    first, *_, last = by_sentences(node.get_content())
    kept_span, lost_span = (find_span(sentence, PLAIN) for sentence in (first, last))
    match = "id" if sources is None else rm.Matching(sources=sources)
    ours = make_evaluator(Compress(), nodes=[node], match=match)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ours.evaluate("q", [lost_span]).metric_vals_dict["recall"] == 0
        assert ours.evaluate("q", [kept_span]).metric_vals_dict["recall"] == (0 if sources is None else 1)
    assert bool(caught) == (sources is None)
    assert ours.evaluate("q", [rm.Quote(first)]).metric_vals_dict["recall"] == 1


def test_auto_merging_is_judged_by_the_parent_that_took_the_place_of_its_leaves() -> None:
    documents = [Document(text=PLAIN, id_="doc")]
    nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64]).get_nodes_from_documents(documents)
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents(nodes)
    index = VectorStoreIndex(get_leaf_nodes(nodes), storage_context=storage, embed_model=Hashed())
    merging = AutoMergingRetriever(VectorIndexRetriever(index, similarity_top_k=60), storage)
    parent = next(chunk for chunk in nodes if chunk.child_nodes)
    ours = RetrieverEvaluator.from_metric_names(
        ["recall", "hit_rate"], retriever=merging, match=rm.Matching(sources=source_text_by_name(documents))
    )
    result = ours.evaluate("topic", [place_in(parent, PLAIN)])
    assert parent.node_id in [scored.node.node_id for scored in merging.retrieve("topic")]
    assert result.metric_vals_dict == {"recall": 1.0, "hit_rate": 1.0}


def place_in(node: BaseNode, text: str) -> rm.Span:
    return find_span(node.get_content(), text)


def test_a_judged_leaf_is_found_in_the_parent_that_replaces_it() -> None:
    parent = TextNode(id_="P", text="money back within five days. money arrives by card. never by cheque.")
    texts = ["money back within five days", "money arrives by card", "never by cheque"]
    leaves = [TextNode(id_=f"L{number}", text=text) for number, text in enumerate(texts)]
    for leaf in leaves:
        leaf.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id="P")
    parent.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=leaf.node_id) for leaf in leaves]
    context = StorageContext.from_defaults()
    context.docstore.add_documents([parent, *leaves])
    found = Prepared({"when?": [NodeWithScore(node=leaf, score=1.0) for leaf in leaves[:2]]})
    merging = AutoMergingRetriever(found, context)  # type: ignore[arg-type]  # any retriever of nodes will do
    assert [node.node_id for node in merging.retrieve("when?")] == ["P"]
    questions = [("when?", ["L0", "L2"])]
    comparison_values = {}
    for name, retriever in {"leaves": found, "merging": merging}.items():
        evaluator = RetrieverEvaluator.from_metric_names(["recall", "mrr"], retriever=retriever)
        comparison_values[name] = evaluator.evaluate_dataset(questions).evaluation.means
    assert comparison_values == {"leaves": {"recall": 0.5, "mrr": 1.0}, "merging": {"recall": 1.0, "mrr": 1.0}}
