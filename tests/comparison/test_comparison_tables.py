"""What is said above and below the numbers of a comparison, and the charts that reports and figures share."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ranked_systems import systems
from reported import QRELS, TEXTS
from retrieval_metrics.comparison.comparison_tables import (
    drawn_systems_notes,
    main_pair_changes,
    select_drawn_systems,
    star_notes,
    system_mean_charts,
)
from retrieval_metrics.comparison.system_ranking import systems_in_order
from retrieval_metrics.reports.numbers import signed, three


def test_the_line_of_a_budget_is_over_characters(tmp_path: Path) -> None:
    chunks = {"small": [rm.Retrieved(f"s{at}", "x" * 50) for at in range(9)], "large": [rm.Retrieved("l", "x" * 400)]}
    qrels = {f"q{at}": [["s1", "l"]] for at in range(4)}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in chunks.items()}
    comparison = rm.compare(qrels, runs, "recall@300chars")
    comparison.report(tmp_path / "budget.html")
    page = (tmp_path / "budget.html").read_text(encoding="utf-8")
    assert "<span>50</span><span>cut-off in characters, 300 marked</span><span>600</span>" in page
    assert "recall@k" not in page
    assert "0 to 0.2" in page
    rm.compare(qrels, runs, "hit_rate@300chars").report(tmp_path / "binary.html")
    assert "0 to 0.2" not in (tmp_path / "binary.html").read_text(encoding="utf-8")  # nothing lies between
    (axes,) = comparison.plot("cutoffs").axes
    assert axes.get_title(loc="left") == "recall over characters"
    assert axes.get_xlabel() == "cut-off in characters, 300 marked"


def test_a_figure_and_a_report_show_the_same(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS)
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    means, changes, *_ = comparison.plot().axes
    drawn = [" ".join(text.get_text().replace("\\$", "$").split()) for text in (*means.texts, *changes.texts)]
    assert all(words in page for words in drawn if words), drawn
    for said in (means.get_title(loc="left"), changes.get_title(loc="left"), changes.get_xlabel()):
        assert " ".join(said.replace("\\$", "$").split()) in page
    assert "<span>0</span><span>1</span>" in page
    assert means.get_xlim() == (0, 1)


def test_the_intervals_of_a_chart_stay_inside_it(tmp_path: Path) -> None:
    qrels = {f"q{at}": ["d1"] for at in range(4)}
    run = {query: [f"x{at}" for at in range(7)] + ["d1"] for query in qrels}  # 1/3: intervals reach twice as far
    rm.evaluate(qrels, run, ["ndcg@10"]).report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    bands = re.findall(r'<polygon points="([^"]*)" fill="[^"]*" opacity="[.]16"', written)
    heights = [float(point.split(",")[1]) for band in bands for point in band.split()]
    assert heights
    assert min(heights) >= 0


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("unjudged", "treated"),
    [
        (None, "count as not relevant"),
        ("bounds", "count as not relevant"),
        ("condensed", "were taken out of the rankings"),
    ],
)
def test_a_report_says_in_one_sentence_how_much_is_unjudged_and_what_became_of_it(
    tmp_path: Path, unjudged: str | None, treated: str
) -> None:
    qrels = {query: {"d": 1, "x": 0} for query in QRELS}
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d", "y")), "b": dict.fromkeys(QRELS, ("y", "z", "d", "x"))}
    comparison = rm.compare(qrels, {**runs, "judged": dict.fromkeys(QRELS, ("d", "x"))}, "mrr@2", unjudged=unjudged)
    comparison.report(tmp_path / "report.html")
    page = unescape((tmp_path / "report.html").read_text())
    assert page.count("are unjudged") == 1
    assert f"Of the first 2 results, 50 % of a and 100 % of b are unjudged; they {treated}." in page


def test_what_retrieved_nothing_has_no_judged_share(tmp_path: Path) -> None:
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d",)), "nothing": dict.fromkeys(QRELS, ())}
    with pytest.warns(rm.RetrievalWarning, match=r"judged of the first 10 retrieved: a 100 %, nothing -\."):
        comparison = rm.compare(QRELS, runs, "mrr", unjudged="condensed")
    comparison.report(tmp_path / "report.html")
    assert "judged of the first 10 retrieved: a 100 %, nothing -" in str(comparison)
    assert "nan" not in str(comparison) + re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text())


def test_of_many_systems_the_judged_shares_and_the_bounds_of_the_rest_are_printed_too() -> None:
    qrels = {query: {"d": 1, "x": 0} for query in QRELS}
    found: dict[str, Any] = {"a": ("d", "y"), "b": ("d", "z"), "c": ("y", "d")}
    runs = {name: dict.fromkeys(QRELS, ranking) for name, ranking in found.items()}
    lines = str(rm.compare(qrels, runs, "mrr@2", unjudged="bounds")).splitlines()
    assert lines.count("judged of the first 2 retrieved: a 50 %, b 50 %, c 50 %") == 1
    assert any(line.startswith("mrr@2 with any grades (0, 1) of the unjudged among the first 2: a ") for line in lines)


def interval_text(comparison: rm.Comparison, metric: str) -> str:
    low, high = comparison.difference(metric).interval
    return f"[{signed(low)}, {signed(high)}]"


def test_the_text_is_tables_and_a_verdict() -> None:
    comparison = rm.compare(*systems({"old": [2] * 8, "new": [1] * 8}), ["mrr", "hit_rate@1"])
    low, high = comparison.intervals["mrr"]["old"]
    p_value = three(2 / 2**8)
    lines = [" ".join(line.split()) for line in str(comparison).splitlines()]
    assert lines == [
        "metric old new n",
        f"mrr 0.500 [{low:.3f}, {high:.3f}] 1.000 [0.738, 1.000] 8",
        "hit_rate@1 0.000 [0.000, 0.369] 1.000 [0.631, 1.000] 8",
        "judged of the first 1 retrieved: old 0 %, new 100 %",
        "",
        "new - old",
        "metric difference 95 % interval p won/tied/lost",
        f"mrr +0.500 {interval_text(comparison, 'mrr')} {p_value} 8/0/0",
        f"hit_rate@1 +1.00 {interval_text(comparison, 'hit_rate@1')} {p_value} 8/0/0",
        "moved most in mrr: q0 +0.500, q1 +0.500, q2 +0.500",
        "",
        *comparison.summary,
        "Exact randomisation test, corrected for 2 comparisons",
    ]
    assert "effect  detects" in str(comparison.differences)


def test_many_systems_say_what_their_comparisons_detect() -> None:
    qrels = {f"q{at}": ["d"] for at in range(30)}
    parts = {"old": 2, "new": 3, "third": 5}
    runs = {name: {f"q{at}": ["d"] if at % part else ["x", "d"] for at in range(30)} for name, part in parts.items()}
    said = str(rm.compare(qrels, runs, "mrr"))
    assert re.search(r"; a difference of 0\.\d+ to 0\.\d+ would have been found in four of five cases", said)
    assert "detects" not in said


def test_of_several_systems_the_changes_are_those_from_the_second_to_the_best() -> None:
    qrels = {f"q{at}": ["d"] for at in range(30)}
    parts = {"best": 7, "second": 3, "third": 1}
    runs = {name: {f"q{at}": ["d"] if at % part else ["x", "d"] for at in range(30)} for name, part in parts.items()}
    comparison = rm.compare(qrels, runs, "mrr")
    shown, difference = (
        main_pair_changes(comparison, comparison.metrics[0]),
        comparison.difference("mrr", "second", "best"),
    )
    assert shown.title == "best \u2212 second in mrr, by query"
    assert shown.mean == -difference.mean
    assert shown.interval == (-difference.interval.high, -difference.interval.low)
    assert shown.counts == (difference.paired.losses, difference.paired.ties, difference.paired.wins)
    assert shown.changes.tolist() == sorted((-difference.values).tolist(), reverse=True)
    assert [change for _, change in shown.gained] == [0.5, 0.5, 0.5]
    assert [change for _, change in shown.dropped] == [-0.5, -0.5, -0.5]


def test_of_many_systems_the_best_are_drawn_and_the_baseline_always() -> None:
    qrels = {f"q{at}": ["d"] for at in range(12)}
    runs = {f"s{rank:02}": {query: [*(f"x{at}" for at in range(rank)), "d"] for query in qrels} for rank in range(15)}
    comparison = rm.compare(qrels, runs, "mrr", baseline="s14")
    drawn = select_drawn_systems(comparison, systems_in_order(comparison, comparison.metrics[0]))
    assert drawn == [*list(runs)[:11], "s14"]
    assert drawn_systems_notes(comparison) == ["the best 12 of 15 systems"]


def test_what_is_worth_its_seconds_has_a_star() -> None:
    qrels = {f"q{at}": ["d"] for at in range(30)}
    runs = {}
    for rank, name in enumerate(("best", "dominated", "fast")):
        runs[name] = rm.RetrievedRun({query: [*"xy"[:rank], "d"] for query in qrels})
        runs[name].seconds = dict.fromkeys(qrels, {"best": 0.2, "dominated": 0.3, "fast": 0.1}[name])
    comparison = rm.compare(qrels, runs, ["mrr", "hit_rate@1"])
    (chart, other) = system_mean_charts(comparison, comparison.metrics, list(runs))
    assert [row.note for row in chart.rows] == ["1.000 *", "0.500", "0.333 *"]
    assert not any("*" in row.note for row in other.rows)
    assert star_notes(comparison) == ["* worth its seconds, better than each that is as fast"]
