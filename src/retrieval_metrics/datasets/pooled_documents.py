"""The documents of a pool, and their kinds by systems, rank, length and words of the question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics.datasets.content_words import content_words
from retrieval_metrics.matching.words import words
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import format_ranks, quote_query_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId

# The largest rank that counts as found early.
MAX_EARLY_RANK = 3


class PooledDocument(NamedTuple):
    """A document to grade for a query.

    Attributes:
        query: The query.
        document: The document.
        text: Its text; None if it is unknown.
        ranks: Its rank in each system that has it among its first documents.
        effect: How much the largest mean difference between two systems would change if it had the highest grade; None
            if that was not computed.
    """

    query: QueryId
    document: DocumentId
    text: str | None
    ranks: Mapping[str, int]
    effect: float | None = None

    def __str__(self) -> str:
        text = quote_query_text(self.document, {self.document: self.text or ""})
        details = [format_ranks(self.ranks)]
        if self.effect is not None:
            details.insert(0, f"effect {numbers.format_value(self.effect)}")
        return f"{self.query}: {self.document}{text} ({'; '.join(details)})"

    def found_by(self, systems: Iterable[str]) -> tuple[str, ...]:
        """Return those of the systems that found it."""
        return tuple(system for system in systems if system in self.ranks)

    @property
    def why(self) -> str:
        """Why it is in the pool: its rank in each system, such as `bm25: rank 2, dense: rank 1`."""
        return ", ".join(f"{system}: rank {rank}" for system, rank in self.ranks.items())


def require_texts(items: Sequence[PooledDocument], queries: Mapping[Any, str]) -> Sequence[PooledDocument]:
    """Return the documents of a pool if there are any, and all can be shown to a grader.

    Raises:
        ValueError: If the pool is empty, or a document or a query has no text.
    """
    if not items:
        raise ValueError("the pool is empty: all retrieved documents are judged")
    without_text = [item for item in items if item.text is None]
    if without_text:
        raise ValueError(
            f"{len(without_text)} of {len(items)} documents have no text, for example {without_text[0].document!r}; "
            "pass the texts by ID: rm.pool(questions, runs, corpus)"
        )
    for item in items:
        if item.query not in queries:
            raise ValueError(f"query {item.query!r} has no text")
    return items


def group_by_query(items: Iterable[PooledDocument]) -> dict[Any, list[PooledDocument]]:
    """Return the documents of each query, in their order."""
    return group_pairs((item.query, item) for item in items)


@dataclass(frozen=True, slots=True)
class PassageKinds:
    """What tells the passages of a pool apart.

    Attributes:
        found_by: The systems that found the passage.
        is_early: Whether some system has it among its first `MAX_EARLY_RANK`.
        is_long: Whether it is longer than the median; None if its text is unknown.
        has_many_question_words: Whether it has a larger share of the words of its question than the median; None if its
            text is unknown.
    """

    found_by: tuple[str, ...]
    is_early: bool
    is_long: bool | None = None
    has_many_question_words: bool | None = None


@dataclass(frozen=True, slots=True)
class PoolKinds:
    """The kinds of the passages of a pool.

    Attributes:
        by_passage: The kinds of each passage, by query and document.
        median_length: The median number of words of the passages with a known text; 0 if there are none.
        median_overlap: The median share of the words of the question that occur in these; 0 if there are none.
    """

    by_passage: Mapping[tuple[QueryId, DocumentId], PassageKinds]
    median_length: float
    median_overlap: float


def find_passage_kinds(
    items: Sequence[PooledDocument], queries: Mapping[Any, str], systems: Sequence[str]
) -> PoolKinds:
    """Find the kinds of each passage: which systems found it, its best rank, its length, its words of the question."""
    lengths: dict[tuple[QueryId, DocumentId], int] = {}
    overlaps: dict[tuple[QueryId, DocumentId], float] = {}
    for item in items:
        if item.text is not None:
            lengths[item.query, item.document] = len(words(item.text))
            overlaps[item.query, item.document] = _share_of_words(queries.get(item.query, ""), item.text)
    median_length = _median(lengths.values())
    median_overlap = _median(overlaps.values())
    kinds_by_passage: dict[tuple[QueryId, DocumentId], PassageKinds] = {}
    for item in items:
        passage = item.query, item.document
        kinds = PassageKinds(item.found_by(systems), min(item.ranks.values()) <= MAX_EARLY_RANK)
        if passage in lengths:
            is_long = lengths[passage] > median_length
            kinds = replace(kinds, is_long=is_long, has_many_question_words=overlaps[passage] > median_overlap)
        kinds_by_passage[passage] = kinds
    return PoolKinds(kinds_by_passage, median_length, median_overlap)


def _median(values: Collection[float]) -> float:
    return float(np.median(list(values))) if values else 0.0


def _share_of_words(question: str, text: str) -> float:
    """Return the share of the words of a question that occur in a text."""
    question_words = set(content_words(words(question)))
    if not question_words:
        return 0.0
    return len(question_words & set(content_words(words(text)))) / len(question_words)
