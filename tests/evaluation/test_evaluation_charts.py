"""What the charts of evaluations show."""

import re
from pathlib import Path

import retrieval_metrics as rm


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
