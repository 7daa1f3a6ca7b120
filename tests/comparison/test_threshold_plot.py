"""The figure of a threshold draws its curve."""

import numpy as np
import pytest

import retrieval_metrics as rm


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_lines_are_the_curve_and_the_chosen_score_is_marked() -> None:
    qrels = {f"q{number}": {"d": 1} if number % 2 else {} for number in range(40)}
    run = {query: {"d": 0.9, "x": 0.5} if judged else {"x": 0.3} for query, judged in qrels.items()}
    threshold = rm.threshold(qrels, run, "recall@2", max_false_answers=0.5)
    (axes,) = threshold.plot().axes
    points = [point for point in threshold.curve if np.isfinite(point.score)]
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()}
    assert drawn["recall@2"] == [point.mean for point in points]
    assert drawn["false answers"] == [point.false_answers / threshold.n_unanswerable for point in points]
    assert "dotted: 50 %" in axes.get_xlabel()
