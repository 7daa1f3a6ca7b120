"""Search the corpus with each question, to see which are easy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import format_argument, group_pairs
from retrieval_metrics.datasets import bm25 as word_index
from retrieval_metrics.datasets.bm25 import CorpusIndex, WordIndex, shortened
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.inputs.items import Piece, Quote, Retrieved, Span
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, QueryId
    from retrieval_metrics.datasets.lint_report import LintInput


FEWEST_PASSAGES = 20
"""The fewest passages among which a rank is informative."""
LONG = 400
"""Documents with more words are cut into windows, if pieces are judged."""
WINDOW, STRIDE = 200, 100
BY_CHANCE = ((0.13, 0.7), (0.005, 0.35))
"""A question is unanswered if random passages would rank as well with this probability, and the relevant ones score
less than that share of the best score. Chosen so that at most 5 % of the questions of each set of
tests/benchmarks/lint.py are."""


BETTER_ASKED = 0.9
"""A question is also unanswered below this share if another one with the same judgments finds them better."""


@dataclass(frozen=True, slots=True)
class _SearchQuality:
    """How well BM25 finds what is relevant to a question.

    Attributes:
        chance: The probability that random passages would rank as well.
        share: The best score of something relevant, as a share of the best score.
        easy: Whether nothing else is first.
    """

    chance: float
    share: float
    easy: bool

    @classmethod
    def of(cls, scores: FloatArray, groups: Sequence[Sequence[int]]) -> _SearchQuality:
        """Compute it from the scores of all passages and the places of those that satisfy each group."""
        relevant = scores[sorted({place for group in groups for place in group})]
        best = float(scores.max())
        share = float(relevant.max()) / best if best else 0.0
        return cls(_chance(scores, groups), share, share >= 1 and int((scores == best).sum()) <= len(relevant))


class Search:
    """Searches the passages of a corpus with BM25.

    Attributes:
        passages: The passages, or windows of long ones if pieces are judged.
    """

    def __init__(self, subject: LintInput, passages: CorpusIndex) -> None:
        self._subject = subject
        by_piece = subject.qrels.has_pieces and subject.qrels.document_kind is None
        long = by_piece and any(len(tokens) > LONG for tokens in passages.tokens)
        self.passages = CorpusIndex(part for item in passages.items for part in _windows(item)) if long else passages
        self._from = group_pairs((item.source, at) for at, item in enumerate(self.passages.items))

    @property
    def is_telling(self) -> bool:
        """Whether there are enough passages for ranks to be informative."""
        return len(self.passages.items) >= FEWEST_PASSAGES

    def findings(self) -> Iterator[LintFinding]:
        """Yield the questions whose answer is ranked first, and those for which nothing relevant is found."""
        index = WordIndex(self.passages.tokens, "a lint without runs")
        found = {}
        for query in self._subject.queries:
            groups = [places for group in self._subject.groups(query) if (places := self._places(group))]
            if groups:
                found[query] = _SearchQuality.of(index.scores(self._subject.words[query]), groups)
        better = self._better_asked(found)
        for query, one in found.items():
            yield from self._judged(query, one, better.get(query))

    def _better_asked(self, found: Mapping[QueryId, _SearchQuality]) -> dict[QueryId, QueryId]:
        """Return, for each question, another one with the same judgments that finds them better."""
        alike = group_pairs(
            (frozenset(frozenset(group.items()) for group in self._subject.groups(query)), query) for query in found
        )
        better = {}
        for queries in alike.values():
            best = min(queries, key=lambda query: found[query].chance)
            better.update({query: best for query in queries if found[query].chance > found[best].chance})
        return better

    def _judged(self, query: QueryId, found: _SearchQuality, better: QueryId | None) -> Iterator[LintFinding]:
        chance, share = found.chance, found.share
        text = shortened(self._subject.texts[query])
        evidence = {"runs": ["BM25"], "chance": chance, "share_of_best_score": share}
        if share == 0 or any(chance >= often and share < less for often, less in BY_CHANCE):
            yield LintFinding(
                "unanswered",
                query,
                f"BM25 hardly finds what is relevant to {text} (random passages rank as well in {100 * chance:.0f} % "
                "of cases): it may have no answer, or the judgments of another question",
                evidence,
            )
        elif better is not None and share < BETTER_ASKED:
            yield LintFinding(
                "unanswered",
                query,
                f"exactly the same is relevant to {text} and to {shortened(self._subject.texts[better])}, which BM25 "
                "finds it better for: it may have that question's judgments",
                evidence | {"same_judgments_as": better},
            )
        elif found.easy:
            yield LintFinding(
                "easy",
                query,
                f"BM25 ranks something relevant to {text} first, so it does not tell retrievers apart",
                evidence,
            )

    def _places(self, group: dict[Any, float]) -> list[int]:
        """Return the passages that satisfy an alternative of a group."""
        return sorted({at for judged, grade in group.items() if grade > 0 for at in self._holding(judged)})

    def _holding(self, judged: Any) -> list[int]:
        if isinstance(judged, Quote):
            return self.passages.holding(judged.text)
        if isinstance(judged, Span):
            return [
                at
                for at in self._from.get(judged.source, ())
                if (self.passages.items[at].start or 0) < judged.end
                and (self.passages.items[at].end or 0) > judged.start
            ]
        at = None if isinstance(judged, Piece) else self.passages.passage_positions.get(judged)
        return [] if at is None else [at]


def _chance(scores: FloatArray, groups: Sequence[Sequence[int]]) -> float:
    """Return the probability that random passages would rank at least as well as those of the groups."""
    total = 0.0
    for group in groups:
        best = float(scores[list(group)].max())
        rank = float((scores > best).sum()) + float((scores == best).sum()) / 2
        total -= math.log(max(1 - (1 - rank / len(scores)) ** len(group), 1e-12))
    term, tail = 1.0, 1.0
    for number in range(1, len(groups)):
        term *= total / number
        tail += term
    return math.exp(-total) * tail


def _windows(item: Retrieved) -> Iterator[Retrieved]:
    """Yield overlapping parts of a long document; a short one unchanged."""
    text = item.text or ""
    parts = text.split()
    if len(parts) <= LONG:
        yield item
        return
    starts, at = [], 0
    for word in parts:
        at = text.index(word, at)
        starts.append(at)
        at += len(word)
    for first in range(0, len(starts), STRIDE):
        end = starts[first + WINDOW] if first + WINDOW < len(starts) else len(text)
        start = starts[first]
        offset = None if item.start is None else item.start + start
        yield Retrieved(f"{item.id}#{first}", text[start:end], source=item.source, start=offset)


RECIPROCAL_RANK = Metric("mrr")
MOST_UNANSWERED, MANY = 0.25, 10
"""If BM25 finds nothing for more than this share of the questions, and for so many, that says something about BM25."""
SUSPECTS = 20
"""How many of them are named."""


def hard_and_easy(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the questions for which nothing relevant is found, and those for which it always comes first."""
    if subject.runs:
        yield from _by_runs(subject)
    elif subject.passages is None:
        yield (f"how hard the questions are, which needs {format_argument('runs')} or {format_argument('corpus')}")
    elif subject.passages.items:
        yield from _by_search(subject, subject.passages)


def _by_search(subject: LintInput, passages: CorpusIndex) -> Iterator[LintFinding | str]:
    """Yield what BM25 finds, but not which questions have no answer if these are too many to be believed."""
    if not word_index.can_search():
        yield (
            f"how hard the questions are, which needs {format_argument('runs')} or: pip install "
            "'retrieval-metrics[questions]'"
        )
        return
    search = Search(subject, passages)
    if not search.is_telling:
        yield (f"how hard the questions are, which needs at least {FEWEST_PASSAGES} passages")
        return
    found = list(search.findings())
    suspects = [finding for finding in found if finding.name == "unanswered"]
    judged = sum(bool(relevant) for relevant in subject.relevant.values())
    if len(suspects) < MANY or len(suspects) <= MOST_UNANSWERED * judged:
        yield from found
        return
    yield from (finding for finding in found if finding.name != "unanswered")
    suspects.sort(key=lambda one: (one.evidence["share_of_best_score"], -one.evidence["chance"]))
    few = f"{len(suspects):,} of {judged:,}"
    yield (
        f"which questions have no answer, because BM25 hardly finds what is relevant to {few}: they use other words, "
        f"so pass {format_argument('runs')} of a retriever that matches meanings; suspected most are "
        f"{numbers.join_names([repr(one.query) for one in suspects], most=SUSPECTS)}"
    )


def _by_runs(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions for which no run finds anything relevant, or every run ranks it first."""
    ranks = subject.values(RECIPROCAL_RANK)
    names = numbers.join_names([*ranks])
    values = np.column_stack(list(ranks.values()))
    for query, of_query in zip(subject.qrels.queries, values, strict=True):
        if query not in subject.texts or np.isnan(of_query).any():
            continue
        text = shortened(subject.texts[query])
        if (of_query == 0).all():
            yield LintFinding(
                "unanswered",
                query,
                f"nothing that is relevant to {text} is found by {names}: it may have no answer, or the judgments of "
                "another question",
                {"runs": list(ranks)},
            )
        elif (of_query == 1).all():
            yield LintFinding(
                "easy",
                query,
                f"something relevant to {text} comes first in {names}, so it does not tell retrievers apart",
                {"runs": list(ranks)},
            )
