"""What is written and read again is the same, to the last bit, from every format to every format."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from table_forms import judgments

FORMATS = ["trec", "csv", "tsv", "json", "jsonl", "parquet", "arrow"]
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5).filter(
    lambda word: len(word.split()) == 1
)
scores = st.floats(allow_nan=False, allow_infinity=False)
# A mark is not read as a part of the first id, and a # would make a comment of its line in a TREC file.
queries = words.filter(lambda word: not word.startswith(("#", "\ufeff")))
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
    assert read.as_dict() == qrels


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


SUFFIXES = ["", ".gz", ".zst"]
AWKWARD = [
    *("plain", "007", "1.0", "1e5", "nan", "NULL", "true", "-", "=1+1", "#x", "a,b", '"quoted"', "it's", "a|b"),
    *("dé😀", "e\u0301", "ﷺ", "\u200f\u05d0", "x" * 3000, "{}", "\\N", "\\", "%s", "Q0"),
]


@pytest.mark.parametrize(("first", "second"), list(product(FORMATS, FORMATS)))
def test_awkward_ids_go_from_any_format_to_any_other(tmp_path: Path, first: str, second: str) -> None:
    names = [name for name in AWKWARD if name != "#x"]  # which would make a comment of its line in TREC files
    scores = {document: float(number) / 3 for number, document in enumerate(AWKWARD)}
    grades = {document: number % 3 for number, document in enumerate(AWKWARD)}
    run = dict.fromkeys(names, scores)
    qrels = dict.fromkeys(names, grades)
    rm.write_run(run, tmp_path / f"run.{first}.gz")
    rm.write_run(rm.read_run(tmp_path / f"run.{first}.gz"), tmp_path / f"again.{second}.zst")
    assert dict(rm.read_run(tmp_path / f"again.{second}.zst")) == run
    rm.write_qrels(qrels, tmp_path / f"qrels.{first}")
    rm.write_qrels(rm.read_qrels(tmp_path / f"qrels.{first}"), tmp_path / f"again.{second}")
    assert judgments(rm.read_qrels(tmp_path / f"again.{second}")) == qrels


ITEMS: Any = {
    "q1": [
        rm.Retrieved("d1", "some “text”\nof two lines", source="a.md", start=3, end=40, score=0.1 + 0.2, tokens=7),
        rm.Retrieved(7, metadata={"page": 3, "deep": {"list": [1, 2.5, None, True, "é"]}}),
        rm.Retrieved(None, "without an ID"),
    ],
    "q2": [rm.Retrieved("d1")],
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_retrieved_items(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"run.{kind}{suffix}"
    rm.write_run(ITEMS, path)
    read = rm.read_run(path)
    assert dict(read) == ITEMS
    assert isinstance(read, rm.RetrievedRun)
    qrels = {"q1": [rm.Quote("“text” of two")], "q2": [rm.Quote("missing words")]}
    assert rm.evaluate(qrels, read, "mrr").per_query == rm.evaluate(qrels, ITEMS, "mrr").per_query


@pytest.mark.parametrize("kind", ["trec", "csv", "tsv"])
def test_formats_that_hold_ids_only_refuse_items_and_pieces(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match=rf"a {kind} file cannot hold Retrieved items, only IDs; write .json"):
        rm.write_run(ITEMS, tmp_path / f"x.{kind}")
    with pytest.raises(ValueError, match=rf"{kind} files cannot hold pieces such as quotes; write .json"):
        rm.write_qrels({"q": [rm.Quote("words")]}, tmp_path / f"x.{kind}")
    assert list(tmp_path.iterdir()) == []


def test_what_files_have_nothing_equal_to_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"metadata of item 'd' of query 'q' is .* which a file cannot hold"):
        rm.write_run({"q": [rm.Retrieved("d", metadata={"who": object()})]}, tmp_path / "x.json")
    mixed: Any = {"q": [rm.Retrieved("d")], "p": ["d"]}
    with pytest.raises(ValueError, match="rankings must hold either IDs or retrieved items, not both"):
        rm.write_run(mixed, tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


PIECES: dict[str, Any] = {
    "quotes": [rm.Quote("some words"), rm.Text("a whole text\nof two lines")],
    "graded": {
        rm.Span("a.md", 3, 40): 2.0,
        rm.Span("b.md", 0, 1, uncertain=True): 0.5,
        rm.Metadata(page=3, source="a"): 1,
    },
    "groups": [[rm.Quote("one"), rm.Span("a.md", 1, 2)], {rm.Metadata(path=("a", ("b", 1)), n=None): 3.0}],
    "mixed": [["d1", rm.Quote("one")], {"type": 2.0, "d9": 1.0}],
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("qrels", [PIECES, {"flat": PIECES["graded"], "q": {"d": 1.5}}], ids=["groups", "flat"])
def test_pieces_groups_and_grades(tmp_path: Path, kind: str, suffix: str, qrels: dict[str, Any]) -> None:
    expected = rm.Qrels(qrels)
    path = tmp_path / f"qrels.{kind}{suffix}"
    rm.write_qrels(qrels, path)
    read = rm.read_qrels(path)
    assert judgments(read) == judgments(expected)
    assert [repr(judged) for judged in read.documents] == [repr(judged) for judged in expected.documents]
    assert read.is_flat == expected.is_flat


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_groups_of_ids(tmp_path: Path, kind: str) -> None:
    qrels: Any = {"q1": [{"d1": 2, "d2": 1}, {"d1": 1, "d9": 0.5}], "q2": {"d3": 1}}
    rm.write_qrels(qrels, tmp_path / f"qrels.{kind}")
    assert judgments(rm.read_qrels(tmp_path / f"qrels.{kind}")) == judgments(rm.Qrels(qrels))
    with pytest.raises(ValueError, match="trec files cannot hold groups"):
        rm.write_qrels(qrels, tmp_path / "x.trec")


def test_whole_number_ids_stay_whole_numbers_or_are_refused(tmp_path: Path) -> None:
    run: Any = {1: {7: 2.5, 8: 1.5}, 2: {9: 0.5}}
    ranked: Any = {1: [7, 8], 2: [9]}
    qrels: Any = {1: {7: 2.0}, 2: {9: 1.0}}
    for kind in ("jsonl", "parquet"):
        for ranking in (run, ranked):
            rm.write_run(ranking, tmp_path / f"run.{kind}")
            assert dict(rm.read_run(tmp_path / f"run.{kind}")) == ranking
        rm.write_qrels(qrels, tmp_path / f"qrels.{kind}")
        assert judgments(rm.read_qrels(tmp_path / f"qrels.{kind}")) == qrels
    with pytest.raises(ValueError, match=r"query 1 would become text; write .jsonl or .parquet"):
        rm.write_run(run, tmp_path / "run.json")
    text: Any = {"q": {7: 2.5, 8: 1.5}, "scores": {"scores": 1.0, "documents": 2.0}}
    for query in text:
        rm.write_run({query: text[query]}, tmp_path / "run.json")
        assert dict(rm.read_run(tmp_path / "run.json")) == {query: text[query]}
        rm.write_run({query: text[query]}, tmp_path / "run.jsonl")
        assert dict(rm.read_run(tmp_path / "run.jsonl")) == {query: text[query]}


def test_an_empty_ranking_is_kept_or_refused(tmp_path: Path) -> None:
    run: Any = {"q1": ["d"], "q2": []}
    for kind in ("json", "jsonl"):
        rm.write_run(run, tmp_path / f"run.{kind}")
        assert dict(rm.read_run(tmp_path / f"run.{kind}")) == run
    for kind in ("trec", "csv", "tsv", "parquet"):
        with pytest.raises(ValueError, match="cannot hold an empty ranking, such as that of query 'q2'"):
            rm.write_run(run, tmp_path / f"run.{kind}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("written_format", ["trec", "csv", "json", "jsonl", "parquet", "arrow"])
def test_a_full_disk_is_an_error_of_the_system(written_format: str) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        rm.write_run({"q": ["d1", "d2"]}, "/dev/full", format=written_format)
