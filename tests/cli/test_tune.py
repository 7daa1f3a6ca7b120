"""`retrieval-metrics tune`, from runs and from saved evaluations."""

import json
import random
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

SETTINGS = ("k10", "k60", "k100")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = random.Random(5)
    qrels = {f"q{index}": ["d"] for index in range(30)}
    rm.write_qrels(qrels, tmp_path / "qrels.trec")
    for name in SETTINGS:
        ranks = {query: rng.randrange(2 if name == "k100" else 5) for query in qrels}
        run = {
            query: {document: 9.0 - index for index, document in enumerate([*(f"x{n}" for n in range(rank)), "d"])}
            for query, rank in ranks.items()
        }
        rm.write_run(run, tmp_path / f"{name}.run")
        rm.evaluate(qrels, run, ["mrr", "hit_rate@1"]).save(tmp_path / f"{name}.json.gz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_says_what_python_says_from_runs_and_from_saved_evaluations(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = rm.read_qrels(folder / "qrels.trec")
    runs = {name: rm.read_run(folder / f"{name}.run") for name in SETTINGS}
    expected = str(rm.tune(runs, qrels, "mrr", default="k60", extra_metrics="hit_rate@1"))
    assert (
        main(["tune", "qrels.trec", *(f"{name}.run" for name in SETTINGS), "-m", "mrr,hit_rate@1", "--default", "k60"])
        == 0
    )
    assert capsys.readouterr().out.strip() == expected
    assert main(["tune", *(f"{name}.json.gz" for name in SETTINGS), "-m", "mrr,hit_rate@1", "--default", "k60"]) == 0
    assert capsys.readouterr().out.strip() == expected


def test_it_saves_reports_and_writes_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["tune", "qrels.trec", *(f"{name}.run" for name in SETTINGS), "-m", "mrr", "--default", "k60"]
    assert main([*call, "--save", "t.json.gz", "--report", "t.html", "-o", "t.json", "--at-most", "mrr=0.6"]) == 0
    data = json.loads((folder / "t.json").read_text())
    saved = rm.load(folder / "t.json.gz")
    assert data["winner"] == saved.winner != "k100"
    assert {setting["setting"]: setting["feasible"] for setting in data["settings"]}["k100"] is False
    assert {setting["obstacle"] for setting in data["settings"]} == {None}
    assert saved.conclusion in (folder / "t.html").read_text()
    capsys.readouterr()
    assert main(["report", "t.json.gz", "-o", "again.html"]) == 0
    assert (folder / "again.html").read_text() == (folder / "t.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["qrels.trec", "k10.run", "k60.run", "--default", "main"],
            "the default, 'main', is not among the settings: k10 and k60",
        ),
        (["qrels.trec", "k10.run", "--default", "k10"], "two"),
        (["k10.json.gz", "qrels.trec", "--default", "k10"], "holds no saved result"),
        (
            ["qrels.trec", "k10.run", "k60.run", "--default", "k10", "--at-least", "mrr"],
            "must be a metric and a number",
        ),
        (
            ["qrels.trec", "k10.run", "k60.run", "--default", "k10", "--at-least", "mrr=60"],
            "--at-least for mrr must be between 0 and 1, got 60: no value could pass. Did you mean 0.6?",
        ),
        (["qrels.trec", "k10.run", "k60.run"], "--default"),
    ],
)
def test_wrong_calls_are_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    try:
        code = main(["tune", *arguments])
    except SystemExit as error:
        code = int(str(error.code))
    assert code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["qrels.trec", *(f"{name}{end}" for name in SETTINGS for end in (".run", ".json.gz"))]
    )
