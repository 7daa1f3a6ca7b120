"""Find the documents that an answer cites, by numbers in its text or by structured citations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.traces.model_message import CITED_NAME_KEYS
from retrieval_metrics.traces.payload_decoding import unescape
from retrieval_metrics.traces.trace_span import TraceError
from retrieval_metrics.traces.trajectory import result_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Numbers in brackets, such as [1], [2, 5], [1-3] or 【4】.
NUMBERS = re.compile(r"[\[\u3010]\s?\^?(\d{1,9}(?:\s*[,;\u2013-]\s*\d{1,9})*)\s?[\]\u3011]")
# The number of characters before a document in which its number is searched; a title and an address may stand between.
MAX_LABEL_DISTANCE = 300
# The largest difference of the two ends of a range such as [1-9].
MAX_RANGE = 100
# From here on a number in brackets is probably no citation, such as the year in [2019], unless so many documents are
# numbered; a smaller one that no document has is an invented citation.
FIRST_DOUBTFUL_NUMBER = 1000


class _TextPosition(NamedTuple):
    """The place of a text; sorted by the start, then the longest text first."""

    start: int
    negative_length: int
    text: str


class _LabelledItem(NamedTuple):
    """A document that was read, and the number that stands before it; None if no number does."""

    label: str | None
    item: Any


def find_numbered_citations(answer: str, read_text: str, context: Sequence[Any]) -> list[Any]:
    """Return the documents whose numbers an answer cites; a number that no document has is returned as text.

    A number of four digits or more, such as the year in [2019], is no citation unless a document has so large a number.

    Raises:
        TraceError: If a number that is cited stands before two documents.
    """
    documents_by_label: dict[str | None, dict[Any, Any]] = {}
    for labelled in _label_documents(read_text, context):
        documents_by_label.setdefault(labelled.label, {})[result_key(labelled.item)] = labelled.item
    largest = max((int(label) for label in documents_by_label if label is not None), default=0)
    cited: list[Any] = []
    for number in _cited_numbers(answer):
        if number >= FIRST_DOUBTFUL_NUMBER and number > largest:
            continue
        label = str(number)
        documents = [*documents_by_label.get(label, {}).values()]
        if len(documents) > 1:
            raise TraceError(
                f"in the context of the model, two documents have the number [{label}], {documents[0].id!r} and "
                f"{documents[1].id!r}, so citations of it are ambiguous"
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
    """Return the documents that were read, with their numbers.

    The number of a document stands before it in what was read. If some document has none, all are numbered in the order
    in which they were read.
    """
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
        items.append(item)  # documents with the same text take turns
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
    """Return the documents that a structured citation names, or the name itself if no document has it.

    If the citation quotes words, only the documents with these words are returned.
    """
    names = [str(citation[key]) for key in CITED_NAME_KEYS if citation.get(key) is not None]
    quote = unescape(str(citation.get("cited_text") or ""))
    named = _find_named_items(names, items)
    quoting = []
    for item in named or items:
        if quote and quote in unescape(getattr(item, "text", None) or ""):
            quoting.append(item)
    return quoting or named or names[:1] or [quote]


def _find_named_items(names: Sequence[str], items: Sequence[Any]) -> list[Any]:
    """Return the items with the first of these names that any item has."""
    for name in names:
        named = [item for item in items if name in _item_names(item)]
        if named:
            return named
    return []


def _item_names(item: Any) -> list[Any]:
    if isinstance(item, Retrieved):
        return [str(item.id), item.source, *(item.metadata or {}).values()]
    return [str(item)]
