"""Files without a header: the first row is never lost, and following the message reads the file."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

ROWS = [("1", "70", "82.5"), ("1", "71", "81.0"), ("2", "80", "79.0"), ("2", "81", "78.5")]
RUN = {"1": {"70": 82.5, "71": 81.0}, "2": {"80": 79.0, "81": 78.5}}
POSITIONS: dict[str, str | int | None] = {"query": 1, "document": 2, "score": 3}


def write(path: Path, rows: Sequence[tuple[str, ...]], separator: str) -> Path:
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(("name", "separator"), [("run.csv", ","), ("run.tsv", "\t"), ("run.txt", "\t")])
def test_the_message_names_header_false_which_reads_every_row(tmp_path: Path, name: str, separator: str) -> None:
    path = write(tmp_path / name, ROWS, separator)
    with pytest.raises(ValueError, match=r"no header: its first line .* pass header=False, and the positions"):
        rm.read_run(path)
    with pytest.raises(ValueError, match="no header"):
        rm.read_run(path, columns={"query": "1", "document": "70", "score": "82.5"})
    assert dict(rm.read_run(path, header=False, columns=POSITIONS)) == RUN


@pytest.mark.parametrize("first", ["q1", "q2"])
def test_ids_that_name_a_column_are_values(tmp_path: Path, first: str) -> None:
    path = write(tmp_path / "qrels.csv", [(first, "d1"), ("q1", "d2"), ("q3", "d3")], ",")
    columns: dict[str, str | int | None] = {"query": first, "document": "d1", "grade": None}
    for given in (None, columns):
        with pytest.raises(ValueError, match="seems to have no header"):
            rm.read_qrels(path, columns=given)
    positions: dict[str, str | int | None] = {"query": 1, "document": 2, "grade": None}
    assert len(rm.read_qrels(path, header=False, columns=positions).documents) == 3


def test_the_columns_that_pandas_numbers_are_names(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", [("0", "1", "2"), ("q1", "d1", "2.5")], ",")
    assert dict(rm.read_run(path, columns={"query": "0", "document": "1", "score": "2"})) == {"q1": {"d1": 2.5}}


def test_ranks_are_never_taken_for_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "run.tsv", [("q1", "d1", "1"), ("q1", "d2", "2"), ("q2", "d1", "1")], "\t")
    with pytest.raises(ValueError, match=r"holds ranks, 1, 2 and so on.*columns=\{'rank': 3\}"):
        rm.read_run(path, header=False, columns=POSITIONS)
    by_rank = rm.read_run(path, header=False, columns={"query": 1, "document": 2, "rank": 3})
    assert dict(by_rank) == {"q1": ["d1", "d2"], "q2": ["d1"]}


def test_a_wrong_line_without_a_header_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "run.csv", [*ROWS, ("3", "90", "x")], ",")
    with pytest.raises(ValueError, match="line 5: 3,90,x"):
        rm.read_run(path, header=False, columns=POSITIONS)
    short = write(tmp_path / "short.csv", [*ROWS, ("3", "90")], ",")
    with pytest.raises(ValueError, match="line 5: 3,90: 2 columns where the first line has 3"):
        rm.read_run(short, header=False, columns=POSITIONS)


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.trec", "run.parquet"])
def test_other_formats_refuse_header_false(tmp_path: Path, name: str) -> None:
    rm.write_run(RUN, tmp_path / name)
    with pytest.raises(ValueError, match="leave header=False out"):
        rm.read_run(tmp_path / name, header=False)


def test_positions_in_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write(tmp_path / "judged.csv", [("query", "document"), ("1", "70"), ("2", "81")], ",")
    run = write(tmp_path / "run.tsv", ROWS, "\t")
    command = ["evaluate", str(qrels), str(run), "-m", "mrr", "--format", "json"]
    assert main(command) == 2
    assert "such as --run-column query=1 --run-column document=2;" in capsys.readouterr().err
    columns = ["--run-column", "query=1", "--run-column", "document=2", "--run-column", "score=3"]
    assert main([*command, *columns]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["mrr"]["mean"] == 0.75
