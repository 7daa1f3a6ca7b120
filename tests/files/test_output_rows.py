"""What a format cannot hold is refused, and TREC lines stand as trec_eval orders them."""

import gzip
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

FORMATS = ["trec", "csv", "tsv", "json", "jsonl", "parquet", "arrow"]


def test_trec_lines_stand_as_trec_eval_orders_them(tmp_path: Path) -> None:
    rm.write_run({"q": {"a": 1.0, "b": 1.0, "c": 1e-7, "z": 3}}, tmp_path / "x.run.gz", tag="mine")
    lines = gzip.decompress((tmp_path / "x.run.gz").read_bytes()).decode().splitlines()
    assert [line.split()[2:4] for line in lines] == [["z", "1"], ["b", "2"], ["a", "3"], ["c", "4"]]
    assert all(line.endswith(" mine") for line in lines)


def test_trec_ranks_begin_anew_in_each_query_and_stand_in_for_scores(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    rm.write_run({"p": ["b", "a", "c"], "q": ["c", "a"]}, path)
    ranked = [
        ["p", "b", "1", "3"],
        ["p", "a", "2", "2"],
        ["p", "c", "3", "1"],
        ["q", "c", "1", "2"],
        ["q", "a", "2", "1"],
    ]
    assert [
        [*line.split()[::2][:2], line.split()[3], f"{float(line.split()[4]):g}"] for line in read_lines(path)
    ] == ranked
    rm.write_run({"p": {"a": 2.5}, "q": {"a": 0.5, "b": 1.5}}, path)
    assert [line.split()[2:5] for line in read_lines(path)] == [["a", "1", "2.5"], ["b", "1", "1.5"], ["a", "2", "0.5"]]


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("run", "name", "message"),
    [
        ({"q 1": {"a": 1.0}}, "x.run", "an ID in .*x.run must be one word.*got 'q 1'"),
        ({"q": {"a\tb": 1.0}}, "x.run", r"an ID in .*x.run must be one word.*got 'a\\tb'"),
        ({"q": {"a\tb": 1.0}}, "x.tsv", "must not contain a tab"),
        ({"\ufeffq": {"a": 1.0}}, "x.run", r"must not begin with a byte order mark.*got '\\ufeffq'"),
        ({"\ufeffq": {"a": 1.0}}, "x.csv", "must not begin with a byte order mark"),
        ({"p": {"a": 1.0}, "\ufeffq": {"a": 1.0}}, "x.tsv", "must not begin with a byte order mark"),
        ({"q": []}, "x.run", "a TREC file cannot hold an empty ranking, such as that of query 'q'"),
        ({"q": ["a", "a"]}, "x.run", "a TREC file cannot hold a document twice in a query, such as 'a'"),
        ({"q": ["a"], "p": {"b": 1.0}}, "x.csv", "a csv file has scores for all queries or for none"),
        ({"q": {"a": 1.0}}, "x.doc", "does not show the format to write"),
        ({"q": {"a": float("nan")}}, "x.run", "the score of document 'a' for query 'q' is nan"),
        ({"q": "a"}, "x.csv", "the run, query 'q': a ranking must be a list of documents"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(
    tmp_path: Path, run: Any, name: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rm.write_run(run, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


BLANK = ["a b", "tab\there", "line\nbreak", "carriage\rreturn", "\u00a0edge", " edge", "edge ", "\u2028"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["", *BLANK], ids=repr)
def test_ids_with_blanks_come_back_or_are_refused_before_anything_is_written(
    tmp_path: Path, kind: str, name: str
) -> None:
    path = tmp_path / f"run.{kind}"
    try:
        rm.write_run({name: {name: 1.5, "b": 1.0}}, path)
    except ValueError as error:
        assert not path.exists()
        assert "an ID in" in str(error)
        return
    assert dict(rm.read_run(path, allow="blanks")) == {name: {name: 1.5, "b": 1.0}}
    if name != name.strip():
        with pytest.raises(ValueError, match="begins or ends with whitespace"):
            rm.read_run(path)
