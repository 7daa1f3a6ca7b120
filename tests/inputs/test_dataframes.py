"""Frames of every library are read into columns of whole queries, and wrong rows are named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import retrieval_metrics as rm
from table_forms import COLUMNS, IDS, Source


def test_without_scores_the_ranks_order_and_without_ranks_the_rows() -> None:
    rows = {"query": ["q1", "q2", "q1"], "document": ["b", "x", "a"]}
    assert dict(rm.Run.from_frame(rows)) == {"q1": ["b", "a"], "q2": ["x"]}
    assert dict(rm.Run.from_frame(rows | {"rank": [2, 1, 1]})) == {"q1": ["a", "b"], "q2": ["x"]}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"score": [1.0, float("nan"), 2.0]}, ValueError, r"row 2 of the table has nan as score, .*'document': 'd7'"),
        ({"score": [1.0, None, 2.0]}, ValueError, "row 2 of the table has None as score, which is not a finite number"),
        ({"score": [1.0, 2.0, float("inf")]}, ValueError, "row 3 of the table has inf as score"),
        ({"score": ["1", "high", "2"]}, ValueError, "row 2 of the table has 'high' as score"),
        ({"score": [True, False, True]}, TypeError, "column 'score' of the table must hold numbers, not Boolean"),
        ({"document": ["d3", None, "d1"]}, ValueError, "row 2 of the table has no document"),
        ({"query": ["q1", "q1", 2]}, TypeError, "column 'query' of the table holds values of different types"),
        ({"query": [1.5, 2.5, 3.5]}, TypeError, "column 'query' of the table must hold IDs, .* not Float64"),
        ({"query": "q1"}, TypeError, "column 'query' of the table must be a list or an array of values, got 'q1'"),
        ({"score": [2.0, 1.5]}, ValueError, "must have the same length, but 'query' has 3 values, 'score' 2"),
        ({"document": [1, 2**70, 3]}, ValueError, "row 2 of the table has a document beyond 64 bits"),
        (
            {"document": np.array([1, 2, 2**63], dtype=np.uint64)},
            ValueError,
            "row 3 of the table has a document beyond",
        ),
        ({"document": ["d3", "d3", "d1"]}, ValueError, "rows 1 and 2 of the table both hold document 'd3' for query"),
        ({"query": [], "document": [], "score": []}, ValueError, "the table is empty"),
    ],
)
def test_wrong_rows_are_named(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Run.from_frame(COLUMNS | change)


@pytest.mark.parametrize(
    "documents",
    [
        pd.Series(["d3", None, "d1"]),
        pd.Series(["d3", float("nan"), "d1"], dtype=object),
        pd.Series(["d3", pd.NA, "d1"], dtype="string"),
        pd.Series([3, pd.NA, 1], dtype="Int64"),
        pd.Series([3, None, 1]),
        pd.Series(pd.Categorical(["d3", None, "d1"])),
    ],
    ids=lambda documents: str(documents.dtype),
)
def test_an_id_that_pandas_takes_for_missing_is_named_with_its_row(documents: Any) -> None:
    with pytest.raises(ValueError, match=r"row 2 of the table has no document: .*'q1'"):
        rm.Run.from_frame(pd.DataFrame(COLUMNS | {"document": documents}))


def test_a_judgment_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="rows 1 and 3 of the table both hold document 'a' for query 'q1'"):
        rm.Qrels.from_frame({"query": ["q1", "q2", "q1"], "document": ["a", "a", "a"], "grade": [1, 1, 0]})


def test_equal_ranks(source: Source) -> None:
    table = source({"query": ["q", "p", "q", "q"], "document": ["a", "b", "c", "d"], "rank": [1, 1, 2, 1]})
    with pytest.raises(ValueError, match=r"documents 'a' and 'd' of query 'q' have the same rank, 1; give them") as e:
        rm.read_run(table)
    assert "columns={'rank': None}" in str(e.value)
    assert dict(rm.read_run(table, columns={"rank": None})) == {"q": ["a", "c", "d"], "p": ["b"]}
    scored = source({**IDS, "rank": [1, 1], "score": [2.0, 1.0]})
    assert dict(rm.read_run(scored)) == {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize("edge", [" a", "a ", "a\u00a0"])
@pytest.mark.parametrize("role", ["query", "document"])
def test_an_id_with_blank_edges(source: Source, role: str, edge: str) -> None:
    table = source({**IDS, "score": [1, 2], role: [edge, "b"]})
    for read in (rm.read_run, rm.read_qrels):
        with pytest.raises(
            ValueError, match=rf"has a {role} that begins or ends with whitespace, in column '{role}' \(allow='blanks'"
        ):
            read(table)
        read(table, allow="blanks")
    assert edge in str(dict(rm.read_run(table, allow=["blanks"]))).replace("\\xa0", "\u00a0")


def test_groups_in_columns(source: Source) -> None:
    columns: dict[str, list[Any]] = {
        "query": ["q", "q", "q", "p"],
        "document": ["a", "b", "a", "c"],
        "grade": [1, 2, 1, 1],
    }
    table = source({**columns, "group": ["1", "1", "2", "1"]})
    qrels = rm.read_qrels(table)
    assert [qrels.judgments(index) for index in (0, 1)] == [[{"a": 1.0, "b": 2.0}, {"a": 1.0}], [{"c": 1.0}]]
    with pytest.raises(ValueError, match="document 'a' appears twice in group '1' of query 'q'"):
        rm.read_qrels(source({**columns, "group": ["1", "1", "1", "1"]}))


@pytest.mark.parametrize(
    "make_frame",
    [dict, lambda columns: pd.DataFrame(columns, copy=False), pl.DataFrame],
    ids=["dict", "pandas", "polars"],
)
def test_a_change_of_an_array_behind_a_table_changes_nothing_that_was_read_of_it(
    make_frame: Callable[[dict[str, Any]], Any], tmp_path: Path
) -> None:
    query = np.array([1, 1, 2, 2])
    document = np.array([7, 8, 7, 8])
    score = np.array([2.0, 1.0, 2.0, 1.0])
    grade = np.array([1.0, 0.0, 1.0, 0.0])
    run = rm.Run.from_frame(make_frame({"query": query, "document": document, "score": score}))
    qrels = rm.Qrels.from_frame(make_frame({"query": query, "document": document, "grade": grade}))
    evaluation = rm.evaluate(qrels, run, "mrr")
    document[:] = 9
    score[:] = score[::-1].copy()
    grade[:] = 0
    assert run[1] == {7: 2.0, 8: 1.0}
    assert rm.evaluate(qrels, run, "mrr").means["mrr"] == 1.0
    evaluation.save(tmp_path / "evaluation.json")
    assert rm.load(tmp_path / "evaluation.json") == evaluation
