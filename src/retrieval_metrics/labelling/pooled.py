"""A passage of a pool, and its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.questions.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import DocumentId, QueryId

FIRST = 3
"""The largest rank that counts as found early."""


class Pooled(NamedTuple):
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
        """Why it is in the pool: its rank in each system, such as `bm25 2, dense 1`."""
        return ", ".join(f"{system} {rank}" for system, rank in self.ranks.items())


def with_texts(items: Sequence[Pooled], queries: Mapping[Any, str]) -> Sequence[Pooled]:
    """Return the passages of a pool, to show or to send them to somebody who grades.

    Raises:
        ValueError: If there are none, or a passage or a query has no text.
    """
    if not items:
        raise ValueError("the pool is empty: all retrieved documents are judged")
    if bare := [item for item in items if item.text is None]:
        raise ValueError(
            f"{len(bare)} of {len(items)} documents have no text, for example {bare[0].document!r}; "
            "pass the texts by id: rm.pool(questions, runs, corpus)"
        )
    if unasked := [item.query for item in items if item.query not in queries]:
        raise ValueError(f"query {unasked[0]!r} has no text")
    return items


def together(found: Sequence[str], systems: Sequence[str]) -> str:
    """Return which of several systems found a passage, in words."""
    return " and ".join(found) + (" alone" if len(found) == 1 < len(systems) else "")


def kinds_of(
    items: Sequence[Pooled], queries: Mapping[Any, str], systems: Sequence[str]
) -> dict[tuple[QueryId, DocumentId], dict[str, str]]:
    """Return the kind of each passage: which systems found it, its best rank, its length, its words of the question.

    Length and words of the question are relative to the median of all passages; function words are ignored.
    """
    lengths = np.array([len(words(item.text or "")) for item in items])
    shared = np.array([_shared(queries.get(item.query, ""), item.text or "") for item in items])
    middle, usual = (float(np.median(each)) if len(each) else 0.0 for each in (lengths, shared))
    found = {}
    for item, length, share in zip(items, lengths, shared, strict=True):
        kinds = {
            "found by": together(item.found_by(systems), systems),
            "best rank": f"1 to {FIRST}" if min(item.ranks.values()) <= FIRST else f"beyond {FIRST}",
        }
        if item.text is not None:
            kinds["length"] = f"over {middle:.0f} words" if length > middle else f"up to {middle:.0f} words"
            kinds["words of the question"] = f"over {usual:.0%}" if share > usual else f"up to {usual:.0%}"
        found[item.query, item.document] = kinds
    return found


def _shared(question: str, text: str) -> float:
    """Return the share of the words of a question that occur in a text."""
    asked = set(content_words(words(question)))
    return len(asked & set(content_words(words(text)))) / len(asked) if asked else 0.0
