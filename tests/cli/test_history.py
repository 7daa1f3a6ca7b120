"""Saving, comparing, remembering and reporting from the command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main
from retrieval_metrics.metrics.base.user_metrics import forget_metric
from saved_evaluations import save_both


@pytest.mark.usefixtures("saved_folder")
def test_the_whole_loop(capsys: pytest.CaptureFixture[str]) -> None:
    save_both()
    assert rm.load("new.json.gz").labels == {"commit": "new"}
    capsys.readouterr()
    assert main(["compare", "old.json.gz", "new.json.gz", "--baseline", "old", "--save", "both.json"]) == 0
    of_saved = capsys.readouterr().out
    assert main(["compare", "qrels.trec", "old.trec", "new.trec", "-m", "mrr,recall@5", "--baseline", "old"]) == 0
    assert of_saved == capsys.readouterr().out
    assert "new is better than old" in of_saved
    assert main(["compare", "before=new.json.gz", "after=old.json.gz", "--baseline", "before", "--fail-if-worse"]) == 1
    for name in ("old", "new"):
        assert main(["history", "add", "history.jsonl", f"{name}.json.gz"]) == 0
    capsys.readouterr()
    assert main(["history", "show", "history.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2:4] for line in lines[1:3]] == [["old", "0.500"], ["new", "1.000"]]
    assert main(["history", "show", "history.jsonl", "--format", "json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [entry["metrics"]["mrr"]["mean"] for entry in entries] == [0.5, 1.0]
    assert main(["history", "plot", "history.jsonl", "-m", "rr", "-o", "history.svg"]) == 0
    assert "<svg" in Path("history.svg").read_text()
    for saved in ("new.json.gz", "both.json"):
        assert main(["report", saved, "-o", "report.html", "--title", "A title"]) == 0
        assert "A title" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--clusters", "none"], "--clusters"),
        (["--rules", "trec_eval"], "--rules"),
        (["--ties", "expected"], "--ties"),
        (["--match", "source"], "--match"),
    ],
)
@pytest.mark.usefixtures("saved_folder")
def test_how_saved_values_were_scored_cannot_be_changed(
    option: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save_both()
    capsys.readouterr()
    assert main(["compare", "old.json.gz", "new.json.gz", *option]) == 2
    assert f"{named} cannot be changed for evaluations" in capsys.readouterr().err
    assert main(["tune", "old.json.gz", "new.json.gz", "-m", "mrr", "--default", "old", *option]) == 2
    assert "evaluations" in capsys.readouterr().err


WRONG: dict[str, tuple[list[str], str]] = {
    "two runs": (["evaluate", "qrels.trec", "old.trec", "new.trec", "--save", "x.json"], "--save saves one evaluation"),
    "a label": (["evaluate", "qrels.trec", "old.trec", "--label", "a=b"], "needs --save FILE"),
    "no name": (["evaluate", "qrels.trec", "old.trec", "--save", "x.json", "--label", "b"], "NAME=TEXT"),
    "a run": (["compare", "old.json.gz", "new.trec"], "new.trec holds no saved result"),
    "ties": (["compare", "old.json.gz", "new.json.gz", "--ties", "input"], "ties cannot be changed"),
    "no history": (["history", "show", "nothing.jsonl"], "has no entries"),
    "a report": (["report", "old.trec", "-o", "x.html"], "holds no saved result"),
    "metrics": (["history", "plot", "history.jsonl", "-m", "rr,map", "-o", "x.svg"], "draws one metric"),
}


@pytest.mark.usefixtures("saved_folder")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_a_line(capsys: Any, name: str) -> None:
    save_both()
    capsys.readouterr()
    call, message = WRONG[name]
    assert main(call) == 2
    stderr = capsys.readouterr().err
    assert message in stderr
    assert stderr.count("\n") == 1


@pytest.mark.usefixtures("saved_folder")
def test_a_saved_metric_of_ones_own_is_known_to_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("kept_metrics.py").write_text(
        "import retrieval_metrics as rm\n\n"
        "def first(grades):\n    return float(grades[0] > 0)\n\n"
        "rm.define_metric('kept_first', first)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = ["--metrics-from", "kept_metrics"]
    for name in ("old", "new"):
        call = ["evaluate", "qrels.trec", f"{name}.trec", "-m", "kept_first", *own, "--save", f"{name}.json"]
        assert main(call) == 0
    forget_metric("kept_first")
    del sys.modules["kept_metrics"]
    capsys.readouterr()
    calls = [
        ["history", "add", "history.jsonl", "new.json"],
        ["report", "new.json", "-o", "report.html"],
        ["compare", "old.json", "new.json"],
    ]
    for call in calls:
        assert main(call) == 2
        assert "pass --metrics-from kept_metrics, which defined it" in capsys.readouterr().err
    for call in calls:
        assert main([*call, *own]) == 0
    forget_metric("kept_first")
    del sys.modules["kept_metrics"]


@pytest.mark.usefixtures("saved_folder")
def test_slices_are_shown_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_run({f"q{n}": {"d": 2.0, "x": 1.0 if n < 4 else 3.0} for n in range(10)}, "run.trec")
    Path("slices.json").write_text(json.dumps({f"q{n}": "short" if n < 4 else "long" for n in range(9)}))
    call = ["evaluate", "qrels.trec", "run.trec", "-m", "mrr", "--slices", "slices.json"]
    assert main([*call, "--report", "report.html"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[:3] for line in out.splitlines() if "short" in line or "long" in line] == [
        ["short", "mrr", "1.000"],
        ["long", "mrr", "0.500"],
    ]
    assert "1 query without a label is in no slice" in out
    assert '"slices":["short","long"]' in Path("report.html").read_text()
    assert main([*call, "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["slice,metric,mean,n", "short,mrr,1.0,4", "long,mrr,0.5,5"]
    assert main([*call, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["slices"]["long"] == {"mrr": {"mean": 0.5, "n": 5}}
    assert data["metrics"]["mrr"]["n"] == 10
    assert main(["evaluate", "qrels.trec", "run.trec", "new.trec", "--slices", "slices.json"]) == 2
    assert "--slices is for one run" in capsys.readouterr().err


@pytest.mark.usefixtures("saved_folder")
def test_what_nobody_judged_is_asked_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    rm.write_qrels({f"q{n}": {"d": 1, "y": 0} for n in range(10)}, "qrels.trec")
    call = ["compare", "qrels.trec", "old.trec", "new.trec", "-m", "mrr"]
    assert main([*call, "--unjudged", "bounds"]) == 0
    assert "mrr over all possible grades (0, 1) of the unjudged retrieved documents" in capsys.readouterr().out
    assert main([*call, "--unjudged", "bounds", "--unretrieved-relevant", "2"]) == 0
    assert "and up to 2 unretrieved relevant documents per query" in " ".join(capsys.readouterr().out.split())
    assert main([*call, "--unjudged", "condensed", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["means"]["mrr"] == {"old": 1.0, "new": 1.0}


@pytest.mark.usefixtures("saved_folder")
def test_every_command_refuses_a_saved_file_that_is_not_what_was_saved(capsys: pytest.CaptureFixture[str]) -> None:
    save_both()
    Path("queries.tsv").write_text("q1\tone?\n")
    rm.load("new.json.gz").save("changed.json")
    rm.compare({"old": rm.load("old.json.gz"), "new": rm.load("new.json.gz")}).save("both.json")
    rm.save_run({"q1": ["d"]}, "run.json")
    rm.EvaluationSet({"q1": "one?"}, {"q1": ["d"]}).save("questions.json")
    for name, before, after in (
        ("changed.json", '"recall@5"', '"recall@9"'),
        ("both.json", '"old"', '"odd"'),
        ("run.json", '"d"', '"e"'),
        ("questions.json", "one?", "two?"),
    ):
        saved = Path(name).read_text()
        assert before in saved
        Path(name).write_text(saved.replace(before, after, 1))
        with pytest.raises(ValueError, match="is damaged, or was changed after it was saved"):
            rm.load(name)
    capsys.readouterr()
    for call in (
        "compare old.json.gz changed.json",
        "tune old.json.gz changed.json --default old -m mrr",
        "history add history.jsonl changed.json",
        "report changed.json -o report.html",
        "report both.json -o report.html",
        "evaluate qrels.trec run.json",
        "evaluate questions.json old.trec",
        "audit qrels.trec run.json",
        "lint questions.json questions.json",
        "lint queries.tsv qrels.trec --run run.json",
    ):
        assert main(call.split()) == 2, call
        assert "is damaged, or was changed after it was saved" in capsys.readouterr().err, call


def test_a_metric_that_only_the_files_give_is_asked_for_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    queries = [f"q{number}" for number in range(30)]
    for name, value in (("old", 0.5), ("new", 0.25)):
        scores = {"on_time": {query: value + number % 3 / 10 for number, query in enumerate(queries)}}
        rm.Evaluation.from_scores(scores, bounds=(0, 1)).save(f"{name}.json")
    forget = "import retrieval_metrics as rm, sys; from retrieval_metrics.cli.main import main; sys.exit(main())"
    call = [sys.executable, "-c", forget, "compare", "old.json", "new.json", "-m", "on_time", "--format", "csv"]
    done = subprocess.run(call, check=True, capture_output=True, text=True)  # in a process that has not made the metric
    assert done.stdout.splitlines()[1].startswith("on_time,new,old,30,-0.2")
    assert main(["history", "add", "history.jsonl", "old.json"]) == 0
    assert main(["history", "plot", "history.jsonl", "-m", "on_time", "-o", "plot.svg"]) == 0
    call = ["tune", "old.json", "new.json", "--default", "new", "-m", "on_time", "--format", "json"]
    assert main([*call, "--at-most", "on_time=0.4"]) == 0
    assert json.loads(capsys.readouterr().out)["winner"] == "new"
    assert main(["compare", "old.json", "new.json", "-m", "in_time"]) == 2
    assert "unknown metric 'in_time'; did you mean on_time" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*call, "--at-most", "on_time"])
    assert "'on_time' must be a metric and a number" in capsys.readouterr().err
