"""Conclude what a comparison shows about two systems in a metric, in a record that sentences, plots and gates read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.comparison import conclusion_wording, rare_effect_wording
from retrieval_metrics.comparison.comparison_wording import selection_bias_notes
from retrieval_metrics.comparison.difference import null_unless_finite, supported_numbers
from retrieval_metrics.comparison.failed_queries import measure_without_failures
from retrieval_metrics.comparison.failure_wording import failure_notes
from retrieval_metrics.comparison.pair_selection import require_one_pair
from retrieval_metrics.evaluation.scores import have_same_rankings
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.comparison.difference import Difference, Differences
    from retrieval_metrics.comparison.difference_bounds import DifferenceBounds, UnjudgedBounds
    from retrieval_metrics.comparison.failed_queries import DifferenceWithoutFailures
    from retrieval_metrics.comparison.selection_bias import SelectionBias
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.noninferiority import MarginOutcome

ConclusionKind: TypeAlias = Literal[
    "better",
    "worse",
    "not_significant",
    "identical",
    "depends_on_unjudged",
    "not_comparable",
    "no_common_queries",
]
# Kinds that compare no values.
NOT_COMPARED: tuple[ConclusionKind, ...] = ("not_comparable", "no_common_queries")
# Kinds of a significant difference.
SIGNIFICANT: tuple[ConclusionKind, ...] = ("better", "worse", "depends_on_unjudged")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Conclusion:
    """The conclusion about one pair of systems in one metric.

    The kinds exclude each other:

    | kind | when |
    | --- | --- |
    | `better`, `worse` | the corrected p value is at most 1 - level, and no grades of unjudged documents that were \
tried would change that; "in this sample" in the sentence if a rare effect that it may have missed could |
    | `not_significant` | the corrected p value is larger |
    | `identical` | both have identical values on every query |
    | `depends_on_unjudged` | a finding with the grades there are that others could undo |
    | `not_comparable` | at least one system does not fill the budget or retrieved nothing, or IDs match badly |
    | `no_common_queries` | there is no query for which the metric is defined in both |

    Attributes:
        kind: What is concluded.
        details: The difference, with its values and tests.
        level: The confidence level; 1 - level is the accepted family-wise error rate.
        margin: The largest acceptable loss; None if there is none, or nothing can be compared.
        unjudged_bounds: What other grades could change; None if that was not asked.
        caveats: Sentences on what else the conclusion rests on.
        same_rankings: Whether both systems are known to have the same ranking for every query.
        without_failures: The mean difference on the queries on which neither retriever failed; None if neither failed
            on any, or if the difference is not significant.
    """

    kind: ConclusionKind
    details: Difference
    level: float
    margin: float | None = None
    unjudged_bounds: DifferenceBounds | None = None
    caveats: tuple[str, ...] = ()
    same_rankings: bool = False
    without_failures: DifferenceWithoutFailures | None = None

    @property
    def metric(self) -> str:
        """The metric."""
        return self.details.metric

    @property
    def system(self) -> str:
        """The system."""
        return self.details.system

    @property
    def baseline(self) -> str:
        """The system it is compared with."""
        return self.details.baseline

    @property
    def difference(self) -> float:
        """The mean difference, system minus baseline."""
        return self.details.mean

    @property
    def gain(self) -> float:
        """How much better the system is than the baseline; where lower is better, minus the difference."""
        return self.details.gain

    @property
    def interval(self) -> Interval:
        """The confidence interval of the difference."""
        return self.details.interval

    @property
    def gain_interval(self) -> Interval:
        """The confidence interval of the gain; where lower is better, that of minus the difference."""
        return self._as_gains(self.interval)

    @property
    def p_corrected(self) -> float:
        """The p value of the randomisation test, corrected for all comparisons."""
        return self.details.p_corrected

    @property
    def n(self) -> int:
        """The number of queries for which the metric is defined in both systems."""
        return self.details.n

    @property
    def is_better_or_worse(self) -> bool:
        """Whether one system is significantly better, whatever the grades of the unjudged documents."""
        return self.kind in {"better", "worse"}

    @property
    def depends_on_unjudged(self) -> bool:
        """Whether the difference is significant, but other grades of unjudged documents could undo it."""
        return self.kind == "depends_on_unjudged"

    @property
    def has_too_few_units(self) -> bool:
        """Whether so few queries, or clusters, cannot show a difference of any size."""
        return self.kind == "not_significant" and self.details.n_units < self.details.min_units

    @property
    def noninferiority(self) -> MarginOutcome | None:
        """Whether the system is `"noninferior"` by the margin, `"inferior"` by more than it, or `"inconclusive"`.

        Of a system that is worse, the interval of the difference has to show the same. Other grades must not change the
        outcome. None without a margin, or if nothing is compared.
        """
        if self.margin is None or self.details.margin is None:
            return None
        outcome = self.details.margin.outcome
        # The test against the margin is one-sided; what is said must hold by the two-sided interval too.
        if outcome == "inferior":
            highest_gain = max(self.highest_gain, self.gain_interval.high)
            if self.kind != "worse" or highest_gain >= -self.margin:
                return "inconclusive"
        if outcome == "noninferior":
            if self.kind == "worse" and self.gain_interval.low <= -self.margin:
                return "inconclusive"
            if self.lowest_gain <= -self.margin:
                return "inconclusive"
        return outcome

    @property
    def lowest_gain(self) -> float:
        """The one-sided lower bound of the gain, with the least favourable grades."""
        low = self.details.margin.low if self.details.margin is not None else -inf
        if self.unjudged_bounds is None:
            return low
        shift = self.gain - self._as_gains(self.unjudged_bounds.interval).low
        return max(low - shift, -self.unjudged_bounds.max_difference)

    @property
    def highest_gain(self) -> float:
        """The one-sided upper bound of the gain, with the most favourable grades."""
        high = self.details.margin.high if self.details.margin is not None else inf
        if self.unjudged_bounds is None:
            return high
        shift = self._as_gains(self.unjudged_bounds.interval).high - self.gain
        return min(high + shift, self.unjudged_bounds.max_difference)

    def _as_gains(self, differences: Interval) -> Interval:
        """Return the gains of an interval of differences; where lower is better, minus the differences."""
        if self.details.higher_is_better:
            return differences
        return differences._replace(low=-differences.high, high=-differences.low)

    @property
    def may_be_within_margin(self) -> bool:
        """Whether there is a margin, and it is not shown that the system is worse by more."""
        return self.margin is not None and self.noninferiority != "inferior"

    @cached_property
    def rare_effect_matters(self) -> bool:
        """Whether rare, large changes, which so few queries cannot show, limit what can be concluded.

        They do with a margin that is not exceeded, and where they could shift the mean beyond the interval. With too
        few queries to show any difference, the sentence says so already.
        """
        if self.kind in NOT_COMPARED or self.has_too_few_units:
            return False
        return self.may_be_within_margin or self.details.rare_effect_matters

    @property
    def sample_only(self) -> bool:
        """Whether a difference is shown for these queries only, because rare changes could undo it on others."""
        return self.rare_effect_matters and self.details.rare_effect.outweighs(self.difference)

    @cached_property
    def sentence(self) -> str:
        """The conclusion in one sentence."""
        return conclusion_wording.format_conclusion(self)

    @cached_property
    def rare_effect_note(self) -> str:
        """The rare, large change that so few queries cannot show, in a sentence; empty where it does not matter."""
        return rare_effect_wording.rare_effect_note(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the conclusion as built-in types, for JSON.

        What is unknown or supports no conclusion is None, where `Comparison.to_pandas` has NaN and a table `-`.
        """
        supported = supported_numbers(self.details)
        interval = [null_unless_finite(supported["ci_low"]), null_unless_finite(supported["ci_high"])]
        margin = None
        if self.noninferiority is not None:
            margin = {"size": self.margin, "outcome": self.noninferiority}
        unjudged_bounds = None
        if self.unjudged_bounds is not None:
            unjudged_bounds = list(map(null_unless_finite, self.unjudged_bounds.interval))
        caveats = [*self.caveats, *failure_notes([self])]
        if self.rare_effect_note:
            caveats.append(self.rare_effect_note)
        return {
            "metric": self.metric,
            "system": self.system,
            "baseline": self.baseline,
            "conclusion": self.kind,
            "difference": null_unless_finite(supported["difference"]),
            "interval": None if None in interval else interval,
            "p_corrected": null_unless_finite(supported["p_corrected"]),
            "p_uncorrected": null_unless_finite(supported["p_uncorrected"]),
            "n": self.n,
            "margin": margin,
            "unjudged_bounds": unjudged_bounds,
            "sentence": self.sentence,
            "caveats": caveats,
        }

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Conclusion: {self.sentence}>"


class Conclusions(tuple[Conclusion, ...], Printed):  # noqa: SLOT001  (holds the selection bias, which is of no pair)
    """One conclusion for each pair of systems and metric, pair by pair; printed as a sentence each.

    Attributes:
        selection_bias: The selection bias of the best system in each metric, with five or more systems.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> runs = {"second": {q: ["x", "d"] for q in qrels}, "first": {q: ["d", "x"] for q in qrels}}
        >>> conclusions = rm.compare(qrels, runs, ["mrr", "recall@2"]).conclusions
        >>> [(conclusion.metric, conclusion.kind) for conclusion in conclusions]
        [('mrr', 'better'), ('recall@2', 'identical')]
    """

    selection_bias: tuple[SelectionBias, ...] = ()

    def get(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Conclusion:
        """Return one of the conclusions.

        Args:
            metric: The metric, in any spelling.
            system: The system; None if there is only one to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such conclusion, or more than one.
        """
        return require_one_pair(self, "conclusions", metric, system, baseline)

    @property
    def caveats(self) -> list[str]:
        """The caveats of all conclusions, each once."""
        caveats: dict[str, None] = {}
        for conclusion in self:
            caveats.update(dict.fromkeys(conclusion.caveats))
        return list(caveats)

    @property
    def sentences(self) -> list[str]:
        """The conclusions in words, between the caveats and the notes on failed queries and rare effects.

        Metrics in which the conclusion about two systems is the same share a sentence, which names them.
        """
        return self._with_notes(conclusion_wording.format_conclusions(self))

    @property
    def selection_bias_notes(self) -> list[str]:
        """The estimated mean of the best system on new questions, in a sentence; empty with fewer than five systems."""
        return selection_bias_notes(self.selection_bias)

    @property
    def failure_notes(self) -> list[str]:
        """What is left of significant differences without the queries that failed, a sentence for each pair."""
        return failure_notes(self)

    @property
    def rare_effect_notes(self) -> list[str]:
        """The rare effects that so few queries may miss, each once, with its metrics unless it holds for all."""
        return rare_effect_wording.rare_effect_notes(self)

    def _with_notes(self, sentences: list[str]) -> list[str]:
        notes = [*self.failure_notes, *self.selection_bias_notes, *self.rare_effect_notes]
        return [*self.caveats, *sentences, *notes]

    def _tables(self) -> list[Table]:
        sentences = [conclusion.sentence for conclusion in self]
        return [Table((), (), self._with_notes(sentences))]

    def __str__(self) -> str:  # tuple is the first base, so its method would be inherited
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<Conclusions: {len(self)}>"


def conclude(
    differences: Differences,
    *,
    level: float,
    margin: float | None,
    bounds: UnjudgedBounds | None,
    caveats: tuple[str, ...],
    scores: Mapping[str, Scores],
    selection_bias: tuple[SelectionBias, ...] = (),
) -> Conclusions:
    """Return the conclusions that the differences of a comparison allow, pair by pair."""
    entries = []
    failed_by_system = {name: system_scores.failed_queries for name, system_scores in scores.items()}
    for (system, baseline), differences_of_pair in differences.by_pair.items():
        # Rankings are compared only where the values suggest that they are the same.
        is_identical = all(difference.identical for difference in differences_of_pair)
        same_rankings = is_identical and have_same_rankings(scores[system], scores[baseline])
        failed_queries = failed_by_system[system] | failed_by_system[baseline]
        for difference in differences_of_pair:
            conclusion = _conclude(difference, level=level, margin=margin, bounds=bounds, caveats=caveats)
            without_failures = None
            if failed_queries and conclusion.kind in SIGNIFICANT:
                without_failures = measure_without_failures(difference, failed_queries)
            entries.append(replace(conclusion, same_rankings=same_rankings, without_failures=without_failures))
    conclusions = Conclusions(entries)
    conclusions.selection_bias = selection_bias
    return conclusions


def _conclude(
    difference: Difference,
    *,
    level: float,
    margin: float | None,
    bounds: UnjudgedBounds | None,
    caveats: tuple[str, ...],
) -> Conclusion:
    difference_bounds = None
    if bounds is not None and difference.n:
        # Imported here because only bounds need it.
        from retrieval_metrics.comparison.difference_bounds import bound_difference

        difference_bounds = bound_difference(difference, bounds, level)
    kind = _choose_kind(difference, difference_bounds)
    if kind in NOT_COMPARED:
        return Conclusion(kind=kind, details=difference, level=level, caveats=caveats)
    return Conclusion(
        kind=kind,
        details=difference,
        level=level,
        margin=margin,
        unjudged_bounds=difference_bounds,
        caveats=caveats,
    )


def _choose_kind(difference: Difference, bounds: DifferenceBounds | None) -> ConclusionKind:
    # Systems that cannot be compared have values, too, so this is checked before the values are.
    if not difference.n:
        return "no_common_queries"
    if not difference.comparable:
        return "not_comparable"
    if difference.identical:
        return "identical"
    if not difference.significant:
        return "not_significant"
    if bounds is not None and bounds.changes_conclusion:
        return "depends_on_unjudged"
    return "better" if difference.gain > 0 else "worse"
