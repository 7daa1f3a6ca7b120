"""What a comparison shows about two systems in a metric: one entry, from which everything else speaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.comparison.conclusion_wording import (
    MAX_NAMES,
    ConclusionGroup,
    combine_sentences,
    format_conclusion_groups,
)
from retrieval_metrics.comparison.difference import require_one_pair
from retrieval_metrics.files.saved_records import register_record
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics.out_of_bag import out_of_bag
from retrieval_metrics.statistics.paired import is_significant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.conclusion_wording import ConclusionKind
    from retrieval_metrics.comparison.difference import Difference, Differences
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.noninferiority import MarginOutcome
    from retrieval_metrics.statistics.paired import RareChange


ROUNDING = 1e-9
"""Grades that shift a mean by less shift it by rounding only."""


class DifferenceBounds(NamedTuple):
    """What other grades of the unjudged documents could make of a difference.

    Attributes:
        interval: The least and the greatest mean difference.
        documents: Which documents are graded, in words.
        queries: How many queries have such documents.
        change: Whether some of these grades would give another conclusion.
    """

    interval: Interval
    documents: str
    queries: int
    change: bool


def format_rare_effect(n: int, span: float, rare: RareChange, moved: tuple[str, str] = ("differ", "by")) -> str:
    """Return in a sentence what so few queries cannot have shown."""
    query, mean = moved
    return (
        f"{numbers.format_query_count(n)} cannot show what is rare: "
        f"up to {100 * rare.share:.2g} % of all queries could {query} by {span:.3g}, "
        f"and the mean {mean} {rare.mean_shift:.2g}"
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Conclusion:
    """The conclusion about one pair of systems in one metric.

    The kinds exclude each other:

    | kind | when |
    | --- | --- |
    | `better`, `worse` | the corrected p value is at most 1 - level, and no grades of unjudged documents that were \
tried would change that; "on these queries" in the sentence if a rare change that they cannot show could |
    | `not_significant` | the corrected p value is larger |
    | `identical` | both have the same value for every query |
    | `depends_on_unjudged` | a finding with the grades there are that others could undo |
    | `not_comparable` | the two systems fill a budget unequally |
    | `no_common_queries` | there is no query for which the metric is defined in both |

    Attributes:
        kind: What is concluded.
        details: The difference, with its values and tests.
        level: The confidence level; 1 - level is the accepted rate of false findings.
        margin: The largest acceptable loss; None if there is none, or nothing can be compared.
        unjudged_bounds: What other grades could change; None if that was not asked.
        caveats: Sentences on what else the conclusion rests on.
    """

    kind: ConclusionKind
    details: Difference
    level: float
    margin: float | None = None
    unjudged_bounds: DifferenceBounds | None = None
    caveats: tuple[str, ...] = ()

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
    def p_corrected(self) -> float:
        """The p value of the randomisation test, corrected for all comparisons."""
        return self.details.p_corrected

    @property
    def n(self) -> int:
        """The number of queries for which the metric is defined in both systems."""
        return self.details.n

    @property
    def noninferiority(self) -> MarginOutcome | None:
        """Whether the system is `"noninferior"` by the margin, `"inferior"` by more than it, or `"inconclusive"`.

        Of a system that is worse, the interval of the difference has to show the same. Other grades must not change the
        outcome. None without a margin, or if nothing is compared.
        """
        if self.margin is None or self.details.margin is None:
            return None
        outcome = self.details.margin.outcome
        if outcome == "inferior" and (self.kind != "worse" or max(self._highest, self._ends.high) >= -self.margin):
            return "inconclusive"
        if outcome == "noninferior" and self.kind == "worse" and self._ends.low <= -self.margin:
            return "inconclusive"
        return "inconclusive" if outcome == "noninferior" and self._lowest <= -self.margin else outcome

    @property
    def _ends(self) -> Interval:
        """The interval of the gain: of the difference, or where lower is better, of minus the difference."""
        low, high = self.interval
        return self.interval if self.details.higher_is_better else self.interval._replace(low=-high, high=-low)

    @property
    def _lowest(self) -> float:
        """The one-sided lower bound of the difference, with the least favourable grades."""
        low = self.details.margin.low if self.details.margin is not None else -inf
        return low if self.unjudged_bounds is None else low - (self.difference - self.unjudged_bounds.interval.low)

    @property
    def _highest(self) -> float:
        """The one-sided upper bound of the difference, with the most favourable grades."""
        high = self.details.margin.high if self.details.margin is not None else inf
        return high if self.unjudged_bounds is None else high + (self.unjudged_bounds.interval.high - self.difference)

    @cached_property
    def sentence(self) -> str:
        """The conclusion in one sentence."""
        return f"{format_conclusion_groups([ConclusionGroup(self.system, (self,))])}{self.rest}."

    @property
    def rest(self) -> str:
        """The end of the sentence: what other grades and the margin add."""
        return f"{self._said_of_grades()}{self._said_of_margin()}"

    @cached_property
    def rare_effect_note(self) -> str:
        """What so few queries cannot have shown, a rare large change, in a sentence; empty where it does not matter.

        It matters with a margin that is not exceeded, and where such changes could shift the mean beyond the interval.
        Of too few queries to show any difference, this is said already.
        """
        if self.kind in {"not_comparable", "no_common_queries"}:
            return ""
        if self.kind == "not_significant" and self.details.n_units < self.details.min_units:
            return ""
        for_the_margin = self.margin is not None and self.noninferiority != "inferior"
        if not (for_the_margin or self.details.rare_effect_matters):
            return ""
        worse, better = ("lower", "higher") if self.details.higher_is_better else ("higher", "lower")
        if for_the_margin or self.kind == "better":
            moved = ("be worse", f"{worse} by")
        elif self.kind == "worse":
            moved = ("be better", f"{better} by")
        else:
            moved = ("differ", "by")
        return f"{format_rare_effect(self.n, self.details.max_difference, self.details.rare_effect, moved)}."

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as built-in types, for JSON."""
        return {
            "metric": self.metric,
            "system": self.system,
            "baseline": self.baseline,
            "conclusion": self.kind,
            "difference": self.difference,
            "interval": list(self.interval),
            "p_corrected": self.p_corrected,
            "p_uncorrected": self.details.p_uncorrected,
            "n": self.n,
            "margin": None if self.noninferiority is None else {"size": self.margin, "outcome": self.noninferiority},
            "unjudged_bounds": None if self.unjudged_bounds is None else list(self.unjudged_bounds.interval),
            "sentence": self.sentence,
            "caveats": [*self.caveats, *([self.rare_effect_note] if self.rare_effect_note else [])],
        }

    @property
    def sample_only(self) -> bool:
        """Whether a finding holds on these queries only, because a rare change that they cannot show could undo it."""
        return bool(self.rare_effect_note) and self.details.rare_effect.mean_shift >= abs(self.difference)

    @property
    def depends_on_unjudged(self) -> bool:
        """Whether it is a finding that other grades could undo."""
        return self.kind == "depends_on_unjudged"

    def _said_of_grades(self) -> str:
        if self.unjudged_bounds is None:
            return ""
        ends = " to ".join(numbers.signed(end) for end in self.unjudged_bounds.interval)
        documents = self.unjudged_bounds.documents
        if self.depends_on_unjudged:
            here = numbers.signed(self.difference)
            return f": as judged the difference is {here}, with other grades of {documents} it could be {ends}"
        if self.unjudged_bounds.change:
            return f"; with other grades of {documents} the difference could be {ends}"
        if not self.unjudged_bounds.queries:
            return f", and nothing is {documents.removeprefix('the ')}"
        would = {"not_significant": "show one", "identical": "show a clear difference"}
        return f", and no grades of {documents} would {would.get(self.kind, 'change that')}"

    def _said_of_margin(self) -> str:
        outcome, test = self.noninferiority, self.details.margin
        if (
            outcome is None
            or test is None
            or self.margin is None
            or (outcome == "noninferior" and self.kind == "better")
        ):
            return ""
        if self.kind == "worse":
            size = f" more than {self.margin:g}"
            return {"inferior": f", by{size}", "noninferior": f", but not by{size}"}.get(
                outcome, f"; whether by{size} is open"
            )
        beyond = " one-sided," if self._ends.low <= -self.margin else ""  # which the two-sided interval does not show
        if outcome == "noninferior":
            return f";{beyond} {self.system} is no worse by more than {self.margin:g}"
        said = f"; that {self.system} is no worse by more than {self.margin:g} is not shown"
        if self.kind == "better":
            said = f"; that rare losses make it worse by more than {self.margin:g} is not ruled out"
        if test.low > -self.margin and self.details.rare_effect.mean_shift >= self.margin:
            what = "queries" if self.details.clusters is None else "independent queries"
            return f"{said}, which takes about {test.min_units} {what}"
        if test.low <= -self.details.max_difference < self._ends.low:
            return f"{said}: the loss lies on so few queries that the test, which allows for skewness, cannot bound it"
        grades = " and with other grades" if self._lowest < test.low - ROUNDING else ""
        return f"{said}: one-sided{grades}, it may be worse by up to {numbers.three(-self._lowest)}"

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Conclusion: {self.sentence}>"


class Conclusions(tuple[Conclusion, ...], Printed):  # noqa: SLOT001  (holds what is said of all pairs together)
    """One conclusion for each pair of systems and metric, pair by pair; printed as a sentence each.

    Attributes:
        selection_bias: How much the best system of each metric is flattered by being chosen, from five systems on.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> runs = {"second": {q: ["x", "d"] for q in qrels}, "first": {q: ["d", "x"] for q in qrels}}
        >>> found = rm.compare(qrels, runs, ["mrr", "recall@2"]).conclusions
        >>> [(each.metric, each.kind) for each in found]
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
        return list(dict.fromkeys(said for each in self for said in each.caveats))

    @property
    def sentences(self) -> list[str]:
        """The conclusions in words, between the caveats and what so few queries cannot show.

        What is concluded alike of two systems in several metrics is one sentence, which names them.
        """
        said = combine_sentences((ConclusionGroup(each.system, (each,)) for each in self), with_suffix=True)
        return [*self.caveats, *said, *self.selection_bias_notes, *self.rare_effect_notes]

    @property
    def selection_bias_notes(self) -> list[str]:
        """What the best of many systems are worth on new questions, in a sentence; nothing if there are few."""
        return said_of_selection_bias(self.selection_bias)

    @property
    def rare_effect_notes(self) -> list[str]:
        """What so few queries cannot have shown, each once, and of which metrics if it is not the same of all."""
        metrics: dict[str, list[str]] = {}
        for each in self:
            if each.rare_effect_note and each.metric not in metrics.setdefault(each.rare_effect_note, []):
                metrics[each.rare_effect_note].append(each.metric)
        whole = len({each.metric for each in self})
        return [
            said if len(names) == whole else f"In {numbers.join_names(names)}, {said}"
            for said, names in metrics.items()
        ]

    def _tables(self) -> list[Table]:
        return [
            Table(
                (),
                (),
                [*self.caveats, *(each.sentence for each in self), *self.selection_bias_notes, *self.rare_effect_notes],
            )
        ]

    def __str__(self) -> str:  # of two parents, tuple would win
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<{len(self)} conclusions>"


def conclude(
    differences: Differences,
    *,
    level: float,
    margin: float | None,
    bounds: UnjudgedBounds | None,
    caveats: tuple[str, ...],
    selection_bias: tuple[SelectionBias, ...] = (),
) -> Conclusions:
    """Return the conclusions that the differences of a comparison allow, pair by pair."""
    found = []
    for those in differences.by_pair.values():
        for each in those:
            grades = None if bounds is None or not each.n else _other_grades(each, bounds, level)
            kind = _kind(each, grades)
            compared = kind not in {"not_comparable", "no_common_queries"}
            found.append(
                Conclusion(
                    kind=kind,
                    details=each,
                    level=level,
                    margin=margin if compared else None,
                    unjudged_bounds=grades if compared else None,
                    caveats=caveats,
                )
            )
    conclusions = Conclusions(found)
    conclusions.selection_bias = selection_bias
    return conclusions


def _kind(one: Difference, grades: DifferenceBounds | None) -> ConclusionKind:
    if not one.n:
        return "no_common_queries"
    if not one.comparable:
        return "not_comparable"
    if one.identical:
        return "identical"
    if not one.significant:
        return "not_significant"
    if grades is not None and grades.change:
        return "depends_on_unjudged"
    return "better" if one.gain > 0 else "worse"


def _other_grades(one: Difference, bounds: UnjudgedBounds, level: float) -> DifferenceBounds:
    """Return what other grades could change: a finding could vanish, or one could appear."""
    key = one.metric, *one.pair
    low, high = bounds.differences[key]
    p_low, p_high = (min(p * one.selected_from, 1.0) for p in bounds.p_values[key])
    worse, better = high < 0 and is_significant(p_high, level), low > 0 and is_significant(p_low, level)
    may_be_worse, may_be_better = low < 0 and is_significant(p_low, level), high > 0 and is_significant(p_high, level)
    if one.significant and not one.identical:
        change = not (better if one.mean > 0 else worse)
    else:
        change = may_be_worse or may_be_better
    return DifferenceBounds(bounds.differences[key], bounds.graded(one.metric), bounds.queries[one.metric], change)


# How much of what systems retrieved is judged, and what the unjudged rest could change.

IMBALANCE = 0.1
"""Systems whose judged shares differ by more than this are not judged alike."""


@register_record
class JudgedCoverage(NamedTuple):
    """How much of each system's first k documents is judged.

    Attributes:
        k: How many documents of each ranking are counted.
        shares: The mean of judged@k of each system; NaN if it retrieved nothing.
        has_nonrelevant: Whether the judgments include documents that are not relevant. If not, judged means relevant,
            and a better system has a larger share.
    """

    k: int
    shares: Mapping[str, float]
    has_nonrelevant: bool

    @property
    def least_judged(self) -> str | None:
        """The system with the smallest share, if that is much smaller than another's."""
        shares = {name: share for name, share in self.shares.items() if not isnan(share)}
        if not shares or max(shares.values()) - min(shares.values()) <= IMBALANCE:
            return None
        return min(shares, key=shares.__getitem__)

    @property
    def is_unbalanced(self) -> bool:
        """Whether one system is judged so much less than another that this alone could explain a difference."""
        return self.has_nonrelevant and self.least_judged is not None

    @property
    def shares_in_words(self) -> str:
        """How much of each system is judged, in words."""
        shares = ", ".join(f"{name} {_percent(share)}" for name, share in self.shares.items())
        return f"of the first {self.k} retrieved: {shares}"

    def sentence(self, *, condensed: bool, bounded: bool) -> str:
        """Return how unjudged documents were treated; empty if that alone could not explain a difference."""
        if condensed:
            favoured = "" if self.least_judged is None else f", so it favours {self.least_judged}"
            return (
                "Unjudged documents were taken out of the rankings, which favours the system that is judged less "
                f"(Sakai and Kando 2008): judged {self.shares_in_words}{favoured}."
            )
        if not self.is_unbalanced:
            return ""
        better = "" if bounded else f"; {format_argument('unjudged', 'bounds')} shows how much"
        return (
            f"The systems are not judged alike ({self.shares_in_words}). Unjudged documents count as not relevant, "
            f"which alone can make a difference{better}."
        )


def _percent(share: float) -> str:
    return "-" if isnan(share) else f"{100 * share:.0f} %"


@register_record
@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """The bounds of means and differences over all possible grades of the unjudged documents.

    Attributes:
        depths: Per metric, among how many first documents of each compared run the unjudged ones are graded: its
            cut-off, or None for the whole ranking. All other unjudged documents count as not relevant, as usual.
        grades: The grades that each of them can have: 0, and those that occur in the judgments.
        unretrieved_relevant: The largest number of further relevant documents per query, neither judged nor retrieved,
            that the bounds allow for.
        means: Per metric and system, the least and the greatest mean.
        differences: Per metric, system and baseline, the least and the greatest mean difference. A document has one
            grade in both systems.
        p_values: Per metric, system and baseline, the corrected p value if every query had its least difference, and if
            every query had its greatest. No other grades give a smaller p value in the same direction.
        queries: Per metric, how many queries have documents of unknown grade.
        outer: Per metric, how many of these queries have too many combinations of grades to try. Their values are taken
            as anything from 0 to 1, so the bounds hold but may be wider than necessary.
    """

    depths: Mapping[str, int | None]
    grades: tuple[float, ...]
    unretrieved_relevant: int
    means: Mapping[str, Mapping[str, Interval]]
    differences: Mapping[tuple[str, str, str], Interval]
    p_values: Mapping[tuple[str, str, str], tuple[float, float]]
    queries: Mapping[str, int]
    outer: Mapping[str, int]

    @property
    def exact(self) -> bool:
        """Whether the bounds are exact, that is, can be reached."""
        return not any(self.outer.values())

    def graded(self, metric: str) -> str:
        """Return in words which documents the bounds of a metric give other grades."""
        depth = self.depths[metric]
        where = "that were retrieved" if depth is None else f"among the first {depth}"
        further = f" and of up to {self.unretrieved_relevant:,} more relevant ones per query that nobody retrieved"
        return f"the unjudged {where}{further if self.unretrieved_relevant else ''}"


class ToJudge(NamedTuple):
    """A document whose judgment could change a comparison.

    Attributes:
        query: The query.
        document: The document.
        effect: How much the largest mean difference between two systems would change if it had the highest grade, or
            were forbidden if a metric looks for that.
        ranks: Its rank in each system that has it among its first k.
    """

    query: QueryId
    document: DocumentId
    effect: float
    ranks: Mapping[str, int]


# How much the best of several systems is flattered by being chosen for its mean.

MANY = 5
"""From so many systems on, the best is expected to be visibly lucky."""
RESAMPLES, NUMBERS = 2_000, 2_000_000
"""The number of resamples, and of draws in all, which limits it for many queries."""


class SelectionBias(NamedTuple):
    """The best mean of several systems, and what choosing by it is worth on new questions.

    Attributes:
        metric: The metric.
        system: The system with the best mean.
        systems: From how many it was chosen.
        observed: Its mean on these questions.
        expected: The mean, on new questions, of what is chosen as it was; see `rm.tune`, whose estimator this is.
        sign: 1 where higher is better, else -1.
    """

    metric: str
    system: str
    systems: int
    observed: float
    expected: float
    sign: int = 1

    @property
    def is_optimistic(self) -> bool:
        """Whether it is worth less than it seems; of few questions, the estimate may say the contrary."""
        return self.sign * (self.observed - self.expected) > 0


def estimate_selection_bias(
    metric: str, systems: Sequence[str], columns: FloatArray, sign: int, clusters: IntArray | None
) -> SelectionBias | None:
    """Return how much the best of several systems is flattered; None for few systems, or without queries."""
    if len(systems) < MANY or not columns.size:
        return None
    values = sign * columns.T
    best = int(values.mean(axis=0).argmax())
    resamples = min(RESAMPLES, max(NUMBERS // len(values), RESAMPLES // 10))
    found = out_of_bag(values, best, clusters=clusters, resamples=resamples)
    if isnan(found.mean):
        return None
    return SelectionBias(
        metric, systems[best], len(systems), sign * float(values[:, best].mean()), sign * found.mean, sign
    )


def said_of_selection_bias(found: Sequence[SelectionBias]) -> list[str]:
    """Return in a sentence what the best are worth on new questions, of all metrics in which that can be seen."""
    seen = [one for one in found if numbers.value(one.observed) != numbers.value(one.expected) and one.is_optimistic]
    if not seen:
        return []
    each = [
        f"about {numbers.value(one.expected)} in {one.metric} ({one.system} has {numbers.value(one.observed)} here)"
        for one in seen
    ]
    said = numbers.join_names(each, most=MAX_NAMES)
    return [f"The best of {seen[0].systems} systems is flattered by the choice: on new questions, expect {said}."]
