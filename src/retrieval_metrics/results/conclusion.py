"""What a comparison shows about two systems in one metric: one entry, from which everything else speaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf, isnan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.paired import MarginOutcome, RareChange

ConclusionKind: TypeAlias = Literal[
    "better",
    "worse",
    "no clear difference",
    "the same",
    "depends on what is unjudged",
    "not comparable",
    "no common query",
]
"""What is concluded; see `Conclusion`."""

ROUNDING = 1e-9
"""Grades that shift a mean by less shift it by rounding only."""


class OtherGrades(NamedTuple):
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


def rare_changes(n: int, span: float, rare: RareChange, moved: tuple[str, str] = ("differ", "by")) -> str:
    """Return in a sentence what so few queries cannot have shown.

    Args:
        n: How many queries there are.
        span: How much a query can change.
        rare: How many could have changed so, and what that would make of the mean.
        moved: What would become of a query, and of the mean.
    """
    query, mean = moved
    return (
        f"{numbers.queries(n)} cannot show what is rare: "
        f"up to {100 * rare.share:.2g} % of all queries could {query} by {span:.3g}, "
        f"and the mean {mean} {rare.shift:.2g}"
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Conclusion:
    """The conclusion about one pair of systems in one metric.

    The kinds exclude each other:

    | kind | when |
    | --- | --- |
    | `better`, `worse` | the corrected p value is at most 1 - level, and no grades of unjudged documents that were \
tried would change that |
    | `no clear difference` | the corrected p value is larger |
    | `the same` | both have the same value for every query |
    | `depends on what is unjudged` | a finding with the grades there are that others could undo |
    | `not comparable` | the two systems fill a budget unequally |
    | `no common query` | there is no query for which the metric is defined in both |

    Attributes:
        kind: What is concluded.
        found: The difference, with its values and tests.
        level: The confidence level; 1 - level is the accepted rate of false findings.
        margin: The largest acceptable loss; None if there is none, or nothing can be compared.
        other_grades: What other grades could change; None if that was not asked.
        caveats: Sentences on what else the conclusion rests on.
    """

    kind: ConclusionKind
    found: Difference
    level: float
    margin: float | None = None
    other_grades: OtherGrades | None = None
    caveats: tuple[str, ...] = ()

    @property
    def metric(self) -> str:
        """The metric."""
        return self.found.metric

    @property
    def system(self) -> str:
        """The system."""
        return self.found.system

    @property
    def baseline(self) -> str:
        """The system it is compared with."""
        return self.found.baseline

    @property
    def difference(self) -> float:
        """The mean difference, system minus baseline."""
        return self.found.mean

    @property
    def gain(self) -> float:
        """How much better the system is than the baseline; where lower is better, minus the difference."""
        return self.found.gain

    @property
    def interval(self) -> Interval:
        """The confidence interval of the difference."""
        return self.found.interval

    @property
    def p(self) -> float:
        """The p value of the randomisation test, corrected for all comparisons."""
        return self.found.p_corrected

    @property
    def n(self) -> int:
        """The number of queries for which the metric is defined in both systems."""
        return self.found.n

    @property
    def within_margin(self) -> MarginOutcome | None:
        """Whether the system is `"no worse"` by more than the margin, `"worse"` by more, or one `"cannot tell"`.

        Of a system that is worse, the interval of the difference has to show the same. Other grades must not change the
        outcome. None without a margin, or if nothing is compared.
        """
        if self.margin is None or self.found.margin is None:
            return None
        outcome = self.found.margin.outcome
        if outcome == "worse" and (self.kind != "worse" or max(self._highest, self._ends.high) >= -self.margin):
            return "cannot tell"
        if outcome == "no worse" and self.kind == "worse" and self._ends.low <= -self.margin:
            return "cannot tell"
        return "cannot tell" if outcome == "no worse" and self._lowest <= -self.margin else outcome

    @property
    def _ends(self) -> Interval:
        """The interval of the gain: of the difference, or where lower is better, of minus the difference."""
        low, high = self.interval
        return self.interval if self.found.higher_is_better else self.interval._replace(low=-high, high=-low)

    @property
    def _lowest(self) -> float:
        """The one-sided lower bound of the difference, with the least favourable grades."""
        low = self.found.margin.low if self.found.margin is not None else -inf
        return low if self.other_grades is None else low - (self.difference - self.other_grades.interval.low)

    @property
    def _highest(self) -> float:
        """The one-sided upper bound of the difference, with the most favourable grades."""
        high = self.found.margin.high if self.found.margin is not None else inf
        return high if self.other_grades is None else high + (self.other_grades.interval.high - self.difference)

    @cached_property
    def sentence(self) -> str:
        """The conclusion in one sentence."""
        return f"{self._said()}{self._said_of_grades()}{self._said_of_margin()}."

    @cached_property
    def unseen(self) -> str:
        """What so few queries cannot have shown, a rare large change, in a sentence; empty where it does not matter.

        It matters with a margin that is not exceeded, and where such changes could shift the mean beyond the interval.
        Of too few queries to show any difference, this is said already.
        """
        if self.kind in {"not comparable", "no common query"}:
            return ""
        if self.kind == "no clear difference" and self.found.units < self.found.fewest:
            return ""
        for_the_margin = self.margin is not None and self.within_margin != "worse"
        if not (for_the_margin or self.found.rare_matters):
            return ""
        worse, better = ("lower", "higher") if self.found.higher_is_better else ("higher", "lower")
        if for_the_margin or self.kind == "better":
            moved = ("be worse", f"{worse} by")
        elif self.kind == "worse":
            moved = ("be better", f"{better} by")
        else:
            moved = ("differ", "by")
        return f"{rare_changes(self.n, self.found.span, self.found.rare, moved)}."

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as built-in types, for JSON."""
        return {
            "metric": self.metric,
            "system": self.system,
            "baseline": self.baseline,
            "conclusion": self.kind,
            "difference": self.difference,
            "interval": list(self.interval),
            "p": self.p,
            "p_alone": self.found.p_value,
            "n": self.n,
            "margin": None if self.within_margin is None else {"size": self.margin, "outcome": self.within_margin},
            "unjudged": None if self.other_grades is None else list(self.other_grades.interval),
            "sentence": self.sentence,
            "caveats": [*self.caveats, *([self.unseen] if self.unseen else [])],
        }

    def _said(self) -> str:
        """Return what the data show, without what other grades or a margin add."""
        both, metric = f"{self.system} and {self.baseline}", self.metric
        if self.kind == "no common query":
            return f"{both} have no query in common for which {metric} is defined"
        if self.kind == "not comparable":
            return f"{both} are not comparable in {metric}: they do not fill its budget alike"
        if self.kind == "the same":
            return f"{both} have the same value for every query in {metric}"
        if self.kind == "no clear difference":
            return f"No clear difference between {both} in {metric}{self._said_of_size()}"
        word = "better" if self.gain > 0 else "worse"
        if self.kind == "depends on what is unjudged":
            return f"Whether {self.system} is {word} than {self.baseline} in {metric} depends on what is unjudged"
        return f"{self.system} is {word} than {self.baseline} in {metric}, by {self._said_of_difference()}"

    def _said_of_difference(self) -> str:
        low, high = sorted(map(abs, self.interval))
        size = numbers.three(abs(self.difference))
        if low == high:
            return f"{size} in every query"
        return size if isnan(low) else f"{size} ({numbers.three(low)} to {numbers.three(high)})"

    def _said_of_size(self) -> str:
        """Return how large a difference may be, and which size would have been found."""
        found = self.found
        if found.units < found.fewest:
            units = numbers.queries(found.n) if found.clusters is None else numbers.count(found.units, "cluster")
            return f": {units} cannot show any, however large; at least {found.fewest} are needed"
        ends = " to ".join(numbers.signed(end) for end in self.interval)
        said = f" ({numbers.level_name(self.level)} {ends})"
        shows = found.detectable().low
        if isinf(shows):
            return said
        return f"{said}; a difference of {shows:.2g} would have been found in four of five cases"

    def _said_of_grades(self) -> str:
        if self.other_grades is None:
            return ""
        ends = " to ".join(numbers.signed(end) for end in self.other_grades.interval)
        documents = self.other_grades.documents
        if self.kind == "depends on what is unjudged":
            here = numbers.signed(self.difference)
            return f": as judged the difference is {here}, with other grades of {documents} it could be {ends}"
        if self.other_grades.change:
            return f"; with other grades of {documents} the difference could be {ends}"
        if not self.other_grades.queries:
            return f", and nothing is {documents.removeprefix('the ')}"
        would = {"no clear difference": "show one", "the same": "show a clear difference"}
        return f", and no grades of {documents} would {would.get(self.kind, 'change that')}"

    def _said_of_margin(self) -> str:
        outcome, test = self.within_margin, self.found.margin
        if outcome is None or test is None or self.margin is None or (outcome == "no worse" and self.kind == "better"):
            return ""
        if self.kind == "worse":
            size = f" more than {self.margin:g}"
            return {"worse": f", by{size}", "no worse": f", but not by{size}"}.get(
                outcome, f"; whether by{size} is open"
            )
        beyond = " one-sided," if self._ends.low <= -self.margin else ""  # which the two-sided interval does not show
        if outcome == "no worse":
            return f";{beyond} {self.system} is no worse by more than {self.margin:g}"
        said = f"; that {self.system} is no worse by more than {self.margin:g} is not shown"
        if self.kind == "better":
            said = f"; that rare losses make it worse by more than {self.margin:g} is not ruled out"
        if test.low > -self.margin and self.found.rare.shift >= self.margin:
            what = "queries" if self.found.clusters is None else "independent queries"
            return f"{said}, which takes about {test.fewest} {what}"
        if test.low <= -self.found.span < self._ends.low:
            return f"{said}: the loss lies on so few queries that the test, which allows for skewness, cannot bound it"
        grades = " and with other grades" if self._lowest < test.low - ROUNDING else ""
        return f"{said}: one-sided{grades}, it may be worse by up to {numbers.three(-self._lowest)}"

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Conclusion: {self.sentence}>"
