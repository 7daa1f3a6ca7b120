"""What is said of a mean and its ceiling."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import mean_limit_wording as wording
from retrieval_metrics.evaluation.mean_limits import CeilingCheck, CeilingNumbers

SHARE = CeilingNumbers(total=3, mean=0.05, n_queries=60, upper=0.124, level=0.95, is_share=True, ceiling=0.05)
MEAN = CeilingNumbers(total=1.5, mean=1.5, n_queries=1, upper=2.25, level=0.9, is_share=False, ceiling=1.0)


@pytest.mark.parametrize(
    ("numbers", "text", "missed"),
    [
        (SHARE, "3 of 60 queries, one-sided 95% upper bound 12.4%", "limit 5%"),
        (MEAN, "mean 1.50 over 1 query, one-sided 90% upper bound 2.25", "limit 1"),
    ],
)
def test_the_numbers_and_what_is_allowed(numbers: CeilingNumbers, text: str, missed: str) -> None:
    assert wording.format_ceiling_numbers(numbers) == text
    assert wording.format_missed_ceiling(numbers) == f"{text}; {missed}"


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (CeilingCheck("leak@5", "passed", SHARE), f"leak@5 passed: {wording.format_ceiling_numbers(SHARE)}"),
        (CeilingCheck("m", "above_ceiling", MEAN), f"m above the ceiling: {wording.format_missed_ceiling(MEAN)}"),
        (CeilingCheck("leak@5", "not_checked", reason="no value"), "leak@5 not checked: no value"),
    ],
)
def test_the_line_of_a_check(check: CeilingCheck, line: str) -> None:
    assert check.line == line


def test_where_a_metric_is_undefined() -> None:
    metric = rm.Metric("mrr")
    undefined = wording.format_undefined(metric, some_unanswered=False)
    assert undefined == metric.definition.undefined_if
    text = wording.format_undefined(metric, some_unanswered=True)
    assert text == f"{undefined}, apart from those that failed or are missing from the run"
