"""The figures of results: of evaluations, comparisons and histories."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.comparison_tables import (
    cutoff_lines,
    drawn_systems_notes,
    evaluation_mean_charts,
    main_pair_changes,
    precision_recall_points,
    select_drawn_systems,
    sorted_changes,
    star_notes,
    system_mean_charts,
    win_shares,
)
from retrieval_metrics.comparison.system_ranking import systems_in_order
from retrieval_metrics.metrics.base.metric import Metric, as_metric, match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import TIED_COLOUR, line_style
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.plots import (
    SMALL_FONT_SIZE,
    Panel,
    add_title,
    changes_panel,
    cutoffs_panel,
    figure,
    line_dashes,
    points_panel,
    rows_panel,
    shares_panel,
    simplify_axes,
    start_y_at_zero,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.threshold import Threshold
    from retrieval_metrics.evaluation.scores import Record, Scores, Totals
    from retrieval_metrics.reports.plots import Plot
    from retrieval_metrics.storage.history import Entry


MOST_PAIRS = 6
"""The largest number of pairs of systems drawn query by query; of more, those told apart most clearly."""


def evaluation_figure(record: Scores | Totals, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw an evaluation; see `Evaluation.plot`."""
    _known(kind, "intervals", "cutoffs", "precision_recall")
    if kind == "precision_recall":
        return figure([points_panel(precision_recall_points({"": record.per_query_scores}))], across)
    lines = [as_metric(metric)] if metric else with_cutoff(record)
    if kind == "cutoffs" and not lines:
        raise ValueError(f"none of {', '.join(map(str, record.metrics))} has a cut-off; name a metric, such as 'ndcg'")
    panels = [] if kind == "cutoffs" else [rows_panel(chart) for chart in evaluation_mean_charts(record)]
    if kind == "cutoffs" or (kind == "overview" and record.origin):
        scores = {"": record.per_query_scores}
        panels += [cutoffs_panel(cutoff_lines(scores, line), small=len(lines) > 1) for line in lines]
    return figure(panels, across)


def comparison_figure(comparison: ComparisonRecord, kind: str, metric: str | Metric | None, across: int | None) -> Plot:
    """Draw a comparison; see `Comparison.plot`."""
    _known(kind, "intervals", "differences", "wins", "cutoffs", "precision_recall")
    name = _told(comparison, metric)
    if kind == "overview":
        return _overview(comparison, name, across)
    order = systems_in_order(comparison, as_metric(name))
    key, drawn, note = (
        NameKey(comparison.systems),
        select_drawn_systems(comparison, order),
        "; ".join(drawn_systems_notes(comparison)),
    )
    scores = {system: of for system, of in comparison.scores.items() if system in drawn}
    if kind == "intervals":
        panels = _means(comparison, comparison.metrics, key, drawn, small=len(comparison.metrics) > 1)
        note = _said_of_means(comparison)
    elif kind == "cutoffs":
        panels = [cutoffs_panel(key(cutoff_lines(scores, _cut(comparison, metric))))]
    elif kind == "precision_recall":
        panels = [points_panel(key(precision_recall_points(scores)))]
    else:
        pairs, note = _clearest(comparison, name)
        if kind == "wins":
            panels = [shares_panel(key(win_shares(comparison, pair))) for pair in pairs]
        else:
            panels = [changes_panel(key(sorted_changes(comparison.difference(name, *pair)))) for pair in pairs]
    return figure(panels, across, note=note, key=key)


def _overview(comparison: ComparisonRecord, name: str, across: int | None) -> Plot:
    """Answer which system is better, and how sure that is: in a sentence, by the means, and query by query."""
    order = systems_in_order(comparison, as_metric(name))
    key, drawn = NameKey(comparison.systems), select_drawn_systems(comparison, order)
    others = [metric for metric in comparison.metrics if str(metric) != name]
    said = comparison.ranking.sentences_by_metric[name]
    if len(comparison.systems) == 2:
        said = [comparison.conclusions.get(name).sentence]
    panels = [
        *_means(comparison, [as_metric(name)], key, drawn, small=False),
        changes_panel(key(main_pair_changes(comparison, as_metric(name)))),
        *_means(comparison, others, key, drawn, small=True),
    ]
    caveats = comparison.conclusions.caveats
    note = " ".join([*caveats, _said_of_means(comparison)])
    return figure(panels, across, title=" ".join(said), note=note, key=key)


def _said_of_means(comparison: ComparisonRecord) -> str:
    signs = comparison.ranking.notes[-1].partition("; ")[0]
    bars = f"bars are {numbers.level_name(comparison.level)}s of the means"
    return "; ".join([*drawn_systems_notes(comparison), *star_notes(comparison), signs, bars])


def with_cutoff(record: Record) -> list[Metric]:
    """Return the metrics with a cut-off, each name once."""
    cut = {metric.name: metric for metric in reversed(record.metrics) if metric.k is not None}
    return list(reversed(cut.values()))


def _means(
    comparison: ComparisonRecord, metrics: Sequence[Metric], key: NameKey, drawn: Sequence[str], *, small: bool
) -> list[Panel]:
    charts = system_mean_charts(comparison, metrics, drawn)
    return [rows_panel(key(chart), small=small) for chart in charts]


def _clearest(comparison: ComparisonRecord, name: str) -> tuple[list[tuple[str, str]], str]:
    """Return the pairs to draw, and what is left out."""
    pairs = comparison.pairs
    if len(pairs) <= MOST_PAIRS:
        return pairs, ""
    clear = sorted(pairs, key=lambda pair: comparison.difference(name, *pair).p_corrected)[:MOST_PAIRS]
    return clear, f"{MOST_PAIRS} of {len(pairs):,} pairs of systems, those told apart most clearly"


def _told(comparison: ComparisonRecord, metric: str | Metric | None) -> str:
    if metric is None:
        return comparison.differences.leading.metric
    comparison.means[metric]  # raises for a metric that was not compared
    return str(as_metric(metric))


def _cut(comparison: ComparisonRecord, metric: str | Metric | None) -> Metric:
    """Return the metric to draw over its cut-off: the given one, or the first that takes one."""
    chosen = as_metric(_told(comparison, metric))
    if metric is not None or chosen.definition.takes_cutoff:
        return chosen
    return next((each for each in comparison.metrics if each.definition.takes_cutoff), chosen)


def _known(kind: str, *kinds: str) -> None:
    if kind not in {"overview", *kinds}:
        to_file = f"; to write a file: .plot().savefig({kind!r})" if "." in kind else ""
        raise ValueError(f"there is no plot {kind!r}; the plots are overview, {', '.join(kinds)}{to_file}")


def threshold_figure(found: Threshold) -> Plot:
    """Return the figure of the false answers, their bound and the metric over the score of a threshold."""
    curve = [one for one in found.curve if np.isfinite(one.score)]

    def draw(axes: Axes) -> None:
        shares = {
            "false answers": [one.false_answers / found.n_unanswerable for one in curve],
            f"false answers, {100 * found.level:g} % bound": [one.false_answer_bound for one in curve],
            found.metric: [one.mean for one in curve],
        }
        for at, (name, values) in enumerate(shares.items()):
            places = [one.score for one in curve]
            axes.plot(
                places,
                values,
                color=line_style(at).colour,
                linestyle=line_dashes(at),
                label=name,
                drawstyle="steps-post",
            )
        axes.axhline(found.max_false_answers, color=TIED_COLOUR, linewidth=1, linestyle=":")
        if found.score is not None and np.isfinite(found.score):
            axes.axvline(found.score, color=TIED_COLOUR, linewidth=1)
        axes.set_xlabel(f"score above which results stay; dotted: {100 * found.max_false_answers:g} %")
        axes.legend(loc="best", frameon=False, fontsize=SMALL_FONT_SIZE)
        start_y_at_zero(axes)
        simplify_axes(axes, grid="y")

    return figure([Panel(draw, rows=12)], title=found.conclusion, wide=2)


MOST_LABELS = 8
"""The number of labels below a panel."""
HALF = 0.5
"""If all means are below this, words are written above them."""
LETTERS = 20
"""The number of letters of a label that are shown; `History.table` has whole labels."""


def history_figure(entries: Sequence[Entry], metric: str | Metric, across: int | None) -> Plot:
    """Return the figure of a metric; lines join means on the same questions under the same rules."""
    name = match_metric_name(metric, {each for entry in entries for each in entry.means})
    having = [entry for entry in entries if name in entry.means]
    if not having:
        known = dict.fromkeys(each for entry in entries for each in entry.means)
        raise ValueError(f"no entry has {name}; the metrics are {', '.join(known)}")

    def draw(axes: Axes) -> None:
        start, top = 0, float(np.nanmax([entry.means[name] for entry in having])) < HALF
        for at in range(1, len(having) + 1):
            if at == len(having) or having[at].differs_from(having[at - 1]):
                _draw(axes, having[start:at], start, name)
                if at < len(having):
                    _break(axes, at, having[at - 1], having[at], top=top)
                start = at
        step = -(-len(having) // MOST_LABELS)
        places = range(0, len(having), step)
        labels = [wrap_text(shorten(having[at].label, LETTERS, placeholder="…"), LETTERS) for at in places]
        axes.set_xticks(list(places), labels, rotation=30, ha="right", rotation_mode="anchor")
        looks = numbers.format_count(sum(entry.questions == having[-1].questions for entry in having), "look", "looks")
        axes.set_xlabel(f"{looks} at the last questions; the more looks,\nthe more likely the top result is luck")
        add_title(axes, f"{name}, mean and 95 % interval")
        start_y_at_zero(axes)
        simplify_axes(axes, grid="y")

    return figure([Panel(draw, rows=10)], across, wide=2)


def _draw(axes: Axes, entries: Sequence[Entry], start: int, name: str) -> None:
    means = np.array([entry.means[name] for entry in entries])
    ends = np.array([entry.intervals[name] for entry in entries])
    reach = np.where(np.isfinite(ends), np.abs(ends - means[:, None]), 0).T
    places = start + np.arange(len(entries))
    axes.errorbar(
        places,
        means,
        yerr=np.nan_to_num(reach),
        color=line_style(0).colour,
        marker="o",
        markersize=6.5,
        elinewidth=2.4,
        linewidth=1.2,
    )


def _break(axes: Axes, at: int, before: Entry, after: Entry, *, top: bool) -> None:
    what = " and ".join(after.differs_from(before))
    axes.axvline(at - 0.5, linestyle=":", linewidth=1, color=TIED_COLOUR)
    axes.annotate(
        f"{what} changed",
        (at - 0.5, 1 if top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3 if top else 3),
        textcoords="offset points",
        va="top" if top else "bottom",
        rotation=90,
        fontsize=SMALL_FONT_SIZE,
    )
