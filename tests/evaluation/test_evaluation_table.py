"""The table of the means, with the lines below it in their order."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_table import plain_summary_table, summary_table

QRELS = {"q1": ["a"], "q2": ["a"], "q3": {"a": 0}}
RUN = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}


@pytest.fixture(scope="module")
def result() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["mrr", "rbp(p=0.5)"], ties="expected")


def test_rows_are_means_with_their_intervals_and_numbers_of_queries(result: rm.Evaluation) -> None:
    table = summary_table(result.scores)
    assert table.header == ["metric", "mean", "95% CI", "n"]
    assert [[row[0], row[1], row[3]] for row in table.rows] == [["mrr", "0.625", "2"], ["rbp(p=0.5)", "0.312", "2"]]
    for row, interval in zip(table.rows, result.intervals().values(), strict=True):
        assert row[2] == f"[{interval.low:.3f}, {interval.high:.3f}]"


def test_the_lines_begin_with_the_queries_and_end_with_residuals(result: rm.Evaluation) -> None:
    beginnings = [note.partition(" ")[0] for note in summary_table(result.scores).notes]
    assert beginnings == ["3", "1", "1", "CIs", "mrr:", "rbp(p=0.5):", "rbp(p=0.5)"]


def test_a_metric_without_a_defined_query_has_no_interval() -> None:
    table = summary_table(rm.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "mrr").scores)
    assert table.rows == [["mrr", "nan", "-", "0"]]


def test_a_wide_terminal_has_the_meanings_too(result: rm.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "meaning" not in str(result)  # stdout is no terminal
    widest = plain_summary_table(result.scores).width
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns, is_shown in ((widest - 1, False), (widest, True)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert ("meaning" in str(result)) is is_shown
    changes = rm.changes({"q": ["a"]}, {"q": ["a", "b"]})
    monkeypatch.setenv("COLUMNS", "300")
    assert "meaning" not in str(changes)  # of given scores


def test_totals_are_printed_alike(result: rm.Evaluation) -> None:
    assert summary_table(result.totals()) == summary_table(result.scores)


def test_the_plain_table_adds_what_each_metric_says(result: rm.Evaluation) -> None:
    table = plain_summary_table(result.scores)
    assert table.header[-1] == "meaning"
    assert [row[-1] for row in table.rows] == [metric.in_words for metric in result.metrics]
