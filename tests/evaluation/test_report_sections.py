"""The sections that reports of evaluations and of comparisons share."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from reported import QRELS


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("unjudged", "treated"),
    [
        (None, "count as not relevant"),
        ("bounds", "count as not relevant"),
        ("condensed", "were taken out of the rankings"),
    ],
)
def test_a_report_says_in_one_sentence_how_much_is_unjudged_and_what_became_of_it(
    tmp_path: Path, unjudged: str | None, treated: str
) -> None:
    qrels = {query: {"d": 1, "x": 0} for query in QRELS}
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d", "y")), "b": dict.fromkeys(QRELS, ("y", "z", "d", "x"))}
    comparison = rm.compare(qrels, {**runs, "judged": dict.fromkeys(QRELS, ("d", "x"))}, "mrr@2", unjudged=unjudged)
    comparison.report(tmp_path / "report.html")
    page = unescape((tmp_path / "report.html").read_text())
    assert page.count("are unjudged") == 1
    assert f"Of the first 2 results, 50 % of a and 100 % of b are unjudged; they {treated}." in page
