"""The command line, as a user of a shell meets it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.command_help import COMMANDS
from retrieval_metrics.cli.main import main


def evaluation(files: list[str], metrics: list[str], rules: str = "standard") -> rm.Evaluation:
    return rm.evaluate(rm.read_qrels(files[0]), rm.read_run(files[1]), metrics, rules=rules)


def test_the_table_is_that_of_python_and_warnings_stand_beside_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files, "-m", "mrr", "-m", "nDCG_cut_10"]) == 0
    out, err = capsys.readouterr()
    assert out == str(evaluation(files, ["mrr", "ndcg@10"])) + "\n"
    assert "mrr      0.750  [0.123, 0.986]  2" in out
    assert not err  # nothing was retrieved for q3, and nothing is relevant to it
    qrels = Path(files[0])
    qrels.write_text(f"{qrels.read_text()}q4 0 d1 1\n")
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("retrieval-metrics: warning: 1 of 3 answerable judged queries")


@pytest.mark.parametrize(("floor", "code"), [("0.75", 0), ("0.7501", 1)])
def test_a_mean_below_its_floor_fails(
    files: list[str], capsys: pytest.CaptureFixture[str], floor: str, code: int
) -> None:
    assert main(["evaluate", *files, "-m", "map", "--fail-under", f"mrr={floor}"]) == code
    out, err = capsys.readouterr()
    assert "mrr     0.750  [0.123, 0.986]  2" in out
    assert ("FAILED: mrr is 0.7500, below 0.7501" in err) == bool(code)


def test_an_undefined_mean_reaches_no_floor(files: list[str]) -> None:
    assert main(["evaluate", *files, "--fail-under", "recall(rel=9)@5=0"]) == 1


def test_rules_are_chosen(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", *files, "-m", "map", "--rules", "trec_eval"])
    assert capsys.readouterr().out == str(evaluation(files, ["map"], "trec_eval")) + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nowhere.qrels", "nowhere.run"], "error: No such file or directory: 'nowhere.qrels'"),
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
    module_of = {name: f"retrieval_metrics.cli.{name}" for name in COMMANDS}
    modules = {module_of[name] for name in called}
    other_modules = {*module_of.values()} - modules
    assert modules <= set(loaded)
    assert not other_modules & set(loaded)
    assert bool(called) is ("numpy" in loaded)
