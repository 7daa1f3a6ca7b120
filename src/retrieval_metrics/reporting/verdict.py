"""A comparison in tables and in words: whether the data can tell the systems apart, and what it would take."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.difference import POWER
from retrieval_metrics.results.summary import numbers_of_queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference

MOVED = 3
"""Queries named in the text as those that moved most."""
MOST_QUERIES_SAID = 10**7


def comparison_tables(comparison: Compared) -> list[Table]:
    """Return the means, the differences of each pair of systems, and the verdict."""
    return [
        _means(comparison),
        *(_differences(comparison.of_pair(pair), comparison.level) for pair in comparison.pairs),
        Table((), (), [*verdict(comparison), *_small_print(comparison)]),
    ]


def _means(comparison: Compared) -> Table:
    rows = []
    for name, means in comparison.table.items():
        ends = comparison.intervals[name]
        cells = [f"{mean:.4f} {numbers.interval(ends[system])}" for system, mean in means.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    return Table(["metric", *comparison.systems, "n"], rows)


def _differences(pair: Sequence[Difference], level: float) -> Table:
    with_tukey = pair[0].p_tukey is not None
    header = ["metric", "difference", numbers.level_name(level), "p", "Holm", *(["Tukey"] if with_tukey else [])]
    header += ["effect", "won/tied/lost", "detects"]
    rows = []
    for each in pair:
        paired = each.paired
        tukey = [] if each.p_tukey is None else [numbers.p_value(each.p_tukey)]
        ps = [numbers.p_value(each.p_value), numbers.p_value(each.p_holm), *tukey]
        counts = f"{paired.wins}/{paired.ties}/{paired.losses}"
        ends = numbers.interval(each.interval, signed=True)
        effect = numbers.signed(paired.effect_size, 2)
        rows.append(
            [each.metric, numbers.signed(each.mean), ends, *ps, effect, counts, numbers.size(each.detectable())]
        )
    return Table(header, rows, [said_of_moved(telling(pair))], f"{pair[0].system} - {pair[0].baseline}")


def telling(pair: Sequence[Difference]) -> Difference:
    """Return the first difference whose metric tells more of a query than yes or no, or else the first."""
    return next((each for each in pair if not Metric.parse(each.metric).definition.binary), pair[0])


def said_of_moved(difference: Difference) -> str:
    """Return which queries moved most, in words."""
    moved = [f"{query} {numbers.signed(change, 2)}" for query, change in difference.moved(MOVED)]
    return f"moved most in {difference.metric}: {', '.join(moved) or 'none'}"


def _small_print(comparison: Compared) -> list[str]:
    tests = comparison.differences[0].comparisons
    exact = all(each.paired.exact for each in comparison.differences)
    columns = (
        f"p: randomisation test, {'exact' if exact else 'sampled where it cannot be exact'}",
        f"Holm: corrected for {numbers.count(tests, 'comparison')}",
        f"detects: smallest true difference found with {100 * POWER:g} % power",
    )
    notes = ["; ".join(columns)]
    for name, paired_on in comparison.n.items():
        most = max(numbers_of_queries(one)[name] for one in comparison.scores.values())
        if most > paired_on:
            notes.append(f"{name}: means over the {numbers.queries(paired_on)} that every system has, of {most:,}")
    return notes


def verdict(comparison: Compared) -> list[str]:
    """Return what the data allow to be said, one sentence or two per pair of systems."""
    return [sentence for pair in comparison.pairs for sentence in _said(comparison.of_pair(pair))]


def _said(pair: Sequence[Difference]) -> Iterable[str]:
    system, baseline = pair[0].system, pair[0].baseline
    undecided = [each for each in pair if not each.significant]
    better = [each.metric for each in pair if each.significant and each.mean > 0]
    worse = [each.metric for each in pair if each.significant and each.mean < 0]
    same = [each.metric for each in undecided if each.n and each.identical]
    open_ = [each for each in undecided if each.n and not each.identical]
    nothing = [each.metric for each in undecided if not each.n]
    if better:
        yield f"{system} is better than {baseline} in {numbers.listed(better)}."
    if worse:
        yield f"{system} is worse than {baseline} in {numbers.listed(worse)}."
    if same:
        yield f"{system} and {baseline} have the same value for every query in {numbers.listed(same)}."
    if nothing:
        yield f"{system} and {baseline} have no query in common for which {numbers.listed(nothing)} is defined."
    if open_:
        yield f"The data cannot tell {system} from {baseline} in {numbers.listed([each.metric for each in open_])}."
        yield from map(_needed, open_)


def _needed(difference: Difference) -> str:
    """Return what it would take to decide: the difference these queries detect, the queries the one seen needs."""
    n, seen = difference.n, abs(difference.mean)
    if isinf(difference.detectable()):
        return (
            f"  {difference.metric}: {numbers.queries(n)} cannot show any difference, however large; "
            f"at least {difference.fewest_queries} are needed."
        )
    said = f"  {difference.metric}: {numbers.queries(n)} would show a difference of {difference.detectable():.3f}"
    needed = queries_to_show(difference)
    if needed is None:
        return said + "; none was seen."
    return f"{said}; one of {seen:.3f}, as seen, takes about {needed:,}."


def queries_to_show(difference: Difference) -> int | None:
    """Return on how many queries a difference of the size seen would be found; None if there is none to find."""
    if isnan(difference.mean) or abs(difference.mean) < difference.detectable() / MOST_QUERIES_SAID**0.5:
        return None
    return difference.queries_needed()
