"""Text that is not UTF-8, or not CSV, is refused with its line and what to do about it."""

from pathlib import Path

import pytest

import retrieval_metrics as rm

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
        for encoding, message in (
            ("utf-16", "UTF-16"),
            ("utf-16-le", "UTF-16"),
            ("utf-16-be", "UTF-16"),
            ("utf-32", "UTF-32"),
            ("latin-1", "iconv -f WINDOWS-1252"),
        ):
            path.write_bytes(TEXTS[kind].encode(encoding))
            with pytest.raises(ValueError, match=rf"{name}, line \d.*{message}"):
                rm.read_run(path)


def test_the_advice_about_windows_1252_keeps_dashes_and_quotation_marks(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    document = "\u201cAGB\u201d \u2013 neu"
    path.write_bytes(f"query,document,grade\nq1,{document},1\n".encode("cp1252"))
    with pytest.raises(ValueError, match=rf"line 2: q1,{document},1: .*iconv -f WINDOWS-1252 -t UTF-8"):
        rm.read_qrels(path)
    path.write_text(path.read_text(encoding="WINDOWS-1252"), encoding="UTF-8")
    assert rm.read_qrels(path).as_dict() == {"q1": {document: 1.0}}


def test_a_byte_order_mark_in_the_middle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "joined.run").write_text("q1 Q0 a 1 2.5 t\n\ufeffq2 Q0 b 1 2.5 t\n")
    with pytest.raises(ValueError, match=r"joined.run, line 2: the line begins with a byte order mark"):
        rm.read_run(tmp_path / "joined.run")


def test_a_line_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "some.run").write_bytes(b"q Q0 d 1 2.0 t\nq Q0 \xff\xfe 1 2.0 t\n")
    with pytest.raises(ValueError, match=r"some.run, line 2: .*not UTF-8"):
        rm.read_run(tmp_path / "some.run")
