"""Search a corpus for the other passages that may answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.datasets.bm25 import WordIndex
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.retrieval.retrieve import aretrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.datasets.candidate import Candidate, Evidence
    from retrieval_metrics.datasets.corpus import Corpus
    from retrieval_metrics.retrieval.retrieve import Retriever


class FoundPassages(NamedTuple):
    """The passages that a search finds for several questions.

    Attributes:
        by_candidate: The positions of the passages for each question, by id.
        n_failed: For how many questions the call of the retriever failed.
    """

    by_candidate: dict[str, list[int]]
    n_failed: int


class OtherPassageSearch:
    """Searches a corpus with BM25, and with a retriever if there is one."""

    def __init__(self, corpus: Corpus, retriever: Retriever | None, *, depth: int, show_progress: bool) -> None:
        """Index the corpus for BM25, and set the retriever to ask beside it.

        Args:
            corpus: The corpus.
            retriever: A retriever; None searches with BM25 alone.
            depth: How many passages BM25 and the retriever each find.
            show_progress: Show a progress bar while the retriever is asked.
        """
        self._corpus = corpus
        self._retriever = retriever
        self._depth = depth
        self._show_progress = show_progress
        self._index = WordIndex(corpus.index.tokens, "generate_questions")

    def rank(self, candidate: Candidate) -> int | None:
        """Return the rank down to which BM25 finds evidence of every group; None if it finds none of some group."""
        if not candidate.groups:
            return None
        scores = self._score_passages(candidate)
        ranks = []
        for group in candidate.groups:
            best_score = max(float(scores[passage]) for passage in self._find_passages_of_group(group))
            if best_score <= 0:
                return None
            ranks.append(1 + int((scores > best_score).sum()))
        return max(ranks)

    async def find_passages(self, candidates: Sequence[Candidate]) -> FoundPassages:
        """Return the passages that BM25 and the retriever find for each question."""
        passages_by_candidate: dict[str, list[int]] = {}
        for candidate in candidates:
            scores = self._score_passages(candidate)
            n_first = self._depth + len(candidate.task.passages)
            first_passages = np.argsort(-scores, kind="stable")[:n_first]
            passages_by_candidate[candidate.id] = [int(passage) for passage in first_passages if scores[passage] > 0]
        if self._retriever is None or not candidates:
            return FoundPassages(passages_by_candidate, n_failed=0)
        run = await aretrieve(
            self._retriever,
            {candidate.id: candidate.in_context for candidate in candidates},
            show_progress=self._show_progress,
        )
        unknown_item: Retrieved | None = None
        n_known_items = 0
        rankings = OrderedRankings(run, "id", STANDARD.order)
        for candidate_id, ranking in rankings.iterate(passages_by_candidate):
            for document, retrieved in rankings.first_items(ranking, self._depth):
                item = retrieved or Retrieved(document)
                passages = self._corpus.find_passages_of_item(item)
                if passages:
                    n_known_items += 1
                else:
                    unknown_item = item
                passages_by_candidate[str(candidate_id)] += passages
        if unknown_item is not None and not n_known_items:
            raise ValueError(
                f"nothing that the retriever returns is in the corpus, such as {unknown_item!r}; its items need IDs of "
                "the corpus, or a source and offsets as in the corpus"
            )
        return FoundPassages(passages_by_candidate, n_failed=len(run.errors))

    def leave_out_known(self, passages: Sequence[int], candidate: Candidate, group: Sequence[Evidence]) -> list[int]:
        """Return the passages that are neither known to answer a question nor overlap with such a passage."""
        known_passages = {*candidate.task.passages, *self._find_passages_of_group(group)}
        index = self._corpus.index
        other_passages = []
        for passage in dict.fromkeys(passages):
            if passage in known_passages:
                continue
            if not any(index.are_overlapping(passage, known_passage) for known_passage in known_passages):
                other_passages.append(passage)
        return other_passages

    def _find_passages_of_group(self, group: Sequence[Evidence]) -> list[int]:
        """Return the passages that hold some evidence of a group."""
        passages: list[int] = []
        for evidence in group:
            passages += [evidence.passage, *self._corpus.index.find_quote(evidence.text)]
        return passages

    def _score_passages(self, candidate: Candidate) -> FloatArray:
        return self._index.scores(words(candidate.in_context))
