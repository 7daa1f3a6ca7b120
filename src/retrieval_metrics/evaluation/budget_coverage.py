"""Measure how far each system fills a budget of text, and whether systems can be compared at it."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.files.record_classes import register_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.budget import Budget, BudgetFills
    from retrieval_metrics.metrics.base.metric import Metric


# Two amounts of text are unequal if their ratio is larger; retrievers of the same chunks seldom exceed it.
MIN_UNEQUAL_RATIO = 1.5
# A query fills a budget if its results take at least this share; a ranking that ends earlier could hold more.
FULL_SHARE = 0.9
# A system fills a budget if at most this share of its queries do not.
MAX_UNFILLED_SHARE = 0.1


@register_record
class BudgetFill(NamedTuple):
    """How one system fills a budget, over the queries for which it retrieved anything.

    Attributes:
        fill_rate: The mean share of the budget that its results take; only whole results that fit are counted.
        n_unfilled: The number of queries whose ranking ends before it takes 90% of the budget.
        n: The number of queries.
        mean_results: The mean number of results per query, of the unfilled rankings alone if there are any.
        results_to_fill: How many results would fill the budget in nine of ten of these queries, at the mean length of
            each.
        unfilled_rate: The mean share of the budget that the unfilled rankings take; 1 if there are none.
    """

    fill_rate: float
    n_unfilled: int
    n: int
    mean_results: float
    results_to_fill: int
    unfilled_rate: float = 1.0

    @property
    def is_full(self) -> bool:
        """Whether at most a tenth of the queries are short of results."""
        return self.n_unfilled <= MAX_UNFILLED_SHARE * self.n

    @property
    def has_unused_room(self) -> bool:
        """Whether much of the budget stays free because the next results of the rankings do not fit."""
        return self.is_full and self.fill_rate < FULL_SHARE / MIN_UNEQUAL_RATIO

    def __str__(self) -> str:
        return wording.format_budget_fill(self)


@register_record
class BudgetUse(NamedTuple):
    """How the systems of a comparison fill a budget; whether their values at this budget can be compared.

    Attributes:
        budget: The budget.
        metrics: The metrics that have it.
        systems: How each system fills it.
        common_budget: The largest round budget that every system fills with what was retrieved; None if there is none.
    """

    budget: Budget
    metrics: tuple[str, ...]
    systems: Mapping[str, BudgetFill]
    common_budget: Budget | None

    @property
    def unfilled(self) -> tuple[str, ...]:
        """The systems whose rankings end before the budget is filled."""
        return tuple(system for system, fill in self.systems.items() if not fill.is_full)

    @property
    def too_long(self) -> tuple[str, ...]:
        """The systems that fill much less of it than another because their results are too long for it."""
        highest_rate = max((fill.fill_rate for fill in self.systems.values()), default=0.0)
        systems = []
        for system, fill in self.systems.items():
            if fill.is_full and fill.fill_rate * MIN_UNEQUAL_RATIO < highest_rate:
                systems.append(system)
        return tuple(systems)

    @property
    def is_fair(self) -> bool:
        """Whether all systems fill it, and about equally."""
        return not (self.unfilled or self.too_long)

    @property
    def sentences(self) -> list[str]:
        """Which systems do not fill it, how far they do, and what to do."""
        return wording.budget_use_sentences(self)

    def unequal(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the pairs of systems that cannot be compared at this budget."""
        return [pair for pair in pairs if not self.are_comparable(*pair)]

    def are_comparable(self, system: str, baseline: str) -> bool:
        """Return whether two systems both fill the budget, and about equally.

        A system whose results have no known lengths, or that retrieved nothing, is no obstacle.
        """
        fills = [self.systems[name] for name in (system, baseline) if name in self.systems]
        if not all(fill.is_full for fill in fills):
            return False
        rates = [fill.fill_rate for fill in fills]
        return max(rates, default=0) <= MIN_UNEQUAL_RATIO * min(rates, default=0)


def measure_budget_use(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> tuple[BudgetUse, ...]:
    """Return how the systems fill each budget of the metrics, for the budgets whose fills are known."""
    budgets: dict[Budget, None] = {}
    for scores in scores_by_system.values():
        budgets |= dict.fromkeys(scores.budgets)
    uses = []
    for budget in budgets:
        metric_names = tuple(str(metric) for metric in metrics if metric.k == budget)
        fills_by_system = find_query_fills(scores_by_system, budget)
        if not metric_names or not fills_by_system:
            continue
        systems = _summarize_systems(fills_by_system, budget)
        covered_lengths = [measure_covered_length(fills_by_system[system], budget) for system in systems]
        common_budget = find_common_budget(scores_by_system, min(covered_lengths, default=0), budget)
        uses.append(BudgetUse(budget, metric_names, systems, common_budget))
    return tuple(uses)


def measure_budget_fills(scores: Scores) -> dict[Budget, BudgetFill]:
    """Return how far the rankings of one system fill the budgets of its metrics, as far as that is known."""
    fills = {}
    for budget, query_fills in scores.all_fills().items():
        fill = _summarize_fills(query_fills, budget)
        if fill.n:
            fills[budget] = fill
    return fills


def find_common_budget(scores_by_system: Mapping[str, Scores], size: int, like: Budget) -> Budget | None:
    """Return the largest round budget up to a size, in the unit of another budget, if all systems fill it equally.

    Smaller budgets are not tried: None if the systems do not fill this one, or if that is unknown.
    """
    if size < 1 or any(scores.origin is None for scores in scores_by_system.values()):
        return None
    # Imported here because only unequal amounts of text need it.
    from retrieval_metrics.matching.budget import Budget

    # A round budget has at most two significant digits.
    step = 10 ** max(0, floor(log10(size)) - 1)
    round_size = size // step * step
    budget = Budget(round_size, like.unit)
    systems = _summarize_systems(find_query_fills(scores_by_system, budget), budget)
    use = BudgetUse(budget, (), systems, None)
    return budget if use.is_fair else None


def find_query_fills(scores_by_system: Mapping[str, Scores], budget: Budget) -> dict[str, BudgetFills]:
    """Return how the queries of each system fill a budget, where that is known."""
    fills_by_system = {}
    for system, scores in scores_by_system.items():
        query_fills = scores.filled(budget)
        if query_fills is not None:
            fills_by_system[system] = query_fills
    return fills_by_system


def _summarize_systems(fills_by_system: Mapping[str, BudgetFills], budget: Budget) -> dict[str, BudgetFill]:
    """Return how the systems fill a budget; without those that retrieved nothing."""
    system_fills = {}
    for system, query_fills in fills_by_system.items():
        fill = _summarize_fills(query_fills, budget)
        if fill.n:
            system_fills[system] = fill
    return system_fills


def _summarize_fills(query_fills: BudgetFills, budget: Budget) -> BudgetFill:
    """Return how a system fills a budget, from how each of its queries does.

    Queries without results are left out; a system without any has `n` 0.
    """
    rows = np.flatnonzero(query_fills.n_retrieved)
    if not len(rows):
        return BudgetFill(0.0, 0, 0, 0.0, 0)
    query_fills = query_fills.take(rows)
    n_fitting = query_fills.n_fitting
    used_length = query_fills.used_length
    is_exhausted = query_fills.is_exhausted
    # Where the ranking ends first, further results are taken to be as long as those before them. Where it goes on, the
    # budget is filled by the results that fit and the one that does not.
    results_of_mean_length = np.ceil(n_fitting * budget.size / np.maximum(used_length, 1))
    results_to_fill = np.where(is_exhausted, results_of_mean_length, n_fitting + 1)
    is_unfilled = is_exhausted & (used_length < FULL_SHARE * budget.size)
    share = used_length / budget.size
    # Rankings that fill the budget say nothing of how many results the others need.
    advised = is_unfilled if is_unfilled.any() else np.ones(len(rows), dtype=bool)
    mean_results = float(np.mean(query_fills.n_retrieved[advised]))
    needed_results = ceil(np.quantile(results_to_fill[advised], 1 - MAX_UNFILLED_SHARE, method="higher"))
    unfilled_rate = 1.0
    if is_unfilled.any():
        unfilled_rate = float(np.mean(share[is_unfilled]))
        # Unequal rankings may hold as many results on average as most of them need: one more is the least advice.
        needed_results = max(needed_results, floor(mean_results + 0.5) + 1)
    return BudgetFill(
        fill_rate=float(np.mean(share)),
        n_unfilled=int(np.count_nonzero(is_unfilled)),
        n=len(rows),
        mean_results=mean_results,
        results_to_fill=needed_results,
        unfilled_rate=unfilled_rate,
    )


def measure_covered_length(fills: BudgetFills, budget: Budget) -> int:
    """Return the amount of text, up to the budget, that at least nine of ten queries of a system retrieved."""
    lengths = np.where(fills.is_exhausted, fills.used_length, budget.size)[fills.n_retrieved > 0]
    return int(np.quantile(lengths, MAX_UNFILLED_SHARE, method="lower")) if len(lengths) else 0
