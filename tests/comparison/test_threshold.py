"""A threshold promises what its questions can promise, says what it costs, and when it is not worth it."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import retrieval_metrics as rm

ANSWERED: dict[str, Any] = {f"a{at}": {f"d{at}": 0.8, "x": 0.3} for at in range(40)}


def questions(n: int) -> dict[str, list[str]]:
    return {f"a{number}": [f"d{number}"] for number in range(40)} | {f"n{number}": [] for number in range(n)}


def run_of(best: Any) -> dict[str, Any]:
    return ANSWERED | {f"n{number}": {"x": float(score)} for number, score in enumerate(best)}


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


def test_what_26_questions_cannot_promise() -> None:
    threshold = rm.threshold(questions(26), run_of([0.1] * 26))
    assert str(threshold) == (
        "No threshold: 26 questions without an answer cannot promise 10 %, whatever they score: at least 29 are needed "
        "if none of them gets an answer; these can promise 10.9 %."
    )
    with pytest.raises(ValueError, match=r"there is no threshold to apply\. No threshold: 26 questions"):
        threshold.apply(ANSWERED)


@pytest.mark.filterwarnings("ignore:nothing was retrieved:retrieval_metrics.RetrievalWarning")
def test_what_it_costs_is_that_of_the_evaluation_with_it() -> None:
    best = np.linspace(0.1, 0.7, 60)
    qrels, run = questions(60), run_of(best)
    threshold = rm.threshold(qrels, run, "recall@5")
    after = rm.evaluate(qrels, threshold.apply(run), ["recall@5", "false_answer"])
    assert (threshold.mean_after, threshold.false_answers) == (
        after.means["recall@5"],
        round(60 * after.means["false_answer"]),
    )
    assert (threshold.mean_before, threshold.mean_before_interval) == (
        1.0,
        rm.evaluate(qrels, run, "recall@5").intervals()["recall@5"],
    )
    assert threshold.is_useful
    assert "answered" in str(threshold)
    assert "It costs 0.000 of recall@5." in str(threshold)


def test_scores_that_tell_nothing_apart_are_not_worth_a_threshold() -> None:
    threshold = rm.threshold(questions(60), run_of([1.0] * 60))
    assert (threshold.score, threshold.mean_after, threshold.is_useful) == (1.0, 0.0, False)
    assert threshold.conclusion.endswith(
        "the scores hardly tell the two kinds of question apart, so no threshold is worth it."
    )


def test_nothing_needs_to_be_cut_where_nothing_comes_back() -> None:
    run: dict[str, Any] = ANSWERED | {f"n{number}": {} for number in range(60)}
    threshold = rm.threshold(questions(60), run)
    assert (threshold.score, threshold.conclusion) == (
        -math.inf,
        "Nothing needs to be cut: 0 of 60 questions without an answer get one, which bounds new ones at 4.9 %.",
    )
    assert threshold.apply(run) == run


def test_questions_of_one_document_are_worth_fewer() -> None:
    best = [0.1 + 0.01 * (number // 5) for number in range(100)]
    clusters = {f"n{number}": number // 5 for number in range(100)}
    threshold = rm.threshold(questions(100), run_of(best), clusters=clusters)
    assert threshold.score is None
    assert "100 questions without an answer, worth 18 independent ones, cannot promise 10 %" in threshold.conclusion
    two = rm.threshold(questions(100), run_of(best), clusters={f"n{number}": number % 2 for number in range(100)})
    assert "worth fewer than 2 independent ones" in two.conclusion
    assert two.conclusion.endswith("these can promise nothing.")


def test_a_failed_or_absent_question_says_nothing() -> None:
    answers: Any = run_of([0.1] * 29) | {"n29": []}
    failed = rm.RetrievedRun(answers, {"n29": TimeoutError()})
    threshold = rm.threshold(questions(31), failed)
    assert (threshold.n_unanswerable, threshold.score) == (29, 0.1)
    assert threshold.apply(failed).errors.keys() == {"n29"}


def test_levels_and_kinds() -> None:
    rows = [
        {"id": f"n{number}", "query": f"{number}?", "relevant": {"x": -1}, "kind": "off" if number % 2 else "near"}
        for number in range(60)
    ]
    best = [0.5 if number % 2 else 0.6 for number in range(60)]
    threshold = rm.threshold(
        rm.EvaluationSet.from_dataset(rows), dict(list(run_of(best).items())[40:]), max_false_answers=0.7
    )
    assert (threshold.score, threshold.kinds) == (0.5, {"near": (30, 30), "off": (0, 30)})
    assert "By kind: near 30 of 30, off 0 of 30." in str(threshold)
    assert "so what it costs is unknown" in str(threshold)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": {query: ["x"] for query in questions(30)}}, "the ranking of query 'a0' has no scores"),
        (
            {"run": {q: [rm.Retrieved("a", score=0.1), rm.Retrieved("b", score=0.9)] for q in questions(30)}},
            "as distances do",
        ),
        ({"run": ANSWERED}, "of the 30 questions without an answer, .* none is in the run and was answered"),
        ({"metric": "leak@5"}, "leak@5 does not show what a threshold costs"),
        ({"max_false_answers": 0}, "max_false_answers must be above 0 and below 1, got 0"),
        ({"level": 0.5}, "level must be above 0.5 and below 1, got 0.5"),
        ({"run": {**run_of([0.1] * 30), "a0": {"d0": math.nan}}}, "the score of document 'd0' for query 'a0' is nan"),
    ],
)
def test_what_cannot_be_cut_is_refused(change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"run": run_of([0.1] * 30)} | change
    with pytest.raises(ValueError, match=message):
        rm.threshold(questions(30), **options)


def test_it_is_saved_and_drawn(tmp_path: Path) -> None:
    threshold = rm.threshold(questions(60), run_of(np.linspace(0.1, 0.9, 60)))
    threshold.save(tmp_path / "threshold.json")
    assert rm.load(tmp_path / "threshold.json") == threshold
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threshold.plot().savefig(tmp_path / "threshold.png")
    assert [one.score for one in threshold.curve] == sorted(one.score for one in threshold.curve)
    assert threshold.score in [one.score for one in threshold.curve]


def test_items_and_columns_are_cut_like_mappings() -> None:
    best = np.linspace(0.1, 0.7, 60)
    listed = {
        query: [rm.Retrieved(document, score=score) for document, score in ranking.items()]
        for query, ranking in run_of(best).items()
    }
    plain, items = rm.threshold(questions(60), run_of(best)), rm.threshold(questions(60), listed)
    assert plain == items
    assert {query: [one.id for one in kept] for query, kept in items.apply(listed).items()} == {
        query: list(kept) for query, kept in plain.apply(run_of(best)).items()
    }
