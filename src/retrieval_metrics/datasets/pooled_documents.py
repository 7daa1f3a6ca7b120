"""The documents of a pool, and their kinds by systems, rank, length and words of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics.datasets.content_words import content_words
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

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
            "pass the texts by id: rm.pool(questions, runs, corpus)"
        )
    for item in items:
        if item.query not in queries:
            raise ValueError(f"query {item.query!r} has no text")
    return items


def group_by_query(items: Iterable[PooledDocument]) -> dict[Any, list[PooledDocument]]:
    """Return the documents of each query, in their order."""
    return group_pairs((item.query, item) for item in items)


def format_found_by(found_by: Sequence[str], systems: Sequence[str]) -> str:
    """Return which of several systems found a passage, in words."""
    names = " and ".join(found_by)
    if len(found_by) == 1 and len(systems) > 1:
        return f"{names} only"
    return names


def find_passage_kinds(
    items: Sequence[PooledDocument], queries: Mapping[Any, str], systems: Sequence[str]
) -> dict[tuple[QueryId, DocumentId], dict[str, str]]:
    """Return the kind of each passage: which systems found it, its best rank, its length, its words of the question."""
    lengths = np.array([len(words(item.text or "")) for item in items])
    overlaps = np.array([_share_of_words(queries.get(item.query, ""), item.text or "") for item in items])
    median_length = _median(lengths)
    median_overlap = _median(overlaps)
    kinds_by_passage = {}
    for item, length, overlap in zip(items, lengths, overlaps, strict=True):
        is_early = min(item.ranks.values()) <= MAX_EARLY_RANK
        kinds = {
            "found by": format_found_by(item.found_by(systems), systems),
            "best rank": f"1 to {MAX_EARLY_RANK}" if is_early else f"beyond {MAX_EARLY_RANK}",
        }
        if item.text is not None:
            length_side = "over" if length > median_length else "up to"
            overlap_side = "over" if overlap > median_overlap else "up to"
            kinds["length"] = f"{length_side} {median_length:.0f} words"
            kinds["words of the question"] = f"{overlap_side} {median_overlap:.0%}"
        kinds_by_passage[item.query, item.document] = kinds
    return kinds_by_passage


def _median(values: NDArray[Any]) -> float:
    return float(np.median(values)) if len(values) else 0.0


def _share_of_words(question: str, text: str) -> float:
    """Return the share of the words of a question that occur in a text."""
    question_words = set(content_words(words(question)))
    if not question_words:
        return 0.0
    return len(question_words & set(content_words(words(text)))) / len(question_words)
