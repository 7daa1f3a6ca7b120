"""The verdict of a report, and the numbers that its charts show."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.comparison.comparison_wording import format_judged_shares
from retrieval_metrics.comparison.conclusion_wording import format_graded_documents
from retrieval_metrics.comparison.system_ranking import SIGN_BY_STATUS, choose_main_pair, systems_in_order
from retrieval_metrics.evaluation.cutoffs import (
    choose_cutoffs,
    cutoff_size,
    cutoff_unit,
    mean_by_cutoff,
    means_and_intervals,
)
from retrieval_metrics.evaluation.explanation import target_of_metric
from retrieval_metrics.evaluation.stage_losses import (
    BELOW_CUTOFF,
    CUTOFF_FULL,
    DROPPED,
    FOUND,
    LOSS_LABELS,
    NOT_RETRIEVED,
    find_first_stages,
    judge_stages,
    loss_column,
    loss_shares,
)
from retrieval_metrics.evaluation.summary import LEVEL, intervals, means, n_queries_by_metric
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes, format_cluster_count, metric_notes
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import (
    MAX_LARGEST_CHANGES,
    ChartRow,
    ChartRows,
    CutoffLines,
    Line,
    Point,
    PointLines,
    Shares,
    SortedChanges,
    StageFlow,
    ValueCounts,
)
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.evaluation.scores import Record, Scores


FEW_PAIRS = 2
"""The largest number of pairs for which a comparison prints every difference; for more it prints the ranking."""
QUANTILES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}
"""How long a retriever takes."""

GLOSSARY = {
    "judged": "how many of a system's first documents have a judgment. The others count as not relevant, unless they "
    "were taken out of the rankings.",
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


def comparison_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return the means, the differences of each pair and the conclusions; of many pairs, the ranking instead."""
    timed, notes = retrieval_tables(comparison), notes_tables(comparison)
    conclusions, pairs = comparison.conclusions, comparison.differences.by_pair
    if len(pairs) <= FEW_PAIRS:
        words = Table((), (), [*conclusions.sentences, *method_notes(comparison)])
        return [means_table(comparison), *(those.table() for those in pairs.values()), words, *timed, *notes]
    ranking = comparison.ranking
    more = python_or_cli_text("print(comparison.conclusions)", "--format json")
    said = [
        *conclusions.caveats,
        *ranking.sentences,
        *conclusions.selection_bias_notes,
        f"{more} says what each of the {numbers.format_count(len(pairs), 'pair')} shows",
        *method_notes(comparison, pairs=False),
    ]
    ranked, *further = (replace(ranking, seconds={}) if timed else ranking).tables  # not the seconds twice
    ranked = ranked._replace(notes=[*ranked.notes, *_said_of_judged(comparison)])
    return [ranked, *further, *timed, *notes, Table((), (), said)]


def means_table(comparison: ComparisonRecord) -> Table:
    """Return the mean of every system in every metric, with its interval."""
    rows = []
    for name, by_system in comparison.means.items():
        ends = comparison.intervals[name]
        cells = [numbers.mean(mean, ends[system]) for system, mean in by_system.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    return Table(["metric", *comparison.systems, "n"], rows, _said_of_judged(comparison))


def _said_of_judged(comparison: ComparisonRecord) -> list[str]:
    """Return how much of each system is judged, and the means with any grades of the rest, if that was asked."""
    notes = [] if comparison.judged_coverage is None else [f"judged {format_judged_shares(comparison.judged_coverage)}"]
    if (bounds := comparison.unjudged) is None:
        return notes
    grades = ", ".join(f"{grade:g}" for grade in bounds.grades)
    for metric, of_systems in bounds.means.items():
        ends = ", ".join(
            f"{name} {numbers.value(low)} to {numbers.value(high)}" for name, (low, high) in of_systems.items()
        )
        outer = bounds.outer[metric]
        kind = f"outer bounds: too many grades to try in {numbers.format_query_count(outer)}" if outer else "exact"
        documents = format_graded_documents(bounds.depths[metric], bounds.unretrieved_relevant)
        notes.append(f"{metric} with any grades ({grades}) of {documents}: {ends} ({kind})")
    return notes


def retrieval_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return a table with one row per system whose run has times or errors; no table if there is none."""
    rows, notes = [], []
    for name, scores in comparison.scores.items():
        seconds, errors = scores.seconds, scores.errors
        if seconds or errors:
            rows.append([name, str(len(errors)), *_quantiles(seconds.values())])
        for query, error in list(errors.items())[:1]:
            notes.append(
                f"{name} failed for {numbers.format_query_count(len(errors))}, for example {query!r}: "
                f"{type(error).__name__}: {error}"
            )
    return [Table(["system", "failed", *QUANTILES], rows, notes, "seconds per query")] if rows else []


def notes_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return what differs besides the rankings, if saved evaluations were compared."""
    return [Table([], [], comparison.notes, "what differs besides the rankings")] if comparison.notes else []


def _quantiles(seconds: Collection[float]) -> list[str]:
    if not seconds:
        return ["-"] * len(QUANTILES)
    return [numbers.three(value) for value in np.quantile(list(seconds), list(QUANTILES.values())).tolist()]


def method_notes(comparison: ComparisonRecord, *, pairs: bool = True) -> list[str]:
    """Return how the differences were tested, and what was left out."""
    tests = comparison.differences[0].comparisons
    exact = all(each.paired.exact for each in comparison.differences)
    corrected = f", corrected for {tests} comparisons" if tests > 1 else ""
    if (looks := comparison.differences[0].selected_from) > 1:
        corrected += f"{' and' if corrected else ', corrected'} for the choice from {looks:,} pairs of results"
    notes = [f"{'Exact randomisation test' if exact else 'Randomisation test'}{corrected}"]
    short = {each.n_units for each in comparison.differences if each.n and isnan(each.interval.low)}
    if short:
        most = max(short)
        what = (
            numbers.format_query_count(most)
            if comparison.differences[0].clusters is None
            else numbers.format_count(most, "cluster")
        )
        few = "is too few" if most == 1 else "are too few"
        notes.append(f"no interval can be given at {100 * comparison.level:g} %: {what} {few} for one")
    notes += metric_notes(comparison.metrics)
    notes += _said_of_clusters(comparison)
    if comparison.margin is not None:
        each = "sentence" if pairs else "system and metric"
        shown = python_or_cli_text("print(comparison.conclusions)", "--format json")
        where = "" if pairs or comparison.baseline is not None else f" ({shown} has it)"
        notes.append(f"margin{where}: each {each} by itself at a one-sided level of {100 * comparison.level:g} %")
    defined = (~np.isnan(comparison.paired_values.values)).sum(axis=1).max(axis=0).tolist()
    for most, (name, paired_on) in zip(defined, comparison.n.items(), strict=True):
        if most > paired_on:
            notes.append(
                f"{name}: means over the {numbers.format_query_count(paired_on)} that every system has, of {most:,}"
            )
    return notes


def _said_of_clusters(comparison: ComparisonRecord) -> list[str]:
    clusters = comparison.clusters
    if clusters is None or clusters.labels is None:
        return []
    said = f"queries in {format_cluster_count(clusters)}; intervals and tests take whole clusters"
    return [said, *cluster_count_notes(clusters.count)]


def design_effect_notes(comparison: ComparisonRecord) -> list[str]:
    """Return by how much clusters enlarge the variances of the differences, if there are clusters."""
    effects = [each.paired.design_effect for each in comparison.differences if each.paired.design_effect > 0]
    if comparison.clusters is None or comparison.clusters.labels is None or not effects:
        return []
    ends = " to ".join(dict.fromkeys(f"{effect:.1f}" for effect in (min(effects), max(effects))))
    return [f"design effect of the differences (variance relative to independent queries): {ends}"]


# What the charts of evaluations and comparisons show, in figures and reports alike.

MARKED = (1, 3, 5, 10, 20, 50, 100)
"""The cut-offs named on a curve of precision and recall."""


def evaluation_mean_charts(record: Record) -> list[ChartRows]:
    """Return a chart of all means; of given scores on other scales than 0 to 1, a chart of their own."""
    found, ends = means(record), intervals(record, LEVEL)
    asked = numbers.format_query_count(max(n_queries_by_metric(record).values(), default=0))
    others = [one for one in record.metrics if one.definition.is_given and one.definition.bounds != (0, 1)]
    charts: list[ChartRows] = []
    for part, least in ((others, 0.0), ([one for one in record.metrics if one not in others], 1.0)):
        if part:
            rows = [ChartRow(str(one), found[one], ends[one], numbers.value(found[one])) for one in part]
            title = "means from 0 to 1" if charts else f"means over {asked}"
            charts.append(ChartRows.scaled(title, _label(LEVEL), rows, least))
    return charts


def system_mean_charts(
    comparison: ComparisonRecord, metrics: Sequence[Metric], order: Sequence[str]
) -> list[ChartRows]:
    """Return a chart for each metric, all with the systems in one order."""
    ranking = comparison.ranking
    places, starred = ranking.by_metric, {system for system, worth in ranking.pareto.items() if worth == "on"}
    drawn = [system for system in comparison.systems if system in order]
    charts = []
    for metric in metrics:
        found = {place.system: place for place in places[str(metric)]}
        rows = [
            ChartRow(
                system,
                found[system].mean,
                found[system].interval,
                numbers.value(found[system].mean) + " *" * (system in starred and metric == comparison.metrics[0]),
                drawn.index(system),
                SIGN_BY_STATUS[found[system].status],
            )
            for system in order
        ]
        least = 1.0 if metric.definition.bounded else 0.0
        charts.append(ChartRows.scaled(str(metric), _label(comparison.level), rows, least))
    return charts


def _label(level: float) -> str:
    return f"mean, with its {numbers.level_name(level)}"


def cutoff_lines(systems: Mapping[str, Scores], metric: Metric) -> CutoffLines:
    """Return a metric over its cut-off, a line for each system."""
    ks = choose_cutoffs(list(systems.values()), metric)
    lines = [Line(name, *means_and_intervals(scores, metric, ks)) for name, scores in systems.items()]
    size, unit = cutoff_size(metric), cutoff_unit(metric)
    marked = size if size is not None and size <= ks[-1] else None
    return CutoffLines(f"{Metric(metric.name, None, **dict(metric.parameters))} over {unit}", lines, marked, unit)


def find_stage_flow(scores: Scores, metric: Metric) -> StageFlow | None:
    """Return what is left of what is needed after each step, for the cut-off of a metric; None without steps."""
    if not (steps := judge_stages(scores)):
        return None
    shares = {name: float(np.nanmean(column)) for name, column in loss_shares(scores, target_of_metric(metric)).items()}
    if isnan(found := shares[FOUND]):
        return None
    left = 1 - shares[NOT_RETRIEVED]
    parts = [(", ".join(find_first_stages(scores)), left, [(LOSS_LABELS[NOT_RETRIEVED], shares[NOT_RETRIEVED])])]
    for step in steps:
        fates = {
            LOSS_LABELS[fate].removesuffix(" by"): shares.get(loss_column(fate, step.name))
            for fate in (DROPPED, BELOW_CUTOFF)
        }
        lost = [(fate, share) for fate, share in fates.items() if share is not None]
        left -= sum(share for _, share in lost)
        parts += [(step.name, left, lost)] if lost else []
    if shares.get(CUTOFF_FULL):
        parts.append((f"the first {metric.k}", found, [(LOSS_LABELS[CUTOFF_FULL], shares[CUTOFF_FULL])]))
    return StageFlow(f"{100 * found:.1f} % of what is needed is found; what each step leaves of it, and loses", parts)


def precision_recall_points(systems: Mapping[str, Scores]) -> PointLines:
    """Return mean precision against mean recall, a point for each cut-off."""
    precision, recall = Metric("precision"), Metric("recall")
    ks = choose_cutoffs(list(systems.values()), precision)
    lines = []
    for name, scores in systems.items():
        heights, ends = means_and_intervals(scores, precision, ks)
        found = mean_by_cutoff(scores, recall, ks)
        lines.append((name, [Point(str(k) if k in MARKED else "", found[k], heights[k], ends[k]) for k in ks]))
    labels = "mean recall@k", "mean precision@k"
    return PointLines("precision against recall", lines, labels, "the numbers are k")


MOST_SYSTEMS = 12
"""The largest number of systems that are drawn; tables have all."""


def select_drawn_systems(comparison: ComparisonRecord, order: Sequence[str]) -> list[str]:
    """Return the systems to draw, the best; the baseline is always among them."""
    drawn = [*order[:MOST_SYSTEMS]]
    if comparison.baseline is not None and comparison.baseline not in drawn:
        drawn[-1] = comparison.baseline
    return drawn


def drawn_systems_notes(comparison: ComparisonRecord) -> list[str]:
    """Return which systems are drawn, if not all are."""
    systems = len(comparison.systems)
    return [f"the best {MOST_SYSTEMS} of {systems} systems"] if systems > MOST_SYSTEMS else []


def star_notes(comparison: ComparisonRecord) -> list[str]:
    """Return what a star beside a mean is, if there are stars."""
    return ["* worth its seconds, better than each that is as fast"] if comparison.ranking.pareto else []


def main_pair_changes(comparison: ComparisonRecord, metric: Metric) -> SortedChanges:
    """Return the changes of the main pair; of several systems, those from the second to the best."""
    pair = choose_main_pair(comparison, metric)
    best = min(pair, key=systems_in_order(comparison, metric).index)
    several = comparison.baseline is None and len(comparison.systems) > 2
    return sorted_changes(comparison.difference(metric, *pair), turned=several and best != pair[0])


def sorted_changes(difference: Difference, *, turned: bool = False) -> SortedChanges:
    """Return the difference of every query, the largest gain first; turned, that of the baseline from the system."""
    sign, paired = 1 if difference.higher_is_better else -1, difference.paired
    pair, counts = (difference.system, difference.baseline), (paired.wins, paired.ties, paired.losses)
    values, mean, interval = difference.values, difference.mean, difference.interval
    if turned:
        pair, counts, values, mean = pair[::-1], counts[::-1], -values, -mean
        interval = interval._replace(low=-interval.high, high=-interval.low)
    gains = sign * values
    order = np.argsort(-gains, kind="stable")
    gained = [at for at in order[:MAX_LARGEST_CHANGES].tolist() if gains[at] > 0]
    dropped = [at for at in np.argsort(gains, kind="stable")[:MAX_LARGEST_CHANGES].tolist() if gains[at] < 0]
    ends = ([(str(difference.queries[at]), float(values[at])) for at in side] for side in (gained, dropped))
    title = f"{pair[0]} − {pair[1]} in {difference.metric}, by query"  # noqa: RUF001  (a minus)
    return SortedChanges(title, values[order], sign, mean, interval, counts, *ends)


def win_shares(comparison: ComparisonRecord, pair: tuple[str, str]) -> Shares:
    """Return how many queries one system won, tied and lost against another, for every metric."""
    found = [(each.metric, each.paired) for each in comparison.differences.by_pair[pair]]
    rows = [(metric, (paired.wins, paired.ties, paired.losses)) for metric, paired in found]
    return Shares(f"queries {pair[0]} won, tied and lost against {pair[1]}", rows)


# How many queries have which value of a metric, as a table, a chart and a sentence.

BINS = 5
_NEARLY = 1e-9


def values_table(systems: Mapping[str, Scores], metric: Metric) -> Table:
    """Return the number of queries that score 0, in between, and perfect, a column per system."""
    counted = {name: dict(values_chart(scores, metric).rows) for name, scores in systems.items()}
    kinds = dict.fromkeys(kind for each in counted.values() for kind in each)
    ordered = sorted(kinds, key=lambda kind: ({"perfect": 2, "undefined": 3}.get(kind, 1), kind))
    rows = [[kind, *(f"{each.get(kind, 0):,}" for each in counted.values())] for kind in ordered]
    return Table([f"queries by {metric}", *systems], rows)


def format_value_counts(scores: Scores, metric: Metric) -> str:
    """Return the mean of a metric in a sentence, with the numbers of queries at 0 and of perfect ones."""
    name = str(metric)
    n = numbers.format_query_count(n_queries_by_metric(scores)[name])
    said = f"{name} is {numbers.mean(means(scores)[name], intervals(scores, LEVEL)[name])} over {n}"
    if metric.definition.is_given or not metric.definition.higher_is_better:
        return f"{said}."
    counted = dict(values_chart(scores, metric).rows)
    perfect = f" and {counted['perfect']:,} perfect" if "perfect" in counted else ""
    return f"{said}, of which {counted['0']:,} are 0{perfect}."


def values_chart(scores: Scores, metric: Metric) -> ValueCounts:
    """Return the number of queries that score 0, in between, and perfect."""
    values, best = scores.column(metric), scores.best(metric)
    defined = ~np.isnan(values)
    values, best = values[defined], best[defined]
    by_value = metric.definition.is_given or not metric.definition.higher_is_better  # there 0 is no failure
    rows = _counted_given(metric, values) if by_value else _counted(metric, values, best)
    if not defined.all():
        rows.append(("undefined", int((~defined).sum())))
    return ValueCounts(f"{metric}: queries by value", rows, len(defined))


def _counted(metric: Metric, values: FloatArray, best: FloatArray) -> list[tuple[str, int]]:
    perfect = (values >= best - _NEARLY) & (best > 0)
    zero = (values <= 0) & ~perfect
    between = values[~perfect & ~zero]
    rows = [("0", int(zero.sum()))]
    if len(between) or not metric.definition.binary:  # what is 0 or 1 has nothing between, but for expected ties
        rows += _in_fifths(between, 0, 1.0 if metric.definition.bounded else float(between.max(initial=1.0)))
    return [*rows, ("perfect", int(perfect.sum()))] if not np.isinf(best).all() else rows


def _counted_given(metric: Metric, values: FloatArray) -> list[tuple[str, int]]:
    """Return the number of queries with each value of a metric; if it has many, in each fifth of its range."""
    each, times = np.unique(values, return_counts=True)
    if len(each) <= BINS:  # such as the calls of an agent
        return [(f"{value:.3g}", int(number)) for value, number in zip(each, times, strict=True)]
    ends = zip(metric.definition.bounds, (values.min(), values.max()), strict=True)
    low, high = (bound if np.isfinite(bound) else float(seen) for bound, seen in ends)
    return _in_fifths(values, low, high if high > low else low + 1)


def _in_fifths(values: FloatArray, low: float, high: float) -> list[tuple[str, int]]:
    edges = np.linspace(low, high, BINS + 1)
    counted = np.histogram(np.clip(values, low, high), edges)[0].tolist()
    names = [f"{start:.3g} to {end:.3g}" for start, end in pairwise(edges)]
    return list(zip(names, counted, strict=True))
