"""Columns are found by their names; if a name is missing or ambiguous, the error asks for it."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import retrieval_metrics as rm
from table_forms import IDS, Source


def test_columns_are_named_where_the_names_are_unusual_or_several_could_be_meant() -> None:
    frame = {"qid": ["what?"], "query_id": ["q1"], "hit": ["d1"], "score": [1.0]}
    with pytest.raises(
        ValueError,
        match=r"'qid', 'query_id', any of which could be the query; choose one of them with columns=\{'query'",
    ):
        rm.Run.from_frame(frame, columns={"document": "hit"})
    with pytest.raises(ValueError, match=r"no document column .*it has 'qid', 'query_id', 'hit', 'score'"):
        rm.Run.from_frame(frame, columns={"query": "query_id"})
    assert dict(rm.Run.from_frame(frame, columns={"query": "query_id", "document": "hit"})) == {"q1": {"d1": 1.0}}
    with pytest.raises(ValueError, match="the table has no column 'hits'; it has 'qid'"):
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
    with pytest.raises(ValueError, match=rf"no grade column .*and '{name}' could be it; pass columns=") as e:
        rm.read_qrels(table)
    assert "columns={'grade': None} if every document listed is relevant" in str(e.value)
    assert rm.read_qrels(table, columns={"grade": name}).judgments(0) == {"a": 0.0, "b": 1.0}
    assert rm.read_qrels(table, columns={"grade": None}).judgments(0) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("name", ["scores", "cosine", "relevance"])
def test_an_unknown_column_where_score_or_rank_should_be(source: Source, name: str) -> None:
    table = source({**IDS, name: [1.0, 2.0]})
    with pytest.raises(ValueError, match=rf"no score or rank column .*and '{name}' could be it"):
        rm.read_run(table)
    assert dict(rm.read_run(table, columns={"score": name})) == {"q": {"a": 1.0, "b": 2.0}}
    assert dict(rm.read_run(table, columns={"score": None})) == {"q": ["a", "b"]}


def test_the_result_of_pyterrier_is_read_by_qid_and_docno(source: Source) -> None:
    result: dict[str, list[Any]] = {
        "qid": ["1", "1"],
        "docid": [17, 4],
        "docno": ["D17", "D4"],
        "rank": [0, 1],
        "score": [9.5, 8.0],
        "query": ["chemical reactions", "chemical reactions"],
    }
    assert dict(rm.read_run(source(result))) == {"1": {"D17": 9.5, "D4": 8.0}}
    topics: dict[str, list[Any]] = {"qid": ["1"], "query": ["chemical reactions"], "docno": ["D4"], "label": [2]}
    assert rm.read_qrels(source(topics)).as_dict() == {"1": {"D4": 2.0}}


def test_several_candidates_are_listed_and_none_is_recommended(source: Source) -> None:
    table = source({**IDS, "bm25": [2.0, 1.0], "dense": [0.5, 0.7]})
    with pytest.raises(ValueError, match=r"any of 'bm25', 'dense' could be it; choose .*columns=\{'score': \.\.\.\}"):
        rm.read_run(table)
    rows = source({"id": [1, 2], "query": ["why?", "why?"], "document": ["a", "b"]})
    with pytest.raises(ValueError, match=r"'query', 'id', any of which could be the query; choose one"):
        rm.read_run(rows)


def test_a_distance_is_not_recommended_as_a_score(source: Source) -> None:
    table = source({**IDS, "distance": [0.1, 0.9]})
    with pytest.raises(ValueError, match=r"'distance' seems to be a distance.*columns=\{'score': None\}"):
        rm.read_run(table)
    assert dict(rm.read_run(table, columns={"score": None})) == {"q": ["a", "b"]}


@pytest.mark.parametrize("cell", ["d2;d3", "['d2', 'd3']", '["d2"]', "d2|d3", "d2\nd3", '{"d2": 1}', "d2, d3"])
def test_a_cell_with_several_documents_is_never_read_as_one(tmp_path: Path, cell: str) -> None:
    frame = pd.DataFrame({"id": ["q1", "q2"], "relevant": ["d1", cell]})
    frame.to_csv(tmp_path / "questions.csv", index=False)
    for table in (frame, tmp_path / "questions.csv"):
        with pytest.raises(ValueError, match=r"'relevant'.*read_questions"):
            rm.read_qrels(table, columns={"query": "id", "grade": None})
        with pytest.raises(ValueError, match="several documents in column 'relevant'; read_questions"):
            rm.read_qrels(table, columns={"query": "id", "document": "relevant", "grade": None})


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


REPEATED = {"document": "query,document,document\nq1,d1,d2\n", "grade": "query,document,grade,grade\nq1,d1,1,0\n"}


@pytest.mark.parametrize("role", REPEATED)
def test_a_column_that_pandas_renamed_is_a_column_twice(tmp_path: Path, role: str) -> None:
    frame = pd.read_csv(io.StringIO(REPEATED[role]))
    frame.to_csv(tmp_path / "qrels.csv", index=False)
    for source in (rm.Qrels.from_frame, rm.read_qrels):
        table: Any = frame if source == rm.Qrels.from_frame else tmp_path / "qrels.csv"
        read: Any = source
        with pytest.raises(
            ValueError, match=f"two columns named '{role}', of which pandas names the second '{role}.1'"
        ):
            read(table)
        assert read(table, allow="repeated").as_dict() == {"q1": {"d1": 1.0}}
    chosen = rm.Qrels.from_frame(frame, columns={role: f"{role}.1", "grade": f"{role}.1" if role == "grade" else None})
    assert chosen.as_dict() == {"q1": {"d2" if role == "document" else "d1": 1.0 if role == "document" else 0.0}}


@pytest.mark.parametrize("number_role", ["grade", "score", "rank"])
def test_a_column_of_numbers_is_not_also_one_of_ids(tmp_path: Path, number_role: str) -> None:
    name = "number"
    path = tmp_path / "table.csv"
    path.write_text("query,number,document\nq1,1,d1\n")
    readers: Any = [rm.read_qrels, rm.read_questions] if number_role == "grade" else [rm.read_run]
    for read in readers:
        for id_role in ("query", "document"):
            with pytest.raises(ValueError, match=f"columns= names '{name}' as the {id_role} and as the {number_role}"):
                read(path, columns={id_role: name, number_role: name})
    if number_role == "grade":
        with pytest.raises(ValueError, match="as the relevant and as the grade"):
            rm.read_questions(path, columns={"relevant": name, "grade": name})
        with pytest.raises(ValueError, match="'relevant', and one with the document"):
            rm.read_questions(path, columns={"relevant": name, "document": "document"})
        with pytest.raises(ValueError, match="columns= names 2 as the document and as the grade"):
            rm.read_qrels(path, header=False, columns={"query": 1, "document": 2, "grade": 2})
    # A query may have the id of its document.
    same = rm.read_qrels(path, columns={"query": "document", "document": "document", "grade": None})
    assert same.as_dict() == {"d1": {"d1": 1.0}}
