"""Find unjudged passages that resemble a relevant one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_fixes import LintFix
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.inputs.pieces import Quote, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusIndex
    from retrieval_metrics.datasets.lint_input import LintInput


# A passage that shares this share of the shorter one's runs of words is a copy.
MIN_COPY_SHARE = 0.8

# A passage that shares this much probably answers too.
MIN_ALIKE_SHARE = 0.5

# A passage that shares this share of the rare words is probably a reworded copy.
MIN_REWORDED_SHARE = 0.65

# Passages with fewer runs of words resemble each other by chance.
MIN_RUNS_OF_WORDS = 4

# Characters; a shorter text is elsewhere by chance.
MIN_SPAN_LENGTH = 40

# What passages share that are like each other.
RUNS_OF_WORDS = "word n-grams"
RARE_WORDS = "rare words"


def find_similar_passages(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the unjudged passages that resemble a relevant one, question by question."""
    if subject.passages is not None:
        yield from _SimilarPassageCheck(subject, subject.passages).find_all()


class _PassageSimilarity(NamedTuple):
    """The share of something that two passages have in common; copies share everything, and `shared` is None."""

    share: float
    shared: str | None

    @property
    def is_copy(self) -> bool:
        """Whether so much is the same that one passage counts as a copy of the other."""
        return self.share >= MIN_COPY_SHARE and self.shared != RARE_WORDS


class _SimilarPassageCheck:
    """Finds passages that resemble relevant ones; each passage is compared once."""

    def __init__(self, subject: LintInput, passages: CorpusIndex) -> None:
        self._subject = subject
        self._passages = passages
        self._similar_by_position: dict[int, dict[int, _PassageSimilarity]] = {}

    def find_all(self) -> Iterator[LintFinding]:
        """Yield the unjudged passages that resemble a relevant one, question by question."""
        for query, relevant in self._subject.relevant.items():
            reported: set[int] = set()
            for judged in sorted(relevant, key=repr):
                if isinstance(judged, Span):
                    yield from self._find_text_elsewhere(query, judged)
                elif judged in self._passages.passage_positions:
                    yield from self._find_similar_to_document(query, judged, reported)

    def _find_similar_to_document(self, query: QueryId, relevant: Any, reported: set[int]) -> Iterator[LintFinding]:
        position = self._passages.passage_positions[relevant]
        for other, similarity in self._find_similar(position).items():
            document = self._passages.items[other].id
            if document is None or document in self._subject.graded[query]:
                continue
            if other in reported or self._passages.are_overlapping(position, other):
                continue
            reported.add(other)
            fix = None
            if similarity.shared is None:
                fix = LintFix(wording.format_copy_fix(document, relevant), relevant, (relevant, document))
            yield LintFinding(
                "unjudged_duplicate" if similarity.is_copy else "possible_answer",
                query,
                wording.format_similar_passage(document, relevant, similarity.share, similarity.shared),
                {"document": document, "like": relevant, "share": similarity.share},
                fix,
            )

    def _find_similar(self, position: int) -> dict[int, _PassageSimilarity]:
        if position not in self._similar_by_position:
            self._similar_by_position[position] = self._compare_passage(position)
        return self._similar_by_position[position]

    def _compare_passage(self, position: int) -> dict[int, _PassageSimilarity]:
        """Return the copies of a passage, then those that share runs of words, then those that share rare words."""
        passages = self._passages
        similar = {copy: _PassageSimilarity(1.0, None) for copy in passages.find_copies(position)}
        if len(passages.shingles[position]) < MIN_RUNS_OF_WORDS:
            return similar
        for other, share in passages.find_similar(position, MIN_ALIKE_SHARE).items():
            if len(passages.shingles[other]) >= MIN_RUNS_OF_WORDS:
                similar.setdefault(other, _PassageSimilarity(share, RUNS_OF_WORDS))
        for other, share in passages.find_similar_in_words(position, MIN_REWORDED_SHARE).items():
            similar.setdefault(other, _PassageSimilarity(share, RARE_WORDS))
        return similar

    def _find_text_elsewhere(self, query: QueryId, span: Span) -> Iterator[LintFinding]:
        """Yield a finding if the text of a span is also in other places, and no alternative covers them."""
        text = self._subject.text_of(span)
        if text is None or len(text) < MIN_SPAN_LENGTH or self._has_quote_beside(query, span):
            return
        judged_sources = {judged.source for judged in self._subject.relevant[query] if isinstance(judged, Span)}
        documents = []
        for document, n_places in self._passages.count_places(text).items():
            if document not in judged_sources or n_places > 1:
                documents.append(document)
        if documents:
            yield LintFinding(
                "possible_answer",
                query,
                wording.format_text_elsewhere(span, text, documents[0]),
                {"document": documents[0], "like": span, "documents": documents},
            )

    def _has_quote_beside(self, query: QueryId, span: Span) -> bool:
        """Return whether a quote is an alternative to a span."""
        for group in self._subject.groups(query):
            if span in group and any(isinstance(judged, Quote) for judged in group):
                return True
        return False
