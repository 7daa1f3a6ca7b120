"""What charts show, before anything draws it."""

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_charts import evaluation_mean_charts
from retrieval_metrics.reports.charts import ChartRow, ChartRows

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "least", "ends"),
    [
        ([(0.4, 0.3, 0.6)], 1.0, (0, 1)),  # a bounded metric
        ([(0.002, 0.001, 0.004)], 0.0, (0, 0.004)),  # seconds: not a dot at the left edge
        ([(0.1, -0.2, 0.4), (-0.3, -0.5, -0.1)], 0.0, (-0.5, 0.4)),
        ([(0.2, NAN, NAN), (NAN, NAN, NAN)], 0.0, (0, 0.2)),
        ([(0.0, 0.0, 0.0)], 0.0, (0, 1)),
        ([], 0.0, (0, 1)),
    ],
)
def test_a_scale_has_0_and_every_end(
    values: list[tuple[float, float, float]], least: float, ends: tuple[float, float]
) -> None:
    rows = [ChartRow("a", value, rm.types.Interval(low, high), "") for value, low, high in values]
    assert ChartRows.scaled("", "", rows, least).ends == ends


def test_what_has_another_scale_than_0_to_1_stands_apart() -> None:
    values = {
        "seconds": {f"q{index}": 0.002 + index / 10_000 for index in range(9)},
        "faith": {f"q{index}": index / 9 for index in range(9)},
    }
    charts = evaluation_mean_charts(
        rm.Evaluation.from_scores(values, bounds={"seconds": (0, np.inf), "faith": (0, 1)}).scores
    )
    assert [chart.title for chart in charts] == ["means over 9 queries", "means from 0 to 1"]
    assert [row.name for row in charts[0].rows] == ["seconds"]
    assert [row.name for row in charts[1].rows] == ["faith"]
    assert charts[0].ends[1] < 0.01
    assert charts[1].ends == (0, 1)
