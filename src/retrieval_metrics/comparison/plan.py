"""Plan how many questions a comparison needs, before anybody collects them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional, to_data_frame
from retrieval_metrics._internal.validation import positive_integer, positive_number, proportion
from retrieval_metrics.comparison.difference import POWER
from retrieval_metrics.comparison.spread_estimates import estimate_spreads
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import min_units_for_margin
from retrieval_metrics.statistics.power import min_units_for_power, variance_allowance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.inputs.clusters import ClustersBy


SPARSE_SCENARIO = (
    "if sparse: questions needed if systems differ by the maximum on a few questions and not at all on the others"
)
# The number of differences at which the curve is drawn, and the range of them in multiples of the target.
N_CURVE_POINTS = 60
MAX_DRAWN_MULTIPLE = 4
MIN_DRAWN_MULTIPLE = 1 / 8
# The curves end at this multiple of the largest planned number of questions.
MAX_QUESTIONS_MULTIPLE = 3
# A smaller surplus for the error of a pilot is not worth a line.
MIN_PRINTED_ALLOWANCE = 1.005


class PlanScenario(NamedTuple):
    """How many questions it takes, if differences vary by so much.

    Attributes:
        name: Where the spread was measured, in words.
        sd: The standard deviation of the per-query differences.
        df: The degrees of freedom of its estimate; infinite if it is taken as known.
        n_questions: The number of questions; on average over such estimates the power is the one asked for.
        n_questions_sparse: The number of questions if a few of them carry the whole difference; None for a margin.
    """

    name: str
    sd: float
    df: float
    n_questions: int
    n_questions_sparse: int | None

    @property
    def label(self) -> str:
        """Its name with its spread."""
        return f"{self.name} ({self.sd:.2f})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Printed):
    """How many questions it takes to detect a difference, or to show non-inferiority.

    Attributes:
        metric: The metric.
        difference: The true difference to detect; None for a margin.
        margin: The margin; None for a difference.
        power: The probability of detecting it.
        level: The confidence level of the comparison.
        comparisons: How many differences are tested together.
        design_effect: How many clustered questions carry the information of one independent question.
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
        if self.difference is not None:
            return self.difference
        return self.margin or 0.0

    @property
    def n_questions(self) -> int:
        """The number of questions to ask, from the middle row."""
        return self.scenarios[len(self.scenarios) // 2].n_questions

    @property
    def range(self) -> tuple[int, int]:
        """The numbers of questions of the smallest and the largest spread."""
        return self.scenarios[0].n_questions, self.scenarios[-1].n_questions

    @property
    def _variance_allowance(self) -> float:
        """By how much the plan exceeds what the spread of the pilot alone would take."""
        alpha = self._alpha
        if self.difference is None:
            alpha *= 2  # the test against a margin is one-sided
        return variance_allowance(self.scenarios[len(self.scenarios) // 2].df, self.power, alpha)

    @property
    def _alpha(self) -> float:
        """The rate of false findings of each comparison, corrected for all of them by Bonferroni's inequality."""
        return (1 - self.level) / self.comparisons

    def _tables(self) -> list[Table]:
        is_margin = self.difference is None
        header = ["scenario", "SD", "questions"]
        if not is_margin:
            header.append("if sparse")
        rows = []
        for scenario in self.scenarios:
            row = [scenario.name, numbers.format_value(scenario.sd), f"{scenario.n_questions:,}"]
            if not is_margin:
                row.append(f"{scenario.n_questions_sparse:,}")
            rows.append(row)
        target = f"{self.target:g}"
        goal = f"detecting a difference of {target}"
        if is_margin:
            goal = f"showing that an equally good system is non-inferior (margin {target})"
        return [Table(header, rows, self._notes(), f"{self.metric}: {goal} takes {self.n_questions:,} questions")]

    def _notes(self) -> list[str]:
        power = f"{100 * self.power:g}%"
        level = f"{100 * self.level:g}%"
        notes = [f"{power} power at {level} confidence; {self.spread_source}"]
        if self.difference is not None:
            notes.append(SPARSE_SCENARIO)
        if self._variance_allowance > MIN_PRINTED_ALLOWANCE:
            surplus = f"{100 * (self._variance_allowance - 1):.0f}%"
            allowance = f"{surplus} more questions because the SD is only estimated"
            notes.append(f"middle row: includes {allowance}, so that average power is {power}")
        if self.comparisons > 1:
            notes.append(self._correction_note(level))
        if self.design_effect > 1:
            notes.append(f"design effect {self.design_effect:.2g} (clustered questions)")
        return notes

    def _correction_note(self, level: str) -> str:
        note = f"Bonferroni-corrected for {self.comparisons} comparisons ({level} overall)"
        if self.difference is not None:
            return note
        # A comparison tests each system against the margin by itself.
        return (
            f"{note}: pass level={1 - self._alpha:.6g} to compare(), which does not correct "
            "non-inferiority tests for multiple comparisons"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per scenario: its spread and the numbers of questions it takes.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        return to_data_frame([scenario._asdict() for scenario in self.scenarios])

    def __repr__(self) -> str:
        questions = f"{self.n_questions:,} questions"
        if self.difference is None:
            return f"<Plan: {questions} to show non-inferiority in {self.metric} (margin {self.target:g})>"
        return f"<Plan: {questions} to detect a difference of {self.target:g} in {self.metric}>"

    def plot(self) -> Figure:
        """Plot the difference, or margin, that can be detected, against the number of questions, for each spread.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.reports.line_panels import count_name_rows
        from retrieval_metrics.reports.plots import Panel, figure

        names = [scenario.label for scenario in self.scenarios]
        return figure([Panel(self._draw, count_name_rows(names))])

    def _draw(self, axes: Axes) -> None:
        from retrieval_metrics.reports.line_panels import LineEnd, label_line_ends, line_dashes
        from retrieval_metrics.reports.line_styles import TIED_COLOUR, line_style
        from retrieval_metrics.reports.plots import add_title, simplify_axes

        largest_size = min(self.target * MAX_DRAWN_MULTIPLE, self.max_difference)
        sizes = np.geomspace(largest_size, self.target * MIN_DRAWN_MULTIPLE, N_CURVE_POINTS).tolist()
        max_questions = MAX_QUESTIONS_MULTIPLE * max(scenario.n_questions for scenario in self.scenarios)
        line_ends = []
        for index, scenario in enumerate(self.scenarios):
            xs = []
            ys = []
            for size in sizes:
                n_questions = _count_questions(self, scenario.sd, scenario.df, size).even
                if n_questions <= max_questions:
                    xs.append(n_questions)
                    ys.append(size)
            style = line_style(index)
            axes.plot(xs, ys, color=style.colour, linestyle=line_dashes(index), linewidth=1.8)
            axes.plot([scenario.n_questions], [self.target], marker=style.marker, color=style.colour, markersize=6)
            line_ends.append(LineEnd(scenario.label, xs[-1], ys[-1]))
        axes.axhline(self.target, color=TIED_COLOUR, linewidth=0.9, linestyle=":")
        axes.set_xscale("log")
        axes.set_xlabel("questions")
        axes.set_ylabel("margin" if self.difference is None else "detectable difference")
        add_title(axes, self.metric)
        axes.set_ylim(bottom=0)
        simplify_axes(axes, grid="y")
        label_line_ends(axes, line_ends)


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
    """Return how many questions a comparison needs, before you collect them.

    With s the standard deviation of the per-query differences of two systems, it is the smallest n for which the paired
    t test detects a true mean difference d with the requested power, about ((1.96 + 0.84) s / d)^2 at 80%. For a margin
    it is the smallest n for which `compare(..., margin=)` passes two systems that do not differ, and at least 3 /
    margin.

    s comes from the best source available:

    * a pilot, a comparison of similar systems on some questions: its s, and one-sided 80% bounds of it;
    * an earlier evaluation of one system: 0.5 to 1.2 times the standard deviation of its values, usually 0.8;
    * nothing: the spreads of 13 pairs of retrievers on two public collections, by metric.

    The range from public collections is wide, and your systems can lie outside it: start with 30 questions, and use
    them as a pilot. A pilot's spread is itself uncertain, so the plan adds an allowance: with 30 questions, 6% more.
    The power is then 80% on average over pilots; a single number is 0.8 to 1.3 times what it should be, and further off
    in two of five cases. A pilot that lacks rare large differences cannot account for them.

    Args:
        difference: The smallest true difference that matters to you.
        metric: The metric.
        margin: In place of a difference, the largest acceptable loss.
        pilot: A comparison, one of its differences, or an evaluation; None if there is nothing yet.
        comparisons: How many differences will be tested together (metrics times pairs of systems). The number then
            suffices for each of them, and is conservative if they are correlated. `compare` corrects differences
            itself; tests against a margin are corrected if it gets the level that the plan prints.
        clusters: The clusters of the pilot's queries, which show the design effect: a mapping of query ids to clusters,
            or a function of the query id. `"source"` takes the clusters that the pilot was made with; None: independent
            queries.
        design_effect: How many clustered questions carry the information of one independent question, such as
            1 + (m - 1) r for m questions per document with a correlation of r. None takes that of the pilot, or 1.
        power: Probability of detecting the difference.
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
    if difference is None and margin is None:
        raise ValueError("plan needs a difference to detect or a margin, such as plan(0.03) or plan(margin=0.02)")
    if difference is not None and margin is not None:
        raise ValueError(f"pass either a difference or margin=, not both; got {difference!r} and margin={margin!r}")
    if difference is not None:
        positive_number(difference, "difference")
    if margin is not None:
        positive_number(margin, "margin")
    if clusters != "source" and (pilot is None or design_effect is not None):
        raise ValueError(
            "clusters= groups the queries of a pilot. Without a pilot, or to set the design effect, pass design_effect="
        )
    planned_metric = _find_metric(metric, pilot)
    proportion(power, "power")
    proportion(level, "level")
    if power <= 1 - level:
        raise ValueError(f"power must exceed 1 - level, which a test reaches without any difference; got {power}")
    estimates = estimate_spreads(planned_metric, pilot, clusters)
    if design_effect is not None:
        positive_number(design_effect, "design_effect")
    unfinished = Plan(
        metric=str(planned_metric),
        difference=difference,
        margin=margin,
        power=power,
        level=level,
        comparisons=positive_integer(comparisons, "comparisons"),
        design_effect=estimates.design_effect if design_effect is None else design_effect,
        spread_source=estimates.source,
        max_difference=estimates.max_difference,
        scenarios=(),
    )
    target_name = "margin" if difference is None else "difference"
    if unfinished.target > estimates.max_difference:
        raise ValueError(
            f"{target_name} must be at most {estimates.max_difference:g}, the range of {planned_metric}, got "
            f"{unfinished.target:g}"
        )
    scenarios = []
    for spread in estimates.spreads:
        counts = _count_questions(unfinished, spread.sd, spread.df, unfinished.target)
        scenarios.append(PlanScenario(spread.name, spread.sd, spread.df, counts.even, counts.sparse))
    return replace(unfinished, scenarios=tuple(scenarios))


def _find_metric(metric: str | Metric, pilot: object) -> Metric:
    """Return the metric to plan for, with the properties that the pilot has if its values were computed elsewhere."""
    planned_metric = metric if isinstance(metric, Metric) else Metric.parse(metric)
    if isinstance(pilot, Evaluation) and planned_metric in pilot.metrics:
        planned_metric = pilot.metrics[pilot.metrics.index(planned_metric)]
    if pilot is None and planned_metric.definition.is_given:
        raise ValueError(
            f"no published SD for {planned_metric}. Pass pilot=, an evaluation or a comparison that has it"
        )
    return planned_metric


class _QuestionCounts(NamedTuple):
    """The number of questions needed.

    Attributes:
        even: If all questions carry the difference alike.
        sparse: If a few questions carry all of it; None for a margin.
    """

    even: int
    sparse: int | None


def _count_questions(goal: Plan, sd: float, df: float, size: float) -> _QuestionCounts:
    """Return how many questions a difference or margin of that size takes, with the power and level of a plan."""
    variance = sd**2
    design_effect = max(goal.design_effect, 1.0)
    alpha = (1 - goal.level) / goal.comparisons
    if goal.difference is None:
        n_by_power = min_units_for_power(size, variance, 0.0, goal.power, 2 * alpha, df=df)
        n_by_margin = min_units_for_margin(size, span=goal.max_difference, alpha=alpha)
        return _QuestionCounts(ceil(max(n_by_power, n_by_margin) * design_effect), None)
    even = min_units_for_power(size, variance, 0.0, goal.power, alpha, df=df)
    if size >= goal.max_difference:  # every question changes by as much as it can
        return _QuestionCounts(ceil(even * design_effect), ceil(even * design_effect))
    sparse = min_units_for_power(size, variance, goal.max_difference, goal.power, alpha, df=df)
    return _QuestionCounts(ceil(even * design_effect), ceil(max(even, sparse) * design_effect))
