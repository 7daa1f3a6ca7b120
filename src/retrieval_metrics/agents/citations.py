"""What a model has read of what was found, and what its answer cites of that."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.agents.trace_span import CITED_NAME_KEYS, TraceError, unescape
from retrieval_metrics.agents.trajectory import result_key
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

BEGINNING = 32
"""Characters by which a text is looked for."""


def find_quoted_items(read: str, items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items whose whole text stands in what was read: as it is, as JSON writes it, or but for white space."""
    ways: list[Callable[[str], str]] = [str, lambda text: json.dumps(text)[1:-1], _unescaped]
    at, bare = 0, ""
    for item in items:  # most stand there one after another, written alike
        tried = None
        for number, way in enumerate(ways):
            text = way(item.text)
            found = -1 if text == tried else read.find(text[:BEGINNING], at)  # what is short is found sooner
            found = read.find(text[:BEGINNING]) if found < 0 and text != tried else found
            if found >= 0 and not read.startswith(text, found):
                found = read.find(text)
            if found >= 0:
                at = found + len(text)
                if number:
                    ways.insert(0, ways.pop(number))
                yield item
                break
            tried = text
        else:
            bare = bare or unescape(read)
            if unescape(item.text) in bare:
                yield item


def _unescaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


NUMBERS = re.compile(r"[\[\u3010]\s?\^?(\d{1,9}(?:\s*[,;\u2013-]\s*\d{1,9})*)\s?[\]\u3011]")
NEAR, MOST = 300, 100
"""Characters before a document that may hold its number, a title and an address; and how far `[1-9]` may reach."""


def find_numbered_citations(answer: str, read: str, context: Sequence[Any]) -> list[Any]:
    """Return the documents whose numbers an answer cites; a number that none has stays, as a text."""
    alike: dict[str, list[Any]] = {}
    for item in context:
        alike.setdefault(unescape(item.text), []).append(item)
    found = [(at, -len(text), text) for text in alike for at in _places(text, read)]
    labels: list[tuple[str | None, Any]] = []
    end = 0
    for start, _, text in sorted(found):
        if start >= end:
            same = alike[text]  # of one text, each is read in its turn
            same.append(item := same.pop(0))
            labels.append((next(iter(NUMBERS.findall(read, max(end, start - NEAR), start)[::-1]), None), item))
            end = start + len(text)
    if any(label is None for label, _ in labels):
        labels = [(str(at), item) for at, item in enumerate(dict.fromkeys(item for _, item in labels), start=1)]
    meant: dict[str | None, dict[Any, Any]] = {}
    for label, item in labels:
        meant.setdefault(label, {})[result_key(item)] = item
    cited: list[Any] = []
    for part in re.findall(r"[^,;]+", ",".join(NUMBERS.findall(answer))):
        first, *_, last = [int(one) for one in re.findall(r"\d+", part) * 2]
        for number in map(str, range(first, min(last, first + MOST) + 1)):
            one, *others = meant.get(number, {None: f"[{number}]"}).values()
            if others:
                raise TraceError(
                    f"what the model has read gives the number [{number}] to two documents, {one.id!r} and "
                    f"{others[0].id!r}, so its citations can mean either"
                    + python_or_cli_text("; citations= takes a function of the answer and the context")
                )
            cited.append(one)
    return cited


def _places(text: str, read: str) -> Iterator[int]:
    at = read.find(text) if text else -1
    while at >= 0:
        yield at
        at = read.find(text, at + len(text))


def find_cited_documents(citation: Mapping[str, Any], items: Sequence[Any]) -> list[Any]:
    """Return the documents that a structured citation names, by its words if it has them; else the name alone."""
    names = [str(citation[key]) for key in CITED_NAME_KEYS if citation.get(key) is not None]
    words, met = unescape(str(citation.get("cited_text") or "")), list[Any]()
    for name in names:
        met = met or [item for item in items if name in _names(item)]
    holding = [item for item in met or items if words and words in unescape(getattr(item, "text", None) or "")]
    return holding or met or names[:1] or [words]


def _names(item: Any) -> list[Any]:
    return [str(item.id), item.source, *(item.metadata or {}).values()] if isinstance(item, Retrieved) else [str(item)]
