"""What is remembered of a mapping of scores tells whether it was changed."""

from math import inf

import pytest

from retrieval_metrics.matching.read_scores import ReadScores, sum_scores


@pytest.mark.parametrize(
    "changed",
    [{}, {"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 0.0}, {"b": 2.0, "a": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 3.0}],
)
def test_a_change_is_found(changed: dict[str, float]) -> None:
    scores = {"a": 1.0, "b": 2.0}
    read_scores = ReadScores(["a", "z"])
    read_scores.add(0, {"other": 7.0}, 7.0, [], [])
    read_scores.add(1, scores, sum_scores(scores), [0], [1.0])
    assert len(read_scores) == 2
    assert read_scores.take_mappings() == [{"other": 7.0}, scores]
    assert read_scores.mappings == []
    assert not read_scores.differs(1, dict(scores))
    assert read_scores.differs(1, changed)


def test_a_sum_that_equals_nothing_or_is_none_is_text() -> None:
    assert sum_scores({"a": 1, "b": 2.5}) == 3.5
    assert sum_scores({"a": inf, "b": -inf}) == "nan"
    assert "unsupported operand" in sum_scores({"a": "1"})
