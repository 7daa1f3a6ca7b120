"""Lines of JSON with one document each are read as rows, and what is wrong is named."""

import json
import random
from pathlib import Path

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
    "a number as an ID": (
        '{"query": 9, "document": "d", "score": 1}',
        "'query' is (text|a number), and (text|a number) in a line before it",
    ),
    "a missing ID": ('{"query": null, "document": "d", "score": 1}', "has no query"),
    "half a surrogate pair": (r'{"query": "\ud800", "document": "d", "score": 1}', "half of a character"),
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


def test_other_columns_of_rows_of_json_may_be_named_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"query": "q", "hit": "a", "score": 1, "note": 1}\n{"query": "q", "hit": "b", "score": 2}\n'
    )
    with pytest.raises(ValueError, match=r"line 1: .*no list of documents"):
        rm.read_run(tmp_path / "x.jsonl")
    assert dict(rm.read_run(tmp_path / "x.jsonl", columns={"document": "hit"})) == {"q": {"a": 1.0, "b": 2.0}}


@pytest.mark.parametrize("value", ['"high"', "[1]", "{}"])
def test_a_value_of_another_kind_is_named_by_its_line(tmp_path: Path, value: str) -> None:
    text = '\n{"query": "a", "document": "d1", "grade": 1}\n\n'
    path = saved(tmp_path, f'{text}{{"query": "a", "document": "d2", "grade": {value}}}\n')
    with pytest.raises(ValueError, match=r"some\.jsonl, line 4: .* 'grade' is .*, and a number in a line before it"):
        rm.read_qrels(path)
    path = saved(tmp_path, f'{text}{{"query": "a", "document": "d2", "grade": true}}\n')
    assert rm.read_qrels(path).as_dict() == {"a": {"d1": 1.0, "d2": 1.0}}
