"""Scores in 32 bits, and runs that are streamed; the run itself stays as it was."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.inputs.run import StreamedRun
from retrieval_metrics.inputs.single_precision import may_gain_a_tie, round_ranking, round_scores
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN, TIES_BY_ID, ScoreOrder, rank_ids

near_each_other = st.builds(
    lambda base, steps: base * (1 + steps * 2.0**-26),
    st.sampled_from([1.0, -3.7, 0.1234567, 16_777_216.0, 3e38, 1e300, -1e300, 1e-44, 1e-310, 0.0]),
    st.integers(-8, 8),
)
scores = st.one_of(
    near_each_other, st.floats(allow_nan=False, allow_infinity=False, width=64), st.integers(-(2**60), 2**60)
)
rankings = st.dictionaries(st.sampled_from("abcdefghij"), scores, min_size=1, max_size=10)


@given(st.lists(rankings, min_size=1, max_size=4), st.sampled_from([TIES_BY_ID, TIES_AS_GIVEN]))
def test_judging_in_32_bits_is_judging_what_was_rounded(given_: list[dict[str, Any]], order: ScoreOrder) -> None:
    run = {f"q{at}": ranking for at, ranking in enumerate(given_)}
    qrels = rm.Qrels({query: dict.fromkeys("acegi", 1) for query in run})
    before = {query: round_ranking(ranking) for query, ranking in run.items()}
    single = order._replace(single_precision=True)
    expected, got = judge(qrels, before, "id", order), judge(qrels, run, "id", single)
    for one, other in zip(expected.items, got.items, strict=True):
        assert one.tolist() == other.tolist()
    columns = [(query, document, float(score)) for query, ranking in run.items() for document, score in ranking.items()]
    frame = dict(zip(("query", "document", "score"), zip(*columns, strict=True), strict=True))
    if order == TIES_BY_ID:
        by_column = judge(qrels, rm.Run.from_frame(frame), "id", single)
        for one, other in zip(expected.items, by_column.items, strict=True):
            assert one.tolist() == other.tolist()
    for query, ranking in run.items():
        assert rank_ids(ranking, single) == rank_ids(before[query], order)


@given(near_each_other, near_each_other)
@example(1.0, 1.0 + 2.0**-24)
@example(3.5e38, 1e300)
@example(2.0**-149, 2.0**-149 * 0.75)
def test_what_becomes_equal_was_close(one: float, other: float) -> None:
    if len(set(round_scores([one, other]).tolist())) == 1:
        assert may_gain_a_tie(sorted([one, other]), [1])
        assert may_gain_a_tie(sorted([one, other]), [2])


def test_numbers_beyond_32_bits_are_the_largest_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert round_scores([1e300, -1e300]).tolist() == [
            float(np.finfo(np.float32).max),
            float(np.finfo(np.float32).min),
        ]


def test_the_run_is_kept_as_it_was_and_explained_in_the_order_it_was_scored() -> None:
    run = {"q": {"b": 0.123456781, "c": 0.12345678, "x": 0.5}}
    rules = rm.Rules(name="as pytrec_eval", scores="single")
    evaluation = rm.evaluate({"q": {"b": 1}}, run, "mrr@2", rules=rules)
    assert evaluation.scores.origin is not None
    assert evaluation.scores.origin.run is run
    explained = evaluation.explain("q", "mrr@2")
    assert [one.id for one in explained.results] == ["x", "c"]
    assert explained.findings[0].detail == "lost a tie: 2 documents have its score, from rank 2 on"


LINES = [f"q{at // 50} Q0 d{at} 1 {-at} t\n" for at in range(5000)]


def rewritten(path: Path, text: str, *, keep_time: bool) -> None:
    before = path.stat()
    path.write_text(text)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("keep_time", [False, True])
@pytest.mark.parametrize(
    "text",
    ["".join(LINES[:2500]), "".join(LINES[:-1]), "".join(LINES).replace("q7 ", "p7 "), "".join(LINES) + LINES[0]],
    ids=["cut in half", "a line less", "a query renamed", "a line more"],
)
def test_a_streamed_run_notices_that_its_file_changed(tmp_path: Path, text: str, keep_time: bool) -> None:  # noqa: FBT001  (a parameter of the test)
    path = tmp_path / "large.run"
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    assert isinstance(run, StreamedRun)
    qrels = {f"q{query}": [f"d{query * 50 + 3}"] for query in range(100)}
    assert rm.evaluate(qrels, run, "mrr").means["mrr"] == 0.25
    rewritten(path, text, keep_time=keep_time)
    for use in (lambda: rm.evaluate(qrels, run, "mrr"), lambda: run["q99"], run.as_dict):
        with pytest.raises(ValueError, match=r"large.run has changed since it was read; read it again with read_run"):
            use()


def test_a_streamed_run_notices_other_scores_and_a_file_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    path.write_text("".join(LINES).replace(" -", " +"))  # as long as before
    with pytest.raises(ValueError, match="has changed"):
        rm.evaluate({"q1": ["d53"]}, run, "mrr")
    path.write_text("".join(LINES))
    run = rm.read_run(path, memory=1000)
    rewritten_beside = tmp_path / "new.run"
    rewritten_beside.write_text("".join(LINES))
    rewritten_beside.replace(path)
    with pytest.raises(ValueError, match="has changed"):
        rm.evaluate({"q1": ["d53"]}, run, "mrr")
