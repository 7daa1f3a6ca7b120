from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.judgment_shapes import require_groups, require_no_pairs

GROUPS: list[Any] = [
    [["d1", "d2"], ["d9"]],
    [["d1", "2"], ["d2", "d3"]],
    [[1, 2], [3, 4]],
    [[17, 23], [18, 40]],
    [{70, 1}, {71, 0}],
    [["70", "1"]],
    [{"id": 2}],
    [{"id": 2, "type": 1}],
    [{"id": 2, "type": 1}, {"id": 1}],
    [{"d1": 2, "d2": 1}, {"d9": 3}],
    [[rm.Quote("so it is"), "d1"]],
]
NO_GROUPS: list[Any] = [
    [("d1", 1)],
    [["d1", 1.0], ["d2", 0.0]],
    [(70, 1)],
    [[70, 1], [71, 1]],
    [("70", "0"), ("71", "0")],
    [(rm.Quote("so it is"), 2)],
    [("q1", "70", "1"), ("q1", "71", "2")],
    [("d1", True)],
    [{"id": "d1"}],
    [{"id": 70, "score": 1}],
    [{"chunk": 70, "grade": 1}, {"chunk": 71, "grade": 1}],
]


@pytest.mark.parametrize("entries", GROUPS)
def test_groups_are_groups(entries: Any) -> None:
    require_groups(entries, "query 'q'")
    assert len(rm.Qrels({"q": entries})) == 1


@pytest.mark.parametrize("entries", NO_GROUPS)
def test_pairs_and_rows_are_no_groups(entries: Any) -> None:
    with pytest.raises(TypeError, match=r"the judgments of query 'q' hold (pairs|rows|dicts)"):
        require_groups(entries, "query 'q'")


def test_pairs_show_in_all_queries_together() -> None:
    one_pair_each: dict[Any, Any] = {1: [[70, 1]], 2: [[80, 2]], 3: []}
    with pytest.raises(TypeError, match=r"query 1 hold pairs such as \[70, 1\]; pass dict\(judgments\)"):
        rm.Qrels(one_pair_each)
    require_no_pairs({1: [[70, 1]]})
    require_no_pairs({1: [[70, 1]], 2: [[80, 2], [81]]})
    require_no_pairs({1: [[70, 1]], 2: [[80, 81]]})
    require_no_pairs({1: [[70, 1]], 2: [[2, 1]]})
    require_no_pairs({1: [[70, 1]], 2: {80: 2}})
    assert rm.Qrels({1: {70: 1}, 2: {80: 2}}).graded() == {1: {70: 1.0}, 2: {80: 2.0}}


def test_pairs_in_arrays_are_refused_as_those_in_lists() -> None:
    with pytest.raises(TypeError, match=r"query 1 hold pairs such as \[70, 1\]"):
        rm.Qrels({1: np.array([[70, 1], [71, 0], [72, 0]])})
    assert rm.Qrels({"q": np.array([["d1", "d2"]])}).groups() == {"q": [{"d1": 1.0, "d2": 1.0}]}


def test_rows_with_a_grade_are_to_be_passed_with_it() -> None:
    for key, grades in (("relevant", (True, False)), ("grade", (2, 0))):
        judgments: Any = [{"doc_id": "d1", key: grades[0]}, {"doc_id": "d2", key: grades[1]}]
        with pytest.raises(TypeError, match="hold dicts") as caught:
            rm.evaluate({"q": judgments}, {"q": ["d2"]}, "mrr")
        message = str(caught.value)
        assert "as a list" not in message
        assert f"{{row['doc_id']: row['{key}'] for row in judgments}}" in message
        advised = {row["doc_id"]: row[key] for row in judgments}
        assert rm.evaluate({"q": advised}, {"q": ["d2"]}, "mrr").means["mrr"] == 0.0
