"""What a model has read of what was found, and what its answer cites of that."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.agents.model_message import CITED_NAME_KEYS
from retrieval_metrics.agents.payload_decoding import unescape
from retrieval_metrics.agents.trace_span import TraceError
from retrieval_metrics.agents.trajectory import result_key
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

# Characters by which a text is looked for: what is short is found sooner.
N_SEARCHED = 32
# Numbers in brackets, such as [1], [2, 5], [1-3] or 【4】.
NUMBERS = re.compile(r"[\[\u3010]\s?\^?(\d{1,9}(?:\s*[,;\u2013-]\s*\d{1,9})*)\s?[\]\u3011]")
# Characters before a document that may hold its number, a title and an address.
MAX_LABEL_DISTANCE = 300
# How far a range such as [1-9] may reach.
MAX_RANGE = 100


def find_quoted_items(read_text: str, items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items whose whole text stands in what was read: as it is, as JSON writes it, or but for white space."""
    finder = _TextFinder(read_text)
    for item in items:
        if finder.holds(item.text):
            yield item


class _TextFinder:
    """Looks for texts in what was read; most stand there one after another, written alike."""

    def __init__(self, read_text: str) -> None:
        self._read_text = read_text
        self._unescaped = ""
        self._end = 0
        self._writers: list[Callable[[str], str]] = [str, _write_ascii_json, _write_json]

    def holds(self, text: str) -> bool:
        """Return whether a text stands in what was read."""
        tried = None
        for number, write in enumerate(self._writers):
            written = write(text)
            start = -1 if written == tried else self._find(written)
            if start >= 0:
                self._end = start + len(written)
                # What writes one text writes the next one, too.
                self._writers.insert(0, self._writers.pop(number))
                return True
            tried = written
        self._unescaped = self._unescaped or unescape(self._read_text)
        return unescape(text) in self._unescaped

    def _find(self, written: str) -> int:
        """Return where a text begins, if possible after the last that was found; -1 if it is not there."""
        beginning = written[:N_SEARCHED]
        start = self._read_text.find(beginning, self._end)
        if start < 0:
            start = self._read_text.find(beginning)
        if start >= 0 and not self._read_text.startswith(written, start):
            start = self._read_text.find(written)
        return start


def _write_ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _write_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


class _TextPosition(NamedTuple):
    """Where a text stands; of those that begin at one place the longest comes first."""

    start: int
    negative_length: int
    text: str


class _LabelledItem(NamedTuple):
    """A document that was read, and the number before it; None if there is none."""

    label: str | None
    item: Any


def find_numbered_citations(answer: str, read_text: str, context: Sequence[Any]) -> list[Any]:
    """Return the documents whose numbers an answer cites; a number that none has stays, as a text.

    Raises:
        TraceError: If a number that is cited stands before two documents.
    """
    documents_by_label: dict[str | None, dict[Any, Any]] = {}
    for labelled in _label_documents(read_text, context):
        documents_by_label.setdefault(labelled.label, {})[result_key(labelled.item)] = labelled.item
    cited: list[Any] = []
    for number in _cited_numbers(answer):
        label = str(number)
        documents = [*documents_by_label.get(label, {}).values()]
        if len(documents) > 1:
            raise TraceError(
                f"what the model has read gives the number [{label}] to two documents, {documents[0].id!r} and "
                f"{documents[1].id!r}, so its citations can mean either"
                "; citations= takes a function of the answer and the context"
            )
        cited += documents or [f"[{label}]"]
    return cited


def _cited_numbers(answer: str) -> Iterator[int]:
    """Yield the numbers that an answer cites, those of ranges one by one."""
    for part in re.findall(r"[^,;]+", ",".join(NUMBERS.findall(answer))):
        ends = [int(digits) for digits in re.findall(r"\d+", part)]
        last = min(ends[-1], ends[0] + MAX_RANGE)
        yield from range(ends[0], last + 1)


def _label_documents(read_text: str, context: Sequence[Any]) -> list[_LabelledItem]:
    """Return the documents that were read with their numbers: those that stand before them, else their order."""
    items_by_text: dict[str, list[Any]] = {}
    for item in context:
        items_by_text.setdefault(unescape(item.text), []).append(item)
    positions = []
    for text in items_by_text:
        positions += [_TextPosition(start, -len(text), text) for start in _find_all(text, read_text)]
    labelled_items: list[_LabelledItem] = []
    end = 0
    for start, _, text in sorted(positions):
        if start < end:  # inside another document
            continue
        items = items_by_text[text]
        item = items.pop(0)
        items.append(item)  # of one text, each is read in its turn
        labels = NUMBERS.findall(read_text, max(end, start - MAX_LABEL_DISTANCE), start)
        labelled_items.append(_LabelledItem(labels[-1] if labels else None, item))
        end = start + len(text)
    if any(labelled.label is None for labelled in labelled_items):
        distinct_items = dict.fromkeys(labelled.item for labelled in labelled_items)
        return [_LabelledItem(str(number), item) for number, item in enumerate(distinct_items, start=1)]
    return labelled_items


def _find_all(text: str, read_text: str) -> Iterator[int]:
    """Yield where a text begins in another, without overlaps."""
    start = read_text.find(text) if text else -1
    while start >= 0:
        yield start
        start = read_text.find(text, start + len(text))


def find_cited_documents(citation: Mapping[str, Any], items: Sequence[Any]) -> list[Any]:
    """Return the documents that a structured citation names, by its words if it has them; else the name alone."""
    names = [str(citation[key]) for key in CITED_NAME_KEYS if citation.get(key) is not None]
    quote = unescape(str(citation.get("cited_text") or ""))
    named = _find_named_items(names, items)
    quoting = []
    for item in named or items:
        if quote and quote in unescape(getattr(item, "text", None) or ""):
            quoting.append(item)
    return quoting or named or names[:1] or [quote]


def _find_named_items(names: Sequence[str], items: Sequence[Any]) -> list[Any]:
    """Return the items of the first name that any has."""
    for name in names:
        named = [item for item in items if name in _item_names(item)]
        if named:
            return named
    return []


def _item_names(item: Any) -> list[Any]:
    if isinstance(item, Retrieved):
        return [str(item.id), item.source, *(item.metadata or {}).values()]
    return [str(item)]
