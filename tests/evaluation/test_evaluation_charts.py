"""What the charts of evaluations show."""

import re
from pathlib import Path

import retrieval_metrics as rm


def test_the_intervals_of_a_chart_stay_inside_it(tmp_path: Path) -> None:
    qrels = {f"q{number}": ["d1"] for number in range(4)}
    run = {
        query: [f"x{number}" for number in range(7)] + ["d1"] for query in qrels
    }  # 1/3: intervals reach twice as far
    rm.evaluate(qrels, run, ["ndcg@10"]).report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    bands = re.findall(r'<polygon points="([^"]*)" fill="[^"]*" opacity="[.]16"', written)
    heights = [float(point.split(",")[1]) for band in bands for point in band.split()]
    assert heights
    assert min(heights) >= 0
