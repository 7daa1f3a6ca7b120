"""Panels with rows: what they draw, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb

import retrieval_metrics as rm
from plot_gallery import shown
from retrieval_metrics.reports.line_styles import GAIN

if TYPE_CHECKING:
    from functools import partial
    from pathlib import Path

    from matplotlib.figure import Figure

    Drawing = tuple[str, partial[Figure]]


def test_queries_that_moved_alike_are_named_in_one_order_everywhere(tmp_path: Path) -> None:
    qrels = {f"q{index}": ["d"] for index in range(12)}
    old: dict[str, list[str]] = {}
    new: dict[str, list[str]] = {}
    for index, query in enumerate(qrels):
        needed, other = (old, new) if index < 8 else (new, old)
        needed[query] = ["d"]
        other[query] = ["x"]
    compared = rm.compare(qrels, {"old": old, "new": new}, "mrr", baseline="old")
    assert [query for query, _ in compared.difference("mrr").largest_changes(3)] == ["q0", "q1", "q2"]
    assert "q0 -1.00, q1 -1.00, q2 -1.00" in [text for text, _ in shown(compared.plot("differences"))]
    compared.report(tmp_path / "report.html")
    assert '<div class="moved last">q0 -1.00, q1 -1.00, q2 -1.00</div>' in (tmp_path / "report.html").read_text()


def test_a_lower_value_can_be_the_better_one() -> None:
    values = {
        "slow": {f"q{index}": 2.0 + index % 3 for index in range(12)},
        "fast": {f"q{index}": 1.0 for index in range(12)},
    }
    evaluations = {
        name: rm.Evaluation.from_scores({"seconds": scores}, bounds=(0, 10), lower_is_better="seconds")
        for name, scores in values.items()
    }
    figure = rm.compare(evaluations).plot("differences")
    won = [patch for patch in figure.axes[0].patches if patch.get_facecolor()[:3] == to_rgb(GAIN)]
    assert won[0].get_data()[0].min() == -3  # type: ignore[attr-defined]  # the largest gain is a fall
    assert "12 won" in " ".join(text for text, _ in shown(figure))
