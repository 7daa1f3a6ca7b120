"""JSON and JSONL are read as rows or as queries, and what is wrong is named."""

import json
import random
from pathlib import Path

import polars as pl
import pytest

import retrieval_metrics as rm


def saved(tmp_path: Path, text: str, name: str = "some.jsonl") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_row_a_line(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        '{"query": "q1", "document": "a", "score": 2, "title": "A"}\n{"query": "q1", "document": "b", "score": 3}\n',
    )
    assert dict(rm.read_run(path)) == {"q1": {"a": 2.0, "b": 3.0}}
    assert rm.read_qrels(path).judgments(0) == {"a": 2.0, "b": 3.0}


def test_a_query_a_line(tmp_path: Path) -> None:
    path = saved(tmp_path, '{"query": "q1", "documents": ["b", "a", "b"]}\n\n{"query": "q2", "documents": []}\n')
    assert dict(rm.read_run(path)) == {"q1": ["b", "a", "b"], "q2": []}
    mixed = saved(tmp_path, '{"qid": "q1", "ranking": {"a": 1.5}}\n{"qid": "q2", "ranking": ["b"]}\n')
    assert dict(rm.read_run(mixed)) == {"q1": {"a": 1.5}, "q2": ["b"]}
    groups = saved(tmp_path, '{"query": "q1", "relevant": [["a", "b"], ["c"]]}\n')
    assert len(rm.read_qrels(groups).group_query) == 2


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
    with pytest.raises(ValueError, match=r"some\.arrow, an Arrow table has no column named like a document"):
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
        ('{"query": "q1", "document": "a"}\n{"query": "q1", \n', r"line 2: \{\"query\": \"q1\", : this is not JSON"),
        ('["q1"]\n', "line 1: .*a line must be an object"),
        ('{"query": "q1", "document": "a", "score": 1}\n{"query": "q1", "document": "b"}\n', "line 2: .*no 'score'"),
        ('{"query": "q1", "text": "a"}\n', "line 1: .*there is no list of documents"),
        ('{"documents": ["a"]}\n', "line 1: .*there is none of query, query_id"),
        (
            '{"query": "q1", "documents": ["a"]}\n{"query": "q1", "documents": []}\n',
            "line 2: .*query 'q1' appears twice",
        ),
        ("\n", "is empty"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.read_run(saved(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": ', r"some.json cannot be read as JSON"),
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


ROW = '{"query": "q%d", "document": "d%d", "score": %s}'

PLAIN = [ROW % (index // 4, index, index / 8) for index in range(12)]

IRREGULAR = {
    "a key twice": ('{"query": "q9", "query": "q8", "document": "d", "score": 1}', "key 'query' appears twice"),
    "an escaped key twice": (
        r'{"query": "q9", "qu\u0065ry": "q8", "document": "d", "score": 1}',
        "key 'query' appears twice",
    ),
    "a key twice and one missing": ('{"query": "q9", "query": "q8", "score": 1}', "key 'query' appears twice"),
    "an unknown key twice": (
        '{"query": "q", "document": "d", "score": 1, "x": 1, "x": 2}',
        "key 'x' appears twice",
    ),
    "a key twice, a blank before its colon, and a number in place of a text": (
        '{"query": "q9", "document": "d", "score": 1, "score" : 2}\n{"query": "q9", "document": 7, "score": 1}',
        "key 'score' appears twice",
    ),
    "a key missing": ('{"query": "q9", "score": 1}', "document'?"),
    "a number as an id": ('{"query": 9, "document": "d", "score": 1}', "different types"),
    "a missing id": ('{"query": null, "document": "d", "score": 1}', "has no query"),
    "half a surrogate pair": (r'{"query": "\ud800", "document": "d", "score": 1}', "surrogate"),
    "no object": ("[1]", "a line must be an object"),
    "no JSON": ("{query: 1}", "this is not JSON"),
    "two objects": (PLAIN[0] + PLAIN[1], "this is not JSON"),
    "no score": ('{"query": "q9", "document": "d", "score": NaN}', "not a finite number"),
    "a document twice": (PLAIN[0], "appears twice for query"),
}


@pytest.mark.parametrize("name", IRREGULAR)
def test_the_fast_way_through_plain_rows_refuses_what_the_slow_one_does(tmp_path: Path, name: str) -> None:
    line, message = IRREGULAR[name]
    path = tmp_path / "run.jsonl"
    for lines in ([*PLAIN, line], [*PLAIN[:5], line, *PLAIN[5:]], [line, *PLAIN]):
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(ValueError, match=message):
            rm.read_run(path)


@pytest.mark.parametrize("end", ["\n", "", "\r\n", "\n\n \n"])
def test_plain_rows_are_read_as_they_are(tmp_path: Path, end: str) -> None:
    path = tmp_path / "run.jsonl"
    numbers = [random.Random(number).random() * 10.0 ** (number % 40 - 20) for number in range(2000)]
    for has_spaces in (True, False):
        lines = [
            json.dumps(
                {"document": number, "score": numbers[number], "query": f"q:{number % 7}{{é}}", "tag": "x, y"},
                ensure_ascii=False,
                separators=None if has_spaces else (",", ":"),
            )
            for number in range(2000)
        ]
        path.write_text("\n".join(lines) + end)
        run = rm.read_run(path)
        expected: dict[str, dict[int, float]] = {}
        for number, score in enumerate(numbers):
            expected.setdefault(f"q:{number % 7}{{é}}", {})[number] = score
        assert dict(run) == expected
        path.write_text("\n".join([*lines, r'{"document": 9, "score": 1, "query": "\u0041", "tag": ""}']) + "\n")
        assert rm.read_run(path)["A"] == {9: 1.0}


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
            with pytest.raises(ValueError, match="begins or ends with a blank"):
                read(tmp_path / "x.json")
            read(tmp_path / "x.json", allow="blanks")


def test_other_columns_of_rows_of_json_may_be_named_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"query": "q", "hit": "a", "score": 1, "note": 1}\n{"query": "q", "hit": "b", "score": 2}\n'
    )
    with pytest.raises(ValueError, match=r"line 1: .*no list of documents"):
        rm.read_run(tmp_path / "x.jsonl")
    assert dict(rm.read_run(tmp_path / "x.jsonl", columns={"document": "hit"})) == {"q": {"a": 1.0, "b": 2.0}}
