"""Recognise ids of documents and ids of their parts, such as `d7` and `d7#3`, by their spelling."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.aliases import DocumentId

_PART = r"(?:chunks?|parts?|passages?|paragraphs?|pages?|sections?|segments?|nodes?|sents?|p|c|s)"
_MARKED = re.compile(
    rf"""(?P<document>.+?)
    (?: (?:\#|::) .+                                # d7#3, d7::p2, page.html#section
      | [-_:/|.@\ ]+ {_PART} [-_:.\ ]* \d+          # d7_chunk_3, d7-p2
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<document>.*\d.*?)[-_:/|.@ ]+\d+(?:[-_:.]\d+)?")
"""`d7_3`: a number after a number. A number after a word, as in MED-10, is more likely part of the document id."""
_SEPARATORS = "-_:/|.@#~ "
_AMBIGUOUS = "-_ "
"""Separators that also occur inside ids: `closure-2` may be a part of `closure`, but `closure-scope` hardly is."""


def document_of(part: DocumentId) -> str | None:
    """Return the id of the document that a part's id refers to; None if it does not look like the id of a part.

    Example:
        >>> [document_of(part) for part in ("d7#3", "d7_chunk_3", "d7::p2", "d7-3", "MED-10", "d7")]
        ['d7', 'd7', 'd7', 'd7', None, None]
    """
    if not isinstance(part, str):
        return None
    found = _MARKED.fullmatch(part) or _NUMBERED.fullmatch(part)
    return found["document"] if found else None


def same_document(one: DocumentId, other: DocumentId) -> bool:
    """Return whether two different ids look like a document and a part of it, either way round.

    Example:
        >>> same_document("d7", "d7#3"), same_document("d7_chunk_3", "d7"), same_document("d7", "corpus/d7")
        (True, True, True)
        >>> same_document("d7", "d70"), same_document("closure", "closure-scope"), same_document("d7#1", "d7#2")
        (False, False, False)
    """
    short, long = sorted((str(one), str(other)), key=len)
    if not short or len(short) == len(long):
        return False
    if long.startswith(short):
        return _separates(long[len(short)], long[len(short) + 1 :])
    return long.endswith(short) and _separates(long[-len(short) - 1], long[: -len(short) - 1])


def _separates(separator: str, rest: str) -> bool:
    if separator not in _SEPARATORS or not rest:
        return False
    return separator not in _AMBIGUOUS or any(map(str.isdigit, rest))


def relatives(document: DocumentId, ranking: Sequence[DocumentId]) -> list[DocumentId]:
    """Return the ids of a ranking that look like parts of a document, or like the document that it is a part of."""
    name = str(document)
    # `in` is a search in C, and rules out nearly every id before the slower check.
    return [
        other
        for other in ranking
        if other != document and (name in (text := str(other)) or text in name) and same_document(document, other)
    ]


def further_parts(items: Iterable[Any], ids: Iterable[DocumentId]) -> Counter[str]:
    """Count, per document, the retrieved parts beyond the first.

    Args:
        items: What was retrieved; an item with a `source` is a part of that source.
        ids: The ids of the items; if an item has no source, its document is read from its id.
    """
    documents = Counter(
        document
        for item, name in zip(items, ids, strict=True)
        if (document := getattr(item, "source", None) or document_of(name)) is not None
    )
    return Counter({document: count - 1 for document, count in documents.items() if count > 1})
