"""What is said of budgets that are not filled, and of unequal texts and depths."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.evaluation.unequal_cutoffs import UnequalDepth, UnequalText
from retrieval_metrics.types import BudgetFill, BudgetUse

FULL = BudgetFill(fill_rate=0.98, unfilled=0, n=30, mean_results=20.0, results_to_fill=20)
SHORT = BudgetFill(fill_rate=0.15, unfilled=30, n=30, mean_results=3.0, results_to_fill=20)
TOO_LONG = BudgetFill(fill_rate=0.0, unfilled=0, n=30, mean_results=3.0, results_to_fill=1)


@pytest.mark.parametrize(
    ("fill", "text"),
    [
        (FULL, "filled to 98% on average"),
        (
            SHORT,
            "filled to 15% on average; 30 of 30 rankings end before 90%, about 20 results instead of 3 would fill it",
        ),
        (TOO_LONG, "filled to 0% on average; the next result does not fit"),
    ],
)
def test_how_far_a_budget_is_filled(fill: BudgetFill, text: str) -> None:
    assert str(fill) == text


@pytest.mark.parametrize(
    ("systems", "common_budget", "sentences"),
    [
        ({"a": FULL, "b": FULL}, None, []),
        (
            {"small": SHORT, "big": FULL},
            None,
            [
                (
                    "The budget of 2,000 characters is not filled: small fills 15% of it, because the ranking ends. "
                    "Retrieve about 20 results of small instead of 3."
                )
            ],
        ),
        (
            {"small": SHORT, "tiny": SHORT},
            rm.Budget(900, "chars"),
            [
                (
                    "The budget of 2,000 characters is not filled: small fills 15% of it and tiny fills 15% of it, "
                    "because the ranking ends. Retrieve about 20 results of small instead of 3 and about 20 results of "
                    "tiny instead of 3, or compare at a budget that all fill, such as 900chars."
                )
            ],
        ),
        (
            {"small": FULL, "big": TOO_LONG},
            None,
            [
                (
                    "The budget of 2,000 characters is too small for some results: big fills 0% of it, because the "
                    "next result does not fit. Choose a larger budget."
                )
            ],
        ),
    ],
)
def test_systems_that_do_not_fill_a_budget(
    systems: dict[str, BudgetFill], common_budget: rm.Budget | None, sentences: list[str]
) -> None:
    use = BudgetUse(rm.Budget(2000, "chars"), ("recall@2000chars",), systems, common_budget)
    assert use.sentences == sentences


@pytest.mark.parametrize(
    ("k", "fair_metric", "suggested_metric", "results", "advice"),
    [
        (3, "map@900chars", None, "first 3 results", "map@900chars compares equal ones"),
        (
            3,
            None,
            rm.Metric.parse("recall@900chars"),
            "first 3 results",
            "a budget such as recall@900chars compares equal ones",
        ),
        (1, None, None, "first result", "retrieve more results of small, and compare at a budget of characters"),
    ],
)
def test_unequal_text(
    k: int, fair_metric: str | None, suggested_metric: rm.Metric | None, results: str, advice: str
) -> None:
    unequal = UnequalText(k, "small", "big", 300.0, 3000.0, fair_metric, suggested_metric)
    assert wording.format_unequal_text(unequal) == (
        f"The {results} of big hold 3,000 characters on average, those of small 300, so @{k} compares unequal amounts "
        f"of text; {advice}."
    )


@pytest.mark.parametrize(
    ("cutoffs", "text"),
    [
        ({"recall@50": 50}, "recall@50 compares unequal depths; retrieve 50 results with each"),
        (
            {"recall@50": 50, "ndcg@100": 100},
            "recall@50 and ndcg@100 compare unequal depths; retrieve 100 results with each",
        ),
    ],
)
def test_unequal_depth(cutoffs: dict[str, int], text: str) -> None:
    unequal = UnequalDepth("cut", "deep", 20, 100, cutoffs)
    assert wording.format_unequal_depth(unequal) == f"cut is 20 deep and deep 100, so {text}, or compare at @20."
