"""Plots and reports show the numbers of the result they come from, and need nothing beside them."""

import re
import sys
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from reported import QRELS, TEXTS, data_of, read


def test_the_data_of_a_page_hold_every_query_with_what_was_needed_and_what_came_back(
    evaluation: rm.Evaluation, tmp_path: Path
) -> None:
    labels = {query: "even" if at % 2 == 0 else "odd" for at, query in enumerate(QRELS)}
    evaluation.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"}, slices=labels)
    data = data_of(read(tmp_path / "report.html")[0])
    assert data["ids"] == list(QRELS)
    assert data["texts"][0] == TEXTS["q0"]
    assert [data["slices"][label] for label in data["slice"][:2]] == ["even", "odd"]
    assert [column[1] for column in data["values"][0]] == [0.5, 1, 0]
    assert [data["kinds"][kind] for kind in data["missed"][data["missing"][0][0]]] == ["never retrieved"]
    first, second = data["shown"]["0"], data["shown"]["1"]
    x, y = first["results"][0]  # unjudged, so their numbers alone
    assert [data["documents"][at] for at in (x, y)] == [["x"], ["y"]]
    at, state, score, grade, satisfies = second["results"][0][1]
    assert data["documents"][at] == ["d", None, "the text of d"]
    assert (state, score, grade, satisfies) == (0, None, 1.0, [0])
    assert second["needed"][0][0] == at  # the text is there once
    assert second["needed"][0][3] == [[data["kinds"].index("found"), 2, data["details"].index("found")]]


def test_a_report_of_a_comparison_answers_the_question_first(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS)
    text, tags = read(tmp_path / "report.html")
    assert "&lt;new&gt; $1$" in text
    assert "<new>" not in text
    for sentence in comparison.summary:
        assert escape(sentence.strip()) in text
    order = [text.index(f"<h2>{title}") for title in ("What went wrong", "Ranking", "How sure", "The queries")]
    assert order == sorted(order)
    assert text.index('class="first') < text.index("in mrr@10, by query") < order[0]  # the picture is beside
    assert 'class="gain"' in text
    assert re.search(r"▼ 0[.]\d{3}</span>", text)
    assert "2 other pairs" in text
    assert "What the columns mean" in text
    failed = text[text.index("What went wrong") : text.index("<h2>Ranking")]
    for evaluation in comparison.evaluations.values():
        worst = evaluation.worst("mrr@10")
        assert all(f"<td>{number}</td>" in failed for number in (*worst.failures.values(), worst.n_found))
    assert len(data_of(text)["systems"]) == 3
    assert "style" in tags.seen


def test_every_number_in_place_of_a_long_name_is_in_the_key(tmp_path: Path) -> None:
    systems = [f"the retriever with a long name, number {at}" for at in range(16)]  # 12 are drawn, 4 are named in words
    queries = [f"q{at}" for at in range(8)]
    qrels = {query: {"d": 1} for query in queries}
    runs = {
        name: {query: ["d", "x"] if at else ["x", "d"] for query in queries} for at, name in enumerate(systems[::-1])
    }
    rm.compare(qrels, runs, ["mrr@10"]).report(tmp_path / "report.html")
    text, _ = read(tmp_path / "report.html")
    assert text.count("#16") > 1
    assert set(re.findall(r">(#\d+)<", text)) <= set(re.findall(r">(#\d+): the retriever", text))


def test_what_cannot_be_in_a_report_is_an_error(evaluation: rm.Evaluation, tmp_path: Path) -> None:
    wrongs: list[dict[str, Any]] = [{"k": 0}, {"text_length": -1}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a positive integer"):
            evaluation.report(tmp_path / "report.html", **wrong)
    assert not (tmp_path / "report.html").exists()


def test_the_same_report_is_the_same_file(
    comparison: rm.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")  # midnight may come between the two
    for name in ("one.html", "two.html"):
        comparison.report(tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert "Written on 2017-07-14" in (tmp_path / "one.html").read_text()


def test_degenerate_results_can_be_drawn(tmp_path: Path) -> None:
    qrels, run = {"q": ["d"], "none": {"d": 0}}, {"q": ["d"], "none": ["d"]}
    comparison = rm.compare(qrels, {"a": run, "b": run}, ["dcg", "map"])
    comparison.report(tmp_path / "comparison.html")
    comparison.plot().savefig(tmp_path / "comparison.png")
    rm.evaluate({"none": {"d": 0}}, {"none": ["d"]}, ["dcg", "bpref"]).report(tmp_path / "evaluation.html")
    assert "nan" in read(tmp_path / "evaluation.html")[0]
    assert "have the same value for every query" in read(tmp_path / "comparison.html")[0]


def test_without_matplotlib_plots_say_the_command_and_reports_are_written(
    comparison: rm.Comparison, evaluation: rm.Evaluation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in (comparison, evaluation):
        with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[plot\]'"):
            result.plot()
        result.report(tmp_path / "report.html")


def test_of_very_many_queries_those_that_moved_most_have_their_results(tmp_path: Path) -> None:
    qrels = {f"q{at}": ["d"] for at in range(1_500)}
    old = {query: ["x", "d"] for query in qrels}
    new = {query: ["d", "x"] if at % 2 else ["x", "d"] for at, query in enumerate(qrels)}
    compared = rm.compare(qrels, {"old": old, "new": new}, "mrr", resamples=200)
    compared.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert [[len(column) for column in columns] for columns in data["values"]] == [[1_500], [1_500]]
    detailed = {data["ids"][int(at)] for at in data["shown"]}
    assert len(detailed) == 100
    assert detailed <= {f"q{at}" for at in range(1, 1_500, 2)}
    assert "is here for 100 queries" in text
    assert "<td>1,500</td>" in text  # found, of all queries


N = 150
JUDGED = {f"q{at}": [f"needed {at}"] for at in range(N)}
TEXT = "<b>a passage</b> of some length that says what was looked for, " * 20


def run(every: int) -> dict[str, list[rm.Retrieved]]:
    return {
        query: [rm.Retrieved(f"other {at}-{part}", TEXT) for part in range(9)]
        + ([rm.Retrieved(f"needed {at}", TEXT)] if at % every else [])
        for at, query in enumerate(JUDGED)
    }


@pytest.fixture(scope="module")
def of_two() -> rm.Comparison:
    runs = {f"system {at}": run(at + 2) for at in range(6)}
    return rm.compare(JUDGED, runs, ["mrr@10", "hit_rate@5", "ndcg@10", "recall@10"])


def test_an_evaluation_shows_its_means_in_words_and_its_worst_queries(of_two: rm.Comparison) -> None:
    shown = of_two.evaluations["system 0"]._repr_html_()
    assert "1 / rank of the first relevant result" in shown
    assert shown.count("<details>") == 1 + 5
    assert "never retrieved" in shown
    assert "&lt;b&gt;a passage&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "<caption" not in shown


def test_a_comparison_shows_its_answer_first(of_two: rm.Comparison) -> None:
    shown = of_two._repr_html_()
    assert shown.index("system 5 is better than ") < shown.index("<table>")
    assert "means and differences" in shown
    assert "system 5 - system 4" in shown or "system 1 - system 0" in shown


def test_what_a_notebook_shows_is_small_and_needs_no_plot(
    of_two: rm.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    evaluation = of_two.evaluations["system 0"]
    audit = rm.audit(JUDGED, run(2), ["mrr@10", "ndcg@10"])
    for result in (of_two, evaluation, evaluation.explain("q0"), evaluation.worst("mrr@10"), audit):
        assert 200 < len(result._repr_html_()) < 200_000
        assert "<script" not in result._repr_html_()


def test_an_evaluation_without_its_run_shows_its_means() -> None:
    whole = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr")
    merged = rm.merge([whole.totals()])
    assert "0.500" in merged._repr_html_()
    assert "what it says" in merged._repr_html_()


def test_a_report_of_an_evaluation_is_one_page_that_needs_nothing_else(
    evaluation: rm.Evaluation, tmp_path: Path
) -> None:
    evaluation.report(tmp_path / "report.html", title="Old & new", queries=TEXTS)
    text, tags = read(tmp_path / "report.html")
    assert "<h1>Old &amp; new</h1>" in text
    assert all(reference.startswith("#") for reference in tags.references)
    assert not {"link", "img", "iframe"} & set(tags.seen)
    assert tags.seen.count("script") == 2  # the data, and what shows them
    assert "default-src 'none'" in text
    assert not re.search(r"url\((?!#)|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert f"{evaluation.means['mrr@10']:.3f}" in text
    assert "how much of what is relevant is in the first 2" in text
    assert tags.seen.count("details") == 12 + 3  # every query without a script, and what the reader may want to know
    assert "is 1 &lt; 2 &amp; so on?" in text
    assert "never retrieved" in text
    assert "of which 4 are 0 and 0 perfect" in text
    assert f"retrieval-metrics {version('retrieval-metrics')}" in text
    assert "Rules: standard." in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_every_query_can_be_read_without_a_script(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    static = text[text.index("<noscript>") : text.index("</noscript>")]
    for query in QRELS:
        assert f" {query} " in static or f" {query}<" in static
    assert static.count("<details>") == len(QRELS)
    assert "Needed, grade 1: d: the text of d" in static
    assert "<new>" not in static
    assert "✓ d: the text of d" in static
    assert "never retrieved" in static


def test_the_second_picture_shows_what_each_step_lost(tmp_path: Path) -> None:
    steps: dict[str, Any] = {
        "bm25": {"q1": ["a", "b"], "q2": ["c"]},
        "dense": {"q1": ["d"], "q2": ["e"]},
        "fused <1>": {"q1": ["a", "d"], "q2": ["c", "e"]},
        "reranked": {"q1": ["d", "a"], "q2": ["e"]},
    }
    run = rm.RetrievedRun(steps["reranked"], stages=steps)
    # Of q1, d is found, and the others have no room; of q2, c is dropped by reranked.
    result = rm.evaluate({"q1": ["a", "b", "d", "u"], "q2": ["c"]}, run, "recall@1")
    result.report(tmp_path / "report.html")
    text, _ = read(tmp_path / "report.html")
    lost = text[text.index("<h2>Where it got lost") : text.index("<h2>What went wrong")]
    told = re.findall(r"<b>(.*?)</b>.*?<span>(.*?)</span>(.*?)</li>", lost)
    said = [(name, left, re.findall(r"<em>(.*?)</em>", losses)) for name, left, losses in told]
    assert said == [
        ("bm25, dense", "100.0 % left", []),
        ("fused &lt;1&gt;", "100.0 % left", []),
        ("reranked", "50.0 % left", ["\u221250.0 % dropped"]),
        ("the first 1", "12.5 % left", ["\u221237.5 % no room"]),
    ]
    rm.evaluate({"q1": ["a"]}, {"q1": ["a"]}, "recall@1").report(tmp_path / "report.html")
    assert "Where it got lost" not in read(tmp_path / "report.html")[0]
