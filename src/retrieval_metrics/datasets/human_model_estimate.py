"""A metric from a model's labels on all queries, corrected by people's on some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from retrieval_metrics._internal.validation import to_data_frame
from retrieval_metrics.comparison.conclusion_wording import format_rare_effect
from retrieval_metrics.comparison.pair_selection import select_pairs
from retrieval_metrics.comparison.partly_judged import largest_cutoff
from retrieval_metrics.datasets.grader_agreement import Agreement
from retrieval_metrics.datasets.labels import Labels
from retrieval_metrics.datasets.sample import Sample
from retrieval_metrics.evaluation.scores import ByMetric
from retrieval_metrics.files.saved_format import SavedFields
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.metric import as_metric, match_metric_name
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.statistics import CorrectedMean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    import pandas as pd

    from retrieval_metrics.datasets.labels import Scale
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval, RareChange


# A mean and a difference, estimated from a model's grades and people's.


@dataclass(frozen=True, slots=True)
class EstimatedMean:
    """The estimated mean of one metric for one system if people graded all queries.

    Attributes:
        metric: The metric.
        system: The system.
        estimate: The estimate with its variance.
        bounds: The least and the largest value the metric can have on these queries.
        binary: The share of queries for which the metric can only be 0 or 1.
    """

    metric: str
    system: str
    estimate: CorrectedMean
    bounds: tuple[float, float]
    binary: float

    def interval(self, level: float = 0.95) -> Interval:
        """Return the confidence interval of the mean; see `retrieval_metrics.statistics.CorrectedMean`."""
        return self.estimate.interval(level, bounds=self.bounds, binary=self.binary)


@dataclass(frozen=True, slots=True, repr=False)
class EstimatedDifference:
    """The estimated difference of two systems in one metric if people graded all queries.

    It is estimated from the differences of each query, so it may differ slightly from that of the two means.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        estimate: The estimate with its variance.
        max_difference: The largest possible difference.
        level: The confidence level of the interval.
        comparisons: The number of differences in all.
    """

    metric: str
    system: str
    baseline: str
    estimate: CorrectedMean
    max_difference: float
    level: float
    comparisons: int

    @property
    def pair(self) -> tuple[str, str]:
        """The system and its baseline."""
        return self.system, self.baseline

    @property
    def mean(self) -> float:
        """The mean difference, system minus baseline."""
        return self.estimate.mean

    @property
    def interval(self) -> Interval:
        """The confidence interval of the mean difference, not corrected for other differences."""
        return self.estimate.difference_interval(self.level, span=self.max_difference)

    @property
    def significant(self) -> bool:
        """Whether the two are told apart: the interval excludes 0 at a level corrected for all differences.

        If the model's differences lie outside the graded ones (`extrapolates`), people's own interval must exclude it
        as well, on the same side.
        """
        level = 1 - (1 - self.level) / self.comparisons
        found = [self.estimate, *([self.estimate.human_only] if self.estimate.human_only and self.extrapolates else [])]
        ends = [each.difference_interval(level, span=self.max_difference) for each in found]
        return all(low > 0 for low, _ in ends) or all(high < 0 for _, high in ends)

    @property
    def extrapolates(self) -> bool:
        """Whether the mean rests on differences of the model that lie outside those of the graded queries."""
        return self.estimate.extrapolates(self.level)

    @property
    def human_interval(self) -> Interval:
        """The confidence interval from people's grades alone."""
        return (self.estimate.human_only or self.estimate).difference_interval(self.level, span=self.max_difference)

    @property
    def rare_effect(self) -> RareChange:
        """What so few labels cannot have shown: rare, large differences, none of which they happen to contain."""
        return self.estimate.rare(self.level)

    @property
    def rare_effect_matters(self) -> bool:
        """Whether to say so: rare differences could shift the mean beyond the interval."""
        return self.rare_effect.mean_shift > self.interval.high - self.mean

    @property
    def n(self) -> int:
        """The number of queries for which people's grades define it."""
        return self.estimate.labelled

    def labels_needed(self, width: float) -> float:
        """Return how many more queries people must grade for an interval of a given width, from end to end.

        So many sufficed in 71 to 97 % of simulated samples, and in 55 to 89 % of the worst: drawn plainly at random
        for a model that errs on a few queries or grades the wrong way round. Infinite if all queries would not be
        enough.
        """
        return self.estimate.labels_needed(width, level=self.level)

    def __repr__(self) -> str:
        ends = numbers.interval(self.interval, difference=True)
        what = f"{self.system} - {self.baseline} in {self.metric}"
        return f"<EstimatedDifference {what}: {numbers.signed(self.mean)} {ends}>"


T = TypeVar("T")

FEW = 15
"""Labelled queries; intervals from fewer were not simulated and are rough."""
ENOUGH = "which sufficed in 71 to 97 % of simulated samples, in the worst in 55 to 89 %"
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
        return self._by_metric(lambda one: one.estimate.mean)

    @cached_property
    def human(self) -> ByMetric[dict[str, float]]:
        """The means from people's grades of the sample alone."""
        return self._by_metric(lambda one: one.estimate.human)

    @cached_property
    def model(self) -> ByMetric[dict[str, float]]:
        """The means from the model's grades of all queries alone."""
        return self._by_metric(lambda one: one.estimate.model)

    @cached_property
    def effective_n(self) -> ByMetric[dict[str, float]]:
        """How many queries people would have to grade for the same precision without the model."""
        return self._by_metric(lambda one: one.estimate.effective_n)

    @cached_property
    def ranking(self) -> ByMetric[list[str]]:
        """The systems by corrected mean, best first; `difference(...).decided` says which are told apart."""
        ranked = {}
        for metric, means in self.means.items():
            gains = {system: as_metric(metric).definition.sign * mean for system, mean in means.items()}
            ranked[metric] = sorted(gains, key=gains.__getitem__, reverse=True)
        return ByMetric(ranked)

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
        name = match_metric_name(metric, self.metrics)
        chosen = select_pairs(self.differences, name, system, baseline)
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

        So many sufficed in 71 to 97 % of simulated samples, and in 55 to 89 % of the worst. Infinite if all queries
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
        return max(one.estimate.labels_needed(width, level=self.level) for one in asked)

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
        page.write(
            path, title or f"{numbers.join_names(list(self.systems))}, from people's and a model's grades", parts
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per metric and system.

        The columns are `metric`, `system`, `mean`, `ci_low`, `ci_high`, `human`, `model`, `effective_n`, `n` and
        `queries`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = []
        for one in self.estimated.values():
            found, (low, high) = one.estimate, one.interval(self.level)
            alone = (found.human, found.model, found.effective_n, found.labelled, found.queries)
            rows.append((one.metric, one.system, found.mean, low, high, *alone))
        columns = ["metric", "system", "mean", "ci_low", "ci_high", "human", "model", "effective_n", "n", "queries"]
        return to_data_frame(rows, columns)

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
        weighted = found.quadratic_kappa
        both = f"{numbers.format_count(found.n, 'document')} of {numbers.format_query_count(len(found.by_query))}"
        shift = f"{abs(found.mean_difference):.2f} {'higher' if found.mean_difference > 0 else 'lower'} on average"
        said = [
            f"{people} with {model}: weighted kappa {numbers.mean(weighted.value, weighted.interval)}",
            f"{both}, {100 * found.raw_agreement.value:.0f} % with the same grade; {model} grades {shift}",
        ]
        if found.relevant_from is not None:
            said.append(f"relevant: from grade {found.relevant_from:g}")
        if found.near_chance:
            said.append(f"do not use the grades of {model} alone: its agreement with {people} is {found.chance_note}")
        return said

    def _means(self) -> Table:
        header = ["metric", "system", "mean", numbers.level_name(self.level), "people alone", "model alone", "worth"]
        rows = []
        for one in self.estimated.values():
            found = one.estimate
            alone = "-" if isnan(found.model) else numbers.value(found.model)
            interval = numbers.interval(one.interval(self.level))
            cells = [numbers.value(found.mean), interval, numbers.value(found.human), alone, f"{found.effective_n:.0f}"]
            rows.append([one.metric, one.system, *cells])
        n, of = len(self.sample), len(self.sample.population)
        title = f"{numbers.format_query_count(n)} of {of:,} graded by people, all by a model"
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
        idle = [f"{one.metric} of {one.system}" for one in self.estimated.values() if not one.estimate.helps]
        if len(idle) == len(self.estimated):
            return ["the model does not help: people's grades alone are as precise"]
        return [f"the model does not help for {numbers.join_names(idle)}"] if idle else []

    def _said_of_undefined(self) -> list[str]:
        least = min(self.estimated.values(), key=lambda one: one.estimate.labelled)
        defined, graded = least.estimate.labelled, len(self.sample)
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
            cells = [numbers.signed(each.mean), ends, numbers.signed(each.estimate.model)]
            rows.append([each.metric, f"{each.system} - {each.baseline}", *cells, "yes" if each.significant else "no"])
        notes = [
            f"told apart: 0 is outside the interval, corrected for {numbers.format_count(len(shown), 'difference')}"
        ]
        notes += [each for one in shown for each in _said_of_what_no_label_shows(one)]
        return Table(header, rows, [*notes, *self._said_of_stopping(shown)], "Differences", (0, 1, 5))

    def _said_of_stopping(self, shown: list[EstimatedDifference]) -> list[str]:
        said = []
        for each in shown:
            if each.significant:
                continue
            width = abs(each.interval.high - each.interval.low)
            half, more = width / 4, each.labels_needed(width / 2)
            precision = f"to know it within -+{numbers.value(half)} (half as wide)"
            what = f"{each.system} - {each.baseline} in {each.metric}, {precision}"
            if isinf(more):
                said.append(f"{what}: not with these {each.estimate.queries:,} queries, even if people graded all")
            else:
                said.append(f"{what}: grades for {numbers.format_query_count(int(more))} more, {ENOUGH}")
            break  # one is enough for planning; .labels_needed(width) answers for the others
        return said


def _said_of_what_no_label_shows(difference: EstimatedDifference) -> list[str]:
    what, said = f"{difference.system} - {difference.baseline} in {difference.metric}", []
    alone = difference.estimate.human_only
    if difference.extrapolates and alone is not None:
        ends = numbers.interval(difference.human_interval, difference=True)
        said.append(
            f"{what}: on {numbers.format_query_count(difference.estimate.n_outside)} the model sees differences beyond "
            "those that people graded, and nothing shows whether people agree. People alone: "
            f"{numbers.signed(alone.mean)} {ends}; told apart only if both are"
        )
    if difference.rare_effect_matters:
        said.append(f"{what}: {format_rare_effect(difference.n, difference.estimate.span, difference.rare_effect)}")
    return said


# What people and a model graded of a sample: the judgments of both, how far they agree, and what neither graded.


class GradedSample(NamedTuple):
    """The judgments of both.

    Attributes:
        human: Those of people, for the sampled queries.
        model: Those of the model, for the queries that the sample was drawn from.
        others: How many queries people graded outside the sample.
    """

    human: Qrels
    model: Qrels
    others: int

    @classmethod
    def of(
        cls,
        human: Labels | QuestionsOrQrels,
        model: Labels | QuestionsOrQrels,
        sample: Sample,
        scale: Scale | None,
    ) -> GradedSample:
        """Return the judgments of both, with one largest grade."""
        graded, guessed = _judged(human), _judged(model)
        for who, truth in (("people", graded), ("the model", guessed)):
            if scale is not None and (odd := set(truth.document_grade.tolist()).difference(scale.grades)):
                raise ValueError(
                    f"{who} gave the grade {min(odd):g}, but the grades of the other's rubric are "
                    f"{', '.join(f'{grade:g}' for grade in scale.grades)}; convert one to the other's"
                )
        by_people = graded.as_dict()
        if missing := [query for query in sample.queries if query not in by_people]:
            raise ValueError(
                f"people graded nothing for {len(missing)} of the {len(sample)} sampled queries, for example "
                f"{missing[0]!r}. Grade these too: easy queries are often graded first, so leaving out the rest would "
                "bias the estimate"
            )
        wanted = set(sample.population)
        by_model: dict[Any, Any] = {
            query: judgments for query, judgments in guessed.as_dict().items() if query in wanted
        }
        if not by_model:
            raise ValueError(
                f"the model graded none of the {len(sample.population)} queries that the sample was drawn from, such "
                f"as {sample.population[0]!r}; it graded, for example, {guessed.queries[0]!r}"
            )
        of_sample: dict[Any, Any] = {query: by_people[query] for query in sample.queries}
        largest = max(graded.largest_grade, guessed.largest_grade)
        both = (Qrels(of_sample).with_largest_grade(largest), Qrels(by_model).with_largest_grade(largest))
        return cls(*both, len(by_people.keys() - of_sample.keys()))

    @property
    def of_documents(self) -> bool:
        """Whether both judged documents, each by itself."""
        return all(one.is_flat and not one.has_pieces for one in (self.human, self.model))

    def agreement(self, names: tuple[str, str], level: float, threshold: float | None) -> Agreement | None:
        """Return how far both agree on the documents that both graded; None if they judged anything else."""
        if not self.of_documents:
            return None
        first, second = (
            {(query, document): grade for query, grades in one.graded().items() for document, grade in grades.items()}
            for one in (self.human, self.model)
        )
        return Agreement.from_labels(names, first, second, level, None, threshold)

    def notes(self, runs: Mapping[str, Any], metrics: Sequence[Metric], sample: Sample, match: Any) -> Iterator[str]:
        """Yield what was left out, and how many of the documents that metrics see have no grade."""
        if self.others:
            yield f"{numbers.format_query_count(self.others)} that people graded are not in the sample and were ignored"
        if untold := [query for query, graded in self.human.graded().items() if not graded]:
            yield (
                f"people gave no grade to any document of {numbers.format_query_count(len(untold))} of the sample, "
                f"such as {untold[0]!r}: these are left out, which biases the estimate if they are the difficult ones"
            )
        if absent := len(sample.population) - len(self.model):
            ungraded = numbers.format_query_count(absent)
            yield f"the model graded nothing for {ungraded}, which count as the mean of the others"
        if not self.of_documents:
            return
        k = largest_cutoff(metrics)
        for who, truth in (("people", self.human), ("the model", self.model)):
            open_, all_ = _ungraded(runs, truth, k, match)
            if open_:
                yield (
                    f"{who} gave no grade to {open_:,} of {all_:,} documents among the first {k} of the systems; these "
                    "count as not relevant (judgments from before are added by Labels.from_qrels(qrels, grader=...) "
                    "and merge; "
                    'rm.compare(..., unjudged="bounds") says what the others could change)'
                )


def resolve_sample(sample: Any, model: Labels | QuestionsOrQrels) -> Sample:
    """Return the sample that people graded; of probabilities, the population are the queries that the model graded."""
    if isinstance(sample, Sample):
        return sample
    if isinstance(sample, Mapping):
        return Sample.from_probabilities(sample, _judged(model).queries)
    raise TypeError(
        f"sample must say how people's queries were drawn, got {type(sample).__name__}. Draw them with "
        "questions.sample(n): hand-picked queries, such as interesting ones, say nothing about the others. If you "
        "know the probability with which each was drawn, pass the probabilities: {'q1': 0.2, ...}"
    )


def _judged(labels: Labels | QuestionsOrQrels) -> Qrels:
    return as_qrels(labels.qrels if isinstance(labels, Labels) else labels)


def model_graders_note(human: Labels | QuestionsOrQrels) -> list[str]:
    """Return a note on the models among those whose grades are taken for people's."""
    held = human.labels if isinstance(human, Labels) else ()
    if names := list(dict.fromkeys(label.grader for label in held if label.kind == "model")):
        graders = numbers.join_names(names)
        return [f"{graders} graded as a model, not as a person: what is said of people holds for its grades"]
    return []


def format_graders(labels: Any, otherwise: str) -> str:
    """Return who graded, if labels say it."""
    return labels.name if isinstance(labels, Labels) else otherwise


def _ungraded(runs: Mapping[str, Any], truth: Qrels, k: int, match: Any) -> tuple[int, int]:
    known = truth.graded()
    seen: dict[Any, set[Any]] = {query: set() for query in known}
    for run in runs.values():
        found = OrderedRankings(run, match, STANDARD.order)
        for query, ranking in found.iterate(known):
            seen[query].update(found.ids(ranking)[:k])
    return sum(len(held - known[query].keys()) for query, held in seen.items()), sum(map(len, seen.values()))
