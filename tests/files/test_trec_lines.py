"""Every spelling of the lines of a TREC file is the same, and a wrong line is named."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.files import opening
from trec_run import RUN_BY_QUERY, RUN_LINES, Write


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(RUN_LINES) + "\n",
        "\n".join(RUN_LINES),
        "\r\n".join(RUN_LINES) + "\r\n",
        "\n".join(line.replace(" ", "\t") for line in RUN_LINES),
        "\n".join(line.replace(" ", " \t  ") for line in RUN_LINES),
        "\n".join("  " + line + " " for line in RUN_LINES),
        "\n\n  \n" + "\n\n".join(RUN_LINES) + "\n\n",
        "\ufeff" + "\n".join(RUN_LINES),
    ],
    ids=["plain", "no final newline", "CRLF", "tabs", "runs of blanks", "blanks at the ends", "empty lines", "BOM"],
)
@pytest.mark.parametrize("piece", [1, 100, 1 << 20])
def test_every_spelling_is_read_alike(write: Write, monkeypatch: pytest.MonkeyPatch, text: str, piece: int) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", piece)
    assert dict(rm.read_run(write(text))) == RUN_BY_QUERY


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)

spelled = numbers.flatmap(lambda x: st.sampled_from([repr(x), str(x).upper(), f"{x:+}"]))

UNREADABLE = ["0x10", "1_0", "1d3", "+-0.0"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(spelled | st.sampled_from([".5", "5.", "1E3", "1e-400", "٣", *UNREADABLE]), min_size=1))
def test_scores_are_those_of_python_to_the_last_bit(tmp_path: Path, scores: list[str]) -> None:
    path = tmp_path / "scores.run"
    path.write_text("".join(f"q Q0 d{number} 1 {score} t\n" for number, score in enumerate(scores)))
    strange = [number for number, score in enumerate(scores) if score in UNREADABLE]
    if strange:
        with pytest.raises(ValueError, match=rf"scores.run, line {strange[0] + 1}: .*is not a finite number"):
            rm.read_run(path)
    else:
        assert list(rm.read_run(path)["q"].values()) == [float(score) for score in scores]


def test_ids_may_hold_quotes_hashes_and_any_letters(write: Write) -> None:
    run = rm.read_run(write('q#"1 Q0 "d,1 1 2.5 t\nq#"1 Q0 #dé😀 2 1.5 t\n'))
    assert dict(run) == {'q#"1': {'"d,1': 2.5, "#dé😀": 1.5}}


@pytest.fixture(params=[1, 200, 1 << 20])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", request.param)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize(
    ("number", "line", "message"),
    [
        (
            3,
            "q0 Q0 d2 3 19.7",
            r"line 3: q0 Q0 d2 3 19.7: 5 columns where a TREC run has 6 columns: query Q0 document rank",
        ),
        (3, "q0 Q0 d2 3 19.7 bm25 more", "line 3: .*: 7 columns where a TREC run has 6"),
        (30, "q4 Q0 d29 2 15.8", "line 30: q4 Q0 d29 2 15.8: 5 columns"),
        (30, "q", "line 30: q: 1 column where a TREC run has 6"),
        (9, "q1 Q0 d8 2 high bm25", "line 9: q1 Q0 d8 2 high bm25: the score 'high' is not a finite number"),
        (9, "q1 Q0 d8 2 nan bm25", "line 9: .*the score 'nan' is not a finite number"),
        (9, "q1 Q0 d8 2 -inf bm25", "line 9: .*the score '-inf' is not a finite number"),
        (9, "q1 Q0 d8 2 1e999 bm25", "line 9: .*the score '1e999' is not a finite number"),
        (14, "q1 Q0 d9 7 1.5 bm25", "line 14: q1 Q0 d9 7 1.5 bm25: document 'd9' appears twice for query 'q1'"),
        (5, "q0  d4 5 19.4 bm25", "line 5: q0  d4 5 19.4 bm25: 5 columns"),
        (1, "query Q0 document rank score tag", "line 1: .*the score 'score' is not a finite number"),
    ],
)
def test_a_wrong_line_is_named(write: Write, number: int, line: str, message: str) -> None:
    lines = [*RUN_LINES[: number - 1], line, *RUN_LINES[number:]]
    with pytest.raises(ValueError, match=r"some.run, " + message):
        rm.read_run(write("\n".join(lines)))


def test_a_wrong_line_after_empty_ones_has_the_number_an_editor_shows(write: Write) -> None:
    with pytest.raises(ValueError, match=r"some.run, line 34: q9 Q0 d 1 x t"):
        rm.read_run(write("\n\n" + "\n".join(RUN_LINES) + "\r\n\r\nq9 Q0 d 1 x t\n"))


def test_a_file_that_was_cut_is_told_from_the_wrong_one(write: Write) -> None:
    text = "\n".join(RUN_LINES) + "\n"
    for columns in (3, 4, 5):
        cut = text + " ".join(["q9", "Q0", "d9", "1", "2.5", "tag"][:columns])
        with pytest.raises(
            ValueError,
            match=f"{columns} columns where .* not end with a newline, so .* seems to have been cut",
        ):
            rm.read_run(write(cut))
        with pytest.raises(ValueError, match=rf"{columns} columns where a TREC run has 6 columns: [\w ]+$"):
            rm.read_run(write(cut + "\n" + text.replace("q", "r")))


def test_the_wrong_file_is_told_from_the_right_one(write: Write) -> None:
    with pytest.raises(ValueError, match="a line with four columns is from TREC qrels, which read_qrels reads"):
        rm.read_run(write("q1 0 d1 1\n"))
    with pytest.raises(ValueError, match="a line with six columns is from a TREC run, which read_run reads"):
        rm.read_qrels(write("\n".join(RUN_LINES)))
    with pytest.raises(ValueError, match=r"some.run is empty"):
        rm.read_run(write(""))
    with pytest.raises(ValueError, match=r"some.run is empty: it contains only blanks"):
        rm.read_run(write("\n \n"))
    with pytest.raises(ValueError, match=r"some.run is not a text file; a TREC run has 6"):
        rm.read_run(write(bytes(range(256)) * 9))
    with pytest.raises(FileNotFoundError, match=r"nowhere.run"):
        rm.read_run("nowhere.run")
