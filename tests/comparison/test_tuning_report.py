"""The report of a choice."""

from pathlib import Path

import retrieval_metrics as rm
from tried_settings import data


def test_a_report_marks_where_gains_begin(tmp_path: Path) -> None:
    qrels, runs = data(5, 60)
    tuning = rm.tune(runs, qrels, "mrr", default="s0")
    tuning.report(tmp_path / "tuning.html")
    page = (tmp_path / "tuning.html").read_text()
    assert page.count('class="zero"') == 1 + sum(setting.difference is not None for setting in tuning.settings)
