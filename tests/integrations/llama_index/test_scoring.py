"""Nodes as the core sees them: offsets are checked before they count, and judgments survive another chunking."""

import asyncio
import json
import re
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    HTMLNodeParser,
    JSONNodeParser,
    MarkdownNodeParser,
    NodeParser,
    SemanticSplitterNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    SimpleFileNodeParser,
    TokenTextSplitter,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import AutoMergingRetriever, VectorIndexRetriever
from llama_index.core.schema import BaseNode, Document, NodeWithScore, QueryBundle, TransformComponent

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvalResult,
    RetrieverEvaluator,
    match_by_text,
    source_text_by_name,
)
from llama_index_hosts import Prepared
from llama_index_hosts import node as node_of

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
def test_without_the_source_the_place_of_such_leaves_is_unknown_counted_and_warned_of() -> None:
    nodes = {f"query {at}": node for at, node in enumerate(leaves())}
    with pytest.warns(rm.RetrievalWarning, match=f"place of {len(nodes)} retrieved items is unknown"):
        result = evaluated(nodes)
    assert (result.means["recall@1"], result.counts["unlocated"]) == (0, len(nodes))


def test_offsets_of_a_splitter_are_right_where_the_source_or_a_quote_confirms_them() -> None:
    nodes = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents([Document(text=TEXT, id_="doc")])
    found = {f"query {at}": node for at, node in enumerate(nodes)}
    result = evaluated(found, SOURCES)
    assert (result.means["recall@1"], result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, 0, 0)
    answers = {query: [NodeWithScore(node=node)] for query, node in found.items()}
    ours = RetrieverEvaluator.from_metric_names(["recall@1"], retriever=Prepared(answers))
    truth = {query: [[place(node), rm.Quote(node.get_content())]] for query, node in found.items()}
    beside = ours.evaluate_dataset(truth).evaluation  # a warning would be an error
    assert (beside.means["recall@1"], beside.counts["unlocated"]) == (1, 0)


@pytest.mark.parametrize("facts", [[60] * 6, [3, 10, 20, 30, 60, 90], [2**power for power in range(7)]])
def test_after_chained_parsers_only_the_chunk_that_holds_a_fact_is_a_hit(facts: list[int]) -> None:
    text = "\n\n".join(
        f"# Section {part}\n\n" + " ".join(f"Fact {part}-{at} is told here." for at in range(count))
        for part, count in enumerate(facts)
    )
    documents = [Document(text=text, id_="doc")]
    parsers: list[TransformComponent] = [MarkdownNodeParser(), SentenceSplitter(chunk_size=120, chunk_overlap=0)]
    nodes = IngestionPipeline(transformations=parsers).run(documents=documents)
    told = [f"Fact {part}-{at} is told here." for part, count in enumerate(facts) for at in range(0, count, 7)]
    spans = {fact: [rm.Span("doc", text.index(fact), text.index(fact) + len(fact))] for fact in told}
    holding = {fact: [NodeWithScore(node=one) for one in nodes if fact in one.get_content()] for fact in told}
    others = {fact: [NodeWithScore(node=one) for one in nodes if fact not in one.get_content()] for fact in told}
    assert all(holding.values())
    assert any(getattr(one, "start_char_idx", None) != text.find(one.get_content()) for one in nodes), (
        "the case is gone"
    )
    for answers, expected in ((holding, 1.0), (others, 0.0)):
        options = {"retriever": Prepared(answers), "match": rm.Matching(sources=source_text_by_name(documents))}
        ours = RetrieverEvaluator.from_metric_names(["hit_rate"], **options)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "none of the retrieved")
            result = ours.evaluate_dataset(spans).evaluation
        assert (result.means["hit_rate"], result.counts["unlocated"]) == (expected, 0)
        blind = RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=Prepared(answers))
        with pytest.warns(rm.RetrievalWarning) as said:
            result = blind.evaluate_dataset(spans).evaluation
        assert result.counts["unlocated"] == sum(map(len, answers.values()))
        assert f"the place of {result.counts['unlocated']} retrieved items is unknown" in str(said[0].message)


def test_two_documents_of_one_name_are_refused_where_a_span_names_it() -> None:
    pages = [
        Document(text=f"Page {page}. " + " ".join(f"Fact {page}-{at}." for at in range(40)), id_=f"page {page}")
        for page in range(1, 6)
    ]
    for page in pages:
        page.metadata["file_name"] = "a.pdf"
    nodes = SentenceSplitter(chunk_size=80, chunk_overlap=0).get_nodes_from_documents(pages)
    found = Prepared({"q": [NodeWithScore(node=one) for one in nodes]})
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=found, source="file_name")
    said = r"'page 1' and 'page 2' are both named 'a\.pdf' by source='file_name'.* doc_id .*source='ref_doc_id'"
    for evaluate in (
        lambda truth: ours.evaluate("q", truth),
        lambda truth: ours.evaluate_dataset([("q", truth)]),
        lambda truth: ours.evaluate_dataset([("q", truth)], stages=True),
    ):
        with pytest.raises(ValueError, match=said):
            evaluate([rm.Span("a.pdf", 8, 17)])
    assert ours.evaluate("q", [rm.Quote("Fact 3-7.")]).metric_vals_dict["recall"] == 1
    span = rm.Span("page 3", pages[2].text.index("Fact 3-7."), pages[2].text.index("Fact 3-7.") + 9)
    by_id = rm.Matching(sources=source_text_by_name(pages))
    wrong = [NodeWithScore(node=one) for one in nodes if one.ref_doc_id != "page 3"]
    for answer, expected in (([NodeWithScore(node=one) for one in nodes], 1), (wrong, 0)):
        ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=Prepared({"q": answer}), match=by_id)
        assert ours.evaluate("q", [span]).metric_vals_dict["recall"] == expected


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
        with pytest.warns(rm.RetrievalWarning) as said:
            result = ours.evaluate_dataset(qrels).evaluation
        assert any("1 with offsets that do not fit their text" in str(one.message) for one in said) == unplaced
        assert result.means["recall@1"] == 0
        assert (result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, unplaced)
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
    result = ours.evaluate_dataset(qrels).evaluation
    assert (result.means["recall@1"], result.counts["invalid_offsets"], result.counts["unlocated"]) == (1, 1, 0)


PLAIN = "\n\n".join(
    " ".join(f"Sentence number {at} of part {part} says something of its own about topic {at * 7}." for at in range(12))
    for part in range(5)
)

MARKDOWN = "\n\n".join(
    f"# Heading {at}\n\nThe section {at} tells of topic {at * 7} and of nothing else." for at in range(9)
)

HTML = "".join(f"<h1>Part {at}</h1><p>The paragraph {at} tells of topic {at * 7} alone.</p>" for at in range(9))

JSON = json.dumps([{"name": f"entry {at}", "about": f"topic {at * 7}"} for at in range(9)])


class Hashed(BaseEmbedding):
    """Embeds a text by its letters, so that the semantic splitter has something to split by."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(text.count(letter)) + 1 for letter in "abcdefghij0123456789"]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def by_sentences(text: str) -> list[str]:
    return re.findall(r".+?\.\s*", text, re.DOTALL)


PARSERS: dict[str, tuple[NodeParser, str]] = {
    "sentence": (SentenceSplitter(chunk_size=64, chunk_overlap=10), PLAIN),
    "token": (TokenTextSplitter(chunk_size=40, chunk_overlap=5), PLAIN),
    "window": (SentenceWindowNodeParser.from_defaults(sentence_splitter=by_sentences, window_size=1), PLAIN),
    "semantic": (SemanticSplitterNodeParser(embed_model=Hashed(), sentence_splitter=by_sentences), PLAIN),
    "hierarchical": (HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64]), PLAIN),
    "markdown": (MarkdownNodeParser(), MARKDOWN),
}
"""Parsers that keep the text as it is."""


def retrieved(parser: NodeParser, text: str) -> list[BaseNode]:
    nodes = parser.get_nodes_from_documents([Document(text=text, id_="doc")])
    return [one for one in nodes if one.get_content().strip()]


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
    nodes = retrieved(parser, text)
    assert len(nodes) > 2
    sources = {"doc": text}
    for node in nodes[:: max(1, len(nodes) // 6)]:
        inside = node.get_content().strip()
        start = text.index(inside)
        span = rm.Span("doc", start, start + len(inside))
        assert recall(node, span, sources) == 1
        elsewhere = [one for one in nodes if inside not in one.get_content() and one.get_content() not in inside]
        far = [one for one in elsewhere if not any(part in inside for part in by_sentences(one.get_content()) or [""])]
        for other in far[:3]:
            assert recall(other, span, sources) == 0
            with pytest.warns(rm.RetrievalWarning, match="place of 1 retrieved items is unknown"):
                assert recall(other, span, None) == 0, "offsets that are wrong were believed"


@pytest.mark.filterwarnings("ignore:the place of 1 retrieved items:retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("parser", "text"), [(JSONNodeParser(), JSON), (SimpleFileNodeParser(), PLAIN)], ids=["json", "file"]
)
def test_a_parser_that_rewrites_a_text_gives_no_place_that_is_believed_without_its_text(
    parser: NodeParser, text: str
) -> None:
    nodes = retrieved(parser, text)
    assert nodes
    for node in nodes[:3]:
        content = node.get_content()
        span = rm.Span("doc", 0, len(text))
        expected = 1.0 if "".join(content.split()) == "".join(text.split()) else 0.0
        assert recall(node, span, {"doc": text}) == expected


def test_a_paragraph_of_html_is_found_in_its_page() -> None:
    pytest.importorskip("bs4", reason="the HTML parser of the host needs beautifulsoup4")
    nodes = retrieved(HTMLNodeParser(tags=["h1", "p"]), HTML)
    paragraphs = [one for one in nodes if one.get_content().startswith("The paragraph")]
    assert len(paragraphs) == 9
    for node, other in pairwise(paragraphs):
        assert recall(node, place_in(node, HTML), {"doc": HTML}) == 1
        assert recall(other, place_in(node, HTML), {"doc": HTML}) == 0


def postprocessed(*postprocessors: BaseNodePostprocessor, nodes: list[BaseNode], **options: Any) -> RetrieverEvaluator:
    answer = {"q": [NodeWithScore(node=one.model_copy(deep=True), score=1.0) for one in nodes]}
    return RetrieverEvaluator.from_metric_names(
        ["recall", "mrr"], retriever=Prepared(answer), node_postprocessors=list(postprocessors), **options
    )


def test_a_reordering_keeps_the_places() -> None:
    nodes = retrieved(*PARSERS["sentence"])
    ours = postprocessed(LongContextReorder(), nodes=nodes, match=rm.Matching(sources={"doc": PLAIN}))
    for node in nodes[::5]:
        assert ours.evaluate("q", [place_in(node, PLAIN)]).metric_vals_dict["recall"] == 1


def test_a_sentence_window_is_judged_by_the_window() -> None:
    nodes = retrieved(*PARSERS["window"])
    window = str(nodes[5].metadata["window"])
    start = PLAIN.index(by_sentences(window)[0].strip())
    span = rm.Span("doc", start, start + len(window.rstrip()))
    replaced = MetadataReplacementPostProcessor(target_metadata_key="window")
    judged = {"match": rm.Matching(sources={"doc": PLAIN})}
    assert postprocessed(nodes=[nodes[5]], **judged).evaluate("q", [span]).metric_vals_dict["recall"] == 0
    after = postprocessed(replaced, nodes=[nodes[5]], **judged).evaluate("q", [span])
    assert after.metric_vals_dict["recall"] == 1


class Compress(BaseNodePostprocessor):
    """Keeps the first sentence of each node, as compressors do, and its offsets, as they do too."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002  (the host's signature)
    ) -> list[NodeWithScore]:
        for one in nodes:
            one.node.set_content(by_sentences(one.node.get_content())[0])
        return nodes


@pytest.mark.parametrize("sources", [None, {"doc": PLAIN}])
def test_what_a_compressor_cut_off_is_not_there(sources: dict[str, str] | None) -> None:
    (node, *_) = retrieved(*PARSERS["sentence"])
    first, *_, last = by_sentences(node.get_content())
    kept, lost = (rm.Span("doc", PLAIN.index(one), PLAIN.index(one) + len(one.rstrip())) for one in (first, last))
    match = "id" if sources is None else rm.Matching(sources=sources)
    ours = postprocessed(Compress(), nodes=[node], match=match)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert ours.evaluate("q", [lost]).metric_vals_dict["recall"] == 0
        assert ours.evaluate("q", [kept]).metric_vals_dict["recall"] == (0 if sources is None else 1)
    assert bool(said) == (sources is None)
    assert ours.evaluate("q", [rm.Quote(first)]).metric_vals_dict["recall"] == 1


def test_auto_merging_is_judged_by_the_parent_that_took_the_place_of_its_leaves() -> None:
    documents = [Document(text=PLAIN, id_="doc")]
    nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64]).get_nodes_from_documents(documents)
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents(nodes)
    index = VectorStoreIndex(get_leaf_nodes(nodes), storage_context=storage, embed_model=Hashed())
    merging = AutoMergingRetriever(VectorIndexRetriever(index, similarity_top_k=60), storage)
    parent = next(one for one in nodes if one.child_nodes)
    ours = RetrieverEvaluator.from_metric_names(
        ["recall", "hit_rate"], retriever=merging, match=rm.Matching(sources=source_text_by_name(documents))
    )
    result = ours.evaluate("topic", [place_in(parent, PLAIN)])
    assert parent.node_id in [one.node.node_id for one in merging.retrieve("topic")]
    assert result.metric_vals_dict == {"recall": 1.0, "hit_rate": 1.0}


def place_in(node: BaseNode, text: str) -> rm.Span:
    inside = node.get_content().strip()
    start = text.index(inside)
    return rm.Span("doc", start, start + len(inside))


@pytest.mark.parametrize(
    "source",
    ["file_name", "metadata:file_name", lambda found: str(found.node.metadata["file_path"]).rsplit("/", 1)[-1]],
)
def test_a_span_in_a_file_survives_a_reload(tmp_path: Path, source: Any) -> None:
    (tmp_path / "yield.txt").write_text(PLAIN)
    ids = set()
    for size in (64, 128):
        documents = SimpleDirectoryReader(str(tmp_path)).load_data()
        ids |= {one.node_id for one in documents}
        nodes = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(documents)
        at = PLAIN.index("Sentence number 7 of part 3")
        (holding,) = [one for one in nodes if "Sentence number 7 of part 3" in one.get_content()]
        match = rm.Matching(sources=source_text_by_name(documents, source))
        ours = postprocessed(nodes=[holding], source=source, match=match)
        result = ours.evaluate("q", [rm.Span("yield.txt", at, at + 40)])
        assert result.metric_vals_dict["recall"] == 1
    assert len(ids) == 2, "the reader names documents the same at every load now: the case is gone"


def test_a_source_that_names_nothing_is_refused() -> None:
    nodes = retrieved(*PARSERS["sentence"])
    with pytest.raises(ValueError, match="source must be 'ref_doc_id', a metadata key"):
        postprocessed(nodes=nodes, source="")
    with pytest.raises(ValueError, match="has no metadata 'file_name'"):
        postprocessed(nodes=nodes, source="file_name").evaluate("q", [rm.Span("yield.txt", 0, 9)])
    pages = [Document(text=text, metadata={"file_name": "a.pdf"}) for text in ("page one", "page two")]
    with pytest.raises(ValueError, match=r"two documents are named 'a\.pdf'"):
        source_text_by_name(pages, "file_name")


@pytest.mark.parametrize("written", ["raw", "read"])
@pytest.mark.parametrize("given", ["raw", "read"])
def test_a_span_means_its_words_whatever_the_ends_of_lines(written: str, given: str) -> None:
    lines = [
        f"Rule {at}: a{' very' * (at % 7)} large order of class {at} is sent in {at + 2} days." for at in range(40)
    ]
    read = "\n\n".join(lines)
    texts = {"read": read, "raw": read.replace("\n", "\r\n")}
    nodes = SentenceSplitter(chunk_size=40, chunk_overlap=0).get_nodes_from_documents(
        [Document(text=texts["raw"], id_="doc")]
    )
    judged, answers = {}, {}
    for at in (3, 17, 38):
        start = texts[written].index(lines[at])
        judged[lines[at]] = [[rm.Quote(lines[at]), rm.Span("doc", start, start + len(lines[at]))]]
        answers[lines[at]] = [NodeWithScore(node=node) for node in nodes if lines[at] in node.get_content()]
    assert all(map(len, answers.values()))
    ours = RetrieverEvaluator.from_metric_names(
        ["coverage"], retriever=Prepared(answers), documents=[Document(text=texts[given], id_="doc")]
    )
    assert set(ours.evaluate_dataset(judged).evaluation.per_query["coverage"].values()) == {1.0}


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
    answer = [NodeWithScore(node=one, score=1.0) for one in nodes]
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
    nodes, match = chunks(size), rm.Matching(sources={"reference": CHAPTERS})
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
    without_places = [node_of(f"n{at}", one.get_content(), source="reference") for at, one in enumerate(nodes)]
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
    by_text = evaluator(new).evaluate_dataset(match_by_text(content))
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
        match_by_text(dataset)


FILES = {"with.md": "The with statement closes a file.", "for.md": "The for statement walks over a list."}


@pytest.fixture
def reader(tmp_path: Path) -> Prepared:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    nodes = SentenceSplitter().get_nodes_from_documents(SimpleDirectoryReader(tmp_path).load_data())
    return Prepared({"what closes a file?": [NodeWithScore(node=one) for one in nodes]})


def test_the_names_of_files_are_judgments_in_one_way_wherever_a_dataset_is_evaluated(reader: Prepared) -> None:
    questions = [("what closes a file?", ["with.md"])]
    how: Any = {"match": "metadata:file_name"}
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader)
    assert ours.evaluate_dataset(questions, **how).means["recall"] == 1
    assert asyncio.run(ours.aevaluate_dataset(questions, **how)).means["recall"] == 1
    compared = rm.compare_retrievers({"a": reader, "b": reader}, questions, "recall", **how)
    assert compared.evaluations["a"].means["recall"] == 1
    set_before = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader, **how)
    assert set_before.evaluate_dataset(questions).means["recall"] == 1
    named = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader, source="file_name")
    assert named.evaluate_dataset(questions, match="source").means["recall"] == 1


def test_a_source_is_not_silently_the_id_that_a_reader_made_up(reader: Prepared) -> None:
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=reader)
    said = r"would compare the judged '(with.md|closing)' with '[0-9a-f-]{36}', .* write match='metadata:file_name'"
    with pytest.raises(ValueError, match=said):
        ours.evaluate_dataset([("what closes a file?", ["with.md"])], match="source")
    with pytest.raises(ValueError, match=said):
        ours.evaluate_dataset([("what closes a file?", {"with.md": 2, "closing": 1})], match=rm.Matching(by="source"))
    found = reader.answers["what closes a file?"]
    by_id = [("what closes a file?", [found[0].node.ref_doc_id])]
    assert ours.evaluate_dataset(by_id, match="source").means["recall"] == 1
    by_quote = [("what closes a file?", [rm.Quote("statement closes a file")])]
    assert ours.evaluate_dataset(by_quote, match="source").means["recall"] == 1


def test_a_span_in_a_file_with_the_line_ends_of_windows_is_that_of_what_open_reads(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    lines = [f"Rule {at}: an order of class {at} is sent within {at + 2} days." for at in range(40)]
    path.write_bytes("\r\n".join(lines).encode())
    documents = SimpleDirectoryReader(tmp_path).load_data()
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents(documents)
    read = path.read_text()
    for line in lines[::3]:
        start = read.index(line)
        span = rm.Span("rules.txt", start, start + len(line))
        for holds in (True, False):
            found = [NodeWithScore(node=one) for one in nodes if (line in one.get_content()) is holds]
            ours = RetrieverEvaluator.from_metric_names(
                ["recall"], retriever=Prepared({"q": found}), source="file_name", documents=documents
            )
            assert ours.evaluate("q", [span]).metric_vals_dict["recall"] == holds
