"""Reports of comparisons show the numbers of the result they come from, and need nothing beside them."""

import re
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from reported import QRELS, TEXTS, data_of, read


def test_a_report_of_a_comparison_answers_the_question_first(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries={**TEXTS, "q6": "does it move?"})
    text, tags = read(tmp_path / "report.html")
    assert "&lt;new&gt; $1$" in text
    assert "<new>" not in text
    for sentence in comparison.summary:
        assert escape(sentence.strip()) in text
    order = [text.index(f"<h2>{title}") for title in ("Failures", "Ranking", "Statistical details", "The queries")]
    assert order == sorted(order)
    assert text.index('class="first') < text.index("in mrr@10, by query") < order[0]  # the picture is beside
    assert 'class="gain"' in text
    assert re.search(r"0[.]\d{3} ▼</span>", text)
    assert "2 other pairs" in text
    assert "Column definitions" in text
    details = text[text.index("<h2>Statistical details") : text.index("<h2>The queries")]
    assert "q6 “does it move?” -1.00" in details
    failed = text[text.index("<h2>Failures") : text.index("<h2>Ranking")]
    for evaluation in comparison.evaluations.values():
        worst = evaluation.worst("mrr@10")
        assert all(f"<td>{number}</td>" in failed for number in (*worst.failures.values(), worst.n_found))
    assert len(data_of(text)["systems"]) == 3
    assert "style" in tags.seen


def test_every_number_in_place_of_a_long_name_is_in_the_key(tmp_path: Path) -> None:
    systems = [
        f"the retriever with a long name, number {number}" for number in range(16)
    ]  # 12 are drawn, 4 are named in words
    queries = [f"q{number}" for number in range(8)]
    qrels = {query: {"d": 1} for query in queries}
    runs = dict.fromkeys(systems[::-1], dict.fromkeys(queries, ("d", "x")))
    runs[systems[-1]] = dict.fromkeys(queries, ("x", "d"))
    rm.compare(qrels, runs, ["mrr@10"]).report(tmp_path / "report.html")
    text, _ = read(tmp_path / "report.html")
    assert text.count("#16") > 1
    assert set(re.findall(r">(#\d+)<", text)) <= set(re.findall(r">(#\d+): the retriever", text))


def test_of_very_many_systems_the_pairs_and_queries_of_the_drawn_are_there(tmp_path: Path) -> None:
    qrels = {f"q{number}": {"d": 1} for number in range(6)}
    runs = {f"s{rank:02}": dict.fromkeys(qrels, (*"abcefghijklmnopqrstuvwxyz"[:rank], "d")) for rank in range(26)}
    comparison = rm.compare(qrels, {name: runs[name] for name in sorted(runs, reverse=True)}, "mrr", baseline=None)
    comparison.report(tmp_path / "report.html")
    text, _ = read(tmp_path / "report.html")
    assert data_of(text)["systems"] == [f"s{rank:02}" for rank in range(11, -1, -1)]
    assert "65 other pairs" in text
    assert "Only 12 of 26 systems" in text
    assert "all 325 pairs" in text
    assert all(f">{name}<" in text for name in runs)  # the ranking has all
    # What a pair that is not shown would need is not computed either.
    hidden = comparison.difference("mrr", "s20", "s25")
    assert "_default_mde" not in vars(hidden)


def test_degenerate_results_can_be_drawn(tmp_path: Path) -> None:
    qrels: dict[str, Any] = {"q": ["d"], "none": {"d": 0}}
    run = {"q": ["d"], "none": ["d"]}
    comparison = rm.compare(qrels, {"a": run, "b": run}, ["dcg", "map"])
    comparison.report(tmp_path / "comparison.html")
    comparison.plot().savefig(tmp_path / "comparison.png")
    rm.evaluate({"none": {"d": 0}}, {"none": ["d"]}, ["dcg", "bpref"]).report(tmp_path / "evaluation.html")
    assert "nan" in read(tmp_path / "evaluation.html")[0]
    assert "have identical values" in read(tmp_path / "comparison.html")[0]


def test_without_matplotlib_plots_say_the_command_and_reports_are_written(
    comparison: rm.Comparison, evaluation: rm.Evaluation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in (comparison, evaluation):
        with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[plot\]'"):
            result.plot()
        result.report(tmp_path / "report.html")


def test_of_very_many_queries_those_that_moved_most_have_their_results(tmp_path: Path) -> None:
    qrels = {f"q{number}": ["d"] for number in range(1_500)}
    old = {query: ["x", "d"] for query in qrels}
    new = dict(old)
    for number in range(1, len(qrels), 2):
        new[f"q{number}"] = ["d", "x"]
    compared = rm.compare(qrels, {"old": old, "new": new}, "mrr", resamples=200)
    compared.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = data_of(text)
    for columns in data["values"]:
        assert [len(column) for column in columns] == [1_500]
    detailed = {data["ids"][int(number)] for number in data["shown"]}
    assert len(detailed) == 100
    assert detailed <= {f"q{number}" for number in range(1, 1_500, 2)}
    assert "included for 100 queries" in text
    assert "<td>1,500</td>" in text  # found, of all queries


def test_every_query_can_be_read_without_a_script(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    static = text[text.index("<noscript>") : text.index("</noscript>")]
    for query in QRELS:
        assert f" {query} " in static or f" {query}<" in static
    assert static.count("<details>") == len(QRELS)
    assert "Relevant, grade 1: d: the text of d" in static
    assert "<new>" not in static
    assert "✓ d: the text of d" in static
    assert "not among the" in static
