"""DataFrames, CSV, TSV and Parquet: columns are found by name or not at all."""

import gzip
import subprocess
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import retrieval_metrics as rm

COLUMNS = {"query": ["q1", "q1", "q2"], "document": ["d3", "d7", "d1"], "score": [2.0, 1.5, 9.0]}
RUN = {"q1": {"d3": 2.0, "d7": 1.5}, "q2": {"d1": 9.0}}

FRAMES: list[Callable[[Any], Any]] = [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table]


def truth(qrels: rm.Qrels) -> dict[Any, Any]:
    return {query: qrels.judgments(at) for at, query in enumerate(qrels.queries)}


@pytest.mark.parametrize("frame", FRAMES)
def test_every_kind_of_frame_is_read_alike(frame: Callable[[Any], Any]) -> None:
    assert dict(rm.Run.from_frame(frame(COLUMNS))) == RUN == dict(rm.read_run(frame(COLUMNS)))
    graded = frame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "iteration": ["0", "0"], "relevance": [2, 0]})
    assert truth(rm.Qrels.from_frame(graded)) == {"q1": {"a": 2.0, "b": 0.0}} == truth(rm.read_qrels(graded))


@pytest.mark.parametrize("frame", FRAMES)
def test_whole_number_ids_stay_whole_numbers(frame: Callable[[Any], Any]) -> None:
    run = rm.Run.from_frame(frame({"query": [1, 1], "document": [30, 7], "score": [1, 2]}))
    assert dict(run) == {1: {30: 1.0, 7: 2.0}}
    assert rm.evaluate({1: [30]}, run, "mrr").means["mrr"] == 0.5


def test_text_of_pandas_is_text_whatever_holds_it() -> None:
    for dtype in ("object", "str", "category"):
        frame = pd.DataFrame(COLUMNS).astype({"query": dtype, "document": dtype})
        assert dict(rm.Run.from_frame(frame)) == RUN
    assert dict(rm.Run.from_frame({name: np.array(column) for name, column in COLUMNS.items()})) == RUN


def test_without_scores_the_ranks_order_and_without_ranks_the_rows() -> None:
    rows = {"query": ["q1", "q2", "q1"], "document": ["b", "x", "a"]}
    assert dict(rm.Run.from_frame(rows)) == {"q1": ["b", "a"], "q2": ["x"]}
    assert dict(rm.Run.from_frame(rows | {"rank": [2, 1, 1]})) == {"q1": ["a", "b"], "q2": ["x"]}


def test_columns_are_named_where_the_names_are_unusual_or_several_could_be_meant() -> None:
    frame = {"query": ["what?"], "query_id": ["q1"], "hit": ["d1"], "score": [1.0]}
    with pytest.raises(
        ValueError, match=r"'query', 'query_id', any of which could be the query; pass columns=\{'query'"
    ):
        rm.Run.from_frame(frame, columns={"document": "hit"})
    with pytest.raises(
        ValueError, match=r"no column named like a document .*it has 'query', 'query_id', 'hit', 'score'"
    ):
        rm.Run.from_frame(frame, columns={"query": "query_id"})
    assert dict(rm.Run.from_frame(frame, columns={"query": "query_id", "document": "hit"})) == {"q1": {"d1": 1.0}}
    with pytest.raises(ValueError, match="the table has no column 'hits'; it has 'query'"):
        rm.Run.from_frame(frame, columns={"query": "query_id", "document": "hits"})
    with pytest.raises(ValueError, match="columns= takes query, document, score, rank, not 'doc'"):
        rm.Run.from_frame(frame, columns={"doc": "hit"})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"score": [1.0, float("nan"), 2.0]}, ValueError, r"row 2 of the table has nan as score, .*'document': 'd7'"),
        ({"score": [1.0, None, 2.0]}, ValueError, "row 2 of the table has None as score, which is not a finite number"),
        ({"score": [1.0, 2.0, float("inf")]}, ValueError, "row 3 of the table has inf as score"),
        ({"score": ["1", "high", "2"]}, ValueError, "row 2 of the table has 'high' as score"),
        ({"score": [True, False, True]}, TypeError, "column 'score' of the table must hold numbers, not Boolean"),
        ({"document": ["d3", None, "d1"]}, ValueError, "row 2 of the table has no document"),
        ({"query": ["q1", "q1", 2]}, TypeError, "column 'query' of the table holds values of different types"),
        ({"query": [1.5, 2.5, 3.5]}, TypeError, "column 'query' of the table must hold ids, .* not Float64"),
        ({"query": "q1"}, TypeError, "column 'query' of the table must be a list or an array of values, got 'q1'"),
        ({"score": [2.0, 1.5]}, ValueError, "must have the same length, but 'query' has 3 values, 'score' 2"),
        ({"document": [1, 2**70, 3]}, ValueError, "row 2 of the table has a document beyond 64 bits"),
        (
            {"document": np.array([1, 2, 2**63], dtype=np.uint64)},
            ValueError,
            "row 3 of the table has a document beyond",
        ),
        ({"document": ["d3", "d3", "d1"]}, ValueError, "rows 1 and 2 of the table both hold document 'd3' for query"),
        ({"query": [], "document": [], "score": []}, ValueError, "the table is empty"),
    ],
)
def test_wrong_rows_are_named(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Run.from_frame(COLUMNS | change)


@pytest.mark.parametrize(
    "documents",
    [
        pd.Series(["d3", None, "d1"]),
        pd.Series(["d3", float("nan"), "d1"], dtype=object),
        pd.Series(["d3", pd.NA, "d1"], dtype="string"),
        pd.Series([3, pd.NA, 1], dtype="Int64"),
        pd.Series([3, None, 1]),
        pd.Series(pd.Categorical(["d3", None, "d1"])),
    ],
    ids=lambda documents: str(documents.dtype),
)
def test_an_id_that_pandas_takes_for_missing_is_named_with_its_row(documents: Any) -> None:
    with pytest.raises(ValueError, match=r"row 2 of the table has no document: .*'q1'"):
        rm.Run.from_frame(pd.DataFrame(COLUMNS | {"document": documents}))


@pytest.mark.parametrize(
    "documents",
    [pd.Categorical(["d3", "d7", "d1"]), pl.Series(["d3", "d7", "d1"], dtype=pl.Categorical)],
    ids=["pandas", "polars"],
)
def test_categories_are_the_text_they_stand_for(documents: Any) -> None:
    assert dict(rm.Run.from_frame(COLUMNS | {"document": documents})) == RUN
    dictionary = pa.array(COLUMNS["document"]).dictionary_encode()
    assert dict(rm.Run.from_frame(pa.table(COLUMNS | {"document": dictionary}))) == RUN


def test_scores_may_be_numbers_of_several_types() -> None:
    mixed: list[Any] = [[2, 1.5, 9], [2, np.float64(1.5), np.float32(9)], [Decimal(2), 1.5, 9]]
    for scores in (*mixed, np.array([2, 1.5, 9], dtype=np.longdouble)):
        for frame in (dict, pd.DataFrame):
            assert dict(rm.Run.from_frame(frame(COLUMNS | {"score": scores}))) == RUN


def test_a_grade_may_be_true_or_false_as_in_a_dict() -> None:
    columns: Any = {"query": ["q1", "q1"], "document": ["a", "b"], "relevance": [True, False]}
    expected = rm.Qrels({"q1": {"a": True, "b": False}})
    assert truth(rm.Qrels.from_frame(columns)) == truth(rm.Qrels.from_frame(pd.DataFrame(columns))) == truth(expected)


def test_the_largest_grade_is_2_to_the_53rd_in_a_table_as_in_a_dict() -> None:
    columns: Any = {"query": ["q", "q"], "document": ["a", "b"], "relevance": [2.0**53, -(2.0**53)]}
    assert truth(rm.Qrels.from_frame(columns)) == {"q": {"a": 2.0**53, "b": -(2.0**53)}}
    for beyond in (2.0**53 + 2, -(2.0**53) - 2):
        with pytest.raises(
            ValueError, match=r"row 2 of the table has -?9007199254740994\.0 as grade, .* beyond 2\*\*53"
        ):
            rm.Qrels.from_frame(columns | {"relevance": [1.0, beyond]})


def test_columns_of_pandas_may_have_numbers_for_names() -> None:
    frame = pd.DataFrame([["q1", "d3", 2.0]])
    run = rm.Run.from_frame(frame, columns={"query": "0", "document": "1", "score": "2"})
    assert dict(run) == {"q1": {"d3": 2.0}}


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a table must be a pandas or polars DataFrame.*got int"):
        rm.read_run(7)


def test_a_judgment_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="rows 1 and 3 of the table both hold document 'a' for query 'q1'"):
        rm.Qrels.from_frame({"query": ["q1", "q2", "q1"], "document": ["a", "a", "a"], "grade": [1, 1, 0]})


def test_csv_tsv_and_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    frame.write_csv(tmp_path / "run.csv")
    frame.write_csv(tmp_path / "run.tsv", separator="\t")
    frame.write_parquet(tmp_path / "run.parquet")
    frame.write_parquet(tmp_path / "unnamed")
    for name in ("run.csv", "run.tsv", "run.parquet", "unnamed"):
        assert dict(rm.read_run(tmp_path / name)) == RUN, name


def test_ids_in_text_files_are_text_even_if_they_look_like_numbers(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text('qid,docno,score\n007,1.0,"2.5"\n')
    assert dict(rm.read_run(tmp_path / "run.csv")) == {"007": {"1.0": 2.5}}


def test_beir_qrels(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\n1\t31715818\t1\n3\t14717500\t2\n")
    assert truth(rm.read_qrels(path)) == {"1": {"31715818": 1.0}, "3": {"14717500": 2.0}}
    path.write_text(path.read_text() + "3\t9\thigh\n")
    with pytest.raises(ValueError, match=r"test.tsv, line 4: 3\t9\thigh: the line has 'high' as grade"):
        rm.read_qrels(path)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('qid,docno,score\nq1,"a\nb",1\n\nq1,c,x\n', r"run.csv, line 5: q1,c,x: the line has 'x' as score"),
        (
            "qid,docno,score\nq1,a,1\nq1,b\n",
            r"run.csv, line 3: q1,b: 2 columns where the header has 3: qid docno score",
        ),
        ("qid,docno,score\nq1,a,1,7\nq1,b,2\n", r"run.csv, line 2: q1,a,1,7: 4 columns where the header has 3"),
        ("qid,docno,score\nq1,a,1\n,b,2\n", r"run.csv, line 3: ,b,2: the line has no query"),
        ("qid,docno,score\nq1,a,1\nq2,a,1\nq1,a,2\n", r"run.csv, line 4: q1,a,2: document 'a' appears twice for query"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, text: str, message: str, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "run.csv").write_bytes(compress(text.encode()))
    with pytest.raises(ValueError, match=message):
        rm.read_run(tmp_path / "run.csv")


def test_empty_lines_and_empty_last_values_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("qid,docno,score,note\nq1,a,1,\n\nq1,b,2,x\n\n")
    assert dict(rm.read_run(tmp_path / "run.csv")) == {"q1": {"a": 1.0, "b": 2.0}}


def test_a_table_of_another_kind_is_refused_and_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("q1\td1\t1\nq1\td2\t2\n")
    with pytest.raises(ValueError, match=r"run.tsv has no column named like a query .*it has 'q1', 'd1', '1'"):
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


@pytest.mark.parametrize(("name", "separator"), [("run.csv", ";"), ("run.csv", "\t")])
def test_columns_that_are_separated_otherwise_are_told(tmp_path: Path, name: str, separator: str) -> None:
    path = tmp_path / name
    path.write_text("\n".join(separator.join(row) for row in (["query", "document", "score"], ["q1", "d1", "9"])))
    with pytest.raises(ValueError, match=r"separated by .*: a CSV file has commas, a TSV file tabs") as told:
        rm.read_run(path)
    assert repr(separator) in str(told.value)


RANKED: dict[str, list[Any]] = {
    "query": ["q"] * 4 + ["r"] * 3,
    "document": list("abcdabc"),
    "rank": [1, 2, 3, 4, 1, 2, 3],
    "score": [0.1, 0.2, 0.2, 0.4, 0.3, 0.5, 0.6],
}


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "polars", "pandas", "arrow"])
def test_scores_that_rise_with_the_ranks_are_doubted_in_every_form(tmp_path: Path, form: str) -> None:
    def read(columns: Any) -> None:
        frame = pl.DataFrame(columns)
        path = tmp_path / f"run.{form}"
        if form in {"csv", "tsv"}:
            frame.write_csv(path, separator="," if form == "csv" else "\t")
        elif form == "jsonl":
            frame.write_ndjson(path)
        elif form == "parquet":
            frame.write_parquet(path)
        given: Any = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}.get(form, path)
        rm.read_run(given)

    with pytest.warns(rm.RetrievalWarning, match="the scores in it rise with the ranks: if they are distances, negate"):
        read(RANKED)
    with pytest.warns(rm.RetrievalWarning, match="ranks are no whole numbers and its scores are"):
        read({**RANKED, "rank": RANKED["score"], "score": RANKED["rank"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read({**RANKED, "score": [-rank for rank in RANKED["rank"]]})
        read({name: column for name, column in RANKED.items() if name != "rank"})


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
    assert truth(rm.read_qrels(path)) == expected
    (tmp_path / "qrels.tsv").write_text('query\tdocument\tgrade\nq1\td"2\t1\n')  # TSV has no quotes
    assert truth(rm.read_qrels(tmp_path / "qrels.tsv")) == {"q1": {'d"2': 1}}


WITHOUT = """
import sys
sys.modules["{missing}"] = None  # importing it now fails, as where it is not installed
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "{missing}" else find_spec(name, *rest)
import retrieval_metrics as rm
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("polars", 'rm.write_run({"q": ["d"]}, "a.run"); rm.read_run("a.run", format="csv")'),
        ("polars", 'rm.write_run({"q": ["d"]}, "a.run"); rm.read_run("a.run", memory=10**6)'),
        ("polars", 'rm.write_qrels({"q": ["d"]}, "a.qrels"); rm.read_qrels("a.qrels", format="jsonl")'),
        ("polars", 'rm.write_run({"q": ["d"]}, "some.csv")'),
        ("polars", 'rm.write_qrels({"q": ["d"]}, "some.arrow")'),
        ("polars", 'rm.write_qrels({"q": [rm.Quote("a b c")]}, "some.parquet")'),
        ("polars", 'rm.Run.from_frame({"query": ["q"], "document": ["d"]})'),
        ("polars", 'rm.Qrels.from_frame({"query": ["q"], "document": ["d"]})'),
        ("backports", 'rm.write_run({"q": ["d"]}, "/tmp/never.run.zst")'),
    ],
)
def test_a_missing_extra_is_named_with_its_command(tmp_path: Path, missing: str, call: str) -> None:
    if missing == "backports" and sys.version_info >= (3, 14):
        pytest.skip("from 3.14 on the standard library reads zst")
    code = WITHOUT.format(missing=missing, call=call)
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert "pip install 'retrieval-metrics[files]'" in said


def test_every_public_name_can_be_imported_without_an_extra() -> None:
    code = WITHOUT.format(missing="polars", call="print(all(getattr(rm, name) for name in rm.__all__))")
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "True\n"
    with pytest.raises(AttributeError, match="module 'retrieval_metrics' has no attribute 'read_runs'"):
        _ = rm.read_runs  # type: ignore[attr-defined]  # the name is wrong on purpose


CORE_ALONE = """
import sys
for extra in {missing}:
    sys.modules[extra] = None  # importing it now fails, as where it is not installed
import retrieval_metrics as rm
from retrieval_metrics.command_line.main import main

texts = {{"a.qrels": "# judged\\n1 0 d7 1\\n1\\t0  d3 2\\n\\n2 0 d1 0\\n", "b.qrels": "1 0 d7 0.5\\n",
    "a.run": "1 Q0 d7 1 2.5 t\\r\\n2 Q0 d1 1 1 t\\n # 1 2 3 4 5\\n1 Q0 d3 2 1e-7 t\\n", "b.run": "1 Q0 d7 1 x t\\n",
    "c.run": "1 Q0 d7 1 2 t\\n2 Q0 d7 1 2 t\\n#\\n1 Q0 d7 1 3 t\\n", "d.run": "1 Q0 d7 2 t\\n", "e.run": "# only\\n"}}
for name, text in texts.items():
    open(name, "w", newline="").write(text)
qrels, run = rm.read_qrels("a.qrels"), rm.read_run("a.run", show_progress=True)
print(qrels.as_dict(), run["1"], run["2"], rm.evaluate(qrels, run, ["map", "ndcg@10"]).per_query, flush=True)
print(rm.audit(qrels, run, ["map"], semantics=["standard", "trec_eval"]), flush=True)
lists = {{"1": ["d7", "d3"], "2": ["d1"]}}
for number, one in enumerate([run, lists, {{"q": {{"é": 3, "b": 3, "c": 0.1}}}}]):
    rm.write_run(one, f"x{{number}}.run.gz", tag="mine")
    rm.write_run(rm.read_run(f"x{{number}}.run.gz"), "-", format="trec")
rm.write_qrels(qrels, "-", format="trec")
rm.write_qrels(rm.read_qrels("b.qrels"), "-", format="trec")
sys.stdout.flush()
main(["evaluate", "a.qrels", "a.run", "--format", "trec_eval", "-q", "-c", "-m", "all_trec"])
wrong = [lambda name=name: rm.read_run(name) for name in ("b.run", "c.run", "d.run", "e.run")]
wrong += [lambda one=one: rm.write_run(one, "y.run") for one in ({{"a b": ["d"]}}, {{"#a": ["d"]}}, {{"q": []}},
    {{"q": ["a", "a"]}}, {{"q": {{"a": float("nan")}}}}, {{"q": ["a b"]}})]
wrong += [lambda: rm.write_run({{"q": ["d"]}}, "y.run", tag="a b"), lambda: rm.write_qrels({{"#q": ["d"]}}, "y.qrels")]
for each in wrong:
    try:
        each()
    except ValueError as error:
        print(error)
"""


def test_trec_files_are_read_written_and_evaluated_by_the_core_alone(tmp_path: Path) -> None:
    def printed(*missing: str) -> str:
        code = CORE_ALONE.format(missing=list(missing))
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
        return done.stdout.replace("1e-07", "1e-7")

    alone = printed("polars", "rich", "pandas", "matplotlib").splitlines()
    assert alone[0].startswith("{'1': {'d7': 1.0, 'd3': 2.0}, '2': {'d1': 0.0}} {'d7': 2.5, 'd3': 1e-7} {'d1': 1.0} ")
    assert "1 Q0 d3 2 1e-7 retrieval-metrics" in alone
    assert "1 0 d7 0.5" in alone
    assert "c.run, line 4: 1 Q0 d7 1 3 t: document 'd7' appears twice for query '1'" in alone
    assert "e.run is empty: it contains only blanks or comments" in alone
    several = [line for line in printed().splitlines() if "nan" not in line]  # the one message that differs
    assert [line for line in alone if "nan" not in line] == several


def test_reading_shows_its_progress_where_it_is_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some{1}.run"
    path.write_text("q Q0 d 1 2.0 t\n")
    rm.read_run(path, show_progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading some{1}.run" in err
