"""A threshold promises what its questions can promise."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import retrieval_metrics as rm
from unanswerable_questions import questions, run_of


def expected_score(best: Any, alpha: float, level: float = 0.95) -> float | None:
    """The score by the definition: the (r + 1)-th largest, with r the most exceedances that still promise alpha."""
    allowed = [r for r in range(len(best)) if binom.cdf(r, len(best), alpha) <= 1 - level]
    return sorted(best, reverse=True)[max(allowed)] if allowed else None


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("n", [9, 29, 50, 120])
def test_the_score_is_the_order_statistic_of_the_tolerance_limit(n: int, alpha: float) -> None:
    best = np.random.default_rng(n).normal(0.5, 0.1, n).tolist()
    threshold = rm.threshold(
        {f"n{number}": [] for number in range(n)}, dict(list(run_of(best).items())[40:]), max_false_answers=alpha
    )
    assert threshold.score == expected_score(best, alpha)
    assert threshold.false_answer_bound <= alpha or threshold.score is None


def test_it_is_broken_as_rarely_as_promised_with_ties_too() -> None:
    rng = np.random.default_rng(7)
    laws: list[Any] = [
        (lambda: rng.normal(0.5, 0.1, 40), lambda score: 1 - norm.cdf(score, 0.5, 0.1)),
        (lambda: rng.integers(0, 10, 40) / 10, lambda score: np.mean(np.arange(10) / 10 > score)),
    ]
    for draw, above in laws:
        broken = 0
        for _ in range(100):
            score = rm.threshold(
                {f"n{number}": [] for number in range(40)}, dict(list(run_of(draw()).items())[40:])
            ).score
            assert score is not None
            broken += above(score) > 0.1
        assert broken <= 12  # of 100, of which 5 are expected at most: exceeded with a probability of 1 in 1,000


@pytest.mark.parametrize(("share", "fewest"), [(0.01, 299), (0.05, 59), (0.1, 29), (0.2, 14), (0.3, 9)])
def test_the_fewest_questions_that_can_promise_a_share(share: float, fewest: int) -> None:
    qrels: dict[str, Any] = {f"n{number}": [] for number in range(fewest)}
    run: dict[str, Any] = {query: {"x": 0.5} for query in qrels}
    assert rm.threshold(qrels, run, max_false_answers=share).score == 0.5
    del run["n0"]
    without = rm.threshold(qrels, run, max_false_answers=share)
    assert (without.score, without.min_n) == (None, fewest)


def test_questions_of_one_document_are_worth_fewer() -> None:
    best = [0.1 + 0.01 * (number // 5) for number in range(100)]
    clusters = {f"n{number}": number // 5 for number in range(100)}
    threshold = rm.threshold(questions(100), run_of(best), clusters=clusters)
    assert threshold.score is None
    assert "with 100 unanswerable questions (effective n 18), a false-answer rate" in threshold.conclusion
    two = rm.threshold(questions(100), run_of(best), clusters={f"n{number}": number % 2 for number in range(100)})
    assert "(effective n below 2)" in two.conclusion
    assert two.conclusion.endswith("these 100 cannot guarantee even a rate of 50%.")
