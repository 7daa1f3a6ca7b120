"""Text that is not UTF-8, or not CSV, is refused with its line and what to do about it."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from table_forms import judgments

TEXTS = {
    "trec": "q1 Q0 dé 1 2.5 t\nq1 Q0 dü 2 1.5 t\n",
    "csv": "query,document,score\nq1,dé,2.5\nq1,dü,1.5\n",
    "tsv": "query\tdocument\tscore\nq1\tdé\t2.5\nq1\tdü\t1.5\n",
    "json": '{"q1":\n{"dé": 2.5, "dü": 1.5}}\n',
    "jsonl": '{"query": "q0", "documents": []}\n{"query": "q1", "documents": ["dé"]}\n',
}


@pytest.mark.parametrize("kind", TEXTS)
def test_other_encodings_are_recognised_by_name(tmp_path: Path, kind: str) -> None:
    for name in (f"some.{kind}", *(["some"] if kind != "csv" else [])):  # CSV is known by its name only
        path = tmp_path / name
        for encoding, said in (
            ("utf-16", "UTF-16"),
            ("utf-16-le", "UTF-16"),
            ("utf-16-be", "UTF-16"),
            ("utf-32", "UTF-32"),
            ("latin-1", "Latin-1"),
        ):
            path.write_bytes(TEXTS[kind].encode(encoding))
            with pytest.raises(ValueError, match=rf"{name}, line \d.*{said}"):
                rm.read_run(path)


def test_a_byte_order_mark_in_the_middle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "joined.run").write_text("q1 Q0 a 1 2.5 t\n\ufeffq2 Q0 b 1 2.5 t\n")
    with pytest.raises(ValueError, match=r"joined.run, line 2: the line begins with a byte order mark"):
        rm.read_run(tmp_path / "joined.run")


def test_lines_that_end_as_on_old_macs_say_so(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_bytes(b"q1 Q0 d1 1 2.5 t\rq1 Q0 d2 2 1.5 t\r")
    with pytest.raises(ValueError, match=r"old\.run, line 1: q1 .*: a carriage return stands alone; .*tr '\\r' '\\n'"):
        rm.read_run(tmp_path / "old.run")


HEADED = "query,document,grade\nq1,d1,1\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            'q1,d"2,1\nq2,d3,1\n',
            'line 3: q1,d"2,1: a quote stands inside a value; .*is written twice',
        ),
        ('q1,d2,1\nq2,d"3"x,1\n', 'line 4: q2,d"3"x,1: a quote stands inside a value'),
        ('q1, "d2",1\n', 'line 3: q1, "d2",1: a quote stands inside a value'),
        ('q1,"d2"x,1\n', 'line 3: q1,"d2"x,1: a quoted value goes on after its closing quote'),
        ('q1,"a"b"c",1\n', "line 3: .*a quoted value goes on after its closing quote"),
        ('"q\n1",d1,1\nq1,"d"2"",1\n', "line 5: .*a quoted value goes on after its closing quote"),
        ('q1,"d2,1\nq2,d3,1\nq3,d4,1\n', 'line 3: q1,"d2,1: the quote at column 4 is never closed'),
        ('q1,"d2,1\nq2,"d3",1\n', 'line 3: q1,"d2,1: the quote at column 4 is not closed on its line; .* on line 4,'),
        ('q1,d2,1\n"', 'line 4: ": the quote at column 1 is never closed'),
        ("q1,d2,1\rq2,d3,1\n", r"line 3: q1,d2,1\\rq2,d3,1: a carriage return stands alone"),
        ('"q\n\n1",d2\n', "line 3: .*: 2 columns where the header has 3"),
    ],
)
def test_quotes_and_line_ends_that_csv_has_not_are_named_with_their_line(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes((HEADED + lines).encode())
    with pytest.raises(ValueError, match=rf"(?s)qrels\.csv, {said}"):
        rm.read_qrels(path)


def test_quotes_and_line_ends_that_csv_has_are_read(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes((HEADED + '"q1","d""2",1\r\nq1,"",1\nq1,"a\rb\n,c",1\n"q""","""",2').encode())
    expected = {"q1": {"d1": 1, 'd"2': 1, "": 1, "a\rb\n,c": 1}, 'q"': {'"': 2}}
    assert judgments(rm.read_qrels(path)) == expected
    (tmp_path / "qrels.tsv").write_text('query\tdocument\tgrade\nq1\td"2\t1\n')  # TSV has no quotes
    assert judgments(rm.read_qrels(tmp_path / "qrels.tsv")) == {"q1": {'d"2': 1}}


def test_a_line_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "some.run").write_bytes(b"q Q0 d 1 2.0 t\nq Q0 \xff\xfe 1 2.0 t\n")
    with pytest.raises(ValueError, match=r"some.run, line 2: .*not UTF-8"):
        rm.read_run(tmp_path / "some.run")


@pytest.mark.parametrize("rows", ['{"query": "q", "document": "d", "score": 1}', '{"query": "q", "documents": ["d"]}'])
def test_lines_that_end_with_a_carriage_return_alone_are_named(rows: str, tmp_path: Path) -> None:
    (tmp_path / "mac.jsonl").write_bytes(f"{rows}\r{rows}\r".encode())
    with pytest.raises(ValueError, match=r"mac\.jsonl, line 1: .*: a carriage return stands alone; .* tr '\\r' '\\n'"):
        rm.read_run(tmp_path / "mac.jsonl")
    (tmp_path / "mac.jsonl").write_bytes(b'{"_id": "q", "text": "why?"}\r{"_id": "p", "text": "how?"}\r')
    with pytest.raises(ValueError, match="a carriage return stands alone"):
        rm.read_queries(tmp_path / "mac.jsonl")
    (tmp_path / "mac.json").write_bytes(b'{"q":\r["d"]}\r')  # between the parts of a value it is white space
    assert dict(rm.read_run(tmp_path / "mac.json")) == {"q": ["d"]}
