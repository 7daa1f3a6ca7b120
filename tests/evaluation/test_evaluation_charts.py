"""What the charts of evaluations show."""

import re
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_charts import cutoff_lines


def test_the_intervals_of_a_chart_stay_inside_it(tmp_path: Path) -> None:
    qrels = {f"q{number}": ["d1"] for number in range(4)}
    # 1/3 in every query: the intervals reach twice as far.
    run = dict.fromkeys(qrels, (*"abcdefg", "d1"))
    rm.evaluate(qrels, run, ["ndcg@10"]).report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    bands = re.findall(r'<polygon points="([^"]*)" fill="[^"]*" opacity="[.]16"', written)
    points = " ".join(bands).split()
    heights = [float(point.split(",")[1]) for point in points]
    assert heights
    assert min(heights) >= 0


@pytest.mark.parametrize(("metric", "marked"), [("ndcg@5", 5), ("ndcg@10", 10), ("ndcg@20", None), ("ndcg", None)])
def test_the_cutoff_that_was_asked_for_is_marked_up_to_the_last_drawn(metric: str, marked: int | None) -> None:
    qrels = {f"q{number}": ["d1"] for number in range(4)}
    evaluation = rm.evaluate(qrels, dict.fromkeys(qrels, (*"abcdefghi", "d1")), metric)
    chart = cutoff_lines({"a run": evaluation.scores}, rm.Metric.parse(metric))
    assert max(chart.lines[0].means) == 10
    assert chart.marked == marked
