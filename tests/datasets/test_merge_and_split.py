"""Sets are split without leaks and merged without losses."""

from itertools import chain
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
    for position in range(draw(st.integers(2, 30))):
        relevant: list[Any] = [f"d{name}" for name in draw(st.lists(st.integers(0, 60), max_size=2, unique=True))]
        relevant += [rm.Span(f"s{draw(st.integers(0, 30))}", position, position + 5)] * draw(st.integers(0, 1))
        source = draw(st.none() | st.integers(0, 30).map(lambda number: f"s{number}"))
        rows.append({"id": f"q{position}", "query": f"question {position}", "relevant": relevant, "source": source})
    return rm.EvaluationSet.from_dataset(rows)


def subjects(part: rm.EvaluationSet) -> set[Any]:
    """What a part is about: its sources, and everything judged."""
    judged: Any = part.qrels.values()
    pieces = set(chain.from_iterable(judged))
    sources = {provenance.source for provenance in part.provenance.values() if provenance.source}
    return pieces | sources | {piece.source for piece in pieces if isinstance(piece, rm.Span)}


class TestSplit:
    @pytest.mark.thorough
    @given(sets(), st.integers(0, 3))
    def test_nothing_leaks_and_nothing_is_lost(self, questions: rm.EvaluationSet, seed: int) -> None:
        try:
            first, second = questions.split(0.5, 0.5, seed=seed)
        except ValueError as error:
            assert "connect them to 1 clusters that must stay together" in str(error)
            return
        assert subjects(first).isdisjoint(subjects(second))
        assert len(first) > 0 < len(second)
        assert dict([*first.queries.items(), *second.queries.items()]) == questions.queries
        assert first.merge(second).qrels == questions.qrels
        assert questions.split(0.5, 0.5, seed=seed) == (first, second)

    def test_independent_questions_are_split_by_their_shares_and_by_the_seed(self) -> None:
        questions = rm.EvaluationSet(
            {f"q{number}": f"question {number}" for number in range(100)},
            {f"q{number}": [f"d{number}"] for number in range(100)},
        )
        assert [len(part) for part in questions.split()] == [80, 20]
        assert [len(part) for part in questions.split(0.5, 0.3, 0.2)] == [50, 30, 20]
        assert questions.split(seed=1) != questions.split(seed=2)

    def test_a_large_cluster_does_not_leave_a_part_empty(self) -> None:
        rows = [{"query": f"{number}?", "relevant": [f"d{number}"], "source": "one"} for number in range(9)]
        rows.append({"query": "9?", "relevant": ["d9"], "source": "other"})
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
        questions = rm.EvaluationSet.from_dataset(ROWS)
        merged = rm.EvaluationSet.from_dataset(ROWS[:1]).merge(questions)
        assert (merged.queries, merged.qrels, merged.provenance) == (
            questions.queries,
            questions.qrels,
            questions.provenance,
        )

    def test_what_differs_under_one_id_is_an_error(self) -> None:
        questions = rm.EvaluationSet(QUERIES, QRELS)
        with pytest.raises(ValueError, match="'q1' is 'How do I reset my password\\?' in one set and 'why\\?'"):
            questions.merge(rm.EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}))
        with pytest.raises(ValueError, match=r"'q2' is judged \['d1'\] in one set and \['d2'\]"):
            questions.merge(rm.EvaluationSet({"q2": QUERIES["q2"]}, {"q2": ["d2"]}))
        with pytest.raises(TypeError, match="partly str and partly int"):
            questions.merge(rm.EvaluationSet({1: "why?"}, {1: ["d7"]}))
        with pytest.raises(TypeError, match="got dict"):
            questions.merge({"q3": "why?"})  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", ["secret", ~rm.Metadata(tenant="acme"), rm.Span("secret.md", 0, 9)])
def test_one_secret_forbidden_to_all_does_not_keep_them_together(secret: Any) -> None:
    questions = rm.EvaluationSet(
        {f"q{number}": "?" for number in range(40)},
        {f"q{number}": {f"d{number}": 1, secret: -1} for number in range(40)},
    )
    assert [len(part) for part in questions.split(0.5, 0.5)] == [20, 20]
