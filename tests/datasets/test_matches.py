"""Which retrieved item satisfies which judgment."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Span
from retrieval_metrics.datasets.matches import MAX_CELL_LENGTH

HALVES = [Retrieved("c1", source="a", start=0, end=50), Retrieved("c2", source="a", start=50, end=100)]


def test_a_piece_that_several_items_satisfy_together_has_the_rank_of_the_last() -> None:
    (row,) = rm.match({"q": {Span("a", 40, 60): 2}}, {"q": HALVES})
    assert row == ("q", Span("a", 40, 60), 2, 2)


def test_what_was_not_found_is_missing_unless_it_is_not_relevant() -> None:
    matches = rm.match({"q": {"c2": 1, "c7": 1, "c8": 0}}, {"q": HALVES})
    assert [row.relevant for row in matches.missing] == ["c7"]
    assert repr(matches) == "<Matches: 3 judged, 1 relevant ones not found>"
    assert len(matches) == 3


def test_ids_of_scored_runs_are_matched_too() -> None:
    assert [row.rank for row in rm.match({"q": ["a", "b"]}, {"q": {"b": 2.0, "a": 1.0}})] == [2, 1]


def test_it_matches_as_evaluate_is_told_to() -> None:
    assert [row.rank for row in rm.match({"q": ["a"]}, {"q": HALVES}, match="source")] == [1]


def test_long_quotes_do_not_break_the_table() -> None:
    table = str(rm.match({"q": [Quote("many words " * 30)]}, {"q": HALVES}))
    assert max(map(len, table.splitlines())) < 100
    longest = "d" * MAX_CELL_LENGTH
    assert f" {longest} " in str(rm.match({"q": [longest]}, {"q": HALVES}))
    assert f"{longest}d" not in str(rm.match({"q": [f"{longest}d"]}, {"q": HALVES}))
    assert "<table>" in rm.match({"q": [Quote("many words")]}, {"q": HALVES})._repr_html_()


def test_pieces_are_shown_as_other_tables_show_them() -> None:
    pieces: list[Any] = [Quote("wraps a block"), rm.Text("opens a file"), Span("a", 0, 9), rm.Metadata(page=7)]
    items = [Retrieved("c1", "wraps a block", source="a", metadata={"page": 7})]
    table = rm.match({"q": [*pieces, "c7"]}, {"q": items}).tables[0]
    assert [row[1] for row in table.rows] == [
        "“wraps a block”",
        "“opens a file”",
        "a, characters 0 to 9",
        "page 7",
        "c7",
    ]


def test_it_prints_like_every_other_result_and_becomes_a_dataframe() -> None:
    matches = rm.match({"q": {"c2": 1, "c7": 2}}, {"q": HALVES})
    console = Console(file=StringIO(), width=100)
    console.print(matches)
    assert " c7 " in console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert "| q | c2 | 1 | 2 |" in matches.to_markdown()
    frame = matches.to_pandas()
    assert list(frame.columns) == ["query", "relevant", "grade", "rank"]
    assert frame["relevant"].tolist() == ["c2", "c7"]
    assert frame["rank"].dtype == "Int64"
    assert (frame["rank"][0], frame["rank"].isna().tolist()) == (2, [False, True])
    assert rm.types.Matches([]).to_pandas().empty


def test_a_run_of_other_queries_is_refused() -> None:
    with pytest.raises(ValueError, match="have no query in common"):
        rm.match({"q": ["a"]}, {"other": ["a"]})
