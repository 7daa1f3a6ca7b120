"""The sentences about budgets and depths: which systems have less within a cutoff than others, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.budget_coverage import BudgetFill, BudgetUse
    from retrieval_metrics.evaluation.unequal_depth import UnequalDepth
    from retrieval_metrics.evaluation.unequal_text import UnequalText


def format_budget_fill(fill: BudgetFill) -> str:
    """Return how far a system fills a budget."""
    text = f"{100 * fill.fill_rate:.0f}% filled on average"
    if not fill.is_full:
        rankings = numbers.format_count(fill.n, "ranking")
        verb = "fills" if fill.n_unfilled == 1 else "fill"
        return (
            f"{text}; {fill.n_unfilled} of {rankings} {verb} less than 90%; filling it takes about "
            f"{fill.results_to_fill} results instead of {fill.mean_results:.0f}"
        )
    return f"{text}; the next result is too long to fit" if fill.has_unused_room else text


def budget_use_sentences(use: BudgetUse) -> list[str]:
    """Return which systems do not fill a budget, how far they do, and what to do."""
    sentences = []
    if use.unfilled:
        ends = []
        needed = []
        for system in use.unfilled:
            fill = use.systems[system]
            share = f"{100 * fill.unfilled_rate:.0f}%"
            rankings = "the ranking" if fill.n == 1 else "the rankings"
            if fill.n_unfilled < fill.n:
                rankings = f"{fill.n_unfilled} of {fill.n} rankings"
            if fill.n_unfilled == 1:
                ends.append(f"{rankings} of {system} fills {share}")
            else:
                ends.append(f"{rankings} of {system} fill {share} on average")
            needed.append(f"about {fill.results_to_fill} results from {system} instead of {fill.mean_results:.0f}")
        alternative = ""
        if use.common_budget is not None:
            alternative = f", or compare at a budget that all systems fill, such as {use.common_budget}"
        sentences.append(
            f"The budget of {use.budget.in_words} is not filled: {numbers.join_names(ends)}. "
            f"Retrieve {numbers.join_names(needed)}{alternative}."
        )
    if use.too_long:
        shares = []
        for system in use.too_long:
            shares.append(f"{system} ({100 * use.systems[system].fill_rate:.0f}% filled)")
        sentences.append(
            f"The budget of {use.budget.in_words} is too small for the results of {numbers.join_names(shares)}: the "
            "next result does not fit. Choose a larger budget."
        )
    return sentences


def format_unequal_text(unequal: UnequalText) -> str:
    """Return which systems have unequal amounts of text among the first k, and what to do."""
    if unequal.fair_metric is not None:
        advice = f"{unequal.fair_metric} compares equal amounts"
    elif unequal.suggested_metric is not None:
        advice = f"{unequal.suggested_metric} compares equal amounts"
    else:
        advice = f"retrieve more results from {unequal.shortest}, and compare at a budget in characters"
    results = "The top result averages" if unequal.k == 1 else f"The top {unequal.k} results average"
    return (
        f"{results} {unequal.longest_length:,.0f} characters for {unequal.longest} and "
        f"{unequal.shortest_length:,.0f} for {unequal.shortest}, so @{unequal.k} compares unequal amounts of text; "
        f"{advice}."
    )


def format_unequal_depth(unequal: UnequalDepth) -> str:
    """Return which system is cut above the cutoffs of some metrics, and what to do."""
    metrics = list(unequal.cutoffs)
    compare = "compares" if len(metrics) == 1 else "compare"
    return (
        f"{unequal.shallow} returns at most {numbers.format_count(unequal.shallow_depth, 'result')} and "
        f"{unequal.deepest} {unequal.deepest_depth}, so "
        f"{numbers.join_names(metrics)} {compare} unequal depths; retrieve {unequal.n_needed} results "
        f"from both, or compare at cutoff {unequal.shallow_depth}."
    )
