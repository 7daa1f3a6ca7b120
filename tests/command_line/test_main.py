"""The command line, as a user of a shell meets it."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.command_line.main import COMMANDS, main

QRELS = "q1 0 d7 1\nq1 0 d3 2\nq2 0 d1 1\nq3 0 d1 0\n"
RUN = "q1 Q0 d7 1 9.5 bm25\nq1 Q0 d2 2 9.0 bm25\nq1 Q0 d3 3 8.25 bm25\nq2 Q0 d4 1 3.0 bm25\nq2 Q0 d1 2 1.0 bm25\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "small.qrels").write_text(QRELS)
    (tmp_path / "small.run").write_text(RUN)
    return [str(tmp_path / "small.qrels"), str(tmp_path / "small.run")]


def evaluation(files: list[str], metrics: list[str], semantics: str = "standard") -> rm.Evaluation:
    return rm.evaluate(rm.read_qrels(files[0]), rm.read_run(files[1]), metrics, semantics=semantics)


def test_the_table_is_that_of_python_and_warnings_stand_beside_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-m", "nDCG_cut_10"]) == 0
    out, err = capsys.readouterr()
    assert out == str(evaluation(files, ["mrr", "ndcg@10"])) + "\n"
    assert "mrr      0.750  [0.265, 0.955]  2" in out
    assert err == ""  # nothing is relevant to q3
    Path(files[0]).write_text(f"{QRELS}q4 0 d1 1\n")
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("retrieval-metrics: warning: nothing was retrieved for 1 of 3 answerable judged queries")


def test_json_holds_the_numbers_to_the_last_bit(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *files, "-m", "ndcg@10", "--format", "json", "--per-query"]) == 0
    content = json.loads(capsys.readouterr().out)
    expected = evaluation(files, ["ndcg@10"])
    assert content["metrics"] == {"ndcg@10": {"mean": expected.means["ndcg@10"], "n": 2}}
    assert content["per_query"]["ndcg@10"] == {**expected.per_query["ndcg@10"], "q3": None}
    assert content["counts"]["no_relevant"] == 1


def test_csv_is_a_table_of_means_or_of_queries(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", *files, "-m", "mrr", "-m", "precision(rel=2)@5", "--format", "csv"])
    assert list(csv.reader(io.StringIO(capsys.readouterr().out)))[:2] == [["metric", "mean", "n"], ["mrr", "0.75", "2"]]
    main(["evaluate", *files, "-m", "mrr", "--format", "csv", "--per-query"])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["query", "mrr"], ["q1", "1.0"], ["q2", "0.5"], ["q3", ""]]


def test_text_and_markdown_hold_the_queries_too(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for kind, row in (("text", "q2     0.500"), ("markdown", "| q2 | 0.500 |")):
        main(["evaluate", *files, "-m", "mrr", "--format", kind, "--per-query"])
        out = capsys.readouterr().out
        assert row in out
        assert "0.750" in out


def test_the_output_may_go_to_a_file(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "--format", "markdown", "-o", str(tmp_path / "out.md")]) == 0
    assert capsys.readouterr().out == ""
    assert "| mrr | 0.750 | [0.265, 0.955] | 2 |" in (tmp_path / "out.md").read_text()


@pytest.mark.parametrize(("floor", "code"), [("0.75", 0), ("0.7501", 1)])
def test_a_mean_below_its_floor_fails(
    files: list[str], capsys: pytest.CaptureFixture[str], floor: str, code: int
) -> None:
    assert main(["evaluate", *files, "-m", "map", "--fail-under", f"mrr={floor}"]) == code
    out, err = capsys.readouterr()
    assert "mrr     0.750  [0.265, 0.955]  2" in out
    assert ("FAILED: mrr is 0.7500, below 0.7501" in err) == bool(code)


def test_an_undefined_mean_reaches_no_floor(files: list[str]) -> None:
    assert main(["evaluate", *files, "--fail-under", "recall(rel=9)@5=0"]) == 1


def test_rules_are_chosen(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", *files, "-m", "map", "--semantics", "trec_eval"])
    assert capsys.readouterr().out == str(evaluation(files, ["map"], "trec_eval")) + "\n"


def test_columns_and_formats_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.txt").write_text("topic,passage\nq1,d1\n")
    (tmp_path / "run").write_text('{"q1": ["d2", "d1"]}')
    call = ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "run"), "-m", "mrr", "--qrels-format", "csv"]
    assert main([*call, "--qrels-column", "document=passage"]) == 0
    assert "mrr     0.500  [0.123, 0.877]  1" in capsys.readouterr().out
    assert main(call) == 2
    assert "has no column named like a document" in capsys.readouterr().err
    assert main([*call, "--qrels-column", "passage"]) == 2
    assert "a column must be given as ROLE=NAME, such as query=qid, got 'passage'" in capsys.readouterr().err


def test_a_run_larger_than_its_memory_is_streamed_and_says_so(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "--memory", "0.01KB"]) == 0
    out, err = capsys.readouterr()
    assert "mrr     0.750  [0.265, 0.955]  2" in out
    assert "note: <StreamedRun: 2 queries, 5 documents, streamed from" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nowhere.qrels", "nowhere.run"], "error: .*No such file or directory: 'nowhere.qrels'"),
        (["evaluate", "{run}", "{qrels}"], "small.run, line 1: q1 Q0 d7 1 9.5 bm25: 6 columns where TREC qrels have 4"),
        (["convert", "run", "{run}", "{qrels}.doc"], "does not show the format to write"),
    ],
)
def test_a_wrong_file_is_an_error_in_one_line(
    files: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([part.format(qrels=files[0], run=files[1]) for part in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("retrieval-metrics: error: ")
    assert err.count("\n") == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "ndgc@10"], "unknown metric 'ndgc'; did you mean ndcg"),
        (["--fail-under", "ndcg@10"], "'ndcg@10' must be a metric and a number, such as ndcg@10=0.35"),
        (["--fail-under", "ndgc@10=1"], "such as ndcg@10=0.35: unknown metric 'ndgc'; did you mean ndcg"),
        (["--fail-under", "ndcg@10=high"], "'ndcg@10=high' must be a metric and a number"),
        (["--memory", "much"], "'much' must be a size such as 4GB or 500MB"),
        (["--format", "xml"], "invalid choice: 'xml'"),
    ],
)
def test_a_wrong_argument_is_explained(
    files: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", *files, *arguments])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert "retrieval-metrics evaluate --help" in said


def test_an_unknown_metric_offers_the_option_for_ones_own(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", *files, "-m", "reach@10"])
    assert "unknown metric 'reach'; did you mean" in (said := capsys.readouterr().err)
    assert "; one of your own needs --metrics-from MODULE" in said


def test_a_run_is_converted_and_its_numbers_stay(files: list[str], tmp_path: Path) -> None:
    previous = files[1]
    for name in ("a.csv", "b.jsonl.zst", "c.parquet", "d.json", "e.tsv", "f.trec.gz"):
        assert main(["convert", "run", previous, str(tmp_path / name)]) == 0
        previous = str(tmp_path / name)
    assert dict(rm.read_run(previous)) == dict(rm.read_run(files[1]))
    assert main(["convert", "qrels", files[0], str(tmp_path / "beir.tsv")]) == 0
    assert (tmp_path / "beir.tsv").read_text().startswith("query-id\tcorpus-id\tscore\nq1\td7\t1\n")


def test_help_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "retrieval-metrics evaluate qrels.trec run.trec.gz -m ndcg@10,map" in capsys.readouterr().out
    with pytest.raises(SystemExit) as printed:
        main(["--version"])
    assert printed.value.code == 0
    assert capsys.readouterr().out == f"{rm.__version__}\n"
    for command in ("evaluate", "compare", "audit", "convert"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert "examples:" in capsys.readouterr().out


def test_a_reader_that_stops_early_is_no_error(files: list[str]) -> None:
    command = f"{sys.executable} -m retrieval_metrics.command_line evaluate {' '.join(files)} --per-query | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_an_audit_is_that_of_python(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *files, "-m", "ndcg@10", "--semantics", "standard", "--semantics", "haystack"]) == 0
    expected = rm.audit(rm.read_qrels(files[0]), rm.read_run(files[1]), "ndcg@10", semantics=["standard", "haystack"])
    out = capsys.readouterr().out
    assert out.split() == str(expected).split()  # its sentences are wrapped
    assert max(map(len, out.splitlines())) <= 120
    assert "haystack: a query without a relevant document scores 0 (ndcg@10 in 1 of 3)" in " ".join(out.split())
    assert main(["audit", *files, "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("| metric | standard | trec_eval | llama_index |")


@pytest.fixture
def systems(tmp_path: Path) -> list[str]:
    queries = [f"q{number}" for number in range(40)]
    rm.write_qrels({query: ["d"] for query in queries}, tmp_path / "all.qrels")
    rm.write_run({query: ["d", "x"] for query in queries}, tmp_path / "good.run.gz")
    rm.write_run(
        {query: ["x", "y", "d"] if at % 3 else ["d"] for at, query in enumerate(queries)}, tmp_path / "bad.run"
    )
    return [str(tmp_path / name) for name in ("all.qrels", "good.run.gz", "bad.run")]


def test_a_comparison_is_that_of_python(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    expected = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good")
    assert main(["compare", *systems, "-m", "mrr", "--baseline", "good"]) == 0
    out = capsys.readouterr().out
    assert out == f"{expected}\n"
    assert "bad is worse than good in mrr, by 0." in out
    main(["compare", *systems, "-m", "mrr", "--baseline", "good", "--format", "json"])
    content = json.loads(capsys.readouterr().out)
    assert content["means"]["mrr"] == {"good": 1.0, "bad": expected.table["mrr"]["bad"]}
    (found,) = content["conclusions"]
    assert (found["conclusion"], found["p"]) == ("worse", expected.difference("mrr").p_corrected)
    assert found == expected.conclusions.of("mrr").as_dict()
    assert content["verdict"] == expected.verdict


def test_the_runs_are_a_pilot_for_a_plan(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    difference = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good").difference("mrr")
    expected = rm.plan(0.05, "mrr", pilot=difference)
    call = ["compare", *systems, "-m", "mrr", "--baseline", "good", "--plan", "0.05"]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "questions for a difference of 0.05, found in 80 % of evaluations" in out
    assert f"{expected.questions:,}" in out
    main([*call, "--format", "json"])
    (planned,) = json.loads(capsys.readouterr().out)["plan"]
    assert (planned["questions"], planned["range"]) == (expected.questions, list(expected.range))


def test_a_run_proven_worse_than_the_baseline_fails_where_that_is_asked_for(
    systems: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["compare", *systems, "-m", "mrr", "--fail-if-worse", "--format", "markdown", "-o", str(tmp_path / "out.md")]
    assert main([*call, "--baseline", "good"]) == 1
    assert "FAILED: bad is worse than good in mrr, by 0." in capsys.readouterr().err
    assert "| mrr |" in (tmp_path / "out.md").read_text()
    assert main([*call, "--baseline", "bad"]) == 0
    assert main(call) == 2
    assert "--fail-if-worse needs --baseline NAME" in capsys.readouterr().err


def test_runs_have_the_names_of_their_files_or_those_they_are_given(
    systems: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, good, _ = systems
    assert main(["compare", qrels, good, good]) == 2
    assert "two runs are named 'good'" in capsys.readouterr().err
    assert main(["compare", qrels, f"first={good}", f"second={good}", "-m", "mrr"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "first and second have the same value for every query" in out.replace("second and first", "first and second")
    assert main(["compare", *systems, "--baseline", "best"]) == 2
    assert "no run is named 'best', the --baseline; the runs are good, bad" in capsys.readouterr().err
    assert main(["compare", qrels, good]) == 2
    assert capsys.readouterr().err.startswith("retrieval-metrics: error: ")


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """Judgments and a run whose values per query fill a pipe several times."""
    queries = range(3000)
    (tmp_path / "q.trec").write_text("".join(f"q{query} 0 d{query % 3} 1\n" for query in queries))
    (tmp_path / "r.trec").write_text("".join(f"q{query} Q0 d{at} {at} {-at} t\n" for query in queries for at in (5, 1)))
    return [str(tmp_path / "q.trec"), str(tmp_path / "r.trec")]


@pytest.mark.parametrize(
    ("reader", "environment", "redirected"),  # of two of them, every pair
    [
        ("head -1", {}, ""),
        ("head -1", {"PYTHONUNBUFFERED": "1"}, "2>&1"),
        ("true", {}, "2>&1"),
        ("true", {"PYTHONUNBUFFERED": "1"}, ""),
        ("cat", {}, "2>&1"),
        ("cat", {"PYTHONUNBUFFERED": "1"}, ""),
    ],
)
def test_the_exit_code_is_the_gates_whatever_reads_the_output(
    many: list[str], tmp_path: Path, reader: str, environment: dict[str, str], redirected: str
) -> None:
    call = [sys.executable, "-m", "retrieval_metrics.command_line", "evaluate", *many, "-q", "-m", "mrr,map,ndcg@10"]
    kept = ["--fail-under", "mrr=0.9", "--save", str(tmp_path / "s.json"), "--report", str(tmp_path / "r.html")]
    line = f"set -o pipefail; {' '.join([*call, *kept])} {redirected} | {reader}"
    done = subprocess.run(
        ["bash", "-c", line], check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    if not redirected:
        assert "FAILED: mrr is" in done.stderr
    assert rm.load(tmp_path / "s.json").n["mrr"] == 3000
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("evaluate {q} {r} -m mrr -o {q}", "small.qrels"),
        ("evaluate {q} {r} -m mrr --save {link}", "small.run"),
        ("evaluate {q} {r} -m mrr --report {hard}", "small.run"),
        ("evaluate {q} name={r} other={r} -m mrr -o {r}", "small.run"),
        ("compare {q} a={r} b={r} -m mrr --save {r}", "small.run"),
        ("audit {q} {r} -m mrr -o {link}", "small.run"),
        ("convert run {r} {link}", "small.run"),
    ],
)
def test_no_output_replaces_an_input(
    files: list[str], tmp_path: Path, call: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(files[1])
    (tmp_path / "hard").hardlink_to(files[1])
    names = {"q": files[0], "r": files[1], "link": tmp_path / "link", "hard": tmp_path / "hard"}
    before = (tmp_path / target).read_text()
    assert main(call.format(**names).split()) == 2
    assert "is one of the files that are read, and it is the same file" in capsys.readouterr().err
    assert (tmp_path / target).read_text() == before


def test_two_outputs_are_two_files(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = str(tmp_path / "both")
    assert main(["evaluate", *files, "-o", twice, "--save", str(tmp_path / "x" / ".." / "both")]) == 2
    assert "is also written, and it is the same file" in capsys.readouterr().err
    assert not (tmp_path / "both").exists()
    assert main(["evaluate", *files, "-m", "mrr", "-o", "/dev/null", "--report", "/dev/null"]) == 0


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.json", "{"), ("a.CSV", "metric,"), ("a.md", "| metric"), ("a.html", "metric ")],
)
def test_the_extension_of_the_output_says_its_format(files: list[str], tmp_path: Path, name: str, begins: str) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text().startswith(begins)
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / name), "--format", "text"]) == 0
    assert (tmp_path / name).read_text().startswith("metric   mean")


def test_a_target_without_a_folder_is_named_as_it_was_given(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-o", str(tmp_path / "no" / "x.txt")]) == 2
    assert capsys.readouterr().err.endswith(f"No such file or directory: '{tmp_path}/no/x.txt'\n")


def test_an_interrupt_while_the_program_starts_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "retrieval_metrics.command_line.evaluate":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "retrieval_metrics.command_line.evaluate", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert main(["evaluate", "--help"]) == 130
    assert capsys.readouterr().err == "retrieval-metrics: interrupted\n"


@pytest.mark.parametrize(
    ("words", "typed", "called"),
    [
        (["--help"], None, set()),
        (["--version"], None, set()),
        ([], None, set()),
        ([], "retrieval-metrics ev", set()),
        ([], "retrieval-metrics history sh", {"history"}),
        (["compare", "--help"], None, {"compare"}),
        (["--version", "evaluate", "qrels", "run"], None, {"evaluate"}),
    ],
)
def test_a_call_imports_its_command_and_no_other(words: list[str], typed: str | None, called: set[str]) -> None:
    code = (
        "import atexit, os, sys; os._exit = sys.exit  # with which argcomplete ends the process\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from retrieval_metrics.command_line.main import main; main(sys.argv[1:])"
    )
    environment = dict(os.environ)
    if typed is not None:
        pytest.importorskip("argcomplete")
        environment |= {"_ARGCOMPLETE": "1", "COMP_LINE": typed, "COMP_POINT": str(len(typed))}
        environment["_ARGCOMPLETE_STDOUT_FILENAME"] = os.devnull
    done = subprocess.run(
        [sys.executable, "-c", code, *words], check=False, capture_output=True, text=True, env=environment
    )
    loaded = done.stderr.splitlines()[-1].split()
    module_of = {name: f"retrieval_metrics.command_line.{one.module}" for name, one in COMMANDS.items()}
    modules = {module_of[name] for name in called}
    others = {*module_of.values()} - modules
    assert modules <= set(loaded)
    assert not others & set(loaded)
    assert bool(called) is ("numpy" in loaded)
