"""Sets are split without leaks and merged without losses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from two_questions import QRELS, QUERIES, ROWS


@st.composite
def sets(draw: st.DrawFn) -> rm.EvaluationSet:
    """Questions that share documents, spans and sources in many ways."""
    rows = []
    for at in range(draw(st.integers(2, 30))):
        relevant: list[Any] = [f"d{name}" for name in draw(st.lists(st.integers(0, 60), max_size=2, unique=True))]
        relevant += [rm.Span(f"s{draw(st.integers(0, 30))}", at, at + 5)] * draw(st.integers(0, 1))
        source = draw(st.none() | st.integers(0, 30).map(lambda number: f"s{number}"))
        rows.append({"id": f"q{at}", "query": f"question {at}", "relevant": relevant, "source": source})
    return rm.EvaluationSet.from_dataset(rows)


def touched(part: rm.EvaluationSet) -> set[Any]:
    """What a part is about: its sources, and everything judged."""
    judged: Any = part.qrels.values()
    pieces = {one for judgments in judged for one in judgments}
    named = {made.source for made in part.provenance.values() if made.source}
    return pieces | named | {one.source for one in pieces if isinstance(one, rm.Span)}


class TestSplit:
    @given(sets(), st.integers(0, 3))
    def test_nothing_leaks_and_nothing_is_lost(self, questions: rm.EvaluationSet, seed: int) -> None:
        try:
            one, other = questions.split(0.5, 0.5, seed=seed)
        except ValueError as error:
            assert "connect them to 1 clusters that must stay together" in str(error)  # noqa: PT017  (either way is right)
            return
        assert touched(one).isdisjoint(touched(other))
        assert len(one) > 0 < len(other)
        assert dict([*one.queries.items(), *other.queries.items()]) == questions.queries
        assert one.merge(other).qrels == questions.qrels
        assert questions.split(0.5, 0.5, seed=seed) == (one, other)

    def test_independent_questions_are_split_by_their_shares_and_by_the_seed(self) -> None:
        questions = rm.EvaluationSet(
            {f"q{at}": f"question {at}" for at in range(100)}, {f"q{at}": [f"d{at}"] for at in range(100)}
        )
        assert [len(part) for part in questions.split()] == [80, 20]
        assert [len(part) for part in questions.split(0.5, 0.3, 0.2)] == [50, 30, 20]
        assert questions.split(seed=1) != questions.split(seed=2)

    def test_a_large_cluster_does_not_leave_a_part_empty(self) -> None:
        rows = [{"query": f"{at}?", "relevant": [f"d{at}"], "source": "one" if at < 9 else "other"} for at in range(10)]
        assert [len(part) for part in rm.EvaluationSet.from_dataset(rows).split(0.1, 0.9)] == [1, 9]
        assert [len(part) for part in rm.EvaluationSet.from_dataset(rows).split(0.99, 0.01)] == [9, 1]

    @pytest.mark.parametrize("shares", [(0.5, 0.6), (1.5, -0.5), (0.5,), (float("nan"), 0.5)])
    def test_shares_that_do_not_add_up(self, shares: tuple[float, ...]) -> None:
        with pytest.raises(ValueError, match="add up to 1"):
            rm.EvaluationSet.from_dataset(ROWS).split(*shares)

    def test_questions_that_must_stay_together(self) -> None:
        questions = rm.EvaluationSet(QUERIES, {"q1": ["d1"], "q2": ["d1"]})
        with pytest.raises(ValueError, match="connect them to 1 clusters that must stay together"):
            questions.split(0.5, 0.5)


class TestMerge:
    def test_the_same_question_in_both_is_taken_once(self) -> None:
        one = rm.EvaluationSet.from_dataset(ROWS)
        merged = rm.EvaluationSet.from_dataset(ROWS[:1]).merge(one)
        assert (merged.queries, merged.qrels, merged.provenance) == (one.queries, one.qrels, one.provenance)

    def test_what_differs_under_one_id_is_an_error(self) -> None:
        one = rm.EvaluationSet(QUERIES, QRELS)
        with pytest.raises(ValueError, match="'q1' is 'How do I reset my password\\?' in one set and 'why\\?'"):
            one.merge(rm.EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}))
        with pytest.raises(ValueError, match=r"'q2' is judged \['d1'\] in one set and \['d2'\]"):
            one.merge(rm.EvaluationSet({"q2": QUERIES["q2"]}, {"q2": ["d2"]}))
        with pytest.raises(TypeError, match="partly str and partly int"):
            one.merge(rm.EvaluationSet({1: "why?"}, {1: ["d7"]}))
        with pytest.raises(TypeError, match="got dict"):
            one.merge({"q3": "why?"})  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", ["secret", ~rm.Metadata(tenant="acme"), rm.Span("secret.md", 0, 9)])
def test_one_secret_forbidden_to_all_does_not_keep_them_together(secret: Any) -> None:
    questions = rm.EvaluationSet(
        {f"q{at}": "?" for at in range(40)}, {f"q{at}": {f"d{at}": 1, secret: -1} for at in range(40)}
    )
    assert [len(part) for part in questions.split(0.5, 0.5)] == [20, 20]
