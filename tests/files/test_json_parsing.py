"""JSON text is parsed, and what is wrong with it is named."""

import json
from pathlib import Path

import polars as pl
import pytest

import retrieval_metrics as rm


def saved(tmp_path: Path, text: str, name: str = "some.jsonl") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


ROWS = [{"query_id": "q1", "doc_id": "a", "score": 2, "text": "x"}, {"query_id": "q1", "doc_id": "b", "score": 3}]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_rows_is_what_its_lines_are(tmp_path: Path, indent: int | None) -> None:
    for name in ("some.json", "unnamed"):
        path = saved(tmp_path, json.dumps(ROWS, indent=indent) + "\n", name)
        assert dict(rm.read_run(path)) == {"q1": {"a": 2.0, "b": 3.0}}
        assert rm.read_qrels(path).as_dict() == {"q1": {"a": 2.0, "b": 3.0}}
    path = saved(tmp_path, json.dumps([{"qid": 1, "passage": "a"}]), "some.json")
    assert dict(rm.read_run(path, columns={"document": "passage", "score": None})) == {1: ["a"]}
    texts = saved(tmp_path, json.dumps([{"id": "q1", "text": "why?"}]), "texts.json")
    assert rm.read_queries(texts) == {"q1": "why?"}


REFUSED = {
    '[{"query": "q1", "document": "a", "score": 1}, {"query": "q1", "document": "a", "score": 2}]': (
        "some.json, a JSON array read as lines, line 2: .* document 'a' appears twice for query 'q1'"
    ),
    '[{"query": "q1", "document": "a", "score": 1}, {"query": "q1", "score": 2}]': (
        "a JSON array read as lines, line 2: .* there is no 'document', which the lines before it have"
    ),
    '[{"query": "q1", "results": [{"doc_id": "a", "colour": 1}]}]': (
        "some.json, query 'q1': a retrieved item has id, .* not 'colour'"
    ),
    '{"q1": [{"doc_id": "a", "colour": 1}]}': ("some.json, query 'q1': a retrieved item has id, .* not 'colour'"),
    '[["q1", "a"]]': "or an array of objects such as {'query': ..., 'document': ...}, got list of list",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_says_what_it_was_taken_for(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[text]):
        rm.read_run(saved(tmp_path, text, "some.json"))
    pl.DataFrame({"query": ["q1"], "passage": ["a"]}).write_ipc(tmp_path / "some.arrow")
    with pytest.raises(ValueError, match=r"some\.arrow, an Arrow table has no document column"):
        rm.read_run(tmp_path / "some.arrow")
    with pytest.raises(ValueError, match="is a JSON object, without columns that columns= could name"):
        rm.read_run(saved(tmp_path, '{"q1": ["a"]}', "some.json"), columns={"document": "x"})


def test_one_object(tmp_path: Path) -> None:
    path = saved(tmp_path, '{"q1": {"a": 2.5, "b": 1}, "q2": {}}', "some.json")
    assert dict(rm.read_run(path)) == {"q1": {"a": 2.5, "b": 1.0}, "q2": {}}
    assert dict(rm.read_run(path.rename(tmp_path / "unnamed"))) == {"q1": {"a": 2.5, "b": 1.0}, "q2": {}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": ', r"some.json cannot be read as JSON"),
        ("[]", "is empty: its array holds nothing"),
        ("[1]", "must hold one object that maps each query to its documents, .* got list of int"),
        ('{"q1": "a"}', "query 'q1': a ranking must be a list of documents"),
        ('{"q1": {"a": "high"}}', "'high' as score, which is not a finite number"),
        ('{"q1": {"a": NaN}}', "nan as score, which is not a finite number"),
        ('{"q1": [null]}', "has no document"),
    ],
)
def test_a_wrong_object_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.read_run(saved(tmp_path, text, "some.json"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", '{"q": {"a": 1, "b": 2, "a": 3}}', "key 'a' appears twice in 'q'"),
        ("x.json", '{"q": {"a": 1}, "q": {"b": 2}}', "key 'q' appears twice;"),
        ("x.jsonl", '{"query": "p", "documents": []}\n{"qid": "q", "documents": {"a": 1, "a": 3}}', "2.*'a' appears"),
        ("x.jsonl", '{"query": "q", "document": "a", "score": 1, "score": 3}\n', "line 1: .*key 'score' appears twice"),
    ],
)  # fmt: skip
def test_a_repeated_key(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    for read in (rm.read_run, rm.read_qrels):
        with pytest.raises(ValueError, match=message) as error:
            read(tmp_path / name)
        assert "allow='repeated', with which the first counts" in str(error.value)
    ranking = dict(rm.read_run(tmp_path / name, allow="repeated"))["q"]
    assert ranking["a"] == 1.0


def test_blank_edges_in_json(tmp_path: Path) -> None:
    for text in ('{" q": ["a"]}', '{"q": ["a "]}', '{"q": {"a ": 1}}'):
        (tmp_path / "x.json").write_text(text)
        for read in (rm.read_run, rm.read_qrels):
            with pytest.raises(ValueError, match="begins or ends with whitespace"):
                read(tmp_path / "x.json")
            read(tmp_path / "x.json", allow="blanks")
