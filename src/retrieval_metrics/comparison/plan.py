"""How many questions a comparison takes, before it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import import_optional, positive_integer, positive_number, proportion
from retrieval_metrics.comparison.comparison import Comparison
from retrieval_metrics.comparison.difference import POWER, Difference
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.summary import metric_bounds
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes
from retrieval_metrics.inputs.clusters import Clusters, cluster_queries
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import Sums, Units, min_units_for_margin
from retrieval_metrics.statistics.power import min_units_for_power, sd_bounds, variance_allowance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.validation import IntArray, QueryId
    from retrieval_metrics.inputs.clusters import ClustersBy


SPARSE_SCENARIO = "if few carry it: a few questions change by as much as they can, the others not at all"
CURVE = 60  # sizes at which the curve is drawn
MATTERS = 1.005  # a smaller surplus is not worth a line


class PlanScenario(NamedTuple):
    """How many questions it takes, if differences vary by so much.

    Attributes:
        name: Whose spread it is, in words.
        sd: The standard deviation of the per-query differences.
        df: With how many degrees of freedom it was estimated; infinite if it is taken as known.
        n_questions: The number of questions; on average over such estimates the power is the one asked for.
        n_questions_sparse: The number of questions if a few of them carry the whole difference; None for a margin.
    """

    name: str
    sd: float
    df: float
    n_questions: int
    n_questions_sparse: int | None


@dataclass(frozen=True, kw_only=True)
class Plan(Printed):
    """How many questions it takes to find a difference, or to show that a system is no worse by more than a margin.

    Attributes:
        metric: The metric.
        difference: The true difference to find; None for a margin.
        margin: The margin; None for a difference.
        power: The probability of finding it.
        level: The confidence level of the comparison.
        comparisons: How many differences are tested together.
        design_effect: How many clustered questions say as much as one that is independent.
        spread_source: Where the spreads come from, in words.
        max_difference: The largest possible difference of a query.
        scenarios: The numbers of questions, from the smallest spread to the largest; the middle one is the plan.
    """

    metric: str
    difference: float | None
    margin: float | None
    power: float
    level: float
    comparisons: int
    design_effect: float
    spread_source: str
    max_difference: float
    scenarios: tuple[PlanScenario, ...]

    @property
    def target(self) -> float:
        """The difference, or the margin."""
        return (self.margin or 0.0) if self.difference is None else self.difference

    @property
    def n_questions(self) -> int:
        """The number of questions to ask, from the middle row."""
        return self.scenarios[len(self.scenarios) // 2].n_questions

    @property
    def range(self) -> tuple[int, int]:
        """The numbers of questions of the smallest and the largest spread."""
        return self.scenarios[0].n_questions, self.scenarios[-1].n_questions

    @property
    def _more_for_error(self) -> float:
        level = 2 * (1 - self.level) if self.difference is None else (1 - self.level) / self.comparisons
        return variance_allowance(self.scenarios[len(self.scenarios) // 2].df, self.power, level)

    def _tables(self) -> list[Table]:
        wanted = self.margin if self.difference is None else self.difference
        what = (
            f"no worse by more than {wanted:g}, if equal" if self.difference is None else f"a difference of {wanted:g}"
        )
        header = ["differences vary as", "standard deviation", "questions"]
        rows = [[each.name, numbers.value(each.sd), f"{each.n_questions:,}"] for each in self.scenarios]
        notes = [f"found in {100 * self.power:g} % of such evaluations at {100 * self.level:g} %; {self.spread_source}"]
        if self.difference is not None:
            header = [*header, "if few carry it"]
            rows = [[*row, f"{each.n_questions_sparse:,}"] for row, each in zip(rows, self.scenarios, strict=True)]
            notes.append(SPARSE_SCENARIO)
        if self._more_for_error > MATTERS:
            found = f"{100 * self.power:g} % are found on average over such pilots"
            notes.append(f"the middle row has {100 * (self._more_for_error - 1):.0f} % more, so that {found}")
        if self.comparisons > 1:
            notes.append(f"each of {self.comparisons} comparisons at {100 * self.level:g} % for all of them together")
        if self.design_effect > 1:
            notes.append(f"design effect {self.design_effect:.2g}: clustered questions say less than independent ones")
        return [
            Table(
                header, rows, notes, f"{self.metric}: {what.format(self.target)} takes {self.n_questions:,} questions"
            )
        ]

    def plot(self) -> Figure:
        """Draw the difference, or margin, that can be told over the number of questions, for each spread.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.reports.plots import Panel, count_name_rows, figure  # noqa: PLC0415  (matplotlib is an extra)

        return figure([Panel(self._draw, count_name_rows([self._named(each) for each in self.scenarios]))])

    @staticmethod
    def _named(row: PlanScenario) -> str:
        return f"{row.name} ({row.sd:.2f})"

    def _draw(self, axes: Axes) -> None:
        from retrieval_metrics.reports.charts import TIED_COLOUR, line_style  # noqa: PLC0415  (likewise)
        from retrieval_metrics.reports.plots import add_title, label_line_ends, line_dashes, simplify_axes  # noqa: PLC0415  (matplotlib is an extra)

        wanted = self.target
        sizes = np.geomspace(min(wanted * 4, self.max_difference), wanted / 8, CURVE)
        most, ends = 3 * max(row.n_questions for row in self.scenarios), []
        for at, row in enumerate(self.scenarios):
            counts = [_needed(self, row.sd, row.df, size)[0] for size in sizes.tolist()]
            shown = [each for each in zip(counts, sizes.tolist(), strict=True) if each[0] <= most]
            axes.plot(*zip(*shown, strict=True), color=line_style(at).colour, linestyle=line_dashes(at), linewidth=1.8)
            ends.append((self._named(row), *shown[-1]))
            axes.plot(
                [row.n_questions], [wanted], marker=line_style(at).marker, color=line_style(at).colour, markersize=6
            )
        axes.axhline(wanted, color=TIED_COLOUR, linewidth=0.9, linestyle=":")
        axes.set_xscale("log")
        axes.set_xlabel("questions")
        axes.set_ylabel("margin" if self.difference is None else "difference found")
        add_title(axes, self.metric)
        axes.set_ylim(bottom=0)
        simplify_axes(axes, grid="y")
        label_line_ends(axes, ends)


def plan(
    difference: float | None = None,
    metric: str | Metric = "ndcg@10",
    *,
    margin: float | None = None,
    pilot: Comparison | Difference | Evaluation | None = None,
    comparisons: int = 1,
    clusters: ClustersBy = "source",
    design_effect: float | None = None,
    power: float = POWER,
    level: float = 0.95,
) -> Plan:
    """Return how many questions a comparison takes, before anybody collects them.

    With s the standard deviation of the per-query differences of two systems, it is the smallest n for which the paired
    t test finds a true mean difference d with the wanted power, about ((1.96 + 0.84) s / d)^2 at 80 %. For a margin it
    is the smallest n for which `compare(..., margin=)` passes two systems that do not differ, and at least 3 / margin.

    s comes from the best that is known:

    * a pilot, a comparison of similar systems on some questions: its s, and the ends of its 80 % interval;
    * an earlier evaluation of one system: 0.5 to 1.2 times the standard deviation of its values, usually 0.8;
    * nothing: the spreads of 13 pairs of retrievers on two public collections, by metric.

    A range from nothing is wide, and your systems can lie outside it: begin with 30 questions, and plan with them as a
    pilot. A pilot's spread is itself uncertain, so the plan has room for its error: with 30 questions, 6 % more. 80 %
    of differences are then found on average over pilots; in single cases the number is 0.8 to 1.3 times what it should
    be, and further off in two of five. A pilot without any of the rare large differences knows nothing of them.

    Args:
        difference: The smallest true difference that matters to you.
        metric: The metric.
        margin: In place of a difference, the largest acceptable loss.
        pilot: A comparison, one of its differences, or an evaluation; None if there is nothing yet.
        comparisons: How many differences will be tested together (metrics times pairs of systems). The number is then
            enough for any of them, and cautious if they are correlated.
        clusters: The clusters of the pilot's queries, which show the design effect: a mapping of query ids to clusters,
            or a function of the query id. `"source"` takes the clusters that the pilot was made with; None: independent
            queries.
        design_effect: How many clustered questions say as much as one that is independent, such as 1 + (m - 1) r for m
            questions per document with a correlation of r. None takes that of the pilot, or 1.
        power: Probability of finding the difference.
        level: Confidence level of the comparison.

    Returns:
        The numbers of questions; print it or plot it.

    Raises:
        TypeError: If the pilot is of another type.
        ValueError: If there is not exactly one of difference and margin, one is out of range, or the pilot does not
            hold the metric, holds it for several pairs, or does not show a spread; or if clusters are given without a
            pilot, or beside a design effect.

    Example:
        (2.8 * 0.2 / 0.05)^2 = 125 questions, and a few more because the spread is estimated.

        >>> plan(0.05, "ndcg@10").n_questions
        128

    References:
        T. Sakai (2016). Topic set size design. Information Retrieval Journal 19.
        S. A. Julious, R. J. Owen (2006). Sample size calculations for clinical studies allowing for uncertainty about
        the variance. Pharmaceutical Statistics 5.
    """
    if (difference is None) == (margin is None):
        raise ValueError("plan needs either a difference to find or a margin, such as plan(0.03) or plan(margin=0.02)")
    for name, given in (("difference", difference), ("margin", margin)):
        if given is not None:
            positive_number(given, name)
    if clusters != "source" and (pilot is None or design_effect is not None):
        raise ValueError(
            "clusters= are those of a pilot's queries; a number in their place, or without a pilot, is design_effect="
        )
    of = metric if isinstance(metric, Metric) else Metric.parse(metric)
    if isinstance(pilot, Evaluation) and of in pilot.metrics:
        of = pilot.metrics[pilot.metrics.index(of)]
    if pilot is None and of.definition.is_given:
        raise ValueError(f"nothing is known of the spread of {of}; pass a pilot, an evaluation or a comparison with it")
    proportion(power, "power")
    proportion(level, "level")
    if power <= 1 - level:
        raise ValueError(f"power must exceed 1 - level, which a test reaches without any difference; got {power}")
    known = known_spreads(of, pilot, clusters)
    found = Plan(
        metric=str(of),
        difference=difference,
        margin=margin,
        power=power,
        level=level,
        comparisons=positive_integer(comparisons, "comparisons"),
        design_effect=known.design_effect if design_effect is None else positive_number(design_effect, "design_effect"),
        spread_source=known.basis,
        max_difference=known.span,
        scenarios=(),
    )
    if found.target > known.span:
        raise ValueError(f"the largest possible difference in {of} is {known.span:g}, got {found.target:g}")
    rows = tuple(PlanScenario(*each, *_needed(found, *each[1:], found.target)) for each in known.spreads)
    return replace(found, scenarios=rows)


def _needed(asked: Plan, spread: float, freedom: float, wanted: float) -> tuple[int, int | None]:
    """Return how many questions a difference or margin of that size takes, and how many if few questions carry it."""
    alpha, variance, effect = 1 - asked.level, spread**2, max(asked.design_effect, 1.0)
    if asked.difference is None:
        equal = min_units_for_power(wanted, variance, 0.0, asked.power, 2 * alpha, df=freedom)
        return ceil(max(equal, min_units_for_margin(wanted, span=asked.max_difference, alpha=alpha)) * effect), None
    each = alpha / asked.comparisons
    alike = min_units_for_power(wanted, variance, 0.0, asked.power, each, df=freedom)
    if wanted >= asked.max_difference:  # every question changes by as much as it can
        return ceil(alike * effect), ceil(alike * effect)
    uneven = min_units_for_power(wanted, variance, asked.max_difference, asked.power, each, df=freedom)
    return ceil(alike * effect), ceil(max(alike, uneven) * effect)


# How much the values of a metric spread: in a pilot, in one evaluation, or usually.

MIN_PILOT_QUERIES = 2
"""Queries, or clusters of them, that show a spread."""


class SpreadEstimates(NamedTuple):
    """Names, spreads and their degrees of freedom; where they come from; and the largest possible difference."""

    spreads: Sequence[tuple[str, float, float]]
    basis: str
    design_effect: float
    span: float


def known_spreads(metric: Metric, pilot: object, clusters: ClustersBy) -> SpreadEstimates:
    """Return what is known of the spread of differences in a metric, before the comparison is made."""
    if pilot is None:
        names = "the most similar pair", "the median pair", "the most different pair"
        spreads = usual_spread(metric)
        where = f"spreads of {metric.name}" if metric.name in SPREADS else "spreads of other metrics"
        basis = f"{where} in 13 pairs of retrievers on two public collections; yours may differ"
        return SpreadEstimates(
            [(name, spread, inf) for name, spread in zip(names, spreads, strict=True)], basis, 1.0, 1.0
        )
    if isinstance(pilot, Evaluation):
        return _of_one_system(metric, pilot, clusters)
    if isinstance(pilot, Comparison):
        found = [each for each in pilot.differences if each.metric == str(metric)]
        if len(found) != 1:
            raise ValueError(
                f"the pilot has {len(found)} differences in {metric}; pass one, such as "
                f"pilot.difference({str(metric)!r}, system, baseline)"
            )
        pilot = found[0]
    if not isinstance(pilot, Difference):
        raise TypeError(f"pilot must be a Comparison, a Difference or an Evaluation, got {type(pilot).__name__}")
    if pilot.metric != str(metric):
        raise ValueError(f"the pilot is a difference in {pilot.metric}, not in {metric}")
    labels = pilot.clusters if clusters == "source" else _cluster_labels(pilot.queries, clusters)
    units = Units.from_values(pilot.values, labels)
    if len(units.sizes) < MIN_PILOT_QUERIES or not pilot.values.any():
        raise ValueError(
            f"the pilot shows no spread: {numbers.format_query_count(pilot.n)}, of which "
            f"{np.count_nonzero(pilot.values)} differ"
        )
    spread = float(pilot.values.std(ddof=1))
    low, high = sd_bounds(max(units.effective_units, MIN_PILOT_QUERIES))
    around = [
        ("the least that the pilot allows", low * spread, inf),
        ("in the pilot", spread, max(units.effective_units, MIN_PILOT_QUERIES) - 1),
        ("the most that the pilot allows", high * spread, inf),
    ]
    effect = 1.0 if labels is None else max(units.design_effect, 1.0)
    basis = f"a pilot of {numbers.format_query_count(pilot.n)}"
    if labels is not None:
        basis = "; ".join(
            [f"{basis} in {numbers.format_count(len(units.sizes), 'cluster')}", *cluster_count_notes(len(units.sizes))]
        )
    return SpreadEstimates(around, basis, effect, pilot.max_difference)


def _cluster_labels(
    queries: Sequence[QueryId], clusters: Mapping[Any, Any] | Callable[[Any], Any] | Clusters | None
) -> IntArray | None:
    found = clusters if clusters is None or isinstance(clusters, Clusters) else cluster_queries(queries, clusters)
    return None if found is None else found.select(queries).labels


def _of_one_system(metric: Metric, pilot: Evaluation, clusters: ClustersBy) -> SpreadEstimates:
    if metric not in pilot.metrics:
        raise ValueError(f"the pilot has no {metric}; it has {', '.join(map(str, pilot.metrics))}")
    column = pilot.scores.column(metric)
    defined = ~np.isnan(column)
    values = column[defined]
    if len(values) < MIN_PILOT_QUERIES or not np.ptp(values):
        raise ValueError(f"the evaluation shows no spread of {metric}: all of its {len(values)} values are alike")
    spread = float(values.std(ddof=1))
    low, high = metric_bounds(pilot.scores, metric, Sums.from_values(values))
    span = high - max(low, 0.0) if not metric.definition.is_given else high - low
    basis = f"an evaluation of {numbers.format_query_count(len(values))} whose values vary by {numbers.value(spread)}"
    labels = _cluster_labels(pilot.scores.queries, pilot.scores.clusters if clusters == "source" else clusters)
    effect = (
        1.0 if labels is None else Units.from_values(values, labels[defined]).design_effect
    )  # of differences it is less
    largest = float(span) if span not in {0.0, float("inf")} else max(float(np.ptp(values)), sqrt(spread))
    spreads = [(f"{by:g} times the values of the evaluation", by * spread, inf) for by in OF_VALUES]
    return SpreadEstimates(spreads, basis, effect if effect > 1 else 1.0, largest)


# How much the per-query differences of two retrievers usually vary, by metric.


class SpreadRange(NamedTuple):
    """Standard deviations of per-query differences.

    Attributes:
        smallest: Of the most similar pair of systems.
        usual: Of the median pair.
        largest: Of the pair that differs most.
    """

    smallest: float
    usual: float
    largest: float


# tests/benchmarks/spreads.py measures them: Cranfield (225 questions; BM25, TF-IDF, embeddings, two fusions) and
# Chroma's chunking evaluation (472 questions; BM25 over three sizes of chunks), 13 pairs.
SPREADS = {
    "hit_rate": SpreadRange(0.27, 0.39, 0.54),
    "full_recall": SpreadRange(0.13, 0.22, 0.50),
    "precision": SpreadRange(0.07, 0.17, 0.23),
    "recall": SpreadRange(0.15, 0.19, 0.43),
    "mrr": SpreadRange(0.29, 0.35, 0.46),
    "map": SpreadRange(0.11, 0.15, 0.37),
    "ndcg": SpreadRange(0.14, 0.20, 0.37),
}
OF_ANY = SpreadRange(
    min(each.smallest for each in SPREADS.values()), 0.3, max(each.largest for each in SPREADS.values())
)
"""For a metric that was not measured: from the least to the most of all, and what is usual for binary ones."""

OF_VALUES = SpreadRange(0.5, 0.8, 1.2)
"""The spread of differences, in standard deviations of one system's values: the same pairs, all metrics together."""


def usual_spread(metric: Metric) -> SpreadRange:
    """Return how much differences in a metric usually vary."""
    return SPREADS.get(metric.name, OF_ANY)
