"""The input of MMR: queries of any length, and the names of what is wrong."""

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.retrieval.mmr_problem import ProblemNames, read_problem


def test_a_query_whose_squared_length_overflows_is_as_good_as_any(recwarn: pytest.WarningsRecorder) -> None:
    random = np.random.default_rng(0)
    query = random.normal(size=20)
    candidates = random.normal(size=(30, 20)).astype(np.float32)
    expected = rm.mmr(query, candidates)
    for power in (-900, 900):
        assert rm.mmr(np.ldexp(query, power), candidates) == expected
    assert not recwarn.list


def test_what_is_wrong_is_named_as_the_caller_names_it() -> None:
    names = ProblemNames(query="queries[3]", candidates="candidates[3]", relevance="relevance[3]")
    with pytest.raises(ValueError, match=r"queries\[3\] and relevance\[3\] are both None"):
        read_problem(None, [[1.0, 0.0]], None, names)
    with pytest.raises(ValueError, match=r"queries\[3\] has 3 dimensions but its candidates have 2"):
        read_problem([1.0, 0.0, 0.0], [[1.0, 0.0]], None, names)
