"""Draw the figures of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.comparison.comparison_charts import (
    drawn_systems_notes,
    main_pair_changes,
    select_drawn_systems,
    sorted_changes,
    star_notes,
    system_mean_charts,
    win_shares,
)
from retrieval_metrics.comparison.system_ranking import systems_in_order
from retrieval_metrics.evaluation.evaluation_charts import cutoff_lines, precision_recall_points
from retrieval_metrics.evaluation.evaluation_plots import require_plot_kind
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.line_panels import cutoffs_panel, points_panel
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.plots import figure
from retrieval_metrics.reports.row_panels import changes_panel, rows_panel, shares_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.plots import Panel, Plot


# The largest number of pairs of systems drawn query by query; of more, those that differ most clearly.
MAX_DRAWN_PAIRS = 6


def comparison_figure(comparison: ComparisonRecord, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    require_plot_kind(kind, "intervals", "differences", "wins", "cutoffs", "precision_recall")
    main_metric_name = _choose_metric_name(comparison, metric)
    if kind == "overview":
        return _draw_overview(comparison, main_metric_name, across)
    # All panels share one key of long names.
    key = NameKey(comparison.systems)
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, as_metric(main_metric_name)))
    drawn_scores = {system: scores for system, scores in comparison.scores.items() if system in drawn}
    note = "; ".join(drawn_systems_notes(comparison))
    if kind == "intervals":
        panels = _mean_panels(comparison, comparison.metrics, key, drawn, small=len(comparison.metrics) > 1)
        note = _note_on_means(comparison)
    elif kind == "cutoffs":
        metric_with_cutoff = _choose_metric_with_cutoff(comparison, metric)
        panels = [cutoffs_panel(key(cutoff_lines(drawn_scores, metric_with_cutoff)))]
    elif kind == "precision_recall":
        panels = [points_panel(key(precision_recall_points(drawn_scores)))]
    else:
        note = _note_on_pairs(comparison)
        panels = []
        for pair in _clearest_pairs(comparison, main_metric_name):
            if kind == "wins":
                panels.append(shares_panel(key(win_shares(comparison, pair))))
            else:
                difference = comparison.difference(main_metric_name, *pair)
                panels.append(changes_panel(key(sorted_changes(difference))))
    return figure(panels, across, note=note, key=key)


def _draw_overview(comparison: ComparisonRecord, main_metric_name: str, across: int | None) -> Plot:
    """Draw which system is better, and how sure that is: as a sentence, the means, and the changes of every query."""
    main_metric = as_metric(main_metric_name)
    other_metrics = [metric for metric in comparison.metrics if str(metric) != main_metric_name]
    key = NameKey(comparison.systems)
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, main_metric))
    if len(comparison.systems) == 2:
        sentences = [comparison.conclusions.get(main_metric_name).sentence]
    else:
        sentences = comparison.ranking.sentences_by_metric[main_metric_name]
    panels = _mean_panels(comparison, [main_metric], key, drawn, small=False)
    changes = main_pair_changes(comparison, main_metric)
    if changes is not None:
        panels.append(changes_panel(key(changes)))
    panels += _mean_panels(comparison, other_metrics, key, drawn, small=True)
    note = " ".join([*comparison.conclusions.caveats, _note_on_means(comparison)])
    return figure(panels, across, title=" ".join(sentences), note=note, key=key)


def _note_on_means(comparison: ComparisonRecord) -> str:
    """Return which systems are drawn, and what the signs, stars and bars beside the means say."""
    # The last note of a ranking begins with its signs.
    signs, _, _ = comparison.ranking.notes[-1].partition("; ")
    bars = f"bars are {numbers.level_name(comparison.level)}s of the means"
    return "; ".join([*drawn_systems_notes(comparison), *star_notes(comparison), signs, bars])


def _mean_panels(
    comparison: ComparisonRecord, metrics: Sequence[Metric], key: NameKey, drawn: Sequence[str], *, small: bool
) -> list[Panel]:
    charts = system_mean_charts(comparison, metrics, drawn)
    return [rows_panel(key(chart), small=small) for chart in charts]


def _clearest_pairs(comparison: ComparisonRecord, metric_name: str) -> list[tuple[str, str]]:
    """Return the pairs to draw: all, or of many those with the smallest p values, comparable pairs first."""
    if len(comparison.pairs) <= MAX_DRAWN_PAIRS:
        return comparison.pairs

    def sort_key(pair: tuple[str, str]) -> tuple[bool, float]:
        difference = comparison.difference(metric_name, *pair)
        return not difference.comparable, difference.p_corrected

    return sorted(comparison.pairs, key=sort_key)[:MAX_DRAWN_PAIRS]


def _note_on_pairs(comparison: ComparisonRecord) -> str:
    """Return which pairs are drawn, if not all are."""
    n_pairs = len(comparison.pairs)
    if n_pairs <= MAX_DRAWN_PAIRS:
        return ""
    return f"{MAX_DRAWN_PAIRS} of {n_pairs:,} pairs of systems, those with the smallest p values"


def _choose_metric_name(comparison: ComparisonRecord, metric: str | Metric | None) -> str:
    """Return the name of the requested metric, or of the leading metric of the comparison.

    Raises:
        KeyError: If the requested metric was not compared.
    """
    if metric is None:
        return comparison.differences.leading.metric
    _ = comparison.means[metric]  # looked up for its error alone
    return str(as_metric(metric))


def _choose_metric_with_cutoff(comparison: ComparisonRecord, requested: str | Metric | None) -> Metric:
    """Return the metric to draw over its cutoff: the requested one, or the first that takes a cutoff."""
    main_metric = as_metric(_choose_metric_name(comparison, requested))
    if requested is not None or main_metric.definition.takes_cutoff:
        return main_metric
    for metric in comparison.metrics:
        if metric.definition.takes_cutoff:
            return metric
    return main_metric
