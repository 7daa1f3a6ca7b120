"""What a threshold says."""

import math
from typing import Any

import pytest

import retrieval_metrics as rm
from unanswerable_questions import ANSWERED, questions, run_of


def test_what_26_questions_cannot_promise() -> None:
    threshold = rm.threshold(questions(26), run_of([0.1] * 26))
    assert str(threshold) == (
        "No threshold: with 26 unanswerable questions, a false-answer rate of at most 10% cannot be guaranteed at any "
        "score. At least 29 independent unanswerable questions are needed, even if none gets an answer; the lowest "
        "rate that these 26 can guarantee is 10.9%."
    )
    with pytest.raises(ValueError, match=r"there is no threshold to apply\. No threshold: with 26 unanswerable"):
        threshold.apply(ANSWERED)


def test_scores_that_tell_nothing_apart_are_not_worth_a_threshold() -> None:
    threshold = rm.threshold(questions(60), run_of([1.0] * 60))
    assert (threshold.score, threshold.mean_after, threshold.is_useful) == (1.0, 0.0, False)
    assert threshold.conclusion == (
        "No threshold is worthwhile: 1, the lowest one that limits false answers to 10%, would cut "
        f"{threshold.metric} from {threshold.mean_before:.3f} to 0.000."
    )


def test_nothing_needs_to_be_cut_where_nothing_comes_back() -> None:
    run: dict[str, Any] = ANSWERED | {f"n{number}": {} for number in range(60)}
    threshold = rm.threshold(questions(60), run)
    assert (threshold.score, threshold.conclusion) == (
        -math.inf,
        "No threshold needed: 0 of 60 unanswerable questions get an answer (upper bound 4.9%).",
    )
    assert threshold.apply(run) == run


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
    assert "so the cost is unknown" in str(threshold)
