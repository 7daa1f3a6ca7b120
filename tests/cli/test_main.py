"""The command line, as a user of a shell meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import COMMANDS, main


def evaluation(files: list[str], metrics: list[str], rules: str = "standard") -> rm.Evaluation:
    return rm.evaluate(rm.read_qrels(files[0]), rm.read_run(files[1]), metrics, rules=rules)


def test_the_table_is_that_of_python_and_warnings_stand_beside_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-m", "nDCG_cut_10"]) == 0
    out, err = capsys.readouterr()
    assert out == str(evaluation(files, ["mrr", "ndcg@10"])) + "\n"
    assert "mrr      0.750  [0.265, 0.955]  2" in out
    assert not err  # nothing was retrieved for q3, and nothing is relevant to it
    qrels = Path(files[0])
    qrels.write_text(f"{qrels.read_text()}q4 0 d1 1\n")
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("retrieval-metrics: warning: nothing was retrieved for 1 of 3 answerable judged queries")


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
    main(["evaluate", *files, "-m", "map", "--rules", "trec_eval"])
    assert capsys.readouterr().out == str(evaluation(files, ["map"], "trec_eval")) + "\n"


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


def test_an_audit_is_that_of_python(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *files, "-m", "ndcg@10", "--rules", "standard", "--rules", "haystack"]) == 0
    expected = rm.audit(rm.read_qrels(files[0]), rm.read_run(files[1]), "ndcg@10", rules=["standard", "haystack"])
    out = capsys.readouterr().out
    assert out.split() == str(expected).split()  # its sentences are wrapped
    assert max(map(len, out.splitlines())) <= 120
    assert "haystack: a query without a relevant document scores 0 (ndcg@10 in 1 of 3)" in " ".join(out.split())
    assert main(["audit", *files, "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("| metric | standard | trec_eval | llama_index |")


def test_a_comparison_is_that_of_python(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    expected = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good")
    assert main(["compare", *systems, "-m", "mrr", "--baseline", "good"]) == 0
    out = capsys.readouterr().out
    assert out == f"{expected}\n"
    assert "bad is worse than good in mrr, by 0." in out
    main(["compare", *systems, "-m", "mrr", "--baseline", "good", "--format", "json"])
    content = json.loads(capsys.readouterr().out)
    assert content["means"]["mrr"] == {"good": 1.0, "bad": expected.means["mrr"]["bad"]}
    (conclusion,) = content["conclusions"]
    assert (conclusion["conclusion"], conclusion["p_corrected"]) == ("worse", expected.difference("mrr").p_corrected)
    assert conclusion == expected.conclusions.get("mrr").as_dict()
    assert content["summary"] == expected.summary


def test_the_runs_are_a_pilot_for_a_plan(systems: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"good": rm.read_run(systems[1]), "bad": rm.read_run(systems[2])}
    difference = rm.compare(rm.read_qrels(systems[0]), runs, "mrr", baseline="good").difference("mrr")
    expected = rm.plan(0.05, "mrr", pilot=difference)
    call = ["compare", *systems, "-m", "mrr", "--baseline", "good", "--plan", "0.05"]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "questions for a difference of 0.05, found in 80 % of evaluations" in out
    assert f"{expected.n_questions:,}" in out
    main([*call, "--format", "json"])
    (planned,) = json.loads(capsys.readouterr().out)["plan"]
    assert (planned["n_questions"], planned["range"]) == (expected.n_questions, list(expected.range))


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


def test_an_interrupt_while_the_program_starts_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "retrieval_metrics.cli.evaluate":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "retrieval_metrics.cli.evaluate", raising=False)
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
        "from retrieval_metrics.cli.main import main; main(sys.argv[1:])"
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
    module_of = {name: f"retrieval_metrics.cli.{command.module}" for name, command in COMMANDS.items()}
    modules = {module_of[name] for name in called}
    others = {*module_of.values()} - modules
    assert modules <= set(loaded)
    assert not others & set(loaded)
    assert bool(called) is ("numpy" in loaded)
