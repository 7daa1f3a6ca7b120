"""Search the corpus with each question, to see which are easy and which may have no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics.datasets import bm25
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.bm25 import WordIndex
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.datasets.search_quality import SearchQuality
from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.lint_input import LintInput


# Among fewer passages, ranks say little.
MIN_PASSAGES = 20

# If pieces are judged, a document with more words than this is cut into overlapping windows of `WINDOW_WORDS` words.
MAX_WORDS = 400
WINDOW_WORDS = 200
WINDOW_STEP = 100

RECIPROCAL_RANK = Metric("mrr")

# If BM25 finds nothing for so many questions, and for more than this share of them, the search is to blame and not the
# questions.
MIN_UNANSWERED = 10
MAX_UNANSWERED_SHARE = 0.25

# A question is also unanswered if its share of the best score is lower, and another question with the same judgments
# finds the relevant passages better.
MIN_SHARE_OF_BETTER = 0.9


class Search:
    """Searches the passages of a corpus with BM25.

    Attributes:
        passages: The passages, or windows of long ones if pieces are judged.
    """

    def __init__(self, subject: LintInput, passages: CorpusIndex) -> None:
        self._subject = subject
        self.passages = passages
        judges_pieces = subject.qrels.has_pieces and subject.qrels.document_kind is None
        if judges_pieces and any(len(tokens) > MAX_WORDS for tokens in passages.tokens):
            windows: list[Retrieved] = []
            for item in passages.items:
                windows += _cut_into_windows(item)
            self.passages = CorpusIndex(windows)
        self._positions_by_source = group_pairs(
            (item.source, position) for position, item in enumerate(self.passages.items)
        )

    @property
    def is_informative(self) -> bool:
        """Whether there are enough passages for ranks to be informative."""
        return len(self.passages.items) >= MIN_PASSAGES

    def find_all(self) -> Iterator[LintFinding]:
        """Yield the questions whose answer is ranked first, and those for which nothing relevant is found."""
        quality_by_query = self._measure_quality()
        better_by_query = self._find_better_questions(quality_by_query)
        for query, quality in quality_by_query.items():
            finding = self.judge_quality(query, quality, better_by_query.get(query))
            if finding is not None:
                yield finding

    def _measure_quality(self) -> dict[QueryId, SearchQuality]:
        """Return how well BM25 finds what is relevant to each question, if something of it is in the corpus."""
        index = WordIndex(self.passages.tokens, "a lint without runs")
        quality_by_query: dict[QueryId, SearchQuality] = {}
        for query in self._subject.queries:
            positions_of_groups = [self._find_group(group) for group in self._subject.groups(query)]
            groups_in_corpus = [positions for positions in positions_of_groups if positions]
            if groups_in_corpus:
                scores = index.scores(self._subject.words[query])
                quality_by_query[query] = SearchQuality.from_scores(scores, groups_in_corpus)
        return quality_by_query

    def _find_better_questions(self, quality_by_query: Mapping[QueryId, SearchQuality]) -> dict[QueryId, QueryId]:
        """Return, for each question, another one with the same judgments for which BM25 ranks them better."""
        queries_by_judgments: dict[frozenset[Any], list[QueryId]] = {}
        for query in quality_by_query:
            judgments = frozenset(frozenset(group.items()) for group in self._subject.groups(query))
            queries_by_judgments.setdefault(judgments, []).append(query)
        better_by_query: dict[QueryId, QueryId] = {}
        for queries in queries_by_judgments.values():
            best = min(queries, key=lambda query: quality_by_query[query].chance)
            for query in queries:
                if quality_by_query[query].chance > quality_by_query[best].chance:
                    better_by_query[query] = best
        return better_by_query

    def judge_quality(self, query: QueryId, quality: SearchQuality, better: QueryId | None) -> LintFinding | None:
        """Return what the search says of a question; `better` is another one with the same judgments."""
        question = self._subject.texts[query]
        evidence: dict[str, Any] = {
            "runs": ["BM25"],
            "chance": quality.chance,
            "share_of_best_score": quality.share,
        }
        if quality.is_unanswered:
            message = wording.format_unanswered_by_bm25(question, quality.chance)
            return LintFinding("unanswered", query, message, evidence)
        if better is not None and quality.share < MIN_SHARE_OF_BETTER:
            message = wording.format_judgments_of_other_question(question, self._subject.texts[better])
            return LintFinding("unanswered", query, message, evidence | {"same_judgments_as": better})
        if quality.is_easy:
            return LintFinding("easy", query, wording.format_easy_for_bm25(question), evidence)
        return None

    def _find_group(self, group: Mapping[Any, float]) -> list[int]:
        """Return the passages that satisfy an alternative of a group."""
        positions: set[int] = set()
        for judged, grade in group.items():
            if grade > 0:
                positions.update(self._find_judged(judged))
        return sorted(positions)

    def _find_judged(self, judged: Any) -> list[int]:
        if isinstance(judged, Quote):
            return self.passages.find_quote(judged.text)
        if isinstance(judged, Span):
            return self._find_span(judged)
        if isinstance(judged, Piece) or judged not in self.passages.passage_positions:
            return []
        return [self.passages.passage_positions[judged]]

    def _find_span(self, span: Span) -> list[int]:
        positions = []
        for position in self._positions_by_source.get(span.source, ()):
            item = self.passages.items[position]
            if (item.start or 0) < span.end and (item.end or 0) > span.start:
                positions.append(position)
        return positions


def _cut_into_windows(item: Retrieved) -> list[Retrieved]:
    """Return overlapping parts of a long document; a short one unchanged."""
    text = item.text or ""
    tokens = text.split()
    if len(tokens) <= MAX_WORDS:
        return [item]
    starts: list[int] = []
    end_of_token = 0
    for token in tokens:
        start_of_token = text.index(token, end_of_token)
        starts.append(start_of_token)
        end_of_token = start_of_token + len(token)
    windows = []
    for first in range(0, len(starts), WINDOW_STEP):
        start = starts[first]
        end = starts[first + WINDOW_WORDS] if first + WINDOW_WORDS < len(starts) else len(text)
        offset = None if item.start is None else item.start + start
        windows.append(Retrieved(f"{item.id}#{first}", text[start:end], source=item.source, start=offset))
    return windows


def find_hard_and_easy(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the questions for which nothing relevant is found, and those for which it always comes first."""
    if subject.runs:
        yield from _find_by_runs(subject)
    elif subject.passages is None:
        yield wording.DIFFICULTY_SKIPPED
    elif subject.passages.items:
        yield from _find_by_search(subject, subject.passages)


def _find_by_search(subject: LintInput, passages: CorpusIndex) -> Iterator[LintFinding | str]:
    """Yield the findings of a search with BM25, without the unanswered questions if these are too many to be true."""
    if not bm25.can_search():
        yield wording.SEARCH_SKIPPED
        return
    search = Search(subject, passages)
    if not search.is_informative:
        yield wording.format_few_passages_skipped(MIN_PASSAGES)
        return
    findings = list(search.find_all())
    suspects = [finding for finding in findings if finding.name == "unanswered"]
    n_judged = subject.n_with_relevant
    if len(suspects) < MIN_UNANSWERED or len(suspects) <= MAX_UNANSWERED_SHARE * n_judged:
        yield from findings
        return
    for finding in findings:
        if finding.name != "unanswered":
            yield finding
    suspects.sort(key=lambda finding: (finding.evidence["share_of_best_score"], -finding.evidence["chance"]))
    yield wording.format_unanswered_skipped([finding.query for finding in suspects], n_judged)


def _find_by_runs(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions for which no run finds anything relevant, or every run ranks it first."""
    values_by_run = subject.values(RECIPROCAL_RANK)
    runs = list(values_by_run)
    values_of_queries = np.column_stack(list(values_by_run.values()))
    for query, values in zip(subject.qrels.queries, values_of_queries, strict=True):
        if query not in subject.texts or np.isnan(values).any():
            continue
        if (values == 0).all():
            message = wording.format_unanswered_by_runs(subject.texts[query], runs)
            yield LintFinding("unanswered", query, message, {"runs": runs})
        elif (values == 1).all():
            message = wording.format_easy_for_runs(subject.texts[query], runs)
            yield LintFinding("easy", query, message, {"runs": runs})
