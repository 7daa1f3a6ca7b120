"""Make the tables that are printed of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.comparison_wording import judged_notes
from retrieval_metrics.comparison.difference import difference_cells
from retrieval_metrics.comparison.failure_wording import format_failures
from retrieval_metrics.comparison.method_wording import (
    COUNTS_MEANING,
    EFFECT_SIZE_MEANING,
    MDE_MEANING,
    design_effect_notes,
    method_notes,
)
from retrieval_metrics.evaluation.unequal_depth import common_depth_notes
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.inputs.items import QueryTexts


# The largest number of pairs for which a comparison prints every difference; for more it prints the ranking.
MAX_PRINTED_PAIRS = 2

# A longer name of a difference, such as `new - old`, would make its column too wide.
MAX_DIFFERENCE_NAME = 24

# The quantiles of the time of a query that are printed, by their names in the header.
QUANTILES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}


def comparison_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return the means, the differences and the conclusions of each pair, or only the ranking if there are many."""
    n_pairs = len(comparison.differences.by_pair)
    if n_pairs > MAX_PRINTED_PAIRS:
        return _tables_of_many_pairs(comparison)
    if n_pairs == 1:
        tables = [_pair_table(comparison)]
    else:
        tables = [means_table(comparison)]
        texts = _query_texts(comparison)
        tables += [differences.table(texts=texts) for differences in comparison.differences.by_pair.values()]
    tables.append(Table((), (), [*comparison.conclusions.sentences, *method_notes(comparison)]))
    return [*tables, *retrieval_tables(comparison), *notes_tables(comparison)]


class ComparisonDetails(Printed):
    """The numbers behind a comparison: means with their intervals, effect sizes, MDEs and the largest changes.

    Attributes:
        comparison: The comparison.
    """

    def __init__(self, comparison: ComparisonRecord) -> None:
        self.comparison = comparison

    def _tables(self) -> list[Table]:
        comparison = self.comparison
        tables = [means_table(comparison)]
        for differences in comparison.differences.by_pair.values():
            tables.append(differences.table(whole=True, texts=_query_texts(comparison)))
        notes = [*design_effect_notes(comparison), COUNTS_MEANING, MDE_MEANING, EFFECT_SIZE_MEANING]
        return [*tables, Table((), (), notes)]

    def __repr__(self) -> str:
        return f"<ComparisonDetails: {numbers.format_count(len(self.comparison.differences), 'difference')}>"


def _query_texts(comparison: ComparisonRecord) -> QueryTexts:
    """Return the texts of the queries, as far as the judgments came with them."""
    for scores in comparison.scores.values():
        if scores.query_texts:
            return scores.query_texts
    return {}


def _pair_table(comparison: ComparisonRecord) -> Table:
    """Return the means and the difference of the only two systems, in one row per metric."""
    differences = comparison.differences
    system, baseline = comparison.pairs[0]
    difference_name = f"{system} - {baseline}"
    if len(difference_name) > MAX_DIFFERENCE_NAME:
        difference_name = "difference"
    interval_name = numbers.level_name(comparison.level)
    header = ["metric", *comparison.systems, difference_name, interval_name, "p", "W/T/L", "n"]
    rows = []
    for difference in differences:
        name = difference.metric
        means = [numbers.format_known_value(mean) for mean in comparison.means[name].values()]
        rows.append([name, *means, *difference_cells(difference), str(comparison.n[name])])
    return Table(header, rows, _data_notes(comparison))


def _tables_of_many_pairs(comparison: ComparisonRecord) -> list[Table]:
    conclusions = comparison.conclusions
    ranking = comparison.ranking
    times = retrieval_tables(comparison)
    n_pairs = numbers.format_count(len(comparison.differences.by_pair), "pair")
    notes = [
        *conclusions.caveats,
        *ranking.sentences,
        *conclusions.selection_bias_notes,
        f"print(comparison.conclusions) lists all {n_pairs}",
        *method_notes(comparison, has_conclusions=False),
    ]
    if times:
        # The times stand in their own table.
        ranking = replace(ranking, seconds={})
    ranking_table, *further_tables = ranking.tables
    ranking_table = ranking_table._replace(notes=[*ranking_table.notes, *_data_notes(comparison)])
    return [ranking_table, *further_tables, *times, *notes_tables(comparison), Table((), (), notes)]


def means_table(comparison: ComparisonRecord) -> Table:
    """Return the mean of every system in every metric, with its interval."""
    rows = []
    for name, mean_by_system in comparison.means.items():
        interval_by_system = comparison.intervals[name]
        cells = [numbers.format_mean(mean, interval_by_system[system]) for system, mean in mean_by_system.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    return Table(["metric", *comparison.systems, "n"], rows, _data_notes(comparison))


def _data_notes(comparison: ComparisonRecord) -> list[str]:
    """Return the notes below the means: what is judged, and which cutoffs no system reaches."""
    return [*judged_notes(comparison), *common_depth_notes(comparison.scores, comparison.metrics)]


def retrieval_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return a table with one row per system whose run has times or errors; no table if there is none."""
    rows = []
    notes = []
    for name, scores in comparison.scores.items():
        errors = scores.errors
        if scores.seconds or errors:
            rows.append([name, str(len(errors)), *_format_quantiles(scores.seconds.values())])
        if errors:
            notes.append(format_failures(name, errors))
    return [Table(["system", "failed", *QUANTILES], rows, notes, "seconds per query")] if rows else []


def notes_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return what differs besides the rankings, if saved evaluations were compared."""
    return [Table([], [], comparison.notes, "what differs besides the rankings")] if comparison.notes else []


def _format_quantiles(seconds: Collection[float]) -> list[str]:
    if not seconds:
        return ["-"] * len(QUANTILES)
    quantiles = np.quantile(list(seconds), list(QUANTILES.values())).tolist()
    return [numbers.format_three_digits(quantile) for quantile in quantiles]
