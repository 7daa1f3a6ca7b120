"""Choose the passages that the next question is made from."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from retrieval_metrics.datasets.candidate import WantedQuestion
from retrieval_metrics.datasets.question_kinds import COMPARISON, MULTI_PASSAGE_KINDS

if TYPE_CHECKING:
    from collections.abc import Container

    from retrieval_metrics.datasets.corpus import Corpus
    from retrieval_metrics.datasets.passage_vectors import PassageVectors


# The largest number of questions of one kind that are requested for one passage.
MAX_PER_PASSAGE = 3

# Passages that share at least this part of their runs of words say the same, so no question needs both.
MIN_SAME_SHARE = 0.5


class PassageQueue:
    """The passages in the order in which questions are requested for them; a drawn passage goes to the end."""

    def __init__(self, corpus: Corpus, vectors: PassageVectors) -> None:
        """Begin with the order of `PassageVectors.order`, which spreads the first passages over all clusters."""
        self._corpus = corpus
        self._vectors = vectors
        self._order = deque(vectors.order())
        self._n_uses: Counter[tuple[str, int]] = Counter()

    def draw(self, kind: str, earlier_tasks: Container[WantedQuestion]) -> WantedQuestion | None:
        """Return the next passage, with a partner if the kind needs one; None if all have been drawn often enough."""
        while True:
            passage = min(self._order, key=lambda waiting: self._n_uses[kind, waiting])
            if self._n_uses[kind, passage] >= MAX_PER_PASSAGE:
                return None
            self._order.remove(passage)
            self._order.append(passage)
            self._n_uses[kind, passage] += 1
            if kind not in MULTI_PASSAGE_KINDS:
                return WantedQuestion(kind, (passage,))
            partner = self._find_partner(kind, passage, earlier_tasks)
            if partner is not None:
                return WantedQuestion(kind, (passage, partner))

    def _find_partner(self, kind: str, passage: int, earlier_tasks: Container[WantedQuestion]) -> int | None:
        """Return a related passage that says something else, from another document if there is one."""
        passages = self._corpus.passages
        document = passages[passage].document
        related = self._find_related(passage)
        of_other_documents = [other for other in related if passages[other].document != document]
        partners = of_other_documents
        if not of_other_documents and kind != COMPARISON:  # a comparison needs two documents
            partners = related
        for partner in partners:
            if WantedQuestion(kind, (passage, partner)) not in earlier_tasks:
                return partner
        return None

    def _find_related(self, passage: int) -> list[int]:
        """Return the passages that share content words with one, but do not say the same or overlap with it."""
        index = self._corpus.index
        similar = index.find_similar(passage, MIN_SAME_SHARE)
        related = []
        for other in self._vectors.find_nearest(passage):
            says_same = other in similar or passage in index.find_copies(other)
            if not says_same and not index.are_overlapping(passage, other):
                related.append(other)
        return related
