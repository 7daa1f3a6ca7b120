"""Nodes as the core sees them: offsets are checked before they count, and judgments survive another chunking."""

import asyncio
import json
import re
import warnings
from collections.abc import Iterable
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


def read_nodes(parser: NodeParser | IngestionPipeline, documents: list[Document]) -> list[Any]:
    if isinstance(parser, IngestionPipeline):
        return [*parser.run(documents=documents)]
    return [*parser.get_nodes_from_documents(documents)]


def leaves() -> list[BaseNode]:
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64])
    nodes = read_nodes(parser, [Document(text=TEXT, id_="doc")])
    return [node for node in nodes if node.parent_node]


def with_scores(nodes: Iterable[BaseNode]) -> list[NodeWithScore]:
    return [NodeWithScore(node=node) for node in nodes]


def select_with(text: str, nodes: list[BaseNode], *, holds: bool = True) -> list[NodeWithScore]:
    return with_scores(node for node in nodes if (text in node.get_content()) is holds)


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


@pytest.mark.filterwarnings("ignore:none of the retrieved documents:retrieval_metrics.RetrievalWarning")
def test_without_the_source_the_place_of_such_leaves_is_unknown_counted_and_warned_of() -> None:
    nodes = {f"query {number}": node for number, node in enumerate(leaves())}
    with pytest.warns(rm.RetrievalWarning, match=f"place of {len(nodes)} retrieved items is unknown"):
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
            warnings.filterwarnings("ignore", "none of the retrieved")
            result = ours.evaluate_dataset(spans).evaluation
        assert (result.means["hit_rate"], result.counts["unlocated"]) == (expected, 0)
        blind = RetrieverEvaluator.from_metric_names(["hit_rate"], retriever=Prepared(answers))
        with pytest.warns(rm.RetrievalWarning) as caught:
            result = blind.evaluate_dataset(spans).evaluation
        assert result.counts["unlocated"] == sum(map(len, answers.values()))
        assert f"the place of {result.counts['unlocated']} retrieved items is unknown" in str(caught[0].message)


def make_page(number: int) -> Document:
    facts = [f"Fact {number}-{fact}." for fact in range(40)]
    return Document(text=f"Page {number}. " + " ".join(facts), id_=f"page {number}", metadata={"file_name": "a.pdf"})


def test_two_documents_of_one_name_are_refused_where_a_span_names_it() -> None:
    pages = [make_page(number) for number in range(1, 6)]
    nodes = read_nodes(SentenceSplitter(chunk_size=80, chunk_overlap=0), pages)
    retriever = Prepared({"q": with_scores(nodes)})
    ours = RetrieverEvaluator.from_metric_names(["recall"], retriever=retriever, source="file_name")
    message = r"'page 1' and 'page 2' are both named 'a\.pdf' by source='file_name'.* doc_id .*source='ref_doc_id'"
    for evaluate in (
        lambda truth: ours.evaluate("q", truth),
        lambda truth: ours.evaluate_dataset([("q", truth)]),
        lambda truth: ours.evaluate_dataset([("q", truth)], stages=True),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate([rm.Span("a.pdf", 8, 17)])
    assert ours.evaluate("q", [rm.Quote("Fact 3-7.")]).metric_vals_dict["recall"] == 1
    start = pages[2].text.index("Fact 3-7.")
    span = rm.Span("page 3", start, start + 9)
    by_id = rm.Matching(sources=source_text_by_name(pages))
    other_pages = with_scores(node for node in nodes if node.ref_doc_id != "page 3")
    for answer, expected in ((with_scores(nodes), 1), (other_pages, 0)):
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
        with pytest.warns(rm.RetrievalWarning) as caught:
            result = ours.evaluate_dataset(qrels).evaluation
        assert (
            any("1 with offsets that do not fit their text" in str(warning.message) for warning in caught) == unplaced
        )
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

HTML = "".join(
    f"<h1>Part {number}</h1><p>The paragraph {number} tells of topic {number * 7} alone.</p>" for number in range(9)
)

JSON = json.dumps([{"name": f"entry {number}", "about": f"topic {number * 7}"} for number in range(9)])


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
            with pytest.warns(rm.RetrievalWarning, match="place of 1 retrieved items is unknown"):
                assert recall(other, span, None) == 0, "offsets that are wrong were believed"


@pytest.mark.filterwarnings("ignore:the place of 1 retrieved items:retrieval_metrics.RetrievalWarning")
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


def make_evaluator(*postprocessors: BaseNodePostprocessor, nodes: list[BaseNode], **options: Any) -> RetrieverEvaluator:
    answer = {"q": [NodeWithScore(node=node.model_copy(deep=True), score=1.0) for node in nodes]}
    return RetrieverEvaluator.from_metric_names(
        ["recall", "mrr"], retriever=Prepared(answer), node_postprocessors=list(postprocessors), **options
    )


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
        query_bundle: QueryBundle | None = None,  # noqa: ARG002  (the host's signature)
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


def find_span(part: str, text: str) -> rm.Span:
    start = text.index(part.strip())
    return rm.Span("doc", start, start + len(part.strip()))


@pytest.mark.parametrize(
    "source",
    ["file_name", "metadata:file_name", lambda scored: str(scored.node.metadata["file_path"]).rsplit("/", 1)[-1]],
)
def test_a_span_in_a_file_survives_a_reload(tmp_path: Path, source: Any) -> None:
    (tmp_path / "yield.txt").write_text(PLAIN)
    ids = set()
    for size in (64, 128):
        documents = SimpleDirectoryReader(str(tmp_path)).load_data()
        ids |= {document.node_id for document in documents}
        nodes = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(documents)
        start = PLAIN.index("Sentence number 7 of part 3")
        (holding,) = [chunk for chunk in nodes if "Sentence number 7 of part 3" in chunk.get_content()]
        match = rm.Matching(sources=source_text_by_name(documents, source))
        ours = make_evaluator(nodes=[holding], source=source, match=match)
        result = ours.evaluate("q", [rm.Span("yield.txt", start, start + 40)])
        assert result.metric_vals_dict["recall"] == 1
    assert len(ids) == 2, "the reader names documents the same at every load now: the case is gone"


def test_a_source_that_names_nothing_is_refused() -> None:
    nodes = parse(*PARSERS["sentence"])
    with pytest.raises(ValueError, match="source must be 'ref_doc_id', a metadata key"):
        make_evaluator(nodes=nodes, source="")
    with pytest.raises(ValueError, match="has no metadata 'file_name'"):
        make_evaluator(nodes=nodes, source="file_name").evaluate("q", [rm.Span("yield.txt", 0, 9)])
    pages = [Document(text=text, metadata={"file_name": "a.pdf"}) for text in ("page one", "page two")]
    with pytest.raises(ValueError, match=r"two documents are named 'a\.pdf'"):
        source_text_by_name(pages, "file_name")


def make_rule(number: int) -> str:
    very = " very" * (number % 7)
    return f"Rule {number}: a{very} large order of class {number} is sent in {number + 2} days."


@pytest.mark.parametrize("written", ["raw", "read"])
@pytest.mark.parametrize("passed", ["raw", "read"])
def test_a_span_means_its_words_whatever_the_ends_of_lines(written: str, passed: str) -> None:
    rules = [make_rule(number) for number in range(40)]
    read = "\n\n".join(rules)
    texts = {"read": read, "raw": read.replace("\n", "\r\n")}
    nodes = read_nodes(SentenceSplitter(chunk_size=40, chunk_overlap=0), [Document(text=texts["raw"], id_="doc")])
    judged = {}
    answers = {}
    for rule in (rules[3], rules[17], rules[38]):
        judged[rule] = [[rm.Quote(rule), find_span(rule, texts[written])]]
        answers[rule] = select_with(rule, nodes)
    assert all(map(len, answers.values()))
    ours = RetrieverEvaluator.from_metric_names(
        ["coverage"], retriever=Prepared(answers), documents=[Document(text=texts[passed], id_="doc")]
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


def test_a_dataset_with_a_corpus_is_judged_by_its_texts_after_the_index_was_built_anew() -> None:
    old = chunks(17)
    new = chunks(12)
    content = {
        "queries": {"q1": "q"},
        "corpus": {chunk.node_id: chunk.get_content() for chunk in old},
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
    return Prepared({"what closes a file?": [NodeWithScore(node=chunk) for chunk in nodes]})


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
    message = r"would compare the judged '(with.md|closing)' with '[0-9a-f-]{36}', .* write match='metadata:file_name'"
    with pytest.raises(ValueError, match=message):
        ours.evaluate_dataset([("what closes a file?", ["with.md"])], match="source")
    with pytest.raises(ValueError, match=message):
        ours.evaluate_dataset([("what closes a file?", {"with.md": 2, "closing": 1})], match=rm.Matching(by="source"))
    nodes = reader.answers["what closes a file?"]
    by_id = [("what closes a file?", [nodes[0].node.ref_doc_id])]
    assert ours.evaluate_dataset(by_id, match="source").means["recall"] == 1
    by_quote = [("what closes a file?", [rm.Quote("statement closes a file")])]
    assert ours.evaluate_dataset(by_quote, match="source").means["recall"] == 1


def test_a_span_in_a_file_with_the_line_ends_of_windows_is_that_of_what_open_reads(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    lines = [f"Rule {number}: an order of class {number} is sent within {number + 2} days." for number in range(40)]
    path.write_bytes("\r\n".join(lines).encode())
    documents = SimpleDirectoryReader(tmp_path).load_data()
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents(documents)
    read = path.read_text()
    for line in lines[::3]:
        start = read.index(line)
        span = rm.Span("rules.txt", start, start + len(line))
        for holds in (True, False):
            answer = select_with(line, nodes, holds=holds)
            ours = RetrieverEvaluator.from_metric_names(
                ["recall"], retriever=Prepared({"q": answer}), source="file_name", documents=documents
            )
            assert ours.evaluate("q", [span]).metric_vals_dict["recall"] == holds
