"""Recognise ids of documents and ids of their parts, such as `d7` and `d7#3`, by their spelling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.matching.ranking_order import OrderedRankings


_PART_WORD = r"(?:chunks?|parts?|passages?|paragraphs?|pages?|sections?|segments?|nodes?|sents?|p|c|s)"

_MARKED_PART = lazy_pattern(
    rf"""(?P<document>.+?)
    (?: (?:\#|::) .+                                # d7#3, d7::p2, page.html#section
      | [-_:/|.@\ ]+ {_PART_WORD} [-_:.\ ]* \d+     # d7_chunk_3, d7-p2
    )""",
    re.VERBOSE | re.IGNORECASE,
)

# `d7_3`: a number after a number. A number after a word, as in MED-10, is more likely part of the document id.
_NUMBERED_PART = lazy_pattern(r"(?P<document>.*\d.*?)[-_:/|.@ ]+\d+(?:[-_:.]\d+)?")

# `d7#3`, the usual spelling, on a line of its own.
_USUAL_PART_LINE = lazy_pattern(r"\n([^-_:/|.@#~ \n]+)#[^\n]+")

_SEPARATORS = "-_:/|.@#~ "
_SEPARATOR = lazy_pattern(rf"[{re.escape(_SEPARATORS)}]")

# Separators that also occur inside ids: `closure-2` may be a part of `closure`, but `closure-scope` hardly is.
_AMBIGUOUS_SEPARATORS = "-_ "

# The same documents come back for many queries.
_CACHED_IDS = 2**16


@lru_cache(_CACHED_IDS)
def document_of(part: DocumentId) -> str | None:
    """Return the id of the document in the id of a part; None if an id does not look like that of a part.

    Example:
        >>> [document_of(part) for part in ("d7#3", "d7_chunk_3", "d7::p2", "d7-3", "MED-10", "d7")]
        ['d7', 'd7', 'd7', 'd7', None, None]
    """
    if not isinstance(part, str):
        return None
    match = _MARKED_PART.fullmatch(part) or _NUMBERED_PART.fullmatch(part)
    return match["document"] if match else None


def is_same_document(document_id: DocumentId, other: DocumentId) -> bool:
    """Return whether two different ids look like a document and a part of it, either way round.

    Example:
        >>> is_same_document("d7", "d7#3"), is_same_document("d7_chunk_3", "d7"), is_same_document("d7", "corpus/d7")
        (True, True, True)
        >>> is_same_document("d7", "d70"), is_same_document("closure", "closure-scope")
        (False, False)
        >>> is_same_document("d7#1", "d7#2")
        False
    """
    short, long = sorted((str(document_id), str(other)), key=len)
    if not short or len(short) == len(long):
        return False
    if long.startswith(short):
        return _is_part(long[len(short)], long[len(short) + 1 :])
    return long.endswith(short) and _is_part(long[-len(short) - 1], long[: -len(short) - 1])


def _is_part(separator: str, part: str) -> bool:
    """Return whether a separator sets a part off from the id of a document."""
    if separator not in _SEPARATORS or not part:
        return False
    is_ambiguous = separator in _AMBIGUOUS_SEPARATORS
    has_digit = any(character.isdigit() for character in part)
    return has_digit or not is_ambiguous


class RunIds:
    """The ids of a ranking, in which ids of documents and of their parts are searched by spelling.

    Attributes:
        are_plain: Whether the ranking cannot hold a part of a document: no id has a separator, and it holds no items.
    """

    __slots__ = (
        "_has_separators",
        "_ids",
        "_item_by_id",
        "_lines",
        "_max_further_parts",
        "_ranking",
        "_rankings",
        "are_plain",
    )

    def __init__(self, rankings: OrderedRankings, ranking: Any) -> None:
        """Take a ranking, as given in the run of `rankings`."""
        self._rankings = rankings
        self._ranking = ranking
        self._ids: list[DocumentId] | None = None
        self._max_further_parts: int | None = None
        is_scored = isinstance(ranking, Mapping)
        # One id per line, so that a substring search, which is fast, finds a whole id.
        self._lines = _join_lines(ranking if is_scored else self.ranked_ids)
        self._item_by_id: dict[DocumentId, Retrieved] = {}
        if not is_scored and isinstance(next(iter(ranking), None), Retrieved):
            # If several items have one id, the first is taken.
            self._item_by_id = rankings.items(ranking)
        self._has_separators = _SEPARATOR.search(self._lines) is not None
        self.are_plain = not self._has_separators and not self._item_by_id

    @property
    def ranked_ids(self) -> list[DocumentId]:
        """The ids of the ranking, in rank order."""
        if self._ids is None:
            self._ids = self._rankings.ids(self._ranking)
        return self._ids

    def find_ids_of_other_granularity(self, document: DocumentId) -> list[DocumentId]:
        """Return the ids that look like parts of a document, or like the document that it is a part of."""
        name = str(document)
        may_have_parts = self._has_separators and (f"\n{name}" in self._lines or f"{name}\n" in self._lines)
        may_be_part = any(line in self._lines for line in _list_lines_of_wholes(name))
        if not may_have_parts and not may_be_part:
            return []
        return [other for other in self.ranked_ids if _is_other_granularity(document, name, other)]

    def count_sibling_chunks(self, n_above: int) -> Counter[str]:
        """Count, by document, the further parts among the first `n_above` ids: those after its first part.

        Repeated ids count once.
        """
        n_parts = Counter(self._documents_of_parts(n_above))
        return Counter({document: count - 1 for document, count in n_parts.items() if count > 1})

    def has_further_parts(self, n_above: int, min_count: int) -> bool:
        """Return whether the first `n_above` ids hold `min_count` or more further parts; see `count_sibling_chunks`."""
        if self._max_further_parts is None:
            self._max_further_parts = self._count_possible_further_parts()
        if self._max_further_parts < min_count:
            return False
        documents = self._documents_of_parts(n_above)
        return len(documents) - len(set(documents)) >= min_count

    def _count_possible_further_parts(self) -> int:
        """Return the largest possible number of further parts, whatever the order of the ids.

        If all ids have the usual spelling, a single search finds their documents.
        """
        documents = _USUAL_PART_LINE.findall(self._lines)
        n_lines = self._lines.count("\n") - 1
        if self._item_by_id or len(documents) < n_lines:
            return n_lines
        return n_lines - len(set(documents))

    def _documents_of_parts(self, n_above: int) -> list[str]:
        """Return the document of each part among the first `n_above` ids, each id counted once."""
        documents = []
        for document_id in dict.fromkeys(self.ranked_ids[:n_above]):
            document = self._document_of(document_id)
            if document is not None:
                documents.append(document)
        return documents

    def _document_of(self, document_id: DocumentId) -> str | None:
        if self._item_by_id:
            return self._item_by_id[document_id].source or document_of(document_id)
        return document_of(document_id)


def _join_lines(ids: Iterable[Any]) -> str:
    try:
        return "\n".join(("", *ids, ""))
    except TypeError:  # numbers, or items without an id
        return "\n".join(("", *map(str, ids), ""))


def _is_other_granularity(document: DocumentId, name: str, other: DocumentId) -> bool:
    if other == document:
        return False
    other_name = str(other)
    # This fast check rules out nearly every id before the slower one.
    if name not in other_name and other_name not in name:
        return False
    return is_same_document(document, other)


def _list_lines_of_wholes(name: str) -> Sequence[str]:
    """Return lines with the ids of which `name` may be a part: the text before and after each separator."""
    lines = []
    for separator in _SEPARATOR.finditer(name):
        lines.append(f"\n{name[: separator.start()]}\n")
        lines.append(f"\n{name[separator.end() :]}\n")
    return lines
