"""The sentences about budgets and depths: which systems have less within a cut-off than others, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.evaluation.budget_coverage import BudgetFill, BudgetUse
    from retrieval_metrics.evaluation.unequal_cutoffs import UnequalDepth, UnequalText


def format_budget_fill(fill: BudgetFill) -> str:
    """Return how far a system fills a budget."""
    text = f"filled to {100 * fill.fill_rate:.0f}% on average"
    if not fill.full:
        return (
            f"{text}; {fill.unfilled} of {fill.n} rankings end before 90%, about {fill.results_to_fill} results "
            f"instead of {fill.mean_results:.0f} would fill it"
        )
    return f"{text}; the next result does not fit" if fill.has_unused_room else text


def budget_use_sentences(use: BudgetUse) -> list[str]:
    """Return which systems do not fill a budget, how far they do, and what to do."""
    sentences = []
    if use.unfilled:
        needed = []
        for system in use.unfilled:
            fill = use.systems[system]
            needed.append(f"about {fill.results_to_fill} results of {system} instead of {fill.mean_results:.0f}")
        alternative = ""
        if use.common_budget is not None:
            alternative = f", or compare at a budget that all fill, such as {use.common_budget}"
        sentences.append(
            f"The budget of {use.budget.in_words} is not filled: {_fill_rates(use, use.unfilled)}, because the ranking "
            f"ends. Retrieve {numbers.join_names(needed)}{alternative}."
        )
    if use.too_long:
        sentences.append(
            f"The budget of {use.budget.in_words} is too small for some results: {_fill_rates(use, use.too_long)}, "
            "because the next result does not fit. Choose a larger budget."
        )
    return sentences


def _fill_rates(use: BudgetUse, systems: Sequence[str]) -> str:
    return numbers.join_names(
        [f"{system} fills {100 * use.systems[system].fill_rate:.0f}% of it" for system in systems]
    )


def format_unequal_text(unequal: UnequalText) -> str:
    """Return which systems have unequal amounts of text among the first k, and what to do."""
    if unequal.fair_metric is not None:
        advice = f"{unequal.fair_metric} compares equal ones"
    elif unequal.suggested_metric is not None:
        advice = f"a budget such as {unequal.suggested_metric} compares equal ones"
    else:
        advice = f"retrieve more results of {unequal.shortest}, and compare at a budget of characters"
    results = "first result" if unequal.k == 1 else f"first {unequal.k} results"
    return (
        f"The {results} of {unequal.longest} hold {unequal.longest_length:,.0f} characters on average, those of "
        f"{unequal.shortest} {unequal.shortest_length:,.0f}, so @{unequal.k} compares unequal amounts of text; "
        f"{advice}."
    )


def format_unequal_depth(unequal: UnequalDepth) -> str:
    """Return which system is cut above the cut-offs of some metrics, and what to do."""
    metrics = list(unequal.cutoffs)
    compare = "compares" if len(metrics) == 1 else "compare"
    return (
        f"{unequal.shallow} is {unequal.shallow_depth} deep and {unequal.deepest} {unequal.deepest_depth}, so "
        f"{numbers.join_names(metrics)} {compare} unequal depths; retrieve {max(unequal.cutoffs.values())} results "
        f"with each, or compare at @{unequal.shallow_depth}."
    )
