"""The format of a file is known by its name or its content, or asked for."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.integration_api.batches import find_format_by_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.RUN", "trec"),
        ("a.b.qrels.gz", "trec"),
        ("a.ndjson.zst", "jsonl"),
        ("a.pq", "parquet"),
        ("csv", None),
        ("a.csv.old", None),
        ("a.gz", None),
    ],
)
def test_an_extension_says_the_format_also_below_a_compression(name: str, expected: str | None) -> None:
    assert find_format_by_name(name) == expected
    assert find_format_by_name(Path("some.csv") / name) == expected


def test_trec_lines_with_tabs_may_be_named_tsv(tmp_path: Path) -> None:
    (tmp_path / "run.tsv").write_text("q1\tQ0\td7\t1\t2.5\tbm25\n")
    assert dict(rm.read_run(tmp_path / "run.tsv")) == {"q1": {"d7": 2.5}}
    (tmp_path / "run.csv").write_text("q1\tQ0\td7\t1\t2.5\tbm25\n")  # of CSV the name is believed
    with pytest.raises(ValueError, match="a CSV file has commas"):
        rm.read_run(tmp_path / "run.csv")


def test_a_line_of_jsonl_without_an_extension_is_jsonl(tmp_path: Path) -> None:
    (tmp_path / "one").write_text('{"query": "q1", "documents": ["d"]}\n')
    assert dict(rm.read_run(tmp_path / "one")) == {"q1": ["d"]}


def test_a_table_of_another_kind_is_refused_and_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("q1\td1\t1\nq1\td2\t2\n")
    with pytest.raises(
        ValueError, match=r"run.tsv seems to have no header: its first line holds the values 'q1', 'd1', '1'"
    ):
        rm.read_run(path)
    path = tmp_path / "notes.txt"
    path.write_text("This is no run.\nReally.\n")
    with pytest.raises(ValueError, match=r"notes.txt, line 1: This is no run|cannot tell the format of"):
        rm.read_run(path)
    path.write_text("one two three\n")
    with pytest.raises(ValueError, match=r"cannot tell the format of .*notes.txt from its first line 'one two three'"):
        rm.read_run(path)
    with pytest.raises(ValueError, match="unknown format 'xml'; the formats are trec, csv"):
        rm.read_run(path, format="xml")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(ValueError, match=r"broken.parquet is damaged, or of another format: parquet"):
        rm.read_run(tmp_path / "broken.parquet")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match=r"empty.csv is empty"):
        rm.read_run(tmp_path / "empty.csv")
