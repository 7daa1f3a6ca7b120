"""The figures of comparisons."""

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
    name = _main_metric(comparison, metric)
    if kind == "overview":
        return _overview(comparison, name, across)
    # One key for all panels.
    key = NameKey(comparison.systems)
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, as_metric(name)))
    scores = {system: scores for system, scores in comparison.scores.items() if system in drawn}
    note = "; ".join(drawn_systems_notes(comparison))
    if kind == "intervals":
        panels = _mean_panels(comparison, comparison.metrics, key, drawn, small=len(comparison.metrics) > 1)
        note = _note_on_means(comparison)
    elif kind == "cutoffs":
        over_cutoff = _metric_over_cutoff(comparison, metric)
        panels = [cutoffs_panel(key(cutoff_lines(scores, over_cutoff)))]
    elif kind == "precision_recall":
        panels = [points_panel(key(precision_recall_points(scores)))]
    else:
        note = _note_on_pairs(comparison)
        panels = []
        for pair in _clearest_pairs(comparison, name):
            if kind == "wins":
                panels.append(shares_panel(key(win_shares(comparison, pair))))
            else:
                panels.append(changes_panel(key(sorted_changes(comparison.difference(name, *pair)))))
    return figure(panels, across, note=note, key=key)


def _overview(comparison: ComparisonRecord, name: str, across: int | None) -> Plot:
    """Answer which system is better, and how sure that is: in a sentence, by the means, and query by query."""
    main = as_metric(name)
    others = [metric for metric in comparison.metrics if str(metric) != name]
    key = NameKey(comparison.systems)
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, main))
    if len(comparison.systems) == 2:
        sentences = [comparison.conclusions.get(name).sentence]
    else:
        sentences = comparison.ranking.sentences_by_metric[name]
    panels = [
        *_mean_panels(comparison, [main], key, drawn, small=False),
        changes_panel(key(main_pair_changes(comparison, main))),
        *_mean_panels(comparison, others, key, drawn, small=True),
    ]
    note = " ".join([*comparison.conclusions.caveats, _note_on_means(comparison)])
    return figure(panels, across, title=" ".join(sentences), note=note, key=key)


def _note_on_means(comparison: ComparisonRecord) -> str:
    """Return what is drawn, and what signs, stars and bars beside means are."""
    signs, _, _ = comparison.ranking.notes[-1].partition("; ")
    bars = f"bars are {numbers.level_name(comparison.level)}s of the means"
    return "; ".join([*drawn_systems_notes(comparison), *star_notes(comparison), signs, bars])


def _mean_panels(
    comparison: ComparisonRecord, metrics: Sequence[Metric], key: NameKey, drawn: Sequence[str], *, small: bool
) -> list[Panel]:
    charts = system_mean_charts(comparison, metrics, drawn)
    return [rows_panel(key(chart), small=small) for chart in charts]


def _clearest_pairs(comparison: ComparisonRecord, name: str) -> list[tuple[str, str]]:
    """Return the pairs to draw: all, or of many those that differ most clearly."""
    if len(comparison.pairs) <= MAX_DRAWN_PAIRS:
        return comparison.pairs
    by_p = sorted(comparison.pairs, key=lambda pair: comparison.difference(name, *pair).p_corrected)
    return by_p[:MAX_DRAWN_PAIRS]


def _note_on_pairs(comparison: ComparisonRecord) -> str:
    """Return which pairs are drawn, if not all are."""
    n_pairs = len(comparison.pairs)
    if n_pairs <= MAX_DRAWN_PAIRS:
        return ""
    return f"{MAX_DRAWN_PAIRS} of {n_pairs:,} pairs of systems, those told apart most clearly"


def _main_metric(comparison: ComparisonRecord, metric: str | Metric | None) -> str:
    """Return the name of the metric that was asked for, or of the one that decides."""
    if metric is None:
        return comparison.differences.leading.metric
    comparison.means[metric]  # raises for a metric that was not compared
    return str(as_metric(metric))


def _metric_over_cutoff(comparison: ComparisonRecord, metric: str | Metric | None) -> Metric:
    """Return the metric to draw over its cut-off: the one that was asked for, or the first that takes one."""
    main = as_metric(_main_metric(comparison, metric))
    if metric is not None or main.definition.takes_cutoff:
        return main
    for compared in comparison.metrics:
        if compared.definition.takes_cutoff:
            return compared
    return main
