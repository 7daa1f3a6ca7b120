"""A ranking is a list of ids or a mapping to finite scores; anything else is refused with what to pass."""

from typing import Any

import numpy as np
import pytest

from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores


@pytest.mark.parametrize("ranking", [["d1", "d2"], ("d1", "d2"), np.array(["d1", "d2"])])
def test_lists_of_ids_are_rankings(ranking: Any) -> None:
    assert list(as_list(ranking, "q")) == ["d1", "d2"]


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ("d1", r"is the bare string 'd1'; write a list: \['d1'\]"),
        (np.str_("d1"), "is the bare string"),
        ({"d1"}, "got set; a set has no order"),
        (3, "or a mapping of document IDs to scores, got int$"),
        ([("d1", 0.5)], r"holds pairs such as \('d1', 0.5\); pass dict\(ranking\) for scored documents"),
        ([["d1", "d2"]], r"holds lists such as \['d1', 'd2'\]; pass one list of IDs, best first"),
        ([{"id": "d1", "text": "x"}], "holds dicts with keys 'id', 'text'; pass their IDs, or items"),
        ([{}], "holds dicts with keys none"),
    ],
)
def test_other_rankings_are_refused(ranking: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_list(ranking, "q")


def test_scores_are_finite_numbers() -> None:
    require_finite_scores({"d1": 1e308, "d2": 1e308, "d3": 2**60}, "q")
    with pytest.raises(TypeError, match=r"the score of document 'd1' for query 'q' must be a number, got '1' \(str\)"):
        require_finite_scores({"d1": "1"}, "q")  # type: ignore[dict-item]  # what a user may do
    for score in (float("nan"), float("inf"), 10**400):
        with pytest.raises(ValueError, match="scores must be finite"):
            require_finite_scores({"d1": score}, "q")
