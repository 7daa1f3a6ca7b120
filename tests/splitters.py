"""Spans after the splitters of the hosts: what the right chunks and all wrong ones score, with and without documents=.

    python tests/splitters.py

prints the table. For each fact of the documents a span is judged. "right" is the value if only the chunks that hold the
fact are retrieved, which must be 1; "wrong" if every other chunk is, which must be 0. Without documents= a value may be
lower only where a warning counts the items whose place is unknown, or the case is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haystack import Document as HaystackDocument
from haystack.components.preprocessors import DocumentSplitter, HierarchicalDocumentSplitter, MarkdownHeaderSplitter
from langchain_core.documents import Document as LangChainDocument
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import NodeWithScore, TransformComponent

import retrieval_metrics as rm
from langchain_retrieval_metrics import evaluate_retriever
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SECTIONS = {"6 x 60": [60] * 6, "uneven": [3, 10, 20, 30, 60, 90], "powers of two": [2**power for power in range(7)]}
PAGES = 5


def fact(part: int, number: int) -> str:
    return f"Fact {part}-{number} is told here."


def sections(counts: Sequence[int]) -> str:
    """Return a text in Markdown with so many facts under each heading."""
    return "\n\n".join(
        f"# Section {part}\n\n" + " ".join(fact(part, number) for number in range(count))
        for part, count in enumerate(counts)
    )


def page(number: int) -> str:
    return f"Page {number}. " + " ".join(fact(number, fact_number) for fact_number in range(40))


@dataclass(frozen=True)
class Case:
    """Documents of a host, cut by its splitters, and the door of the host through which rankings are scored."""

    name: str
    texts: Mapping[str, str]
    documents: Sequence[Any]
    chunks: Sequence[Any]
    door: Callable[[dict[str, list[Any]], dict[str, list[rm.Span]], Any], rm.Evaluation]

    def spans(self) -> dict[str, list[rm.Span]]:
        """Return the span of every seventh fact that a chunk holds whole."""
        span_by_fact = {}
        for source, text in self.texts.items():
            start = 0
            while (start := text.find("Fact ", start)) >= 0:
                end = text.index(".", start) + 1
                span_by_fact[text[start:end]] = [rm.Span(source, start, end)]
                start = end
        held_facts = []
        for fact_text, span in span_by_fact.items():
            if any(fact_text in text_of(chunk) for chunk in self.chunks):
                held_facts.append((fact_text, span))
        return dict(held_facts[::7])

    def answers(self, *, right: bool) -> dict[str, list[Any]]:
        """Return for each fact the chunks that hold it, or all the others."""
        answers = {}
        for fact_text in self.spans():
            answers[fact_text] = [chunk for chunk in self.chunks if (fact_text in text_of(chunk)) == right]
        return answers

    def retrieved(self, *, right: bool) -> int:
        """Return how many chunks that are in all."""
        return sum(map(len, self.answers(right=right).values()))

    def scored(self, *, right: bool, documents: bool) -> Outcome:
        """Return what the chunks with each fact score, or all the others."""
        spans = self.spans()
        answers = self.answers(right=right)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = self.door(answers, spans, self.documents if documents else None)
            except ValueError as error:
                return Outcome(None, 0, messages=str(error))
        messages = " ".join(
            str(warning.message) for warning in caught if issubclass(warning.category, rm.RetrievalWarning)
        )
        return Outcome(result.means["hit_rate"], result.counts["unlocated"], messages)


@dataclass(frozen=True)
class Outcome:
    """The value, None if the case was refused; how many items had no place; and what was said."""

    value: float | None
    unplaced: int
    messages: str

    @property
    def warned(self) -> bool:
        """Whether a warning gives the number of items without a place."""
        return self.unplaced > 0 and f"{self.unplaced:,} result" in self.messages

    def __str__(self) -> str:
        if self.value is None:
            return "refused"
        return f"{self.value:.3f}" + (f", {self.unplaced} unplaced" if self.unplaced else "")


def text_of(chunk: Any) -> str:
    text: str = getattr(chunk, "page_content", None) or getattr(chunk, "content", None) or chunk.get_content()
    return text


def llama_index(source: str) -> Callable[..., rm.Evaluation]:
    def door(answers: dict[str, list[Any]], spans: dict[str, list[rm.Span]], documents: Any) -> rm.Evaluation:
        def retriever(query: str) -> list[NodeWithScore]:
            return [NodeWithScore(node=node) for node in answers[query]]

        options = {"retriever": retriever, "source": source, "documents": documents}
        evaluator = RetrieverEvaluator.from_metric_names(["hit_rate"], **options)
        evaluation: rm.Evaluation = evaluator.evaluate_dataset(list(spans.items())).evaluation
        return evaluation

    return door


def langchain(answers: dict[str, list[Any]], spans: dict[str, list[rm.Span]], documents: Any) -> rm.Evaluation:
    return evaluate_retriever(answers.__getitem__, list(spans.items()), "hit_rate", documents=documents)


def haystack(answers: dict[str, list[Any]], spans: dict[str, list[rm.Span]], documents: Any) -> rm.Evaluation:
    run = rm.retrieve(answers.__getitem__, {fact_text: fact_text for fact_text in spans})
    return rm.evaluate(spans, run, "hit_rate", documents=documents)


def cases() -> list[Case]:
    """Return all cases."""
    all_cases = []
    for name, counts in SECTIONS.items():
        text = sections(counts)
        all_cases += [*_llama_index(name, text), *_langchain(name, text), *_haystack(name, text)]
    return [*all_cases, *_pages()]


def _llama_index(name: str, text: str) -> list[Case]:
    documents = [LlamaDocument(text=text, id_="doc")]
    parsers: list[TransformComponent] = [MarkdownNodeParser(), SentenceSplitter(chunk_size=120, chunk_overlap=0)]
    nodes = IngestionPipeline(transformations=parsers).run(documents=documents)
    case = Case(f"LlamaIndex: Markdown > sentences, {name}", {"doc": text}, documents, nodes, llama_index("ref_doc_id"))
    return [case]


def _langchain(name: str, text: str) -> list[Case]:
    documents = [LangChainDocument(text, id="doc", metadata={"source": "doc"})]
    characters = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=0, add_start_index=True)
    larger = RecursiveCharacterTextSplitter(chunk_size=1500, chunk_overlap=0, add_start_index=True)
    by_heading = MarkdownHeaderTextSplitter([("#", "heading")], strip_headers=False).split_text(text)
    for section in by_heading:
        section.metadata["source"] = "doc"
    cut = {
        "headings > characters": characters.split_documents(by_heading),
        "characters > characters": characters.split_documents(larger.split_documents(documents)),
    }
    return [
        Case(f"LangChain: {splitter}, {name}", {"doc": text}, documents, chunks, langchain)
        for splitter, chunks in cut.items()
    ]


def _haystack(name: str, text: str) -> list[Case]:
    documents = [HaystackDocument(id="doc", content=text)]
    words = DocumentSplitter(split_by="word", split_length=300)
    passages = DocumentSplitter(split_by="passage", split_length=1)
    small = DocumentSplitter(split_by="word", split_length=60)
    cut = {
        "Markdown, then words": MarkdownHeaderSplitter(secondary_split="word", split_length=60).run(documents),
        "Markdown": MarkdownHeaderSplitter().run(documents),
        "hierarchical": HierarchicalDocumentSplitter({300, 60}).run(documents),
        "words > words": small.run(words.run(documents)["documents"]),
        "passages > words": small.run(passages.run(documents)["documents"]),
    }
    return [
        Case(f"Haystack: {splitter}, {name}", {"doc": text}, documents, _leaves(result["documents"]), haystack)
        for splitter, result in cut.items()
    ]


def _leaves(chunks: Sequence[Any]) -> list[Any]:
    """Return the chunks that have no children, as a retriever over the leaves finds them."""
    return [chunk for chunk in chunks if not chunk.meta.get("__children_ids")]


def _pages() -> list[Case]:
    numbers = range(1, PAGES + 1)
    llama_pages = [
        LlamaDocument(text=page(number), id_=f"page {number}", metadata={"file_name": "a.pdf"}) for number in numbers
    ]
    nodes = SentenceSplitter(chunk_size=80, chunk_overlap=0).get_nodes_from_documents(llama_pages)
    by_page = {f"page {number}": page(number) for number in numbers}
    one_name = {"a.pdf": page(1)}
    page_cases = [
        Case("LlamaIndex: 5 pages by file_name", one_name, llama_pages, nodes, llama_index("file_name")),
        Case("LlamaIndex: 5 pages by ref_doc_id", by_page, llama_pages, nodes, llama_index("ref_doc_id")),
    ]
    characters = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=0, add_start_index=True)
    for name, texts, names in (
        ("one source", one_name, ["a.pdf"] * PAGES),
        ("a source each", by_page, list(by_page)),
    ):
        pages = [
            LangChainDocument(page(number), metadata={"source": source})
            for number, source in zip(numbers, names, strict=True)
        ]
        chunks = characters.split_documents(pages)
        page_cases.append(Case(f"LangChain: 5 pages, {name}", texts, pages, chunks, langchain))
    document = [HaystackDocument(id="doc", content="\f".join(by_page.values()))]
    cut = DocumentSplitter(split_by="page", split_length=1).run(document)["documents"]
    words = DocumentSplitter(split_by="word", split_length=60).run(cut)["documents"]
    return [*page_cases, Case("Haystack: pages > words", {"doc": str(document[0].content)}, document, words, haystack)]


def table(cases: Sequence[Case]) -> str:
    """Return the table of some cases."""
    rows: list[tuple[str, ...]] = [
        ("splitters", "chunks", "facts", "right", "wrong", "right, without documents=", "wrong, without documents=")
    ]
    for case in cases:
        outcomes = [
            case.scored(right=right, documents=documents) for documents in (True, False) for right in (True, False)
        ]
        rows.append((case.name, str(len(case.chunks)), str(len(case.spans())), *map(str, outcomes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


if __name__ == "__main__":
    print(table(cases()))  # noqa: T201  (it is a script, too)
