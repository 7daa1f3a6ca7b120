"""A threshold promises what its questions can promise, says what it costs, and when it is not worth it."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from unanswerable_questions import questions, run_of


@pytest.mark.filterwarnings("ignore:.*judged queries:retrieval_metrics.RetrievalWarning")
def test_what_it_costs_is_that_of_the_evaluation_with_it() -> None:
    best = np.linspace(0.1, 0.7, 60)
    qrels = questions(60)
    run = run_of(best)
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
    assert "Cost: recall@5 changes from 1.000 to 1.000." in str(threshold)


def test_a_failed_or_absent_question_says_nothing() -> None:
    answers: Any = run_of([0.1] * 29) | {"n29": []}
    failed = rm.RetrievedRun(answers, {"n29": TimeoutError()})
    threshold = rm.threshold(questions(31), failed)
    assert (threshold.n_unanswerable, threshold.score) == (29, 0.1)
    assert threshold.apply(failed).errors.keys() == {"n29"}


def test_it_is_saved_and_drawn(tmp_path: Path) -> None:
    threshold = rm.threshold(questions(60), run_of(np.linspace(0.1, 0.9, 60)))
    threshold.save(tmp_path / "threshold.json")
    assert rm.load(tmp_path / "threshold.json") == threshold
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threshold.plot().savefig(tmp_path / "threshold.png")
    assert [point.score for point in threshold.curve] == sorted(point.score for point in threshold.curve)
    assert threshold.score in [point.score for point in threshold.curve]


def test_the_frame_has_the_curve() -> None:
    threshold = rm.threshold(questions(60), run_of([0.1] * 60))
    frame = threshold.to_pandas()
    assert list(frame["score"]) == [point.score for point in threshold.curve]
    assert list(frame.columns) == ["score", "false_answers", "false_answer_bound", "mean", "answered"]
    assert "<table" in threshold._repr_html_()
