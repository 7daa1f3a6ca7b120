"""What is written and read again is the same, to the last bit."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm

FORMATS = ["trec", "csv", "tsv", "json", "jsonl", "parquet", "arrow"]
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5).filter(
    lambda word: len(word.split()) == 1
)
scores = st.floats(allow_nan=False, allow_infinity=False)
queries = words.filter(lambda word: not word.startswith("#"))  # it would make a comment of its line in a TREC file
runs = st.dictionaries(queries, st.dictionaries(words, scores, min_size=1, max_size=5), min_size=1, max_size=4)
truths = st.dictionaries(
    queries, st.dictionaries(words, st.integers(-1, 4) | st.just(0.5), min_size=1, max_size=5), min_size=1, max_size=4
)
fixture_is_a_folder = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("kind", FORMATS)
@fixture_is_a_folder
@given(run=runs)
def test_runs(tmp_path: Path, kind: str, run: dict[str, dict[str, float]]) -> None:
    path = tmp_path / f"run.{kind}"
    rm.write_run(run, path)
    assert dict(rm.read_run(path)) == run
    rm.write_run(rm.read_run(path), path)
    assert dict(rm.read_run(path)) == run


@pytest.mark.parametrize("kind", FORMATS)
@fixture_is_a_folder
@given(qrels=truths)
def test_qrels(tmp_path: Path, kind: str, qrels: dict[str, dict[str, float]]) -> None:
    path = tmp_path / f"qrels.{kind}"
    rm.write_qrels(qrels, path)
    read = rm.read_qrels(path)
    assert {query: read.judgments(at) for at, query in enumerate(read.queries)} == qrels


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_rankings_keep_their_order(tmp_path: Path, kind: str, suffix: str) -> None:
    if (kind, suffix) in {("parquet", ".gz"), ("parquet", ".zst")}:
        return
    run = {"q2": ["b", "c", "a"], "q1": ["a"]}
    path = tmp_path / f"run.{kind}{suffix}"
    rm.write_run(run, path)
    read = rm.read_run(path)
    assert {query: list(ranking) for query, ranking in read.items()} == run
    assert rm.evaluate({"q2": ["c"]}, read, "mrr").means["mrr"] == 0.5


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
        ({"q 1": {"a": 1.0}}, "x.run", "an id in .*x.run must be one word.*got 'q 1'"),
        ({"q": {"a\tb": 1.0}}, "x.run", r"an id in .*x.run must be one word.*got 'a\\tb'"),
        ({"q": {"a\tb": 1.0}}, "x.tsv", "must not contain a tab"),
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


def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    rm.write_run({"q": ["a"]}, tmp_path / "x.csv")
    mixed: Any = {"q": {"b": 1.0}, "p": ["a"]}
    before = (tmp_path / "x.csv").read_text()
    with pytest.raises(ValueError, match="scores for all queries or for none"):
        rm.write_run(mixed, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == before


def test_groups_are_written_as_json_only(tmp_path: Path) -> None:
    qrels: Any = {"q1": [["a", "b"], ["c"]], "q2": ["a"]}
    with pytest.raises(ValueError, match="trec files cannot hold groups"):
        rm.write_qrels(qrels, tmp_path / "x.qrels")
    rm.write_qrels(qrels, tmp_path / "x.json")
    assert len(rm.read_qrels(tmp_path / "x.json").group_query) == 3
    with pytest.raises(ValueError, match="csv files cannot hold a query without judgments, such as 'q2'"):
        rm.write_qrels({"q1": ["a"], "q2": []}, tmp_path / "x.csv")
