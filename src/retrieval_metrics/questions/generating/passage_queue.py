"""Which passages the next question is asked about."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from retrieval_metrics.questions.generating.kinds import COMPARISON, OF_SEVERAL

if TYPE_CHECKING:
    from collections.abc import Container

    from retrieval_metrics.questions.generating.contents import Contents
    from retrieval_metrics.questions.generating.corpus import Corpus

MOST_PER_PASSAGE = 3
"""The largest number of questions of one kind that are requested for one passage."""
ALIKE = 0.5
"""Passages that share this many runs of words say the same, and are not needed together."""


class PassageQueue:
    """The passages in the order in which they are asked about; those that were drawn go to the end."""

    def __init__(self, corpus: Corpus, contents: Contents) -> None:
        """Begin with the passages in the order of their contents."""
        self._corpus = corpus
        self._contents = contents
        self._order = deque(contents.order())
        self._uses: Counter[tuple[str, int]] = Counter()

    def drawn(self, kind: str, asked: Container[tuple[str, tuple[int, ...]]]) -> tuple[int, ...] | None:
        """Return the next passage, with a partner if the kind needs one; None if all have been drawn often enough.

        Args:
            kind: The kind of the question.
            asked: The kinds and passages of earlier requests; two passages are asked about together only once.
        """
        while (uses := min(self._uses[kind, at] for at in self._order)) < MOST_PER_PASSAGE:
            at = next(one for one in self._order if self._uses[kind, one] == uses)
            self._order.remove(at)
            self._order.append(at)
            self._uses[kind, at] += 1
            if kind not in OF_SEVERAL:
                return (at,)
            if (partner := self._partner(kind, at, asked)) is not None:
                return at, partner
        return None

    def _partner(self, kind: str, at: int, asked: Container[tuple[str, tuple[int, ...]]]) -> int | None:
        """Return a related passage that says something else, from another document if there is one.

        Documents are compared with each other, so a comparison has no partner within its document.
        """
        passages, pieces = self._corpus.passages, self._corpus.pieces
        alike = passages.alike(at, ALIKE)
        others = [
            other
            for other in self._contents.near(at)
            if other not in alike and not passages.copies(other).count(at) and not passages.overlap(at, other)
        ]
        elsewhere = [other for other in others if pieces[other].document != pieces[at].document]
        usable = elsewhere if kind == COMPARISON else elsewhere or others
        left = [other for other in usable if (kind, (at, other)) not in asked]
        return left[0] if left else None
