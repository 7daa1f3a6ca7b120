"""The corpus of the examples: the Python language reference that every CPython carries.

``pydoc_data.topics`` is the text behind ``help("with")``: some eighty pages of the language reference, one per topic.
Here they are cut into passages of about 100 to 200 words, each with a readable id such as ``with#2`` and with the
place in its topic's text where it stands.

* **No passage repeats another.** Many topics are chapters that hold other topics (``compound`` holds ``if``, ``for``,
  ``try`` and ``with``; ``specialnames`` holds ``customization``). A section, that is a heading with the text below it,
  that stands in several topics is kept in the shortest of them and left out of the others, so that nothing is
  retrieved twice and nothing is lost.
* **Paragraphs stay whole.** A passage is a run of whole paragraphs of one topic. An example stays with the sentence
  that introduces it, and a definition such as ``str.split(...)`` with the paragraph that explains it. Only a table of
  more than twice the size asked for is cut, between its rows.
* **The text is the interpreter's own.** Every version of Python words a few paragraphs anew, so the number of
  passages, and the numbers behind the ``#``, differ a little from one version to the next.
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
    """Cut every topic into passages of about ``size`` words, in the order of the topics' names."""
    if size < 1:
        raise ValueError(f"size must be a positive number of words, got {size!r}")
    texts = topics()
    found: list[Passage] = []
    for topic, sections in _sections_without_repeats(texts).items():
        text = texts[topic]
        spans = [span for start, end in _runs(sections) for span in chunks(text, start, end, size)]
        for number, (start, end) in enumerate(spans, start=1):
            title = next(section.title for section in reversed(sections) if section.start <= start)
            found.append(Passage(f"{topic}#{number}", topic, title, text[start:end], start, end))
    return found


def normalised(text: str) -> str:
    """Return the text on one line with single spaces, so that a quote is found wherever the lines break."""
    return " ".join(text.split())


def _sections_without_repeats(texts: Mapping[str, str]) -> dict[str, list[_Section]]:
    sections = [section for topic, text in sorted(texts.items()) for section in _sections(topic, text)]
    holders: dict[tuple[str, str], list[_Section]] = defaultdict(list)
    for section in sections:
        holders[section.title, section.body].append(section)

    def home(section: _Section) -> tuple[int, bool, str]:
        # Of topics that are equally long ("if" and "else" are the same page) the one that the heading names.
        return len(texts[section.topic]), f'"{section.topic}"' not in section.title, section.topic

    kept: dict[str, list[_Section]] = {topic: [] for topic in sorted(texts)}
    for section in sections:
        if section is min(holders[section.title, section.body], key=home):
            kept[section.topic].append(section)
    return kept


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
    """Return the stretches of a topic that are left where the repeated sections are taken out."""
    runs: list[tuple[int, int]] = []
    for section in sections:
        if runs and runs[-1][1] == section.start:
            runs[-1] = runs[-1][0], section.end
        else:
            runs.append((section.start, section.end))
    return runs
