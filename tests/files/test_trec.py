"""TREC files: every spelling of the same lines is the same, and what is wrong is named by file and line."""

import warnings
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.files import opening
from retrieval_metrics.inputs.run import StreamedRun
from trec_run import RUN_BY_QUERY, RUN_LINES, Write


def test_ranks_that_contradict_the_scores_are_warned_of(write: Write) -> None:
    distances = [f"q{query} Q0 d{rank} {rank} {rank / 7:.3f} faiss" for query in range(3) for rank in range(1, 6)]
    with pytest.warns(rm.RetrievalWarning, match="some.run is ordered by score, .* if they are distances, negate them"):
        rm.read_run(write("\n".join(distances)))
    exchanged = [f"q Q0 d{rank} {9 - rank / 2:g} {rank} t" for rank in range(1, 6)]
    with pytest.warns(rm.RetrievalWarning, match="if the columns are swapped"):
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


def test_rows_of_a_query_may_stand_apart(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join(sorted(RUN_LINES, key=lambda line: line.split()[3])))
    assert dict(rm.read_run(path)) == RUN_BY_QUERY
    path.write_text(path.read_text() + "\n" + RUN_LINES[0])
    with pytest.raises(ValueError, match=r"some.run, line 31: q0 Q0 d0 1 20.0 bm25: document 'd0' appears twice"):
        rm.read_run(path)


def test_a_run_beyond_the_memory_is_streamed_and_gives_the_same(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join(RUN_LINES))
    run = rm.read_run(path, memory=200)
    assert isinstance(run, StreamedRun)
    assert "<StreamedRun: 5 queries, 30 documents, streamed from" in repr(run)
    assert dict(run) == RUN_BY_QUERY == dict(run.rankings())
    qrels = {"q1": {"d9": 2, "d7": 1}, "q4": {"d29": 1}, "q0": ["d3"]}
    streamed = rm.evaluate(qrels, run, ["ndcg", "map"])
    in_memory = rm.evaluate(qrels, rm.read_run(path), ["ndcg", "map"])
    assert streamed.values.tolist() == in_memory.values.tolist()
    assert streamed.counts == in_memory.counts


def test_a_run_beyond_the_memory_whose_queries_are_torn_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PIECE_BYTES", 100)
    path = write("\n".join([*RUN_LINES, "q0 Q0 more 8 1.0 bm25"]))
    with pytest.raises(ValueError, match=r"the lines of query 'q0' are not consecutive.*sort the file by query"):
        rm.read_run(path, memory=200)


def test_qrels_are_read_with_grades_and_their_repeats_refused(write: Write) -> None:
    qrels = rm.read_qrels(write("q1 0 d1 1\r\nq2\t0\td1\t-1\r\nq1 0 d2 0.5\r\n"))
    assert qrels.as_dict() == {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d1": -1.0}}
    with pytest.raises(ValueError, match=r"some.run, line 3: q1 0 d1 0: document 'd1' appears twice for query 'q1'"):
        rm.read_qrels(write("q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 0\n"))
    with pytest.raises(ValueError, match=r"some.run, line 1: q1 0 d1 high: the grade 'high' is not a finite number"):
        rm.read_qrels(write("q1 0 d1 high\n"))


def test_cranfield_from_disk_is_cranfield_from_dicts(shared_data: Path) -> None:
    qrels = shared_data / "cranfield/qrels.graded.trec"
    run = shared_data / "cranfield/run.bm25.trec"
    result = rm.evaluate(rm.read_qrels(qrels), rm.read_run(run), ["ndcg@10", "map"], rules="trec_eval")
    assert (round(result.means["ndcg@10"], 4), round(result.means["map"], 4)) == (0.3344, 0.2626)


@pytest.mark.parametrize(
    "description", ["<SYSDESC>BM25, titles only</SYSDESC>\n", "\n<SYSDESC>BM25\nof titles #1</SYSDESC>\n"]
)
def test_what_a_run_of_ntcir_says_of_its_system_is_skipped(tmp_path: Path, description: str) -> None:
    path = tmp_path / "run.txt"
    path.write_text(f"{description}q1 0 d1 1 2.5 bm25\nq1 0 d2 2 1.5 bm25\n")
    assert dict(rm.read_run(path)) == {"q1": {"d1": 2.5, "d2": 1.5}}
    number = description.count("\n") + 1
    path.write_text(f"{description}q1 0 d1 1 bm25\n")
    with pytest.raises(ValueError, match=rf"line {number}: q1 0 d1 1 bm25: 5 columns"):
        rm.read_run(path)
