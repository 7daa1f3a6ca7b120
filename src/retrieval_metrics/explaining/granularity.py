"""Recognise ids of documents and ids of their parts, such as `d7` and `d7#3`, by their spelling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from retrieval_metrics.checks import DocumentId
    from retrieval_metrics.judging.ranking_order import Rankings

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
_USUAL = re.compile(r"\n([^-_:/|.@#~ \n]+)#[^\n]+")
"""`d7#3`, the usual spelling, on a line of its own."""
_SEPARATORS = "-_:/|.@#~ "
_AMBIGUOUS = "-_ "
"""Separators that also occur inside ids: `closure-2` may be a part of `closure`, but `closure-scope` hardly is."""
_SEPARATOR = re.compile(rf"[{re.escape(_SEPARATORS)}]")


@lru_cache(2**16)  # the same documents come back for many queries
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


class Names:
    """The ids of a ranking, searched by their spelling.

    Of most ids a search in C tells that they are no parts and have none, before anything is put in rank order.

    Attributes:
        are_plain: Whether nothing in the ranking can be a part of a document: no id has a separator, no item a source.
    """

    __slots__ = ("_ids", "_items", "_joined", "_most", "_ranking", "_rankings", "_separated", "are_plain")

    def __init__(self, rankings: Rankings, ranking: Any) -> None:
        """Take a ranking, as given in the run of `rankings`."""
        self._rankings = rankings
        self._ranking = ranking
        self._ids: list[DocumentId] | None = None
        self._most: int | None = None
        is_scored = isinstance(ranking, Mapping)
        held = ranking if is_scored else self.ids
        try:
            self._joined = "\n".join(("", *held, ""))
        except TypeError:  # numbers, or items without an id
            self._joined = "\n".join(("", *map(str, held), ""))
        items = not is_scored and isinstance(next(iter(ranking), None), Retrieved)
        self._items: dict[DocumentId, Retrieved] = rankings.items(ranking) if items else {}  # the first with each id
        self._separated = _SEPARATOR.search(self._joined) is not None
        self.are_plain = not self._separated and not self._items

    @property
    def ids(self) -> list[DocumentId]:
        """The ids of the ranking, in rank order."""
        if self._ids is None:
            self._ids = self._rankings.ids(self._ranking)
        return self._ids

    def relatives(self, document: DocumentId) -> list[DocumentId]:
        """Return the ids that look like parts of a document, or like the document that it is a part of."""
        name = str(document)
        parts = self._separated and (f"\n{name}" in self._joined or f"{name}\n" in self._joined)
        if not parts and not any(map(self._joined.__contains__, _wholes(name))):
            return []
        # `in` is a search in C, and rules out nearly every id before the slower check.
        return [
            other
            for other in self.ids
            if other != document and (name in (text := str(other)) or text in name) and same_document(document, other)
        ]

    def further_parts(self, above: int) -> Counter[str]:
        """Count, per document, the parts beyond the first among the first ids; repeated ids count once.

        An item with a `source` is a part of that source; of one without, the document is read from its id.
        """
        documents = Counter(document for document in self._documents(self.ids[:above]) if document is not None)
        return Counter({document: count - 1 for document, count in documents.items() if count > 1})

    def has_further_parts(self, above: int, least: int) -> bool:
        """Return whether these are so many or more."""
        if self._most is None:
            self._most = self._most_further_parts()
        if self._most < least:
            return False
        documents = [document for document in self._documents(self.ids[:above]) if document is not None]
        return len(documents) - len(set(documents)) >= least

    def _most_further_parts(self) -> int:
        """Return how many these are at most, whatever the order: one search finds the documents of usual spellings."""
        documents, lines = _USUAL.findall(self._joined), self._joined.count("\n") - 1
        if self._items or len(documents) < lines:
            return lines
        return lines - len(set(documents))

    def _documents(self, ids: Iterable[DocumentId]) -> list[str | None]:
        """Return the document of each of some ids; None for an id that is no part."""
        names, items = dict.fromkeys(ids), self._items
        return [items[name].source or document_of(name) for name in names] if items else [*map(document_of, names)]


def _wholes(name: str) -> list[str]:
    """Return the lines with the ids of which `name` may be a part: what stands before or after a separator."""
    places = [(at.start(), at.end()) for at in _SEPARATOR.finditer(name)]
    return [f"\n{part}\n" for start, end in places for part in (name[:start], name[end:])]
