"""How much each system of a comparison puts within a cut-off: unequal amounts of text are not compared."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.files.saved_records import register_record
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.budget import BudgetFills
    from retrieval_metrics.matching.judged_run import JudgedRun


UNEQUAL = 1.5
"""From this ratio on it is said; retrievers of the same chunks seldom differ by more."""
FULL = 0.9
"""A query fills a budget from this share of it on: a ranking that ends before could hold more."""
DEEPER, CUT = 5, 0.5
"""Rankings are deeper from so many more results on, and cut if more than this share of them end at the same rank."""
MOST = 0.1
"""A system fills a budget if at most this share of its queries do not."""


@register_record
@dataclass(frozen=True, slots=True)
class BudgetFill:
    """How one system fills a budget, over the queries for which it retrieved anything.

    Attributes:
        share: The mean share of the budget that its results take; only whole results that fit are counted.
        short: The number of queries whose ranking ends before it takes 90 % of the budget.
        n: The number of queries.
        retrieved: The mean number of results per query.
        enough: How many results would fill the budget in nine of ten queries, at the mean length of each.
    """

    fill_rate: float
    unfilled: int
    n: int
    mean_results: float
    results_to_fill: int

    @property
    def full(self) -> bool:
        """Whether at most a tenth of the queries are short of results."""
        return self.unfilled <= MOST * self.n

    def __str__(self) -> str:
        filled = f"filled to {100 * self.fill_rate:.0f} % on average"
        if self.full:
            return f"{filled}; the next result does not fit" if self.fill_rate < FULL / UNEQUAL else filled
        return (
            f"{filled}; {self.unfilled} of {self.n} rankings end before 90 %, about {self.results_to_fill} results instead of "
            f"{self.mean_results:.0f} would fill it"
        )


@register_record
@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How the systems of a comparison fill a budget; whether their values at this budget can be compared.

    Attributes:
        budget: The budget.
        metrics: The metrics that have it.
        systems: How each system fills it.
        shared: The largest round budget that every system fills with what was retrieved; None if there is none.
    """

    budget: Budget
    metrics: tuple[str, ...]
    systems: Mapping[str, BudgetFill]
    common_budget: Budget | None

    @property
    def unfilled(self) -> tuple[str, ...]:
        """The systems whose rankings end before the budget is filled."""
        return tuple(name for name, filling in self.systems.items() if not filling.full)

    @property
    def too_long(self) -> tuple[str, ...]:
        """The systems that fill much less of it than another because their results are too long for it."""
        most = max((filling.fill_rate for filling in self.systems.values()), default=0.0)
        return tuple(name for name, each in self.systems.items() if each.full and each.fill_rate * UNEQUAL < most)

    @property
    def sentences(self) -> list[str]:
        """Which systems do not fill it, how far they do, and what to do."""
        said = []
        if self.unfilled:
            more = numbers.join_names(
                [
                    f"about {self.systems[name].results_to_fill} results of {name} instead of {self.systems[name].mean_results:.0f}"
                    for name in self.unfilled
                ]
            )
            instead = (
                ""
                if self.common_budget is None
                else f", or compare at a budget that all fill, such as {self.common_budget}"
            )
            said.append(
                f"The budget of {self.budget.in_words} is not filled: {self._shares(self.unfilled)}, because the ranking "
                f"ends. Retrieve {more}{instead}."
            )
        if self.too_long:
            said.append(
                f"The budget of {self.budget.in_words} is too small for some results: {self._shares(self.too_long)}, "
                "because the next result does not fit. Choose a larger budget."
            )
        return said

    def _shares(self, systems: Sequence[str]) -> str:
        return numbers.join_names(
            [f"{name} fills {100 * self.systems[name].fill_rate:.0f} % of it" for name in systems]
        )

    def unequal(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return those of some pairs of systems that cannot be compared at this budget."""
        return [pair for pair in pairs if not self.comparable(*pair)]

    def comparable(self, system: str, baseline: str) -> bool:
        """Return whether two of the systems both fill the budget, and about equally."""
        pair = [self.systems[name] for name in (system, baseline) if name in self.systems]
        shares = [filling.fill_rate for filling in pair]
        return all(filling.full for filling in pair) and max(shares, default=0) <= UNEQUAL * min(shares, default=0)


def measure_budget_use(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> tuple[BudgetUse, ...]:
    """Return how the systems fill each budget among the metrics; without those for which that is not known."""
    found = []
    for budget in dict.fromkeys(budget for each in scores.values() for budget in each.budgets):
        named = tuple(str(metric) for metric in metrics if metric.k == budget)
        filled = {name: one for name, each in scores.items() if (one := each.filled(budget)) is not None}
        if named and filled:
            known = _fillings(filled, budget)
            ends = [_end(one, budget) for name, one in filled.items() if name in known]
            found.append(BudgetUse(budget, named, known, _shared(scores, min(ends, default=0), budget)))
    return tuple(found)


def budget_notes(scores: Scores) -> list[str]:
    """Return how far the rankings of one system fill the budgets of its metrics, in words, a line each."""
    fillings = {budget: _filling(filled, budget) for budget, filled in scores.all_fills().items()}
    return [f"{budget}: {filling}" for budget, filling in fillings.items() if filling.n]


def unequal_text_note(scores: Mapping[str, Scores], metrics: Sequence[Metric], budgets: Sequence[BudgetUse]) -> str:
    """Return in a sentence that the systems have unequal amounts of text among the first k, and what to do."""
    metric = next((metric for metric in metrics if isinstance(metric.k, int)), None)
    judged = _judged(scores)
    if metric is None or not isinstance(metric.k, int) or judged is None:
        return ""
    characters = {}
    for system, one in judged.items():
        held = one.lengths.first_lengths(metric.k, scores[system].queries) if one.lengths is not None else None
        if not held:
            return ""
        characters[system] = float(np.mean(held))
    least, most = (of(characters, key=characters.__getitem__) for of in (min, max))
    if characters[most] <= UNEQUAL * characters[least]:
        return ""
    if fair := [name for use in budgets if not (use.unfilled or use.too_long) for name in use.metrics]:
        advice = f"{fair[0]} compares equal ones"
    elif (shared := _budget_between(scores, characters[least], characters[most])) is not None:
        advice = f"a budget such as {Metric(metric.name, shared, **dict(metric.parameters))} compares equal ones"
    else:
        advice = f"retrieve more results of {least}, and compare at a budget of characters"
    results = "first result" if metric.k == 1 else f"first {metric.k} results"
    return (
        f"The {results} of {most} hold {characters[most]:,.0f} characters on average, those of {least} "
        f"{characters[least]:,.0f}, so @{metric.k} compares unequal amounts of text; {advice}."
    )


def unequal_depth_note(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> str:
    """Return in a sentence that some systems are cut above a cut-off which others reach, and what to do."""
    found = {name: one.origin.judged.n_retrieved[one.positions] for name, one in scores.items() if one.origin}
    depths = {name: int(depth.max(initial=0)) for name, depth in found.items()}
    deepest = max(depths, key=depths.__getitem__, default="")
    beyond: dict[str, int] = {}
    shallow = ""
    for name, depth in depths.items():
        is_cut = np.count_nonzero(found[name] == depth) > CUT * np.count_nonzero(found[name])
        least = max(UNEQUAL * depth, depth + DEEPER)
        of = {str(one): one.k for one in metrics if isinstance(one.k, int) and min(one.k, depths[deepest]) >= least}
        if depth and is_cut and len(of) > len(beyond):
            beyond, shallow = of, name
    if not beyond:
        return ""
    return (
        f"{shallow} is {depths[shallow]} deep and {deepest} {depths[deepest]}, so {numbers.join_names(list(beyond))} "
        f"compare{'s' if len(beyond) == 1 else ''} unequal depths; retrieve {max(beyond.values())} results with each, "
        f"or compare at @{depths[shallow]}."
    )


def _budget_between(scores: Mapping[str, Scores], least: float, most: float) -> Budget | None:
    """Return a budget at which the systems can be compared with what was retrieved; None if there is none."""
    # Room for some of the larger chunks and not for everything; if that fails, all that every system retrieved.
    for size in (sqrt(least * most), float(np.iinfo(np.int64).max // 2)):
        budget = Budget(max(1, round(size)), "chars")
        ends = min(_end(filled, budget) for each in scores.values() if (filled := each.filled(budget)) is not None)
        if (shared := _shared(scores, ends, budget)) is not None:
            return shared
    return None


def _judged(scores: Mapping[str, Scores]) -> dict[str, JudgedRun] | None:
    """Return the judged run of each system, if the results of all have lengths."""
    known = {name: each.origin.judged for name, each in scores.items() if each.origin is not None}
    return known if len(known) == len(scores) and all(one.lengths is not None for one in known.values()) else None


def _fillings(filled: Mapping[str, BudgetFills], budget: Budget) -> dict[str, BudgetFill]:
    """Return how the systems fill a budget; without those that retrieved nothing."""
    fillings = {name: _filling(one, budget) for name, one in filled.items()}
    return {name: filling for name, filling in fillings.items() if filling.n}


def _filling(filled: BudgetFills, budget: Budget) -> BudgetFill:
    rows = np.flatnonzero(filled.n_retrieved)
    if not len(rows):
        return BudgetFill(0.0, 0, 0, 0.0, 0)
    filled = filled.take(rows)
    count, used, ended = filled.n_fitting, filled.used_length, filled.is_exhausted
    enough = np.where(ended, np.ceil(count * budget.size / np.maximum(used, 1)), count + 1)
    return BudgetFill(
        fill_rate=float(np.mean(used / budget.size)),
        unfilled=int(np.count_nonzero(ended & (used < FULL * budget.size))),
        n=len(rows),
        mean_results=float(np.mean(filled.n_retrieved)),
        results_to_fill=ceil(np.quantile(enough, 1 - MOST, method="higher")),
    )


def _end(filled: BudgetFills, budget: Budget) -> int:
    """Return how much text, up to the budget, nine of ten queries of a system retrieved at least."""
    held = np.where(filled.is_exhausted, filled.used_length, budget.size)[filled.n_retrieved > 0]
    return int(np.quantile(held, MOST, method="lower")) if len(held) else 0


def _shared(scores: Mapping[str, Scores], size: int, like: Budget) -> Budget | None:
    """Return the largest round budget up to a size, if the systems fill it equally; None also if that is unknown."""
    if size < 1 or any(each.origin is None for each in scores.values()):
        return None
    step = 10 ** max(0, floor(log10(size)) - 1)  # two digits
    budget = Budget(size // step * step, like.unit)
    filled = {name: one for name, each in scores.items() if (one := each.filled(budget)) is not None}
    use = BudgetUse(budget, (), _fillings(filled, budget), None)
    return None if use.unfilled or use.too_long else budget
