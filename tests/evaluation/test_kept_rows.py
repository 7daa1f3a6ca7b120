"""Rows that are scored one at a time are checked together: what nearly matches is said once."""

from functools import partial
from typing import Any

import pytest

import retrieval_metrics as rm
from near_right_ids import NEAR_RIGHT_IDS, make_near_right_run
from retrieval_metrics.evaluation import kept_rows
from retrieval_metrics.integration_api import KeptRows, RowScorer


def score_rows(qrels: Any, run: Any, rows: KeptRows, scorer: RowScorer | None = None) -> list[str]:
    """Score each row, and return what is said early."""
    scorer = scorer or RowScorer("mrr")
    messages = []
    for query, judgments in qrels.items():
        scorer.row(judgments, partial(run.get, query), rows=rows, query=query)
        messages.append(rows.find_early_warning(scorer))
    return [message for message in messages if message]


def test_the_rows_of_a_run_have_the_warnings_of_evaluate() -> None:
    qrels, run = make_near_right_run()
    rows = KeptRows()
    score_rows(qrels, run, rows)
    with pytest.warns(rm.RetrievalWarning) as caught:
        rm.evaluate(qrels, run, "mrr")
    assert rows.find_warnings(RowScorer("mrr")) == [f"{caught[0].message}."]
    rows.clear()
    assert (len(rows), rows.find_warnings(RowScorer("mrr"))) == (0, [])


def test_the_rows_of_a_run_have_the_line_of_evaluate_about_their_depth() -> None:
    qrels: Any = {f"q{number}": ["d"] for number in range(5)}
    run: Any = {query: ["d", "x"] for query in qrels}
    metrics = [rm.Metric("recall", 10), rm.Metric("mrr", 2)]
    rows = KeptRows()
    score_rows(qrels, run, rows)
    (note,) = rows.find_depth_notes(metrics)
    assert note in str(rm.evaluate(qrels, run, metrics))
    assert rows.find_depth_notes(metrics[1:]) == KeptRows().find_depth_notes(metrics) == []


def test_where_no_one_says_that_the_run_ends_it_is_said_once_at_the_third_sign() -> None:
    qrels, run = make_near_right_run()
    rows = KeptRows()
    (message,) = score_rows(qrels, run, rows)
    assert "differ in Unicode form" in message
    rows.clear()
    assert score_rows(qrels, run, rows) == [message]
    two_signs = {query: qrels[query] for query in ("q0", "q1", "found")}
    assert score_rows(two_signs, run, KeptRows()) == []


def test_values_of_another_type_are_signs_too() -> None:
    qrels: Any = {f"q{number}": [rm.Metadata(page=str(number))] for number in range(5)}
    run: Any = {f"q{number}": [rm.Retrieved("a", metadata={"page": number})] for number in range(5)}
    run["q0"] = [rm.Retrieved("a", metadata={"page": "0"})]
    rows = KeptRows()
    (message,) = score_rows(qrels, run, rows)
    assert "judge rm.Metadata(page=1)" in message
    (sentence,) = rows.find_warnings(RowScorer("mrr"))
    assert "judge rm.Metadata(page=1)" in sentence


def test_ids_that_differ_on_purpose_are_looked_at_again_with_twice_as_many_signs() -> None:
    qrels: Any = {}
    run: Any = {}
    for number in range(1, 31):
        qrels[f"q{number}"] = [f"doc{number}"]
        run[f"q{number}"] = [f"doc0{number}", f"doc{number}"] if number > 3 else [f"doc0{number}", "doc7", "doc07"]
    assert score_rows(qrels, run, KeptRows()) == []
    broken = {f"late{number}": [f"Late{number}"] for number in range(9)}
    found_late = {f"late{number}": [f"late{number}"] for number in range(9)}
    (message,) = score_rows(qrels | broken, run | found_late, KeptRows())
    assert "differ in case" in message


def test_rows_with_ids_of_two_types_are_checked_apart_and_failures_are_no_answers() -> None:
    rows = KeptRows()
    scorer = RowScorer("mrr")
    scorer.row([1], lambda: [2, 1], rows=rows)
    scorer.row(["D1"], lambda: ["d1", "e"], rows=rows)
    scorer.row(["e"], lambda: ["e"], rows=rows)
    scorer.row(["f"], list, failure="down", rows=rows)
    (sentence,) = rows.find_warnings(scorer)
    assert sentence.startswith(
        "1 of 1 missing relevant document was retrieved under a slightly different ID: for query"
    )


def test_documents_that_are_left_out_are_no_near_misses() -> None:
    rows = KeptRows()
    scorer = RowScorer("mrr")
    for number in range(5):
        retrieved = [f"D{number}", "x"]
        scorer.row([f"d{number}"], retrieved.copy, exclude=[f"D{number}"], rows=rows)
    scorer.row(["x"], lambda: ["x"], rows=rows)
    assert rows.find_warnings(scorer) == []


def test_only_the_last_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "MAX_ROWS", 3)
    rows = KeptRows()
    score_rows({f"q{number}": ["d"] for number in range(5)}, {f"q{number}": ["d"] for number in range(5)}, rows)
    assert len(rows) == 3
    assert len(NEAR_RIGHT_IDS) > 3
