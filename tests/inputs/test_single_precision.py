"""Scores are compared in 32 bits without changing the run."""

import warnings
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import retrieval_metrics as rm
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
def test_judging_in_32_bits_is_judging_what_was_rounded(run_rankings: list[dict[str, Any]], order: ScoreOrder) -> None:
    run = {f"q{number}": ranking for number, ranking in enumerate(run_rankings)}
    qrels = rm.Qrels({query: dict.fromkeys("acegi", 1) for query in run})
    rounded = {query: round_ranking(ranking) for query, ranking in run.items()}
    single = order._replace(single_precision=True)
    expected = judge(qrels, rounded, "id", order)
    judged = judge(qrels, run, "id", single)
    for expected_items, judged_items in zip(expected.items, judged.items, strict=True):
        assert expected_items.tolist() == judged_items.tolist()
    columns = [(query, document, float(score)) for query, ranking in run.items() for document, score in ranking.items()]
    frame = dict(zip(("query", "document", "score"), zip(*columns, strict=True), strict=True))
    if order == TIES_BY_ID:
        by_column = judge(qrels, rm.Run.from_frame(frame), "id", single)
        for expected_items, judged_items in zip(expected.items, by_column.items, strict=True):
            assert expected_items.tolist() == judged_items.tolist()
    for query, ranking in run.items():
        assert rank_ids(ranking, single) == rank_ids(rounded[query], order)


@given(near_each_other, near_each_other)
@example(1.0, 1.0 + 2.0**-24)
@example(3.5e38, 1e300)
@example(2.0**-149, 2.0**-149 * 0.75)
def test_what_becomes_equal_was_close(score: float, other: float) -> None:
    if len(set(round_scores([score, other]).tolist())) == 1:
        assert may_gain_a_tie(sorted([score, other]), [1])
        assert may_gain_a_tie(sorted([score, other]), [2])


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
    assert evaluation.scores.origin.run == run
    explained = evaluation.explain("q", "mrr@2")
    assert [result.id for result in explained.results] == ["x", "c"]
    assert explained.findings[0].detail == "lost to a tie-break: tied with 1 other document at ranks 2 to 3"
