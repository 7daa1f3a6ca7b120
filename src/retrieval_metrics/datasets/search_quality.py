"""Measure how well a search finds what is relevant to a question, beside random passages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray


# Stands for a chance of 0, which has no logarithm.
MIN_CHANCE = 1e-12


@dataclass(frozen=True, slots=True)
class UnansweredRule:
    """A rule by which BM25 does not find what is relevant to a question; both limits must be met.

    Attributes:
        min_chance: The lowest probability that random passages rank as well as the relevant ones.
        max_share: What the score of the best relevant passage must be below, as a share of the best score.
    """

    min_chance: float
    max_share: float


# A question is unanswered if it meets one of these rules. The limits were chosen so that at most 5% of the questions
# of each set in tests/benchmarks/lint.py do.
UNANSWERED_RULES = (UnansweredRule(0.13, 0.7), UnansweredRule(0.005, 0.35))


@dataclass(frozen=True, slots=True)
class SearchQuality:
    """How well BM25 finds what is relevant to a question.

    Attributes:
        chance: The probability that random passages would rank as well.
        share: The best score of something relevant, as a share of the best score.
        is_easy: Whether the first passages are all relevant.
    """

    chance: float
    share: float
    is_easy: bool

    @classmethod
    def from_scores(cls, scores: FloatArray, groups: Sequence[Sequence[int]]) -> SearchQuality:
        """Compute the quality from the scores of all passages, and the positions of those that satisfy each group."""
        relevant_passages: set[int] = set()
        for group in groups:
            relevant_passages.update(group)
        relevant_scores = scores[sorted(relevant_passages)]
        best_score = float(scores.max())
        share = float(relevant_scores.max()) / best_score if best_score else 0.0
        n_first = int((scores == best_score).sum())
        return cls(_chance_of_rank(scores, groups), share, share >= 1 and n_first <= len(relevant_scores))

    @property
    def is_unanswered(self) -> bool:
        """Whether hardly anything relevant is found."""
        if self.share == 0:
            return True
        for rule in UNANSWERED_RULES:
            if self.chance >= rule.min_chance and self.share < rule.max_share:
                return True
        return False


def _chance_of_rank(scores: FloatArray, groups: Sequence[Sequence[int]]) -> float:
    """Return the probability that random passages would rank at least as well as those of the groups.

    The chance of each group is that of the best of as many random passages; their product is combined by Fisher's
    method.
    """
    minus_log_product = 0.0
    for group in groups:
        best_score = float(scores[list(group)].max())
        rank = float((scores > best_score).sum()) + float((scores == best_score).sum()) / 2
        chance = 1 - (1 - rank / len(scores)) ** len(group)
        minus_log_product -= math.log(max(chance, MIN_CHANCE))
    term = 1.0
    tail = 1.0
    for number in range(1, len(groups)):
        term *= minus_log_product / number
        tail += term
    return math.exp(-minus_log_product) * tail
