"""Long names are numbers in charts and in words on them, and the key lists those that were used."""

import pytest

from retrieval_metrics.reports.charts import ChartRow, ChartRows
from retrieval_metrics.reports.name_key import MAX_NAME_LETTERS, NameKey
from retrieval_metrics.types import Interval

LONG = "text-embedding-3-large + reranker"


def test_names_that_fit_stay() -> None:
    key = NameKey(["bm25", "x" * MAX_NAME_LETTERS])
    assert key.numbers == {}
    assert key("bm25 is better") == "bm25 is better"
    assert key.lines == []


def test_only_the_names_that_were_used_are_in_the_key() -> None:
    key = NameKey(["bm25", LONG, f"{LONG}, twice"])
    assert key(f"{LONG}, twice is better than {LONG}") == "#3 is better than #2"
    assert key.lines == [f"#2: {LONG}", f"#3: {LONG}, twice"]
    key = NameKey(["bm25", LONG, f"{LONG}, twice"])
    assert key([LONG, "bm25"]) == ["#2", "bm25"]
    assert key.lines == [f"#2: {LONG}"]


@pytest.mark.parametrize("rows", [[], [ChartRow(LONG, 0.5, Interval(0.4, 0.6), "0.5")]])
def test_a_chart_keeps_its_type_and_its_numbers(rows: list[ChartRow]) -> None:
    chart = ChartRows("means", "mean", rows, (0.0, 1.0), zero=False)
    shown = NameKey([LONG])(chart)
    assert type(shown) is ChartRows
    assert shown == chart._replace(rows=[row._replace(name="#1") for row in rows])
