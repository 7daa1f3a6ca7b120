"""CSV text is refused where its quotes or line ends are not those of CSV."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from table_forms import judgments


def test_lines_that_end_as_on_old_macs_say_so(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_bytes(b"q1 Q0 d1 1 2.5 t\rq1 Q0 d2 2 1.5 t\r")
    with pytest.raises(ValueError, match=r"old\.run, line 1: q1 .*: lone carriage return; .*tr '\\r' '\\n'"):
        rm.read_run(tmp_path / "old.run")


HEADED = "query,document,grade\nq1,d1,1\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            'q1,d"2,1\nq2,d3,1\n',
            'line 3: q1,d"2,1: a quotation mark inside a value; .*is written twice',
        ),
        ('q1,d2,1\nq2,d"3"x,1\n', 'line 4: q2,d"3"x,1: a quotation mark inside a value'),
        ('q1, "d2",1\n', 'line 3: q1, "d2",1: a quotation mark inside a value'),
        ('q1,"d2"x,1\n', 'line 3: q1,"d2"x,1: a quoted value continues after its closing quote'),
        ('q1,"a"b"c",1\n', "line 3: .*a quoted value continues after its closing quote"),
        ('"q\n1",d1,1\nq1,"d"2"",1\n', "line 5: .*a quoted value continues after its closing quote"),
        ('q1,"d2,1\nq2,d3,1\nq3,d4,1\n', 'line 3: q1,"d2,1: the quote at column 4 is never closed'),
        ('q1,"d2,1\nq2,"d3",1\n', 'line 3: q1,"d2,1: the quote at column 4 is not closed on its line; .* on line 4,'),
        ('q1,d2,1\n"', 'line 4: ": the quote at column 1 is never closed'),
        ("q1,d2,1\rq2,d3,1\n", r"line 3: q1,d2,1\\rq2,d3,1: lone carriage return"),
        ('"q\n\n1",d2\n', "line 3: .*: 2 columns where the header has 3"),
    ],
)
def test_quotes_and_line_ends_that_csv_has_not_are_named_with_their_line(
    tmp_path: Path, lines: str, message: str
) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes((HEADED + lines).encode())
    with pytest.raises(ValueError, match=rf"(?s)qrels\.csv, {message}"):
        rm.read_qrels(path)


def test_quotes_and_line_ends_that_csv_has_are_read(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes((HEADED + '"q1","d""2",1\r\nq1,"a\rb\n,c",1\n"q""","""",2').encode())
    expected = {"q1": {"d1": 1, 'd"2': 1, "a\rb\n,c": 1}, 'q"': {'"': 2}}
    assert judgments(rm.read_qrels(path)) == expected
    (tmp_path / "qrels.tsv").write_text('query\tdocument\tgrade\nq1\td"2\t1\n')  # TSV has no quotes
    assert judgments(rm.read_qrels(tmp_path / "qrels.tsv")) == {"q1": {'d"2': 1}}


@pytest.mark.parametrize("rows", ['{"query": "q", "document": "d", "score": 1}', '{"query": "q", "documents": ["d"]}'])
def test_lines_that_end_with_a_carriage_return_alone_are_named(rows: str, tmp_path: Path) -> None:
    (tmp_path / "mac.jsonl").write_bytes(f"{rows}\r{rows}\r".encode())
    with pytest.raises(ValueError, match=r"mac\.jsonl, line 1: .*: lone carriage return; .* tr '\\r' '\\n'"):
        rm.read_run(tmp_path / "mac.jsonl")
    (tmp_path / "mac.jsonl").write_bytes(b'{"_id": "q", "text": "why?"}\r{"_id": "p", "text": "how?"}\r')
    with pytest.raises(ValueError, match="lone carriage return"):
        rm.read_queries(tmp_path / "mac.jsonl")
    (tmp_path / "mac.json").write_bytes(b'{"q":\r["d"]}\r')  # between the parts of a value it is white space
    assert dict(rm.read_run(tmp_path / "mac.json")) == {"q": ["d"]}
