"""The first documents of a query, with their ranks before and after."""

from retrieval_metrics.datasets.moves import DocumentMove, Moves


def test_ranks_stand_side_by_side_and_a_dash_where_there_is_none() -> None:
    moves = Moves("q1", "", [DocumentMove("a", 1, 2, ""), DocumentMove("x", None, 1, "")])
    (table,) = moves.tables
    assert (table.title, table.header) == ("q1", ["document", "before", "after"])
    assert table.rows == [["a", "1", "2"], ["x", "-", "1"]]


def test_texts_are_shown_where_one_is_known() -> None:
    (table,) = Moves("q1", "why?", [DocumentMove("a", 1, 2, "the text of a"), DocumentMove("x", 2, None, "")]).tables
    assert table.title == "q1: why?"
    assert [row[3] for row in table.rows] == ["the text of a", ""]


def test_a_frame_has_the_ranks_and_a_missing_value_where_there_is_none() -> None:
    moves = Moves("q1", "", [DocumentMove("a", 1, 2, ""), DocumentMove("x", None, 1, "")])
    frame = moves.to_pandas()
    assert list(frame["rank_after"]) == [2, 1]
    assert list(frame["rank_before"].isna()) == [False, True]
    assert repr(moves) == "<Moves of 'q1': 2 documents>"
