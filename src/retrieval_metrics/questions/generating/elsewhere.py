"""Find the passages that could also answer a question, besides those that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.judging.ranking_order import Rankings
from retrieval_metrics.questions.words.word_index import WordIndex
from retrieval_metrics.retrieving.retrieve import aretrieve
from retrieval_metrics.scoring.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.questions.generating.candidate import Candidate, Evidence
    from retrieval_metrics.questions.generating.corpus import Corpus


class Elsewhere:
    """Searches a corpus with BM25, and with a retriever if there is one."""

    def __init__(self, corpus: Corpus, retriever: Any, *, depth: int, show_progress: bool) -> None:
        """Set what is searched.

        Args:
            corpus: The passages.
            retriever: A retriever used besides BM25; None if there is none.
            depth: How many passages each of them finds.
            show_progress: Whether progress bars are shown.
        """
        self._corpus = corpus
        self._retriever = retriever
        self._depth = depth
        self._show_progress = show_progress
        self._index = WordIndex(corpus.passages.tokens, "generate_questions")

    def rank(self, candidate: Candidate) -> int | None:
        """Return the rank at which BM25 has found something of every group; None if it finds nothing of one."""
        if not candidate.groups:
            return None
        scores = self._scores(candidate)
        ranks = []
        for group in candidate.groups:
            best = max(float(scores[at]) for one in group for at in self._holding(one))
            if best <= 0:
                return None
            ranks.append(1 + int((scores > best).sum()))
        return max(ranks)

    async def found(self, candidates: Sequence[Candidate]) -> tuple[dict[str, list[int]], int]:
        """Return the passages that BM25 and the retriever find for each question, by id, and how many calls failed.

        Raises:
            ValueError: If nothing that the retriever returns is in the corpus.
        """
        found: dict[str, list[int]] = {}
        for candidate in candidates:
            scores = self._scores(candidate)
            order = np.argsort(-scores, kind="stable")[: self._depth + len(candidate.task.places)]
            found[candidate.id] = [int(at) for at in order if scores[at] > 0]
        if self._retriever is None or not candidates:
            return found, 0
        run = await aretrieve(
            self._retriever,
            {candidate.id: candidate.in_context for candidate in candidates},
            show_progress=self._show_progress,
        )
        strange = None
        of_corpus = 0
        rankings = Rankings(run, "id", STANDARD.order)
        for name, ranking in rankings.of(found):
            for document, known in rankings.first(ranking, self._depth):
                item = known or Retrieved(document)
                places = self._corpus.held_by(item)
                of_corpus += bool(places)
                strange = strange if places else item
                found[str(name)] += places
        if strange is not None and not of_corpus:
            raise ValueError(
                f"nothing that the retriever returns is in the corpus, such as {strange!r}; its items need ids of the "
                "corpus, or a source and offsets as in the corpus"
            )
        return found, len(run.errors)

    def not_its_own(self, found: Sequence[int], candidate: Candidate, group: Sequence[Evidence]) -> list[int]:
        """Return the passages not known to answer that do not overlap with those that the question was made from."""
        own = {*candidate.task.places, *(at for one in group for at in self._holding(one))}
        passages = self._corpus.passages
        return [
            at for at in dict.fromkeys(found) if at not in own and not any(passages.overlap(at, one) for one in own)
        ]

    def _holding(self, one: Evidence) -> list[int]:
        return [one.passage, *self._corpus.passages.holding(one.text)]

    def _scores(self, candidate: Candidate) -> FloatArray:
        return self._index.scores(words(candidate.in_context))
