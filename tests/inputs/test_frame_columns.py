"""Columns of every library are read alike."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import retrieval_metrics as rm
from table_forms import COLUMNS, FRAMES, RUN, judgments


@pytest.mark.parametrize("frame", FRAMES)
def test_every_kind_of_frame_is_read_alike(frame: Callable[[Any], Any]) -> None:
    assert dict(rm.Run.from_frame(frame(COLUMNS))) == RUN == dict(rm.read_run(frame(COLUMNS)))
    graded = frame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "iteration": ["0", "0"], "relevance": [2, 0]})
    assert judgments(rm.Qrels.from_frame(graded)) == {"q1": {"a": 2.0, "b": 0.0}} == judgments(rm.read_qrels(graded))


@pytest.mark.parametrize("frame", FRAMES)
def test_whole_number_ids_stay_whole_numbers(frame: Callable[[Any], Any]) -> None:
    run = rm.Run.from_frame(frame({"query": [1, 1], "document": [30, 7], "score": [1, 2]}))
    assert dict(run) == {1: {30: 1.0, 7: 2.0}}
    assert rm.evaluate({1: [30]}, run, "mrr").means["mrr"] == 0.5


def test_text_of_pandas_is_text_whatever_holds_it() -> None:
    for dtype in ("object", "str", "category"):
        frame = pd.DataFrame(COLUMNS).astype({"query": dtype, "document": dtype})
        assert dict(rm.Run.from_frame(frame)) == RUN
    assert dict(rm.Run.from_frame({name: np.array(column) for name, column in COLUMNS.items()})) == RUN


@pytest.mark.parametrize(
    "documents",
    [pd.Categorical(["d3", "d7", "d1"]), pl.Series(["d3", "d7", "d1"], dtype=pl.Categorical)],
    ids=["pandas", "polars"],
)
def test_categories_are_the_text_they_stand_for(documents: Any) -> None:
    assert dict(rm.Run.from_frame(COLUMNS | {"document": documents})) == RUN
    dictionary = pa.array(COLUMNS["document"]).dictionary_encode()
    assert dict(rm.Run.from_frame(pa.table(COLUMNS | {"document": dictionary}))) == RUN


def test_scores_may_be_numbers_of_several_types() -> None:
    mixed: list[Any] = [[2, 1.5, 9], [2, np.float64(1.5), np.float32(9)], [Decimal(2), 1.5, 9]]
    for scores in (*mixed, np.array([2, 1.5, 9], dtype=np.longdouble)):
        for frame in (dict, pd.DataFrame):
            assert dict(rm.Run.from_frame(frame(COLUMNS | {"score": scores}))) == RUN


def test_columns_of_pandas_may_have_numbers_for_names() -> None:
    frame = pd.DataFrame([["q1", "d3", 2.0]])
    run = rm.Run.from_frame(frame, columns={"query": "0", "document": "1", "score": "2"})
    assert dict(run) == {"q1": {"d3": 2.0}}


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a table must be a pandas or polars DataFrame.*got int"):
        rm.read_run(7)  # type: ignore[arg-type]  # wrong on purpose
