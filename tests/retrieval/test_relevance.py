"""Scores and ranks of a host become relevance between 0 and 1."""

import numpy as np
import pytest

from retrieval_metrics.integration_api import relevance_by


def test_scores_are_scaled_from_0_to_1() -> None:
    assert relevance_by("score", [12.5, 20.0, 10.0], float).tolist() == [0.25, 1.0, 0.0]  # type: ignore[union-attr]
    assert relevance_by("score", [3.0, 3.0], float).tolist() == [1.0, 1.0]  # type: ignore[union-attr]
    largest = np.finfo(np.float64).max
    assert relevance_by("score", [largest, -largest], float).tolist() == [1.0, 0.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["score", "rank"])
def test_without_documents_there_is_no_relevance(kind: str) -> None:
    assert len(relevance_by(kind, [], float)) == 0  # type: ignore[arg-type]


def test_ranks_fall_in_equal_steps_and_a_query_gives_no_relevance() -> None:
    assert relevance_by("rank", ["a", "b", "c"], float).tolist() == [1.0, 0.5, 0.0]  # type: ignore[union-attr]
    assert relevance_by("query", ["a", "b", "c"], float) is None


def test_scores_that_rise_are_distances() -> None:
    with pytest.raises(ValueError, match=r"3 candidates, best first, rise from 0\.1 to 0\.4: these look like"):
        relevance_by("score", [0.1, 0.1, 0.4], float)
    relevance_by("score", [0.1, 0.4], float)  # two in the wrong order are no sign
    relevance_by("score", [0.1, 0.0, 0.4], float)
