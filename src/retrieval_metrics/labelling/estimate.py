"""Estimates from a model's grades and a few people's: means and differences with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isinf, isnan
from typing import TYPE_CHECKING, ClassVar, TypeVar

from retrieval_metrics.checks import data_frame
from retrieval_metrics.keeping.document import SavedFields
from retrieval_metrics.labelling.estimated import EstimatedDifference, EstimatedMean
from retrieval_metrics.labelling.people_and_model import Agreement
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.conclusions import rare_changes
from retrieval_metrics.results.difference import fitting
from retrieval_metrics.results.scores import ByMetric
from retrieval_metrics.scoring.metric import spelled
from retrieval_metrics.statistics import CorrectedMean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    import pandas as pd

    from retrieval_metrics.questions.sample import Sample
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.statistics import Interval

T = TypeVar("T")

FEW = 15
"""Labelled queries; intervals from fewer were not simulated and are rough."""
ENOUGH = "which sufficed in 72 to 92 % of simulated samples, in the worst in 52 to 66 %"
"""How far to trust the number of labels that are still needed."""
TARGET = "the mean over the population of queries of which these {} are a random sample"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Estimate(SavedFields):
    """Means and differences of systems from a model's grades for all queries and people's for a sample of them.

    They estimate the mean over the population of queries of which these are a random sample, as graded by people.

    Attributes:
        estimated: The mean of each metric and system.
        differences: The difference of each pair of systems in each metric.
        sample: The queries that people graded, and how they were drawn.
        level: The confidence level of the printed intervals.
        agreement: The agreement of people and the model on the documents that both graded; None if grades are not of
            documents.
        names: The names of people and the model.
        notes: Further notes, as sentences.
    """

    kind: ClassVar[str] = "estimate"
    records: ClassVar[tuple[type, ...]] = (Agreement, CorrectedMean, EstimatedDifference, EstimatedMean)

    estimated: Mapping[tuple[str, str], EstimatedMean]
    differences: tuple[EstimatedDifference, ...]
    sample: Sample
    level: float
    agreement: Agreement | None
    names: tuple[str, str]
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics."""
        return tuple(dict.fromkeys(metric for metric, _ in self.estimated))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems."""
        return tuple(dict.fromkeys(system for _, system in self.estimated))

    @cached_property
    def means(self) -> ByMetric[dict[str, float]]:
        """The corrected mean of each metric for each system."""
        return self._by_metric(lambda one: one.corrected.mean)

    @cached_property
    def people(self) -> ByMetric[dict[str, float]]:
        """The means from people's grades of the sample alone."""
        return self._by_metric(lambda one: one.corrected.people)

    @cached_property
    def model(self) -> ByMetric[dict[str, float]]:
        """The means from the model's grades of all queries alone."""
        return self._by_metric(lambda one: one.corrected.model)

    @cached_property
    def worth(self) -> ByMetric[dict[str, float]]:
        """How many queries people would have to grade for the same precision without the model."""
        return self._by_metric(lambda one: one.corrected.worth)

    @cached_property
    def ranking(self) -> ByMetric[list[str]]:
        """The systems by corrected mean, best first; `difference(...).decided` says which are told apart."""
        return ByMetric(
            {metric: sorted(means, key=lambda system: -means[system]) for metric, means in self.means.items()}
        )

    def intervals(self, level: float | None = None) -> ByMetric[dict[str, Interval]]:
        """Return the confidence interval of each mean.

        Args:
            level: Confidence level, strictly between 0 and 1; None takes the level of the estimate.
        """
        chosen = self.level if level is None else level
        return self._by_metric(lambda one: one.interval(chosen))

    def difference(
        self, metric: str | Metric, system: str | None = None, baseline: str | None = None
    ) -> EstimatedDifference:
        """Return the difference of two systems in a metric.

        Args:
            metric: The metric, in any spelling.
            system: The system; None if there is only one difference to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such difference, or more than one.
        """
        name = spelled(metric, self.metrics)
        chosen = fitting(self.differences, name, system, baseline)
        if system is None or baseline is None:  # each pair is listed in both directions; the first is meant
            chosen = [each for each in chosen if self._listed(each)] or chosen
        if len(chosen) != 1:
            raise KeyError(
                f"{len(chosen)} differences match {name!r}, {system!r}, {baseline!r}; there are the systems "
                f"{', '.join(self.systems)} in {', '.join(self.metrics)}"
            )
        return chosen[0]

    def _listed(self, difference: EstimatedDifference) -> bool:
        return self.systems.index(difference.system) > self.systems.index(difference.baseline)

    def labels_needed(self, width: float, metric: str | Metric, system: str | None = None) -> float:
        """Return how many more queries people must grade for an interval of a given width.

        So many sufficed in 72 to 92 % of simulated samples, and in 52 to 66 % of the worst. Infinite if all queries
        would not be enough. For a difference: `difference(...).labels_needed(width)`.

        Args:
            width: The wanted width, from end to end.
            metric: The metric, in any spelling.
            system: The system; None takes the one that needs the most.

        Raises:
            KeyError: If there is no such metric or system.
            ValueError: If the width is not positive.
        """
        of_metric = ByMetric({name: name for name in self.metrics})[metric]
        asked = [one for (name, each), one in self.estimated.items() if name == of_metric and system in {None, each}]
        if not asked:
            raise KeyError(f"there is no system {system!r}; the systems are {', '.join(self.systems)}")
        return max(one.corrected.labels_needed(width, level=self.level) for one in asked)

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write the estimate as a self-contained HTML file.

        Args:
            path: The file to write.
            title: The title.

        Raises:
            OSError: If the file cannot be written.
        """
        parts = [
            (page.section(each.title) if each.title else "") + page.table(each._replace(title=""))
            for each in self._tables()
        ]
        if self.agreement is not None:
            parts.append(page.section("Agreement", *map(page.table, self.agreement.tables)))
        page.write(path, title or f"{numbers.listed(list(self.systems))}, from people's and a model's grades", parts)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per metric and system.

        The columns are `metric`, `system`, `mean`, `low`, `high`, `people`, `model`, `worth`, `n` and `queries`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = []
        for one in self.estimated.values():
            found, (low, high) = one.corrected, one.interval(self.level)
            alone = (found.people, found.model, found.worth, found.labelled, found.queries)
            rows.append((one.metric, one.system, found.mean, low, high, *alone))
        columns = ["metric", "system", "mean", "low", "high", "people", "model", "worth", "n", "queries"]
        return data_frame(rows, columns)

    def _by_metric(self, of: Callable[[EstimatedMean], T]) -> ByMetric[dict[str, T]]:
        found: dict[str, dict[str, T]] = {}
        for (metric, system), one in self.estimated.items():
            found.setdefault(metric, {})[system] = of(one)
        return ByMetric(found)

    def __repr__(self) -> str:
        return f"<Estimate: {', '.join(self.systems)} in {', '.join(self.metrics)}, {len(self.sample)} queries graded>"

    def _tables(self) -> list[Table]:
        tables = [Table((), (), self._said_of_agreement(), "Agreement of people and model"), self._means()]
        return [*tables, *([self._pairs()] if self.differences else [])]

    def _said_of_agreement(self) -> list[str]:
        people, model = self.names
        found = self.agreement
        if found is None:
            return ["unknown: people or the model graded something other than documents by id"]
        weighted = found.weighted_kappa
        both = f"{numbers.count(found.n, 'document')} of {numbers.queries(len(found.by_query))}"
        shift = f"{abs(found.shift):.2f} {'higher' if found.shift > 0 else 'lower'} on average"
        said = [
            f"{people} with {model}: weighted kappa {numbers.mean(weighted.value, weighted.interval)}",
            f"{both}, {100 * found.same.value:.0f} % with the same grade; {model} grades {shift}",
        ]
        if found.relevant_from is not None:
            said.append(f"relevant: from grade {found.relevant_from:g}")
        if found.near_chance:
            said.append(f"do not use the grades of {model} alone: its agreement with {people} is {found.beside_chance}")
        return said

    def _means(self) -> Table:
        header = ["metric", "system", "mean", numbers.level_name(self.level), "people alone", "model alone", "worth"]
        rows = []
        for one in self.estimated.values():
            found = one.corrected
            alone = "-" if isnan(found.model) else numbers.value(found.model)
            interval = numbers.interval(one.interval(self.level))
            cells = [numbers.value(found.mean), interval, numbers.value(found.people), alone, f"{found.worth:.0f}"]
            rows.append([one.metric, one.system, *cells])
        n, of = len(self.sample), len(self.sample.of)
        title = f"{numbers.queries(n)} of {of:,} graded by people, all by a model"
        notes = [
            f"mean: {TARGET.format(of)}, as people would grade them",
            "worth: how many queries people alone would have to grade for the same precision",
            *self._said_of_help(),
            *self._said_of_undefined(),
            *([f"{n} graded queries are few: intervals from fewer than {FEW} are rough"] if n < FEW else []),
            *self.notes,
        ]
        return Table(header, rows, notes, title, (0, 1))

    def _said_of_help(self) -> list[str]:
        idle = [f"{one.metric} of {one.system}" for one in self.estimated.values() if not one.corrected.helps]
        if len(idle) == len(self.estimated):
            return ["the model does not help: people's grades alone are as precise"]
        return [f"the model does not help for {numbers.listed(idle)}"] if idle else []

    def _said_of_undefined(self) -> list[str]:
        least = min(self.estimated.values(), key=lambda one: one.corrected.labelled)
        defined, graded = least.corrected.labelled, len(self.sample)
        if defined == graded:
            return []
        return [
            f"{least.metric} is defined for {defined} of the {graded}: for the others people found nothing relevant"
        ]

    def _pairs(self) -> Table:
        header = ["metric", "difference", "mean", numbers.level_name(self.level), "model alone", "told apart"]
        shown = [each for each in self.differences if self._listed(each)]
        rows = []
        for each in shown:
            ends = numbers.interval(each.interval, difference=True)
            cells = [numbers.signed(each.mean), ends, numbers.signed(each.corrected.model)]
            rows.append([each.metric, f"{each.system} - {each.baseline}", *cells, "yes" if each.decided else "no"])
        notes = [f"told apart: 0 is outside the interval, corrected for {numbers.count(len(shown), 'difference')}"]
        notes += [each for one in shown for each in _said_of_what_no_label_shows(one)]
        return Table(header, rows, [*notes, *self._said_of_stopping(shown)], "Differences", (0, 1, 5))

    def _said_of_stopping(self, shown: list[EstimatedDifference]) -> list[str]:
        said = []
        for each in shown:
            if each.decided:
                continue
            width = abs(each.interval.high - each.interval.low)
            half, more = width / 4, each.labels_needed(width / 2)
            precision = f"to know it within -+{numbers.value(half)} (half as wide)"
            what = f"{each.system} - {each.baseline} in {each.metric}, {precision}"
            if isinf(more):
                said.append(f"{what}: not with these {each.corrected.queries:,} queries, even if people graded all")
            else:
                said.append(f"{what}: grades for {numbers.queries(int(more))} more, {ENOUGH}")
            break  # one is enough for planning; .labels_needed(width) answers for the others
        return said


def _said_of_what_no_label_shows(difference: EstimatedDifference) -> list[str]:
    what, said = f"{difference.system} - {difference.baseline} in {difference.metric}", []
    alone = difference.corrected.alone
    if difference.extrapolates and alone is not None:
        ends = numbers.interval(difference.people_interval, difference=True)
        said.append(
            f"{what}: on {numbers.queries(difference.corrected.outside)} the model sees differences beyond those that "
            "people graded, and nothing shows whether people agree. People alone: "
            f"{numbers.signed(alone.mean)} {ends}; told apart only if both are"
        )
    if difference.rare_matters:
        said.append(f"{what}: {rare_changes(difference.n, difference.corrected.span, difference.rare)}")
    return said
