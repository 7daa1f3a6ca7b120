"""The possible outcomes of a relevant document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from retrieval_metrics.explaining.needed import Needed
from retrieval_metrics.presentation.beginnings import beginning

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import Relevant

Failure = Literal[
    "lost a tie",
    "behind repeats",
    "behind chunks of one document",
    "beyond the cut-off",
    "beyond the budget",
    "another granularity",
    "never retrieved",
    "nothing retrieved",
    "the retriever failed",
]
Outcome = Literal["found", "not needed", "no room"] | Failure
FAILURES: tuple[Failure, ...] = get_args(Failure)
"""Ordered from the nearest miss to the farthest; of several alternatives, the nearest miss is reported."""
KINDS: tuple[Outcome, ...] = (*FAILURES, "found", "not needed", "no room")


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one relevant document.

    Attributes:
        document: Its id, or the quote, text, span or metadata that is judged.
        grade: Its grade.
        kind: The outcome.
        rank: The rank at which it was retrieved; None if it was not.
        detail: The outcome in words, with its numbers.
        groups: The groups it belongs to, numbered within the query; with flat judgments, each document is a group.
        text: Its text, if it is known.
    """

    document: Relevant
    grade: float
    kind: Outcome
    rank: int | None
    detail: str
    groups: tuple[int, ...]
    text: str | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the document was needed and is missing."""
        return self.kind in FAILURES

    @property
    def called(self) -> str:
        """The name of what is needed; of a quote or a text, its beginning in quotation marks."""
        return Needed.name(self.document) or f"\u201c{beginning(self.text or '')}\u201d"
