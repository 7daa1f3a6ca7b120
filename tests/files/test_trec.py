"""TREC files: every spelling of the same lines is the same, and what is wrong is named by file and line."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.files import opening
from retrieval_metrics.inputs.run import StreamedRun

LINES = [f"q{number // 7} Q0 d{number} {number % 7 + 1} {20 - number / 7} bm25" for number in range(30)]
EXPECTED = {f"q{query}": {f"d{n}": 20 - n / 7 for n in range(30) if n // 7 == query} for query in range(5)}

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "some.run") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES) + "\n",
        "\n".join(LINES),
        "\r\n".join(LINES) + "\r\n",
        "\n".join(line.replace(" ", "\t") for line in LINES),
        "\n".join(line.replace(" ", " \t  ") for line in LINES),
        "\n".join("  " + line + " " for line in LINES),
        "\n\n  \n" + "\n\n".join(LINES) + "\n\n",
        "\ufeff" + "\n".join(LINES),
    ],
    ids=["plain", "no final newline", "CRLF", "tabs", "runs of blanks", "blanks at the ends", "empty lines", "BOM"],
)
@pytest.mark.parametrize("piece", [1, 100, 1 << 20])
def test_every_spelling_is_read_alike(write: Write, monkeypatch: pytest.MonkeyPatch, text: str, piece: int) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", piece)
    assert dict(rm.read_run(write(text))) == EXPECTED


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_compressed_files_are_known_by_their_content(write: Write, compress: Callable[[bytes], bytes]) -> None:
    text = "\n".join(LINES).encode()
    assert dict(rm.read_run(write(compress(text)))) == EXPECTED
    assert dict(rm.read_run(write(compress(text[:100]) + compress(text[100:])))) == EXPECTED  # joined by cat


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_compressed_files_that_are_cut_short_are_refused(write: Write, compress: Callable[[bytes], bytes]) -> None:
    whole = compress("\n".join(LINES).encode())
    for broken in (whole[:-9], whole[: len(whole) // 2], whole[:20]):
        with pytest.raises(ValueError, match=r"some.run is damaged or cut short"):
            rm.read_run(write(broken))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_damaged_byte_in_a_compressed_file_of_ours_is_found_or_harmless(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"some.run{suffix}"
    rm.write_run(EXPECTED, path)
    whole, harmful = path.read_bytes(), 0
    for at in range(12, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert dict(rm.read_run(path)) == EXPECTED  # a byte that says nothing of the data, such as the file's name
        except ValueError as error:
            harmful += 1
            assert str(path) in str(error)  # noqa: PT017  (some bytes raise and some do no harm)
    assert harmful > len(whole) / 2


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
spelled = numbers.flatmap(lambda x: st.sampled_from([repr(x), str(x).upper(), f"{x:+}"]))
UNREADABLE = ["0x10", "1_0", "1d3", "+-0.0"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(spelled | st.sampled_from([".5", "5.", "1E3", "1e-400", "٣", *UNREADABLE]), min_size=1))
def test_scores_are_those_of_python_to_the_last_bit(tmp_path: Path, scores: list[str]) -> None:
    path = tmp_path / "scores.run"
    path.write_text("".join(f"q Q0 d{at} 1 {score} t\n" for at, score in enumerate(scores)))
    strange = [at for at, score in enumerate(scores) if score in UNREADABLE]
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
        (3, "q0 Q0 d2 3 19.7", r"line 3: q0 Q0 d2 3 19.7: 5 columns where a TREC run has 6: query Q0 document rank"),
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
    lines = [*LINES[: number - 1], line, *LINES[number:]]
    with pytest.raises(ValueError, match=r"some.run, " + message):
        rm.read_run(write("\n".join(lines)))


def test_a_wrong_line_after_empty_ones_has_the_number_an_editor_shows(write: Write) -> None:
    with pytest.raises(ValueError, match=r"some.run, line 34: q9 Q0 d 1 x t"):
        rm.read_run(write("\n\n" + "\n".join(LINES) + "\r\n\r\nq9 Q0 d 1 x t\n"))


def test_a_file_that_was_cut_is_told_from_the_wrong_one(write: Write) -> None:
    whole = "\n".join(LINES) + "\n"
    for columns in (3, 4, 5):
        cut = whole + " ".join(["q9", "Q0", "d9", "1", "2.5", "tag"][:columns])
        with pytest.raises(ValueError, match=f"{columns} columns where .* no line end, so the file seems to be cut"):
            rm.read_run(write(cut))
        with pytest.raises(ValueError, match=rf"{columns} columns where a TREC run has 6: [\w ]+$"):
            rm.read_run(write(cut + "\n" + whole.replace("q", "r")))


def test_ranks_that_contradict_the_scores_are_warned_of(write: Write) -> None:
    distances = [f"q{query} Q0 d{rank} {rank} {rank / 7:.3f} faiss" for query in range(3) for rank in range(1, 6)]
    with pytest.warns(rm.RetrievalWarning, match="some.run is ordered by score, .* if they are distances, negate them"):
        rm.read_run(write("\n".join(distances)))
    exchanged = [f"q Q0 d{rank} {9 - rank / 2:g} {rank} t" for rank in range(1, 6)]
    with pytest.warns(rm.RetrievalWarning, match="if the columns are exchanged"):
        rm.read_run(write("\n".join(reversed(exchanged))))


@pytest.mark.parametrize(
    "lines",
    [
        [f"q Q0 d{rank} {rank} {9 - rank} t" for rank in range(6)],
        [f"q Q0 d{rank} 0 {rank} t" for rank in range(6)],  # ranks that nobody filled in
        [f"q Q0 d{rank} {rank} 1 t" for rank in range(6)],
        [f"q Q0 d{rank} {rank} {rank} t" for rank in (1, 2)],
        [
            *(f"q Q0 d{rank} {rank} {rank} t" for rank in range(6)),
            *(f"p Q0 d{rank} {rank} {9 - rank} t" for rank in range(6)),
        ],
    ],
)
def test_ranks_that_say_little_are_not_warned_of(write: Write, lines: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", rm.RetrievalWarning)
        rm.read_run(write("\n".join(lines)))


def test_the_wrong_file_is_told_from_the_right_one(write: Write) -> None:
    with pytest.raises(ValueError, match="four columns are TREC qrels, which read_qrels reads"):
        rm.read_run(write("q1 0 d1 1\n"))
    with pytest.raises(ValueError, match="six columns are a TREC run, which read_run reads"):
        rm.read_qrels(write("\n".join(LINES)))
    with pytest.raises(ValueError, match=r"some.run is empty"):
        rm.read_run(write(""))
    with pytest.raises(ValueError, match=r"some.run is empty: it contains only blanks"):
        rm.read_run(write("\n \n"))
    with pytest.raises(ValueError, match=r"some.run is not a text file; a TREC run has 6"):
        rm.read_run(write(bytes(range(256)) * 9))
    with pytest.raises(FileNotFoundError, match=r"nowhere.run"):
        rm.read_run("nowhere.run")


def test_rows_of_a_query_may_stand_apart(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join(sorted(LINES, key=lambda line: line.split()[3])))
    assert dict(rm.read_run(path)) == EXPECTED
    path.write_text(path.read_text() + "\n" + LINES[0])
    with pytest.raises(ValueError, match=r"some.run, line 31: q0 Q0 d0 1 20.0 bm25: document 'd0' appears twice"):
        rm.read_run(path)


def test_a_run_beyond_the_memory_is_streamed_and_gives_the_same(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join(LINES))
    run = rm.read_run(path, memory=200)
    assert isinstance(run, StreamedRun)
    assert "<StreamedRun: 5 queries, 30 documents, streamed from" in repr(run)
    assert dict(run) == EXPECTED == dict(run.rankings())
    qrels = {"q1": {"d9": 2, "d7": 1}, "q4": {"d29": 1}, "q0": ["d3"]}
    streamed, held = (rm.evaluate(qrels, each, ["ndcg", "map"]) for each in (run, rm.read_run(path)))
    assert streamed.values.tolist() == held.values.tolist()
    assert streamed.counts == held.counts


def test_a_run_beyond_the_memory_whose_queries_are_torn_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join([*LINES, "q0 Q0 more 8 1.0 bm25"]))
    with pytest.raises(ValueError, match=r"the lines of query 'q0' are not consecutive.*sort the file by query"):
        rm.read_run(path, memory=200)


def test_qrels_are_read_with_grades_and_their_repeats_refused(write: Write) -> None:
    qrels = rm.read_qrels(write("q1 0 d1 1\r\nq2\t0\td1\t-1\r\nq1 0 d2 0.5\r\n"))
    assert {query: qrels.judgments(at) for at, query in enumerate(qrels.queries)} == {
        "q1": {"d1": 1.0, "d2": 0.5},
        "q2": {"d1": -1.0},
    }
    with pytest.raises(ValueError, match=r"some.run, line 3: q1 0 d1 0: document 'd1' appears twice for query 'q1'"):
        rm.read_qrels(write("q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 0\n"))
    with pytest.raises(ValueError, match=r"some.run, line 1: q1 0 d1 high: the grade 'high' is not a finite number"):
        rm.read_qrels(write("q1 0 d1 high\n"))


def test_cranfield_from_disk_is_cranfield_from_dicts(shared_data: Path) -> None:
    qrels, run = shared_data / "cranfield/qrels.graded.trec", shared_data / "cranfield/run.bm25.trec"
    result = rm.evaluate(rm.read_qrels(qrels), rm.read_run(run), ["ndcg@10", "map"], rules="trec_eval")
    assert (round(result.means["ndcg@10"], 4), round(result.means["map"], 4)) == (0.3344, 0.2626)
