"""What the charts of comparisons show, in reports and figures alike."""

from html import unescape
from pathlib import Path

import retrieval_metrics as rm
from ranked_systems import late_at_every, ranked
from reported import TEXTS
from retrieval_metrics.comparison.comparison_charts import (
    drawn_systems_notes,
    main_pair_changes,
    select_drawn_systems,
    star_notes,
    system_mean_charts,
)
from retrieval_metrics.comparison.system_ranking import systems_in_order


def test_the_line_of_a_budget_is_over_characters(tmp_path: Path) -> None:
    chunks = {
        "small": [rm.Retrieved(f"s{number}", "x" * 50) for number in range(9)],
        "large": [rm.Retrieved("l", "x" * 400)],
    }
    qrels = {f"q{number}": [["s1", "l"]] for number in range(4)}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in chunks.items()}
    comparison = rm.compare(qrels, runs, "recall@300chars")
    comparison.report(tmp_path / "budget.html")
    page = (tmp_path / "budget.html").read_text(encoding="utf-8")
    assert "<span>50</span><span>cutoff in characters (dotted: 300)</span><span>600</span>" in page
    assert "recall@k" not in page
    assert "0 to 0.2" in page
    rm.compare(qrels, runs, "hit_rate@300chars").report(tmp_path / "binary.html")
    assert "0 to 0.2" not in (tmp_path / "binary.html").read_text(encoding="utf-8")  # nothing lies between
    (axes,) = comparison.plot("cutoffs").axes
    assert axes.get_title(loc="left") == "recall over characters"
    assert axes.get_xlabel() == "cutoff in characters (dotted: 300)"


def test_a_figure_and_a_report_show_the_same(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS)
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    means, changes, *_ = comparison.plot().axes
    drawn = [" ".join(text.get_text().replace("\\$", "$").split()) for text in (*means.texts, *changes.texts)]
    assert all(words in page for words in drawn if words), drawn
    for label in (means.get_title(loc="left"), changes.get_title(loc="left"), changes.get_xlabel()):
        assert " ".join(label.replace("\\$", "$").split()) in page
    assert "<span>0</span><span>1</span>" in page
    assert means.get_xlim() == (0, 1)


def test_of_several_systems_the_changes_are_those_from_the_second_to_the_best() -> None:
    qrels = {f"q{number}": ["d"] for number in range(30)}
    steps = {"best": 7, "second": 3, "third": 1}
    runs = {name: late_at_every(step, 30) for name, step in steps.items()}
    comparison = rm.compare(qrels, runs, "mrr")
    shown = main_pair_changes(comparison, comparison.metrics[0])
    assert shown is not None
    difference = comparison.difference("mrr", "second", "best")
    assert shown.title == "best \u2212 second in mrr, by query"
    assert shown.mean == -difference.mean
    assert shown.interval == (-difference.interval.high, -difference.interval.low)
    assert shown.counts == (difference.paired.losses, difference.paired.ties, difference.paired.wins)
    assert shown.changes.tolist() == sorted((-difference.values).tolist(), reverse=True)
    assert [change for _, change in shown.gained] == [0.5, 0.5, 0.5]
    assert [change for _, change in shown.dropped] == [-0.5, -0.5, -0.5]


def test_of_many_systems_the_best_are_drawn_and_the_baseline_always() -> None:
    qrels = {f"q{number}": ["d"] for number in range(12)}
    runs = {f"s{rank:02}": dict.fromkeys(qrels, tuple(ranked(rank + 1))) for rank in range(15)}
    comparison = rm.compare(qrels, runs, "mrr", baseline="s14")
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, comparison.metrics[0]))
    assert drawn == [*list(runs)[:11], "s14"]
    assert drawn_systems_notes(comparison) == ["the best 12 of 15 systems"]


def test_what_is_worth_its_seconds_has_a_star() -> None:
    qrels = {f"q{number}": ["d"] for number in range(30)}
    runs = {}
    for rank, name in enumerate(("best", "dominated", "fast")):
        runs[name] = rm.RetrievedRun({query: [*"xy"[:rank], "d"] for query in qrels})
        runs[name].seconds = dict.fromkeys(qrels, {"best": 0.2, "dominated": 0.3, "fast": 0.1}[name])
    comparison = rm.compare(qrels, runs, ["mrr", "hit_rate@1"])
    (chart, other) = system_mean_charts(comparison, comparison.metrics, list(runs))
    assert [row.note for row in chart.rows] == ["1.000 *", "0.500", "0.333 *"]
    assert not any("*" in row.note for row in other.rows)
    assert star_notes(comparison) == ["* Pareto: better than every system at least as fast"]
