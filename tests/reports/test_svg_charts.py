"""Charts of a page: where 0 is marked, and which changes are named first."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.comparison_charts import sorted_changes
from retrieval_metrics.reports import svg_charts
from retrieval_metrics.reports.charts import ChartRow, ChartRows


@pytest.mark.parametrize("ends", [(0.1, 0.4), (-0.4, -0.1), (-0.2, 0.4)])
def test_0_is_marked_among_gains_also_where_all_are_on_one_side(ends: tuple[float, float]) -> None:
    rows = [ChartRow("a", sum(ends) / 2, rm.types.Interval(*ends), "")]
    among_gains = svg_charts.draw_rows(ChartRows.scaled("", "", rows, gains=True))
    among_values = svg_charts.draw_rows(ChartRows.scaled("", "", rows))
    assert among_gains.count('class="zero"') == 1
    assert among_values.count('class="zero"') == int(ends[0] < 0)


def test_gains_come_first_also_where_a_lower_value_is_better() -> None:
    values = {
        "slow": {f"q{index}": 2.0 + index % 3 for index in range(12)},
        "fast": {f"q{index}": 3.0 for index in range(12)},
    }
    evaluations = {
        name: rm.Evaluation.from_scores({"seconds": scores}, bounds=(0, 10), lower_is_better="seconds")
        for name, scores in values.items()
    }
    changes = sorted_changes(rm.compare(evaluations).difference("seconds"))
    assert changes.changes.tolist() == [-1.0] * 4 + [0.0] * 4 + [1.0] * 4
    assert changes.counts == (4, 4, 4)
    assert [name for name, _ in changes.gained] == ["q2", "q5", "q8"]
    assert [name for name, _ in changes.dropped] == ["q0", "q3", "q6"]
    drawn = svg_charts.draw_changes(changes)  # a loss goes up, and its query is named above
    assert drawn.index("q0") < drawn.index("<svg") < drawn.index("q2")


def test_lines_are_dashed_in_the_key_once_the_colours_are_used_up() -> None:
    names = [f"system {number}" for number in range(8)]
    assert "stroke-dasharray" not in svg_charts.draw_key(names[:6])
    assert svg_charts.draw_key(names).count("stroke-dasharray=") == 2
