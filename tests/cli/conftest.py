"""Files that several commands are called with."""

from pathlib import Path

import pytest

import retrieval_metrics as rm

QRELS = "q1 0 d7 1\nq1 0 d3 2\nq2 0 d1 1\nq3 0 d1 0\n"
RUN = "q1 Q0 d7 1 9.5 bm25\nq1 Q0 d2 2 9.0 bm25\nq1 Q0 d3 3 8.25 bm25\nq2 Q0 d4 1 3.0 bm25\nq2 Q0 d1 2 1.0 bm25\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "small.qrels").write_text(QRELS)
    (tmp_path / "small.run").write_text(RUN)
    return [str(tmp_path / "small.qrels"), str(tmp_path / "small.run")]


@pytest.fixture
def two_runs(tmp_path: Path) -> list[str]:
    rm.write_qrels({"q1": {"d7": 1, "d3": 2}, "q2": {"d1": 1}, "q3": {"d9": 1}}, tmp_path / "all.qrels")
    rm.write_run({"q1": {"d7": 9.5, "d2": 9.0, "d3": 8.0}, "q2": {"d1": 2.0}, "q3": {"d9": 1.0}}, tmp_path / "one.run")
    rm.write_run(
        {"q1": {"d2": 9.5, "d3": 9.5}, "q2": {"d4": 2.0, "d1": 1.0}, "q3": {"d9": 1.0}}, tmp_path / "two.run.gz"
    )
    return [str(tmp_path / name) for name in ("all.qrels", "one.run", "two.run.gz")]


@pytest.fixture
def systems(tmp_path: Path) -> list[str]:
    queries = [f"q{number}" for number in range(40)]
    rm.write_qrels({query: ["d"] for query in queries}, tmp_path / "all.qrels")
    rm.write_run({query: ["d", "x"] for query in queries}, tmp_path / "good.run.gz")
    rm.write_run(
        {query: ["x", "y", "d"] if index % 3 else ["d"] for index, query in enumerate(queries)}, tmp_path / "bad.run"
    )
    return [str(tmp_path / name) for name in ("all.qrels", "good.run.gz", "bad.run")]


@pytest.fixture
def saved_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rm.write_qrels({f"q{n}": {"d": 1} for n in range(10)}, "qrels.trec")
    rm.write_run({f"q{n}": {"x": 2.0, "d": 1.0} for n in range(10)}, "old.trec")
    rm.write_run({f"q{n}": {"d": 2.0, "x": 1.0} for n in range(10)}, "new.trec")
    return tmp_path
