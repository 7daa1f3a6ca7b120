"""How much each system of a comparison puts within a cut-off: unequal amounts of text are not compared."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.files.saved_records import register_record
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.budget import BudgetFills


# Amounts of text differ from this ratio on; retrievers of the same chunks seldom differ by more.
MIN_UNEQUAL_RATIO = 1.5
# A query fills a budget from this share of it on: a ranking that ends before could hold more.
FULL_SHARE = 0.9
# A system fills a budget if at most this share of its queries do not.
MAX_UNFILLED_SHARE = 0.1
# One ranking is deeper than another from so many more results on.
MIN_DEPTH_GAP = 5
# Rankings are cut if more than this share of them end at the same rank.
MIN_TRUNCATED_SHARE = 0.5
# No run has as much text as this.
UNLIMITED = np.iinfo(np.int64).max // 2


@register_record
@dataclass(frozen=True, slots=True)
class BudgetFill:
    """How one system fills a budget, over the queries for which it retrieved anything.

    Attributes:
        fill_rate: The mean share of the budget that its results take; only whole results that fit are counted.
        unfilled: The number of queries whose ranking ends before it takes 90 % of the budget.
        n: The number of queries.
        mean_results: The mean number of results per query.
        results_to_fill: How many results would fill the budget in nine of ten queries, at the mean length of each.
    """

    fill_rate: float
    unfilled: int
    n: int
    mean_results: float
    results_to_fill: int

    @property
    def full(self) -> bool:
        """Whether at most a tenth of the queries are short of results."""
        return self.unfilled <= MAX_UNFILLED_SHARE * self.n

    @property
    def has_unused_room(self) -> bool:
        """Whether much of the budget stays free although rankings do not end, because the next result does not fit."""
        return self.full and self.fill_rate < FULL_SHARE / MIN_UNEQUAL_RATIO

    def __str__(self) -> str:
        return wording.format_budget_fill(self)


@register_record
@dataclass(frozen=True, slots=True)
class BudgetUse:
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
        return tuple(system for system, fill in self.systems.items() if not fill.full)

    @property
    def too_long(self) -> tuple[str, ...]:
        """The systems that fill much less of it than another because their results are too long for it."""
        highest_rate = max((fill.fill_rate for fill in self.systems.values()), default=0.0)
        systems = []
        for system, fill in self.systems.items():
            if fill.full and fill.fill_rate * MIN_UNEQUAL_RATIO < highest_rate:
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
        """Return those of some pairs of systems that cannot be compared at this budget."""
        return [pair for pair in pairs if not self.comparable(*pair)]

    def comparable(self, system: str, baseline: str) -> bool:
        """Return whether two of the systems both fill the budget, and about equally."""
        fills = [self.systems[name] for name in (system, baseline) if name in self.systems]
        if not all(fill.full for fill in fills):
            return False
        rates = [fill.fill_rate for fill in fills]
        return max(rates, default=0) <= MIN_UNEQUAL_RATIO * min(rates, default=0)


def measure_budget_use(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> tuple[BudgetUse, ...]:
    """Return how the systems fill each budget among the metrics; without those for which that is not known."""
    budgets: dict[Budget, None] = {}
    for scores in scores_by_system.values():
        budgets |= dict.fromkeys(scores.budgets)
    uses = []
    for budget in budgets:
        metric_names = tuple(str(metric) for metric in metrics if metric.k == budget)
        query_fills = _query_fills_by_system(scores_by_system, budget)
        if not metric_names or not query_fills:
            continue
        systems = _system_fills(query_fills, budget)
        covered = [_covered_length(query_fills[system], budget) for system in systems]
        common_budget = _common_budget(scores_by_system, min(covered, default=0), budget)
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


# Unequal amounts of text, or depths, at a cut-off by the number of results.


@dataclass(frozen=True, slots=True)
class UnequalText:
    """The first k results of two systems, which hold unequal amounts of text.

    Attributes:
        k: The cut-off.
        shortest: The system whose results hold the least text.
        longest: The system whose results hold the most.
        shortest_length: The mean number of characters of the first k results of `shortest`.
        longest_length: The same of `longest`.
        fair_metric: A metric that was computed and compares equal amounts; None if there is none.
        suggested_metric: A metric that would; None if there is none, or not needed.
    """

    k: int
    shortest: str
    longest: str
    shortest_length: float
    longest_length: float
    fair_metric: str | None
    suggested_metric: Metric | None


def unequal_text_note(
    scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric], budgets: Sequence[BudgetUse]
) -> str:
    """Return in a sentence that the systems have unequal amounts of text among the first k, and what to do."""
    unequal_text = find_unequal_text(scores_by_system, metrics, budgets)
    return "" if unequal_text is None else wording.format_unequal_text(unequal_text)


def find_unequal_text(
    scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric], budgets: Sequence[BudgetUse]
) -> UnequalText | None:
    """Return the systems with the least and the most text among the first k; None if they are equal or unknown."""
    metric = _first_with_number(metrics)
    if metric is None or not isinstance(metric.k, int):
        return None
    mean_lengths = _mean_lengths(scores_by_system, metric.k)
    if mean_lengths is None:
        return None
    shortest = min(mean_lengths, key=mean_lengths.__getitem__)
    longest = max(mean_lengths, key=mean_lengths.__getitem__)
    shortest_length = mean_lengths[shortest]
    longest_length = mean_lengths[longest]
    if longest_length <= MIN_UNEQUAL_RATIO * shortest_length:
        return None
    fair_metrics = [name for use in budgets if use.is_fair for name in use.metrics]
    fair_metric = fair_metrics[0] if fair_metrics else None
    suggested_metric = None
    if fair_metric is None:
        budget = _budget_between(scores_by_system, shortest_length, longest_length)
        if budget is not None:
            suggested_metric = Metric(metric.name, budget, **dict(metric.parameters))
    return UnequalText(metric.k, shortest, longest, shortest_length, longest_length, fair_metric, suggested_metric)


def _first_with_number(metrics: Sequence[Metric]) -> Metric | None:
    for metric in metrics:
        if isinstance(metric.k, int):
            return metric
    return None


def _mean_lengths(scores_by_system: Mapping[str, Scores], k: int) -> dict[str, float] | None:
    """Return how many characters the first k results of each system have; None if that is unknown of a system."""
    for scores in scores_by_system.values():
        if scores.origin is None or scores.origin.judged.lengths is None:
            return None
    mean_lengths = {}
    for system, scores in scores_by_system.items():
        lengths = scores.require_origin("measured").judged.lengths
        first_lengths = lengths.first_lengths(k, scores.queries) if lengths is not None else None
        if not first_lengths:
            return None
        mean_lengths[system] = float(np.mean(first_lengths))
    return mean_lengths


@dataclass(frozen=True, slots=True)
class UnequalDepth:
    """A system whose rankings are cut above a cut-off that another reaches.

    Attributes:
        shallow: The system that is cut.
        deepest: The system with the longest ranking.
        shallow_depth: The length of the longest ranking of `shallow`.
        deepest_depth: The same of `deepest`.
        cutoffs: The metrics whose cut-off is deeper than the one and not the other, each with it.
    """

    shallow: str
    deepest: str
    shallow_depth: int
    deepest_depth: int
    cutoffs: Mapping[str, int]


def unequal_depth_note(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> str:
    """Return in a sentence that some systems are cut above a cut-off which others reach, and what to do."""
    unequal_depth = find_unequal_depth(scores_by_system, metrics)
    return "" if unequal_depth is None else wording.format_unequal_depth(unequal_depth)


def find_unequal_depth(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> UnequalDepth | None:
    """Return the system that is cut above most cut-offs which another reaches; None if there is none."""
    n_retrieved_by_system = {}
    depths = {}
    for system, scores in scores_by_system.items():
        if scores.origin is not None:
            n_retrieved = scores.origin.judged.n_retrieved[scores.positions]
            n_retrieved_by_system[system] = n_retrieved
            depths[system] = int(n_retrieved.max(initial=0))
    if not depths:
        return None
    deepest = max(depths, key=depths.__getitem__)
    shallow = None
    cutoffs: dict[str, int] = {}
    for system, depth in depths.items():
        if not depth or not _is_truncated(n_retrieved_by_system[system], depth):
            continue
        min_depth = max(MIN_UNEQUAL_RATIO * depth, depth + MIN_DEPTH_GAP)
        unreached = _unreached_cutoffs(metrics, depths[deepest], min_depth)
        if len(unreached) > len(cutoffs):
            cutoffs = unreached
            shallow = system
    if shallow is None:
        return None
    return UnequalDepth(shallow, deepest, depths[shallow], depths[deepest], cutoffs)


def _is_truncated(n_retrieved: IntArray, depth: int) -> bool:
    """Return whether most of the rankings that are not empty end at the same rank."""
    n_cut = np.count_nonzero(n_retrieved == depth)
    return bool(n_cut > MIN_TRUNCATED_SHARE * np.count_nonzero(n_retrieved))


def _unreached_cutoffs(metrics: Sequence[Metric], deepest_depth: int, min_depth: float) -> dict[str, int]:
    """Return the metrics whose cut-off, as far as the deepest ranking reaches, is at least so deep."""
    cutoffs = {}
    for metric in metrics:
        if isinstance(metric.k, int) and min(metric.k, deepest_depth) >= min_depth:
            cutoffs[str(metric)] = metric.k
    return cutoffs


# Budgets at which systems can be compared.


def _budget_between(
    scores_by_system: Mapping[str, Scores], shortest_length: float, longest_length: float
) -> Budget | None:
    """Return a budget at which the systems can be compared with what was retrieved; None if there is none."""
    # Room for some of the larger chunks and not for everything; if that fails, all that every system retrieved.
    for size in (sqrt(shortest_length * longest_length), float(UNLIMITED)):
        budget = Budget(max(1, round(size)), "chars")
        query_fills = _query_fills_by_system(scores_by_system, budget)
        covered = min(_covered_length(fills, budget) for fills in query_fills.values())
        common_budget = _common_budget(scores_by_system, covered, budget)
        if common_budget is not None:
            return common_budget
    return None


def _common_budget(scores_by_system: Mapping[str, Scores], size: int, like: Budget) -> Budget | None:
    """Return the largest round budget up to a size, if the systems fill it equally; None also if that is unknown."""
    if size < 1 or any(scores.origin is None for scores in scores_by_system.values()):
        return None
    # A round number has two digits that are not 0.
    step = 10 ** max(0, floor(log10(size)) - 1)
    budget = Budget(size // step * step, like.unit)
    systems = _system_fills(_query_fills_by_system(scores_by_system, budget), budget)
    use = BudgetUse(budget, (), systems, None)
    return budget if use.is_fair else None


def _query_fills_by_system(scores_by_system: Mapping[str, Scores], budget: Budget) -> dict[str, BudgetFills]:
    """Return how the queries of each system fill a budget, where that is known."""
    query_fills = {}
    for system, scores in scores_by_system.items():
        fills = scores.filled(budget)
        if fills is not None:
            query_fills[system] = fills
    return query_fills


def _system_fills(query_fills: Mapping[str, BudgetFills], budget: Budget) -> dict[str, BudgetFill]:
    """Return how the systems fill a budget; without those that retrieved nothing."""
    system_fills = {}
    for system, fills in query_fills.items():
        fill = _summarize_fills(fills, budget)
        if fill.n:
            system_fills[system] = fill
    return system_fills


def _summarize_fills(fills: BudgetFills, budget: Budget) -> BudgetFill:
    rows = np.flatnonzero(fills.n_retrieved)
    if not len(rows):
        return BudgetFill(0.0, 0, 0, 0.0, 0)
    fills = fills.take(rows)
    n_fitting = fills.n_fitting
    used_length = fills.used_length
    is_exhausted = fills.is_exhausted
    results_of_mean_length = np.ceil(n_fitting * budget.size / np.maximum(used_length, 1))
    results_to_fill = np.where(is_exhausted, results_of_mean_length, n_fitting + 1)
    is_unfilled = is_exhausted & (used_length < FULL_SHARE * budget.size)
    return BudgetFill(
        fill_rate=float(np.mean(used_length / budget.size)),
        unfilled=int(np.count_nonzero(is_unfilled)),
        n=len(rows),
        mean_results=float(np.mean(fills.n_retrieved)),
        results_to_fill=ceil(np.quantile(results_to_fill, 1 - MAX_UNFILLED_SHARE, method="higher")),
    )


def _covered_length(fills: BudgetFills, budget: Budget) -> int:
    """Return how much text, up to the budget, nine of ten queries of a system retrieved at least."""
    lengths = np.where(fills.is_exhausted, fills.used_length, budget.size)[fills.n_retrieved > 0]
    return int(np.quantile(lengths, MAX_UNFILLED_SHARE, method="lower")) if len(lengths) else 0
