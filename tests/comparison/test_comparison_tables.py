"""What is printed above and below the numbers of a comparison."""

import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ranked_systems import late_at_every, systems
from reported import QRELS
from retrieval_metrics.reports.numbers import format_signed, format_three_digits


def test_what_retrieved_nothing_has_no_judged_share(tmp_path: Path) -> None:
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d",)), "nothing": dict.fromkeys(QRELS, ())}
    with pytest.warns(rm.RetrievalWarning, match=r"judged@10: a 100%, nothing -\)\."):
        comparison = rm.compare(QRELS, runs, "mrr", unjudged="condensed")
    comparison.report(tmp_path / "report.html")
    assert "judged@10: a 100%, nothing -" in str(comparison)
    assert "nan" not in str(comparison) + re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text())


def test_of_many_systems_the_judged_shares_and_the_bounds_of_the_rest_are_printed_too() -> None:
    qrels = {query: {"d": 1, "x": 0} for query in QRELS}
    ranking_by_name: dict[str, Any] = {"a": ("d", "y"), "b": ("d", "z"), "c": ("y", "d")}
    runs = {name: dict.fromkeys(QRELS, ranking) for name, ranking in ranking_by_name.items()}
    lines = str(rm.compare(qrels, runs, "mrr@2", unjudged="bounds")).splitlines()
    assert lines.count("judged@2: a 50%, b 50%, c 50%") == 1
    assert any(
        line.startswith("mrr@2 over all possible grades (0, 1) of the unjudged documents in the top 2: a ")
        for line in lines
    )


def interval_text(comparison: rm.Comparison, metric: str) -> str:
    low, high = comparison.difference(metric).interval
    return f"[{format_signed(low)}, {format_signed(high)}]"


def test_the_text_is_tables_and_a_verdict() -> None:
    comparison = rm.compare(*systems({"old": [2] * 8, "new": [1] * 8}), ["mrr", "hit_rate@1"])
    p_value = format_three_digits(2 / 2**8)
    lines = [" ".join(line.split()) for line in str(comparison).splitlines()]
    assert lines == [
        "metric old new new - old 95% CI p W/T/L n",
        f"mrr 0.500 1.000 +0.500 {interval_text(comparison, 'mrr')} {p_value} 8/0/0 8",
        f"hit_rate@1 0.000 1.000 +1.00 {interval_text(comparison, 'hit_rate@1')} {p_value} 8/0/0 8",
        "judged@1: old 0%, new 100%",
        "",
        *comparison.summary,
        "Exact randomisation test; p values and CIs corrected for 2 comparisons (step-down)",
    ]
    assert "d_z" in str(comparison.differences)


def test_the_details_have_the_intervals_of_the_means_and_the_largest_changes() -> None:
    qrels, runs = systems({"old": [2] * 8, "new": [1] * 8})
    questions = rm.EvaluationSet({query: f"What is {query}?" for query in qrels}, qrels)
    comparison = rm.compare(questions, runs, "mrr")
    low, high = comparison.intervals["mrr"]["old"]
    lines = [" ".join(line.split()) for line in str(comparison.details).splitlines()]
    assert f"mrr 0.500 [{low:.3f}, {high:.3f}] 1.000 [0.680, 1.000] 8" in lines
    assert "metric difference 95% CI p W/T/L d_z MDE" in lines
    assert f"mrr +0.500 {interval_text(comparison, 'mrr')} {format_three_digits(2 / 2**8)} 8/0/0 - 0.40" in lines
    assert any(line.startswith("largest changes in mrr: q0 “What is q0?” +0.500, ") for line in lines)


def test_a_single_query_has_no_effect_size() -> None:
    qrels, runs = systems({"old": [2], "same": [2], "new": [1]})
    lines = [
        " ".join(line.split()) for line in str(rm.compare(qrels, runs, "mrr", baseline="old").details).splitlines()
    ]
    assert "mrr +0.500 - 1.00 1/0/0 - -" in lines
    assert "mrr 0 - 1.00 0/1/0 0 -" in lines


def test_the_printed_pairs_name_the_largest_changes_by_their_texts() -> None:
    qrels, runs = systems({"old": [2] * 8, "new": [1] * 8, "newer": [1] * 8})
    questions = rm.EvaluationSet({query: f"What is {query}?" for query in qrels}, qrels)
    lines = str(rm.compare(questions, runs, "mrr", baseline="old")).splitlines()
    assert sum(line.startswith("largest changes in mrr: q0 “What is q0?” +0.500, ") for line in lines) == 2


@pytest.mark.parametrize("margin", [None, 0.02])
def test_two_systems_in_one_metric_print_at_most_eight_lines(margin: float | None) -> None:
    cases: list[tuple[list[int], list[int]]] = [
        ([2] * 8, [1] * 8),
        ([1] * 8, [1] * 8),
        ([1, 2, 3, 4] * 8, [1, 2, 3, 4] * 8),
        ([1, 2, 3, 4] * 8, [2, 1, 4, 3] * 8),
        ([1] * 3, [2] * 3),
    ]
    for first, second in cases:
        text = str(rm.compare(*systems({"old": first, "new": second}), "mrr@10", margin=margin))
        assert len(text.splitlines()) <= 8, text


def test_many_systems_say_what_their_comparisons_detect() -> None:
    qrels = {f"q{number}": ["d"] for number in range(30)}
    steps = {"old": 2, "new": 3, "third": 5}
    runs = {name: late_at_every(step, 30) for name, step in steps.items()}
    text = str(rm.compare(qrels, runs, "mrr"))
    assert re.search(r"; MDE 0\.\d+ to 0\.\d+\)", text)
    assert "d_z" not in text


def test_a_cutoff_that_no_system_reaches_is_said_once_wherever_means_are_shown(tmp_path: Path) -> None:
    runs = {"first": dict.fromkeys(QRELS, ("d", "x")), "second": dict.fromkeys(QRELS, ("x", "d"))}
    note = "so recall@10 equals recall@2"
    for n_systems in (2, 3):
        systems = {**runs, "third": runs["first"]} if n_systems == 3 else runs
        comparison = rm.compare(QRELS, systems, "recall@10")
        comparison.report(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        texts = [str(comparison), str(comparison.details), comparison.to_markdown(), comparison._repr_html_(), page]
        assert [text.count(note) for text in texts] == [1] * len(texts)
    comparison.save(tmp_path / "comparison.json", rankings=False)
    assert note in str(rm.load(tmp_path / "comparison.json"))


@pytest.mark.parametrize("n_systems", [2, 3, 8])
def test_a_metric_that_is_defined_for_no_query_has_dashes(n_systems: int, tmp_path: Path) -> None:
    runs = {f"s{number}": {"q1": ["d"], "q2": ["x"]} for number in range(n_systems)}
    comparison = rm.compare({"q1": ["d"], "q2": ["d"]}, runs, ["mrr", "leak@3"])
    comparison.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    texts = [str(comparison), str(comparison.details), comparison.to_markdown(), page, repr(comparison.ranking)]
    assert [re.findall(r"\bnan\b", text) for text in texts] == [[]] * len(texts)
    assert re.search(r"^leak@3( +-)+  0$", str(comparison.details), re.MULTILINE)
