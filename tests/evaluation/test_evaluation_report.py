"""Reports of evaluations show the numbers of the result they come from, and need nothing beside them."""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from reported import TEXTS, read


def test_what_cannot_be_in_a_report_is_an_error(evaluation: rm.Evaluation, tmp_path: Path) -> None:
    wrongs: list[dict[str, Any]] = [{"k": 0}, {"text_length": -1}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a positive integer"):
            evaluation.report(tmp_path / "report.html", **wrong)
    assert not (tmp_path / "report.html").exists()


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
    assert "share of the relevant documents that are in the first 2" in text
    assert tags.seen.count("details") == 12 + 3  # every query without a script, and what the reader may want to know
    assert "is 1 &lt; 2 &amp; so on?" in text
    assert "not retrieved" in text
    assert "4 queries at 0, 0 perfect" in text
    assert f"retrieval-metrics {version('retrieval-metrics')}" in text
    assert "Rules: standard." in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


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
    lost = text[text.index("<h2>Losses by stage") : text.index("<h2>Failures")]
    stages = re.findall(r"<b>(.*?)</b>.*?<span>(.*?)</span>(.*?)</li>", lost)
    parts = [(name, left, re.findall(r"<em>(.*?)</em>", losses)) for name, left, losses in stages]
    assert parts == [
        ("bm25, dense", "100.0% left", []),
        ("fused &lt;1&gt;", "100.0% left", []),
        ("reranked", "50.0% left", ["\u221250.0% dropped"]),
        ("top 1", "12.5% left", ["\u221237.5% cutoff full"]),
    ]
    rm.evaluate({"q1": ["a"]}, {"q1": ["a"]}, "recall@1").report(tmp_path / "report.html")
    assert "Losses by stage" not in read(tmp_path / "report.html")[0]
