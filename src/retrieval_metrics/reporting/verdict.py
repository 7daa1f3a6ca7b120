"""A comparison in tables and in words: whether the data can tell the systems apart."""

from __future__ import annotations

from math import inf, isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.difference import POWER
from retrieval_metrics.results.summary import FEW_CLUSTERS, few_clusters, numbers_of_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.ignorance import Ignorance, UnjudgedBounds
    from retrieval_metrics.results.room import BudgetUse, Room
    from retrieval_metrics.statistics import WithinMargin

MOVED = 3
"""The number of queries named as those that moved most."""


GLOSSARY = {
    "judged@k": "the share of a system's first k documents that are judged; the others count as not relevant.",
    "interval": "those of all comparisons made here together contain the true values with the given probability, and "
    "each excludes 0 exactly if p is small enough for a finding. A - means that there are too few for an interval.",
    "p": "the probability that any of the comparisons made here would show this much if no two systems differed. It is "
    "computed by exchanging the systems on random choices of queries, the same for all metrics, and assumes that a "
    "difference is as likely as its opposite; at most 0.05 counts as a finding at 95 %.",
    "effect": "the mean difference in standard deviations of the differences.",
    "won/tied/lost": "the number of queries on which the first system is better, equal and worse.",
    "detects": "a true difference of this size would be found in 80 % of such evaluations, if it is spread over the "
    "queries as the differences seen are. A - means that it is unknown: there are too few queries, or none differs.",
}
"""What the columns mean, for readers of a report."""


def comparison_tables(comparison: Compared) -> list[Table]:
    """Return the means, the differences of each pair of systems, and the verdict."""
    return [
        means_table(comparison),
        *(differences_table(comparison.of_pair(pair), comparison.level) for pair in comparison.pairs),
        Table((), (), [*verdict(comparison), *small_print(comparison)]),
    ]


def means_table(comparison: Compared) -> Table:
    """Return the mean of every system in every metric, with its interval."""
    rows = []
    for name, means in comparison.table.items():
        ends = comparison.intervals[name]
        cells = [f"{mean:.4f} {numbers.interval(ends[system])}" for system, mean in means.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    notes = []
    if (known := comparison.ignorance) is not None:
        shares = (f"{name} {share:.2f}" for name, share in known.judged.items())
        notes.append(f"judged@{known.k}: {', '.join(shares)}")
    if (bounds := comparison.unjudged) is not None:
        notes += _said_of_bounds(bounds)
    return Table(["metric", *comparison.systems, "n"], rows, notes)


def _said_of_bounds(bounds: UnjudgedBounds) -> list[str]:
    notes = []
    for metric, of_systems in bounds.means.items():
        ends = (f"{name} {low:.4f} to {high:.4f}" for name, (low, high) in of_systems.items())
        notes.append(f"{metric} if the unjudged were known: {', '.join(ends)}")
    kind = "exact" if bounds.exact else f"outer bounds: too many grades to try in {numbers.queries(bounds.outer)}"
    grades = ", ".join(f"{grade:g}" for grade in bounds.grades)
    return [*notes, f"over grades {grades} of what is unjudged in the first {bounds.k} of a system ({kind})"]


def differences_table(pair: Sequence[Difference], level: float) -> Table:
    """Return the differences of one pair of systems, a row per metric."""
    header = ["metric", "difference", numbers.level_name(level), "p", "effect", "won/tied/lost", "detects"]
    rows = []
    for each in pair:
        paired = each.paired
        rows.append(
            [
                each.metric,
                numbers.signed(each.mean),
                numbers.interval(each.interval, signed=True),
                numbers.p_value(each.p_corrected),
                numbers.signed(paired.effect_size, 2),
                f"{paired.wins}/{paired.ties}/{paired.losses}",
                numbers.size(each.detectable().low),
            ]
        )
    return Table(header, rows, [said_of_moved(telling(pair))], f"{pair[0].system} - {pair[0].baseline}")


def telling(pair: Sequence[Difference]) -> Difference:
    """Return the first difference whose metric is not binary, or else the first."""
    return next((each for each in pair if not Metric.parse(each.metric).definition.binary), pair[0])


def said_of_moved(difference: Difference) -> str:
    """Return which queries moved most, in words."""
    moved = [f"{query} {numbers.signed(change, 2)}" for query, change in difference.moved(MOVED)]
    return f"moved most in {difference.metric}: {', '.join(moved) or 'none'}"


def small_print(comparison: Compared, *, columns: bool = True) -> list[str]:
    """Return what the columns of the differences hold, and what was left out.

    Args:
        comparison: The comparison.
        columns: Whether the differences are in view; else what they detect is said of all together.
    """
    tests = comparison.differences[0].comparisons
    exact = all(each.paired.exact for each in comparison.differences)
    corrected = f", corrected for all {tests} comparisons made here" if tests > 1 else ""
    notes = [
        f"p: randomisation test{corrected}, {'exact' if exact else 'sampled where it cannot be exact'}",
        *_said_of_power(comparison, columns=columns),
    ]
    short = {each.units for each in comparison.differences if each.n and isnan(each.interval.low)}
    if short:
        what = "queries are" if comparison.differences[0].clusters is None else "clusters are"
        notes.append(f"no interval can be given at {100 * comparison.level:g} %: {max(short)} {what} too few for one")
    notes += _said_of_clusters(comparison)
    if comparison.margin is not None:
        notes.append(f"margin: each sentence by itself at a one-sided level of {100 * comparison.level:g} %")
    for name, paired_on in comparison.n.items():
        most = max(numbers_of_queries(one)[name] for one in comparison.scores.values())
        if most > paired_on:
            notes.append(f"{name}: means over the {numbers.queries(paired_on)} that every system has, of {most:,}")
    return notes


def _said_of_power(comparison: Compared, *, columns: bool) -> list[str]:
    if columns:
        return [f"detects: a true difference of this size is found with {100 * POWER:g} % power"]
    sizes = [size for each in comparison.differences if 0 < (size := each.detectable().low) < inf]
    if not sizes:
        return []
    least, most = (f"{size:.2f}" for size in (min(sizes), max(sizes)))
    ends = least if least == most else f"{least} to {most}, by metric and pair,"
    return [f"a true difference of {ends} is found with {100 * POWER:g} % power"]


def _said_of_clusters(comparison: Compared) -> list[str]:
    clusters = comparison.clusters
    if clusters is None or clusters.labels is None:
        return []
    effects = [each.paired.design_effect for each in comparison.differences if each.paired.design_effect > 0]
    why = "by the source of their judgments; clusters=None turns that off" if clusters.by_source else "as given"
    said = f"queries in {numbers.count(clusters.count, 'cluster')}, {why}; intervals and tests take whole clusters"
    if effects:
        said += f"; design effect of the differences {min(effects):.1f} to {max(effects):.1f}"
    return [said, *([few_clusters(clusters.count)] if clusters.count < FEW_CLUSTERS else [])]


def verdict(comparison: Compared) -> list[str]:
    """Return the conclusions: a sentence per pair of systems and metric, and one on the margin."""
    said = cautions(comparison)
    for pair in comparison.pairs:
        of_pair = comparison.of_pair(pair)
        said += [_said(each) if each.comparable else _said_of_unequal(each) for each in of_pair]
        said += [
            _said_of_unjudged(each, comparison.unjudged)
            for each in of_pair
            if comparison.unjudged and each.n and each.comparable
        ]
        said += [
            _said_of_margin(each, each.margin, comparison.margin)
            for each in of_pair
            if each.margin is not None and comparison.margin is not None and each.n and each.comparable
        ]
    return said


def cautions(comparison: Compared) -> list[str]:
    """Return in which respects the systems were not compared on equal terms, a sentence each."""
    known, room = comparison.ignorance, comparison.room
    said = [sentence for use in comparison.budgets for sentence in said_of_budget(use)]
    said += [] if known is None or not known.unbalanced else [said_of_imbalance(known)]
    return said if room is None else [*said, _said_of_room(room, comparison.budgets)]


def said_of_budget(use: BudgetUse) -> list[str]:
    """Return which systems do not fill a budget, how far they fill it, and what to do."""
    short, long = ([(name, use.systems[name]) for name in names] for names in (use.short, use.too_long))
    instead = f"compare at a budget that all fill, such as {use.shared}"
    said = []
    if short:
        filled = numbers.listed([f"{name} fills {100 * each.share:.0f} % of it" for name, each in short])
        more = numbers.listed(
            [f"about {each.enough} results of {name} instead of {each.retrieved:.0f}" for name, each in short]
        )
        said.append(
            f"The budget of {use.budget.in_words} is not filled: {filled}, because the ranking ends. "
            f"Retrieve {more}{f', or {instead}' if use.shared is not None else ''}."
        )
    if long:
        filled = numbers.listed([f"{name} fills {100 * each.share:.0f} % of it" for name, each in long])
        said.append(
            f"The budget of {use.budget.in_words} is too small for some results: {filled}, because the next result "
            "does not fit. Choose a larger budget."
        )
    return said


def _said_of_unequal(one: Difference) -> str:
    return f"{one.system} and {one.baseline} are not comparable in {one.metric}: they do not fill its budget alike."


def _said_of_room(room: Room, budgets: Sequence[BudgetUse]) -> str:
    least, most = (of(room.characters.items(), key=lambda held: held[1]) for of in (min, max))
    k = room.metric.k
    results = "first result" if k == 1 else f"first {k} results"
    advice = f"retrieve more results of {least[0]}, and compare at a budget of characters"
    if fair := [name for use in budgets if not (use.short or use.too_long) for name in use.metrics]:
        advice = f"{fair[0]} compares equal ones"
    elif room.shared is not None:
        equal = Metric(room.metric.name, room.shared, room.metric.parameters)
        advice = f"a budget such as {equal} compares equal ones"
    return (
        f"The {results} of {most[0]} hold {most[1]:,.0f} characters on average, those of {least[0]} {least[1]:,.0f}, "
        f"so @{k} compares unequal amounts of text; {advice}."
    )


def said_of_imbalance(known: Ignorance) -> str:
    """Return the warning that systems are not judged alike."""
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in known.judged.items())
    return (
        f"The systems are not judged alike (judged@{known.k}: {shares}). Unjudged documents count as not relevant, "
        'which alone can make a difference; unjudged="bounds" shows how much.'
    )


def _said_of_unjudged(one: Difference, bounds: UnjudgedBounds) -> str:
    low, high = bounds.differences[one.metric, one.system, one.baseline]
    ends = f"{numbers.signed(low, 3)} to {numbers.signed(high, 3)}"
    whose = f"{one.system} - {one.baseline} in {one.metric}"
    if low > 0 or high < 0:
        word = "better" if low > 0 else "worse"
        return f"{whose}: {one.system} is {word} whatever the grades of unjudged documents ({ends})."
    return f"{whose} depends on unjudged documents: with other grades it is anything from {ends}."


def _said_of_margin(one: Difference, found: WithinMargin, margin: float) -> str:
    than = f"than {one.baseline} by more than {margin:g} in {one.metric}"
    if found.outcome == "no worse":
        return f"{one.system} is no worse {than}."
    if found.outcome == "worse":
        return f"{one.system} is worse {than}."
    said = f"The data cannot tell whether {one.system} is worse {than}"
    if one.rare.shift >= margin:
        what = "queries" if one.clusters is None else "independent queries"
        return f"{said}: that takes at least {found.fewest} {what}, even if none differs."
    return f"{said}: it may be worse by up to {-found.low:.3f}."


def _said(one: Difference) -> str:
    system, baseline, metric = one.system, one.baseline, one.metric
    if not one.n:
        return f"{system} and {baseline} have no query in common for which {metric} is defined."
    if one.identical:
        return f"{system} and {baseline} have the same value for every query in {metric}."
    low, high = one.interval
    if one.significant:
        word = "better" if one.mean > 0 else "worse"
        ends = sorted((abs(low), abs(high)))
        by = f"by {abs(one.mean):.3f} ({ends[0]:.3f} to {ends[1]:.3f})"
        return f"{system} is {word} than {baseline} in {metric}, {by}."
    undecided = f"The data cannot tell {system} from {baseline} in {metric}"
    if one.units < one.fewest:
        units = numbers.queries(one.n) if one.clusters is None else numbers.count(one.units, "cluster")
        return f"{undecided}: {units} cannot show any difference, however large; at least {one.fewest} are needed."
    said = f"{undecided}: the difference may be anything from {numbers.signed(low, 3)} to {numbers.signed(high, 3)}"
    shows = one.detectable().low
    return f"{said}." if isinf(shows) else f"{said}; one of {shows:.2f} would have been found in four of five cases."
