"""Columns are found by their names; if a name is missing or ambiguous, the error asks for it."""

from pathlib import Path

import pyarrow as pa
import pytest

import retrieval_metrics as rm
from table_forms import IDS, Source


def test_columns_are_named_where_the_names_are_unusual_or_several_could_be_meant() -> None:
    frame = {"query": ["what?"], "query_id": ["q1"], "hit": ["d1"], "score": [1.0]}
    with pytest.raises(
        ValueError, match=r"'query', 'query_id', any of which could be the query; pass columns=\{'query'"
    ):
        rm.Run.from_frame(frame, columns={"document": "hit"})
    with pytest.raises(
        ValueError, match=r"no column named like a document .*it has 'query', 'query_id', 'hit', 'score'"
    ):
        rm.Run.from_frame(frame, columns={"query": "query_id"})
    assert dict(rm.Run.from_frame(frame, columns={"query": "query_id", "document": "hit"})) == {"q1": {"d1": 1.0}}
    with pytest.raises(ValueError, match="the table has no column 'hits'; it has 'query'"):
        rm.Run.from_frame(frame, columns={"query": "query_id", "document": "hits"})
    with pytest.raises(ValueError, match="columns= takes query, document, score, rank, not 'doc'"):
        rm.Run.from_frame(frame, columns={"doc": "hit"})


@pytest.mark.parametrize(("name", "separator"), [("run.csv", ";"), ("run.csv", "\t")])
def test_columns_that_are_separated_otherwise_are_told(tmp_path: Path, name: str, separator: str) -> None:
    path = tmp_path / name
    path.write_text("\n".join(separator.join(row) for row in (["query", "document", "score"], ["q1", "d1", "9"])))
    with pytest.raises(ValueError, match=r"separated by .*: a CSV file has commas, a TSV file tabs") as caught:
        rm.read_run(path)
    assert repr(separator) in str(caught.value)


@pytest.mark.parametrize("name", ["judgement", "relevancy", "rating", "Unnamed: 3"])
def test_an_unknown_column_where_the_grade_should_be(source: Source, name: str) -> None:
    table = source({**IDS, name: [0, 1]})
    with pytest.raises(
        ValueError, match=rf"no column named like a grade .*and '{name}' could be it; pass columns="
    ) as e:
        rm.read_qrels(table)
    assert "columns={'grade': None} if every document listed is relevant" in str(e.value)
    assert rm.read_qrels(table, columns={"grade": name}).judgments(0) == {"a": 0.0, "b": 1.0}
    assert rm.read_qrels(table, columns={"grade": None}).judgments(0) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("name", ["scores", "distance", "relevance"])
def test_an_unknown_column_where_score_or_rank_should_be(source: Source, name: str) -> None:
    table = source({**IDS, name: [1.0, 2.0]})
    with pytest.raises(ValueError, match=rf"no column named like a score or a rank .*and '{name}' could be it"):
        rm.read_run(table)
    assert dict(rm.read_run(table, columns={"score": name})) == {"q": {"a": 1.0, "b": 2.0}}
    assert dict(rm.read_run(table, columns={"score": None})) == {"q": ["a", "b"]}


def test_columns_that_say_nothing_of_it_are_left_alone(source: Source) -> None:
    table = source({**IDS, "title": ["x", "y"], "text": ["x", "y"]})
    assert dict(rm.read_run(table)) == {"q": ["a", "b"]}
    assert rm.read_qrels(table).judgments(0) == {"a": 1.0, "b": 1.0}
    ranked = source({**IDS, "rank": [2, 1], "note": ["x", "y"]})
    assert dict(rm.read_run(ranked)) == {"q": ["b", "a"]}


def test_a_repeated_header(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score,score\nq,a,1,2\nq,b,2,1\n")
    pairs = [("query", ["q", "q"]), ("document", ["a", "b"]), ("score", [1.0, 2.0]), ("score", [2.0, 1.0])]
    arrow = pa.Table.from_arrays([pa.array(values) for _, values in pairs], names=[name for name, _ in pairs])
    for table in (tmp_path / "run.csv", arrow, arrow.to_pandas()):
        with pytest.raises(ValueError, match="has two columns named 'score'; remove one, or pass allow='repeated'"):
            rm.read_run(table)
        assert dict(rm.read_run(table, allow="repeated")) == {"q": {"a": 1.0, "b": 2.0}}
    (tmp_path / "run.csv").write_text("query,document,score,note,note\nq,a,1,2,3\n")
    assert dict(rm.read_run(tmp_path / "run.csv")) == {"q": {"a": 1.0}}


def test_an_unknown_allowance_is_refused() -> None:
    with pytest.raises(ValueError, match="allow= takes 'blanks' and 'repeated', not 'blank'"):
        rm.read_run(IDS, allow="blank")
