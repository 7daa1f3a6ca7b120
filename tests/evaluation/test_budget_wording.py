"""The sentences about budgets that are not filled, and about unequal texts and depths, are in the golden file."""

from pathlib import Path

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.evaluation.unequal_depth import UnequalDepth
from retrieval_metrics.evaluation.unequal_text import UnequalText
from retrieval_metrics.types import BudgetFill, BudgetUse

GOLDEN = Path(__file__).parent / "golden" / "budget_wording.txt"

FULL = BudgetFill(fill_rate=0.98, n_unfilled=0, n=30, mean_results=20.0, results_to_fill=20)
SHORT = BudgetFill(fill_rate=0.15, n_unfilled=30, n=30, mean_results=3.0, results_to_fill=20, unfilled_rate=0.15)
TOO_LONG = BudgetFill(fill_rate=0.0, n_unfilled=0, n=30, mean_results=3.0, results_to_fill=1)


def use_budget(systems: dict[str, BudgetFill], common_budget: rm.Budget | None = None) -> BudgetUse:
    return BudgetUse(rm.Budget(2000, "chars"), ("recall@2000chars",), systems, common_budget)


def make_unequal_text(k: int, fair_metric: str | None, suggested_metric: rm.Metric | None) -> UnequalText:
    return UnequalText(k, "small", "big", 300.0, 3000.0, fair_metric, suggested_metric)


def make_texts() -> dict[str, list[str]]:
    unequal_texts = [
        make_unequal_text(3, "map@900chars", None),
        make_unequal_text(3, None, rm.Metric.parse("recall@900chars")),
        make_unequal_text(1, None, None),
    ]
    unequal_depths = [
        UnequalDepth("cut", "deep", 20, 100, {"recall@50": 50}),
        UnequalDepth("cut", "deep", 1, 100, {"recall@50": 50, "ndcg@100": 100}),
        UnequalDepth("cut", "deep", 20, 100, {"recall@50": 50}, most_excluded=2),
        UnequalDepth("cut", "deep", 20, 60, {"recall@100": 100}, most_excluded=2, corpus_size=60),
    ]
    return {
        "fill": [str(FULL), str(SHORT), str(TOO_LONG)],
        "systems": [
            *use_budget({"small": SHORT, "big": FULL}).sentences,
            *use_budget({"small": SHORT, "tiny": SHORT}, rm.Budget(900, "chars")).sentences,
            *use_budget({"small": FULL, "big": TOO_LONG}).sentences,
        ],
        "unequal text": list(map(wording.format_unequal_text, unequal_texts)),
        "unequal depth": list(map(wording.format_unequal_depth, unequal_depths)),
    }


def test_texts_are_the_golden_ones() -> None:
    check_golden_texts(GOLDEN, make_texts())


def test_a_budget_that_all_fill_needs_no_sentence() -> None:
    assert use_budget({"a": FULL, "b": FULL}).sentences == []
