"""Search a corpus for the other passages that may answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class OtherPassageSearch:
    """Searches a corpus with BM25, and with a retriever if there is one."""

    def __init__(self, corpus: Corpus, retriever: Retriever | None, *, depth: int, show_progress: bool) -> None:
        """Set what is searched."""
        self._corpus = corpus
        self._retriever = retriever
        self._depth = depth
        self._show_progress = show_progress
        self._index = WordIndex(corpus.passages.tokens, "generate_questions")

    def rank(self, candidate: Candidate) -> int | None:
        """Return the rank at which BM25 has found something of every group; None if it finds nothing of one."""
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

    async def find_passages(self, candidates: Sequence[Candidate]) -> tuple[dict[str, list[int]], int]:
        """Return the passages that BM25 and the retriever find for each question, by id, and how many calls failed."""
        passages_by_candidate: dict[str, list[int]] = {}
        for candidate in candidates:
            scores = self._score_passages(candidate)
            n_first = self._depth + len(candidate.task.passages)
            first_passages = np.argsort(-scores, kind="stable")[:n_first]
            passages_by_candidate[candidate.id] = [int(passage) for passage in first_passages if scores[passage] > 0]
        if self._retriever is None or not candidates:
            return passages_by_candidate, 0
        run = await aretrieve(
            self._retriever,
            {candidate.id: candidate.in_context for candidate in candidates},
            show_progress=self._show_progress,
        )
        unknown_item: Retrieved | None = None
        n_of_corpus = 0
        rankings = OrderedRankings(run, "id", STANDARD.order)
        for candidate_id, ranking in rankings.iterate(passages_by_candidate):
            for document, retrieved in rankings.first_items(ranking, self._depth):
                item = retrieved or Retrieved(document)
                passages = self._corpus.find_passages_of_item(item)
                if passages:
                    n_of_corpus += 1
                else:
                    unknown_item = item
                passages_by_candidate[str(candidate_id)] += passages
        if unknown_item is not None and not n_of_corpus:
            raise ValueError(
                f"nothing that the retriever returns is in the corpus, such as {unknown_item!r}; its items need ids of "
                "the corpus, or a source and offsets as in the corpus"
            )
        return passages_by_candidate, len(run.errors)

    def leave_out_known(self, passages: Sequence[int], candidate: Candidate, group: Sequence[Evidence]) -> list[int]:
        """Return the passages not known to answer that do not overlap with those that the question was made from."""
        known_passages = {*candidate.task.passages, *self._find_passages_of_group(group)}
        index = self._corpus.passages
        other_passages = []
        for passage in dict.fromkeys(passages):
            if passage in known_passages:
                continue
            if not any(index.overlap(passage, known_passage) for known_passage in known_passages):
                other_passages.append(passage)
        return other_passages

    def _find_passages_of_group(self, group: Sequence[Evidence]) -> list[int]:
        """Return the passages that hold one of several pieces of evidence."""
        passages: list[int] = []
        for evidence in group:
            passages += [evidence.passage, *self._corpus.passages.find_quote(evidence.text)]
        return passages

    def _score_passages(self, candidate: Candidate) -> FloatArray:
        return self._index.scores(words(candidate.in_context))
