"""The figure of a threshold draws its curve."""

import numpy as np
import pytest

import retrieval_metrics as rm


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_lines_are_the_curve_and_the_chosen_score_is_marked() -> None:
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(20):
        qrels[f"answered {number}"] = {"d": 1}
        run[f"answered {number}"] = {"d": 0.9, "x": 0.5}
        qrels[f"unanswerable {number}"] = {}
        run[f"unanswerable {number}"] = {"x": 0.3}
    threshold = rm.threshold(qrels, run, "recall@2", max_false_answers=0.5)
    (axes,) = threshold.plot().axes
    points = [point for point in threshold.curve if np.isfinite(point.score)]
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()}
    assert drawn["recall@2"] == [point.mean for point in points]
    assert drawn["false answers"] == [point.false_answers / threshold.n_unanswerable for point in points]
    assert "dotted: limit 50%" in axes.get_xlabel()
