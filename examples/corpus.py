"""The corpus of the examples: the Python language reference that comes with every CPython.

``pydoc_data.topics`` is the text behind ``help("with")``: about eighty pages of the language reference, one per topic.
This module cuts them into passages of about 100 to 200 words. Each passage has a readable id such as ``with#2`` and
its offsets in the text of its topic.

* **No passage repeats another.** Many topics are chapters that contain other topics (``compound`` contains ``if``,
  ``for``, ``try`` and ``with``; ``specialnames`` contains ``customization``). If several topics contain the same
  section, that is, a heading with the text below it, the section is kept only in the shortest of them.
* **Paragraphs stay whole.** A passage is a run of whole paragraphs of one topic. An example stays with the sentence
  that introduces it, and a definition such as ``str.split(...)`` with the paragraph that explains it. Only a table
  larger than twice the requested size is cut, between its rows.
* **The text is that of the interpreter.** Every version of Python rewords a few paragraphs, so the number of passages
  and the numbers after the ``#`` differ a little between versions.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pydoc_data.topics import topics as _topics

from chunking import HEADING, chunks


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one topic: ``text == topics()[topic][start:end]``, under the heading ``title``."""

    id: str
    topic: str
    title: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and the text below it, up to the next heading."""

    topic: str
    title: str
    body: str
    start: int
    end: int


def topics() -> dict[str, str]:
    """Return the whole text of every topic."""
    return dict(_topics)


def passages(size: int = 180) -> list[Passage]:
    """Cut every topic into passages of about ``size`` words, in alphabetical order of the topics."""
    if size < 1:
        raise ValueError(f"size must be a positive number of words, got {size!r}")
    texts = topics()
    all_passages: list[Passage] = []
    for topic, sections in _sections_without_repeats(texts).items():
        text = texts[topic]
        spans = [span for start, end in _runs(sections) for span in chunks(text, start, end, size)]
        for number, (start, end) in enumerate(spans, start=1):
            title = next(section.title for section in reversed(sections) if section.start <= start)
            all_passages.append(Passage(f"{topic}#{number}", topic, title, text[start:end], start, end))
    return all_passages


def normalised(text: str) -> str:
    """Return the text on one line with single spaces, so a quote is found wherever lines break."""
    return " ".join(text.split())


def _sections_without_repeats(texts: Mapping[str, str]) -> dict[str, list[_Section]]:
    sections = [section for topic, text in sorted(texts.items()) for section in _sections(topic, text)]
    holders: dict[tuple[str, str], list[_Section]] = defaultdict(list)
    for section in sections:
        holders[section.title, section.body].append(section)

    def home(section: _Section) -> tuple[int, bool, str]:
        # If topics are equally long ("if" and "else" are the same page), prefer the one that the heading names.
        return len(texts[section.topic]), f'"{section.topic}"' not in section.title, section.topic

    sections_by_topic: dict[str, list[_Section]] = {topic: [] for topic in sorted(texts)}
    for section in sections:
        if section is min(holders[section.title, section.body], key=home):
            sections_by_topic[section.topic].append(section)
    return sections_by_topic


def _sections(topic: str, text: str) -> list[_Section]:
    headings = list(HEADING.finditer(text))
    titles = [topic, *(heading["title"] or heading["note"] for heading in headings)]
    bodies = [0, *(heading.end() for heading in headings)]
    edges = [0, *(heading.start() for heading in headings), len(text)]
    return [
        _Section(topic, title, normalised(text[body:end]), start, end)
        for title, body, (start, end) in zip(titles, bodies, pairwise(edges), strict=True)
        if end > start
    ]


def _runs(sections: list[_Section]) -> list[tuple[int, int]]:
    """Return the ranges of a topic that remain once repeated sections are removed."""
    runs: list[tuple[int, int]] = []
    for section in sections:
        if runs and runs[-1][1] == section.start:
            runs[-1] = runs[-1][0], section.end
        else:
            runs.append((section.start, section.end))
    return runs
