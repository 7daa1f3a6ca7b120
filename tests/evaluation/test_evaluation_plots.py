"""Figures draw the numbers of the evaluation they come from."""

import numpy as np

import retrieval_metrics as rm
from reported import texts_of


def test_the_overview_of_an_evaluation_names_every_metric(evaluation: rm.Evaluation) -> None:
    figure = evaluation.plot()
    assert len(figure.axes) == 1 + 3
    assert {"mrr@10", "recall@2", "hit_rate@1", "mrr over k", "recall over k", "hit_rate over k"} <= texts_of(figure)


def test_the_line_over_k_has_the_means_at_k(evaluation: rm.Evaluation) -> None:
    (axes,) = evaluation.plot("cutoffs", "ndcg").axes
    line = axes.get_lines()[0]
    over = evaluation.at_cutoffs("ndcg")
    assert np.asarray(line.get_xdata()).tolist() == list(over)
    assert np.asarray(line.get_ydata()).tolist() == list(over.values())


def test_a_plot_shows_itself_in_a_notebook(evaluation: rm.Evaluation) -> None:
    picture = evaluation.plot("intervals")._repr_png_()  # type: ignore[attr-defined]  # notebooks ask whether it is there
    assert picture.startswith(b"\x89PNG")
