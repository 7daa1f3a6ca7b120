"""Questions and judgments are read from datasets of every shape."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm

QUERIES = {"q1": "what is a closure?", "q2": "what is a generator?"}

RELEVANT = {"q1": ["d7"], "q2": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize(
    "dataset",
    [
        [
            {"id": "q1", "query": QUERIES["q1"], "relevant": ["d7"]},
            {"id": "q2", "query": QUERIES["q2"], "relevant": RELEVANT["q2"]},
        ],
        ({"query_id": q, "question": QUERIES[q], "expected_ids": RELEVANT[q]} for q in QUERIES),
        [{"_id": q, "user_input": QUERIES[q], "reference_context_ids": RELEVANT[q]} for q in QUERIES],
        SimpleNamespace(queries=QUERIES, relevant_docs=RELEVANT, corpus={}),
        json.loads(json.dumps({"queries": QUERIES, "corpus": {}, "relevant_docs": RELEVANT, "mode": "text"})),
        rm.EvaluationSet(QUERIES, RELEVANT),
    ],
)
def test_every_shape_gives_the_same_queries_and_judgments(dataset: Any) -> None:
    read = rm.EvaluationSet.from_dataset(dataset)
    assert (read.queries, read.qrels) == (QUERIES, RELEVANT)
    assert len(read) == 2


@pytest.mark.parametrize(
    "dataset",
    [
        [("what?", ["a"]), ("why?", [["a"], ["b"]])],
        [["what?", ["a"]], ["why?", [["a"], ["b"]]]],
        [{"query": "what?", "relevant": ["a"]}, {"query": "why?", "relevant": [["a"], ["b"]], "id": None}],
        {"what?": ["a"], "why?": [["a"], ["b"]]},
    ],
)
def test_without_an_id_the_text_is_the_id(dataset: Any) -> None:
    read = rm.EvaluationSet.from_dataset(dataset)
    assert read.queries == {"what?": "what?", "why?": "why?"}
    assert read.qrels == {"what?": ["a"], "why?": [["a"], ["b"]]}


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        ("questions.json", TypeError, "a dataset is a list of .* got str"),
        (7, TypeError, "got int"),
        ([], ValueError, "the dataset is empty"),
        (rm.Qrels({"q1": ["a"]}), TypeError, r"without the texts .*; pass EvaluationSet\(texts, qrels\)"),
        (
            rm.Qrels(rm.EvaluationSet({"q1": "what?"}, {"q1": ["a"]})),
            TypeError,
            r"pass EvaluationSet\(qrels\.texts, qrels\)$",
        ),
        (["what?"], TypeError, r"row 1 must be a \(query, relevant\) pair .* got 'what\?'"),
        ([("what?", ["a"], 3)], TypeError, "row 1 must be"),
        ([{"relevant": ["a"]}], ValueError, "row 1 has no 'query' .*; it has 'relevant'"),
        ([{"query": "what?"}], ValueError, r"row 1 has no 'relevant' \(nor relevant_docs"),
        (
            [("what?", ["a"]), ("what?", ["b"])],
            ValueError,
            r"query 'what\?' appears in rows 1 and 2; give each row its own 'id'",
        ),
        ([(3, ["a"])], TypeError, "the text of query 3 must be a str, got 3"),
        (
            SimpleNamespace(queries={"q": "?"}, relevant_docs={"q": [], "p": []}),
            ValueError,
            "judgments for 1 queries without a text, for example 'p'",
        ),
        (
            SimpleNamespace(queries={"q": "?"}, relevant_docs={}),
            ValueError,
            "no judgments for 1 of 1 queries, for example 'q'; leave",
        ),
    ],
)
def test_another_shape_is_refused_with_its_place(dataset: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.EvaluationSet.from_dataset(dataset)


def read_csv(path: Path, text: str, **options: Any) -> rm.EvaluationSet:
    path.write_text(text)
    return rm.read_questions(path, **options)


def test_each_row_of_a_table_has_the_judgments_of_the_column_that_it_fills(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    read = read_csv(path, "query,relevant_ids,gold_ids\na,d1,\nb,,d2\nc,,\nd,d3,d3\n")
    assert read.qrels == {"a": ["d1"], "b": ["d2"], "c": [], "d": ["d3"]}


def test_two_columns_of_a_row_with_different_judgments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    table = "query,relevant_ids,gold_ids\na,d1,\nc,d3,d4\n"
    with pytest.raises(ValueError, match=r"row 3 .* 'relevant_ids' and 'gold_ids': 'd3' and 'd4'.*columns="):
        read_csv(path, table)
    assert read_csv(path, table, columns={"relevant": "gold_ids"}).qrels == {"a": [], "c": ["d4"]}
    row = {"query": "c", "relevant_ids": np.array(["d3"]), "gold_ids": ["d4"]}
    with pytest.raises(ValueError, match="row 1 has different judgments"):
        rm.EvaluationSet.from_dataset([row])
    with pytest.raises(ValueError, match=r"\[\] and \['d4'\]"):
        rm.EvaluationSet.from_dataset([{**row, "relevant_ids": []}])
    assert rm.EvaluationSet.from_dataset([{**row, "relevant_ids": ["d4"]}]).qrels == {"c": ["d4"]}


def test_judgments_without_a_question_are_not_lost(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="row 3 has no 'query'"):
        read_csv(tmp_path / "questions.csv", "query,relevant_ids\na,d1\n,d2\n")


ROW = {"query": "what?", "relevant": ["a"]}
ROWS_KEYS = ["cases", "Cases", "data", "questions", "queries", "tests", "examples"]


def read_json(path: Path, content: Any, **options: Any) -> rm.EvaluationSet:
    """Read the questions of a JSON file, after checking that its content gives the same."""
    path.write_text(json.dumps(content))
    from_file = rm.read_questions(path, **options)
    assert rm.read_questions(content, **options).qrels == from_file.qrels
    return from_file


@pytest.mark.parametrize("key", ROWS_KEYS)
@pytest.mark.parametrize("rows", [[], None, [None, {}]])
@pytest.mark.parametrize("beside", [{}, {"name": "n", "version": 2, "metadata": {"lang": "en"}}])
@pytest.mark.parametrize("columns", [None, {"query": "prompt"}])
def test_a_file_without_rows_is_empty(tmp_path: Path, key: str, rows: Any, beside: Any, columns: Any) -> None:
    content = {key: rows, **beside}
    with pytest.raises(ValueError, match=f"the dataset is empty: '{key}' holds no rows"):
        rm.read_questions(content, columns=columns)
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"the dataset is empty: '{key}' holds no rows"):
        rm.read_questions(path, columns=columns)
    with pytest.raises(ValueError, match=f"'{key}'"):
        rm.evaluate(path, {"q1": ["a"]}, "mrr")


@pytest.mark.parametrize("key", ROWS_KEYS)
def test_a_blank_row_of_json_is_skipped_and_counted(tmp_path: Path, key: str) -> None:
    path = tmp_path / "questions.json"
    assert read_json(path, {key: [None, ROW, {}, {**ROW, "id": "q2"}]}).qrels == {"what?": ["a"], "q2": ["a"]}
    with pytest.raises(ValueError, match="row 3 has no 'relevant'"):
        read_json(path, {key: [None, ROW, {"query": "why?"}]})


@pytest.mark.parametrize("key", ROWS_KEYS)
@pytest.mark.parametrize("row", ["what?", ["what?", ["a"]], 7])
def test_rows_of_json_that_are_no_objects_are_refused(key: str, row: Any) -> None:
    with pytest.raises(TypeError, match=rf"'{key}' must hold rows such as \{{'query': .* but row 1 is "):
        rm.read_questions({key: [row]})  # type: ignore[dict-item,unused-ignore]
    with pytest.raises(TypeError, match=rf"'{key}' must hold rows such as \{{'query': .* but row 2 is "):
        rm.read_questions({key: [ROW, row]})


def test_a_query_can_be_called_like_the_key_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    for qrels in ({"cases": ["a"], "why?": ["b"]}, {"cases": [], "why?": ["b"]}, {"cases": {"a": 2}}):
        assert read_json(path, qrels).qrels == qrels
    assert read_json(path, {**ROW, "relevant": [], "items": None}).qrels == {"what?": []}


@pytest.mark.parametrize(
    "content",
    [
        {"cases": [], "tests": []},
        {"cases": None, "tests": []},
        {"cases": {}, "tests": {}},
        {"cases": [None], "data": [{}], "metadata": {"lang": "en"}},
    ],
)
def test_a_file_with_several_keys_for_rows_but_no_rows_is_empty(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(content))
    run = {"q": ["a"]}
    reads: list[Any] = [
        lambda: rm.read_questions(content),
        lambda: rm.EvaluationSet.from_dataset(content),
        lambda: rm.read_questions(path),
        lambda: rm.read_questions(path, columns={"query": "prompt"}),
        lambda: rm.evaluate(path, run, "mrr"),
    ]
    for read in reads:
        with pytest.raises(ValueError, match="the dataset is empty: 'cases' holds no rows"):
            read()


def test_one_of_several_lists_of_questions_is_not_read_in_silence(tmp_path: Path) -> None:
    other_row = {"query": "why?", "relevant": ["b"]}
    content = {"train": [ROW], "test": [other_row]}
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(content))
    reads: list[Any] = [
        lambda: rm.read_questions(content),
        lambda: rm.read_questions(path),
        lambda: rm.evaluate(path, {"why?": ["b"]}, "mrr"),
    ]
    for read in reads:
        with pytest.raises(ValueError, match="several lists of questions, 'train', 'test'"):
            read()
    assert rm.read_questions(content["test"]).qrels == {"why?": ["b"]}
    # An empty list beside one is none of them.
    assert read_json(path, {"train": [], "test": [other_row]}).qrels == {"why?": ["b"]}
