"""Tables are read with columns found by name or not at all, and damaged files right or not at all."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from mutated_files import KINDS, ROWS, compressed, mutated, outcome, parsed, written
from table_forms import COLUMNS, RUN, judgments


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
    assert judgments(rm.read_qrels(path)) == {"1": {"31715818": 1.0}, "3": {"14717500": 2.0}}
    path.write_text(path.read_text() + "3\t9\thigh\n")
    with pytest.raises(ValueError, match=r"test.tsv, line 4: 3\t9\thigh: the line has 'high' as grade"):
        rm.read_qrels(path)


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
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert "pip install 'retrieval-metrics[files]'" in output


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
from retrieval_metrics.cli.main import main

texts = {{"a.qrels": "# judged\\n1 0 d7 1\\n1\\t0  d3 2\\n\\n2 0 d1 0\\n", "b.qrels": "1 0 d7 0.5\\n",
    "a.run": "1 Q0 d7 1 2.5 t\\r\\n2 Q0 d1 1 1 t\\n # 1 2 3 4 5\\n1 Q0 d3 2 1e-7 t\\n", "b.run": "1 Q0 d7 1 x t\\n",
    "c.run": "1 Q0 d7 1 2 t\\n2 Q0 d7 1 2 t\\n#\\n1 Q0 d7 1 3 t\\n", "d.run": "1 Q0 d7 2 t\\n", "e.run": "# only\\n"}}
for name, text in texts.items():
    open(name, "w", newline="").write(text)
qrels, run = rm.read_qrels("a.qrels"), rm.read_run("a.run", show_progress=True)
print(qrels.as_dict(), run["1"], run["2"], rm.evaluate(qrels, run, ["map", "ndcg@10"]).per_query, flush=True)
print(rm.audit(qrels, run, ["map"], rules=["standard", "trec_eval"]), flush=True)
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


QRELS = {f"q{query}": {f"d{query * 4 + 1}": 2, f"d{query * 4 + 3}": 1} for query in range(4)}
one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("kind", KINDS)
@one_folder
@given(seed=st.integers(0, 2**32))
def test_a_mutated_file_is_read_right_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    assert outcome(tmp_path / "mutated", kind, seed) in {"read", "refused"}


@one_folder
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_a_damaged_gzip_file_is_read_right_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    path = tmp_path / "mutated"
    content = written(ROWS, kind)
    path.write_bytes(compressed(content, random.Random(seed)))
    try:
        read = dict(rm.read_run(path, format=kind))
    except ValueError as error:
        assert path.name in str(error)
    else:
        assert read == parsed(content, kind)


@pytest.mark.parametrize("kind", ["trec", "csv", "json", "jsonl"])
@one_folder
@given(seed=st.integers(0, 2**32))
def test_mutated_judgments_are_read_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    path = tmp_path / "mutated"
    rm.write_qrels(QRELS, path, format=kind)
    path.write_bytes(mutated(path.read_bytes(), random.Random(seed)))
    try:
        rm.read_qrels(path, format=kind)
    except ValueError as error:
        assert path.name in str(error)


REPEATED = [("q1", "d1", 1), ("q2", "d2", 2), ("q1", "d3", 0), ("q1", "d1", 1)]
CONFLICTING = [*REPEATED, ("q1", "d1", 2)]


def write_judgments(path: Path, rows: list[tuple[str, str, int]]) -> Any:
    header = {".csv": "query,document,grade\n", ".tsv": "query-id\tcorpus-id\tscore\n"}
    lines = {
        ".trec": "{0} 0 {1} {2}\n",
        ".csv": "{0},{1},{2}\n",
        ".tsv": "{0}\t{1}\t{2}\n",
        ".jsonl": '{{"query": "{0}", "document": "{1}", "grade": {2}}}\n',
    }
    if path.suffix == ".frame":
        queries, documents, grades = zip(*rows, strict=True)
        return {"query": list(queries), "document": list(documents), "grade": list(grades)}
    text = "".join(lines[path.suffix].format(*row) for row in rows)
    path.write_text(header.get(path.suffix, "") + text)
    return path


@pytest.mark.parametrize("suffix", [".trec", ".csv", ".tsv", ".jsonl", ".frame"])
def test_a_judgment_that_stands_twice_is_accepted_on_request(tmp_path: Path, suffix: str) -> None:
    source = write_judgments(tmp_path / f"qrels{suffix}", REPEATED)
    with pytest.raises(ValueError, match=r"document 'd1'.*pass allow='repeated', which accepts the same grade twice"):
        rm.read_qrels(source)
    read = rm.read_qrels(source, allow="repeated")
    assert read.as_dict() == {"q1": {"d1": 1.0, "d3": 0.0}, "q2": {"d2": 2.0}}


@pytest.mark.parametrize("suffix", [".trec", ".csv", ".tsv", ".jsonl", ".frame"])
@pytest.mark.parametrize("allow", [(), "repeated"])
def test_different_grades_are_an_error_that_names_both_lines(tmp_path: Path, suffix: str, allow: Any) -> None:
    source = write_judgments(tmp_path / f"qrels{suffix}", CONFLICTING)
    with pytest.raises(ValueError, match="with the grades 1 and 2; remove the wrong one") as error:
        rm.read_qrels(source, allow=allow)
    numbers = (1, 5) if suffix in {".trec", ".jsonl", ".frame"} else (2, 6)
    name = "rows" if suffix == ".frame" else "line"
    assert f"{name} {numbers[0]}" in str(error.value)
    assert str(numbers[1]) in str(error.value)


@pytest.mark.parametrize(("rows", "allow"), [(REPEATED, ()), (CONFLICTING, "repeated")])
def test_without_polars_repeated_judgments_are_refused_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: Any, allow: Any
) -> None:
    path = write_judgments(tmp_path / "qrels.trec", rows)
    with pytest.raises(ValueError, match="document 'd1' appears twice") as with_polars:
        rm.read_qrels(path, allow=allow)
    monkeypatch.setattr("retrieval_metrics.files.trec.has_polars", lambda: False)
    with pytest.raises(ValueError, match="document 'd1' appears twice") as without_polars:
        rm.read_qrels(path, allow=allow)
    assert str(without_polars.value) == str(with_polars.value)
    repeated = write_judgments(tmp_path / "repeated.trec", REPEATED)
    assert rm.read_qrels(repeated, allow="repeated").as_dict() == {"q1": {"d1": 1.0, "d3": 0.0}, "q2": {"d2": 2.0}}


WRONG_GRADES = ["inf", "NaN", "high", "1_0", "1e400"]
LAYOUTS = {
    "b.qrels": ("", "{query} 0 {document} {grade}\n", "line 4124"),
    "b.tsv": ("query-id\tcorpus-id\tscore\n", "{query}\t{document}\t{grade}\n", "line 4125"),
    "b.csv": ("query,document,grade\n", '{query},{document},"{grade}"\n', "line 4125"),
}


def write_many_judgments(path: Path, wrong_grade: str) -> None:
    header, layout, _where = LAYOUTS[path.name]
    lines = [header]
    for number in range(5_000):
        grade = wrong_grade if number == 4_123 else "1"
        lines.append(layout.format(query=f"q{number // 10}", document=f"d{number}", grade=grade))
    path.write_text("".join(lines))


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("grade", [*WRONG_GRADES, "2,5"])
def test_one_wrong_grade_is_named_with_its_line_and_what_to_write(name: str, grade: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_many_judgments(path, grade)
    remedy = "write 2.5, with a decimal point" if grade == "2,5" else "write a finite number"
    readers: list[Any] = [rm.read_qrels] if name != "b.csv" else [rm.read_qrels, rm.read_questions]
    for read in readers:
        with pytest.raises(ValueError, match=remedy) as raised:
            read(path)
        assert name in str(raised.value)
        assert LAYOUTS[name][2].removeprefix("line ") in str(raised.value)
        assert repr(grade) in str(raised.value)


@pytest.mark.parametrize("name", LAYOUTS)
def test_grades_below_0_and_with_a_decimal_point_are_numbers(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for text, grade in (("-1", -1.0), ("2.0", 2.0)):
        write_many_judgments(path, text)
        assert rm.read_qrels(path).as_dict()["q412"]["d4123"] == grade


def test_a_grade_in_a_list_of_judgments_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"query": "a", "relevant": {"d1": 1}}\n\n{"query": "b", "relevant": {"d2": NaN}}\n')
    with pytest.raises(
        ValueError, match=r"questions\.jsonl: line 3: the grade of document 'd2' must be a number, got nan"
    ):
        rm.read_questions(path)
    path = tmp_path / "questions.json"
    path.write_text('{"a": {"d1": 1}, "b": {"d2": "high"}}')
    with pytest.raises(ValueError, match=r"questions\.json: query 'b': the grade of document 'd2' must be a number"):
        rm.read_questions(path)


def test_blanks_at_the_ends_of_lines_are_no_part_of_a_number(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_bytes(b"query,document,grade  \r\nq1,d1,2  \r\nq2,d2,yes \r\n")
    assert rm.read_qrels(path).as_dict() == {"q1": {"d1": 2}, "q2": {"d2": 1}}


@pytest.mark.parametrize("read", [rm.read_qrels, rm.read_questions])
def test_the_header_of_a_second_file_is_no_row(read: Any, tmp_path: Path) -> None:
    for header in ("query,document", "query,document,grade"):
        row = "q1,d1,1" if header.endswith("grade") else "q1,d1"
        path = tmp_path / "joined.csv"
        path.write_text(f"{header}\n{row}\n{header}\n{row.replace('1', '2')}\n")
        with pytest.raises(ValueError, match=r"joined\.csv.* 3.*repeats the header, as where files were joined"):
            read(path)
    path.write_text("1,2,3\nq1,d1,1\n")
    by_position = {"query": 1, "document": 2, "grade": 3}
    assert rm.read_qrels(path, header=False, columns=by_position).as_dict() == {"1": {"2": 3}, "q1": {"d1": 1}}


@pytest.mark.parametrize("name", ["e.qrels", "e.csv", "e.json", "e.jsonl", "e.parquet", "e.arrow"])
@pytest.mark.parametrize("read", [rm.read_qrels, rm.read_questions])
def test_an_empty_file_is_called_empty(name: str, read: Any, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=rf"{name} is empty|{name}: the dataset is empty"):
        read(tmp_path / name)


def test_what_is_no_workbook_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "questions.xlsx"
    path.write_text("query,relevant\nwhy?,d1\n")
    with pytest.raises(ValueError, match=r"questions\.xlsx cannot be read as an Excel workbook"):
        rm.read_questions(path)
    assert rm.read_questions(path, format="csv").qrels == {"why?": ["d1"]}
    with path.open() as file, pytest.raises(ValueError, match=r"questions\.xlsx cannot be read as an Excel workbook"):
        rm.read_questions(file)
