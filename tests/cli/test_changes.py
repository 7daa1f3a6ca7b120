"""`retrieval-metrics changes` says what Python says of two runs."""

import json
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

BEFORE = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}
AFTER = {"q1": ["d2", "d1", "d9"], "q2": ["d4", "d5"]}


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "before.jsonl", tmp_path / "after.jsonl"]
    for path, run in zip(paths, (BEFORE, AFTER), strict=True):
        rm.write_run(run, path)
    return list(map(str, paths))


def test_the_numbers_are_those_of_python(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    expected = rm.changes(BEFORE, AFTER, ["overlap@2", "rbo", "precision@3"])
    assert main(["changes", *runs, "-m", "overlap@2,rbo,precision@3", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["means"] == pytest.approx(expected.means)


def test_a_report_shows_the_rankings_side_by_side(runs: list[str], tmp_path: Path) -> None:
    report = tmp_path / "changes.html"
    assert main(["changes", *runs, "-m", "overlap@3", "--report", str(report)]) == 0
    page = report.read_text()
    assert "d9" in page
    assert "q1" in page


def test_what_has_no_bound_is_refused_in_one_line(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["changes", *runs, "-m", "map"]) == 2
    assert "the change in map cannot be bounded" in capsys.readouterr().err
