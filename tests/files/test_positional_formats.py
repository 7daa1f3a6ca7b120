"""The files of other tools whose columns have no names."""

from pathlib import Path

import pytest

import retrieval_metrics as rm

ORDER = {"q1": ["d2", "d1"], "q2": ["d3"]}
SCORES = {"q1": {"d2": 9.5, "d1": 8.0}, "q2": {"d3": 7.0}}


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize(
    ("format_name", "lines", "expected"),
    [
        ("msmarco", ["q1 d2 1", "q1 d1 2", "q2 d3 1"], ORDER),
        ("colbert", ["q1 d2 1", "q1 d1 2", "q2 d3 1"], ORDER),
        ("colbert", ["q1 d2 1 9.5", "q1 d1 2 8.0", "q2 d3 1 7.0"], SCORES),
        ("tevatron", ["q1 d2 9.5", "q1 d1 8.0", "q2 d3 7.0"], SCORES),
    ],
)
def test_runs(tmp_path: Path, separator: str, format_name: str, lines: list[str], expected: object) -> None:
    path = tmp_path / "run.txt"
    path.write_text("".join(line.replace(" ", separator) + "\n" for line in lines))
    assert dict(rm.read_run(path, format=format_name)) == expected


def test_grades_of_ntcir(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 d1 L2\nq1 d2 L0\nq2 d3 L1\n")
    assert rm.read_qrels(path, format="ntcir").as_dict() == {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d3": 1.0}}
    path.write_text("q1 d1 high\n")
    with pytest.raises(ValueError, match=r"line 1: q1 d1 high: .*'high' as grade, which is not a finite number"):
        rm.read_qrels(path, format="ntcir")


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (["q1 d2 1", "q1 d1 2", "q2 d3 1"], "msmarco"),
        (["q1 d2 9.5", "q1 d1 8.0", "q2 d3 7.0"], "tevatron"),
        (["q1 d2 1 9.5", "q1 d1 2 8.0", "q2 d3 1 7.0"], "colbert"),
    ],
)
def test_the_message_about_a_run_names_the_format_that_reads_it(tmp_path: Path, lines: list[str], advice: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=f"format='{advice}'"):
        rm.read_run(path)
    assert list(rm.read_run(path, format=advice)["q1"]) == ["d2", "d1"]


def test_a_rank_is_never_taken_for_a_score(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 d2 1\nq1 d1 2\n")
    with pytest.raises(ValueError, match="holds ranks"):
        rm.read_run(path, format="tevatron")


@pytest.mark.parametrize(
    ("format_name", "text", "message"),
    [
        ("msmarco", "q1 d1\n", "line 1: q1 d1: 2 columns where MS MARCO has query document rank"),
        ("ntcir", "q1 d1 1\n", "format='ntcir' is for judgments; runs of NTCIR are TREC files"),
        ("msmarko", "q1 d1 1\n", "unknown format 'msmarko'"),
    ],
)
def test_what_a_format_does_not_hold(tmp_path: Path, format_name: str, text: str, message: str) -> None:
    (tmp_path / "run.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        rm.read_run(tmp_path / "run.txt", format=format_name)


def test_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("q1 d1 1\n")
    with pytest.raises(ValueError, match="is read as msmarco, which has no column names"):
        rm.read_run(tmp_path / "run.txt", format="msmarco", columns={"query": "q1"})
