"""A selection is a list of positions with scores."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from retrieval_metrics.types import Selection


def test_it_iterates_over_positions_as_python_integers() -> None:
    selection = Selection.of([2, 0], [0.5, 0.25])
    documents = ["a", "b", "c"]
    assert [documents[i] for i in selection] == ["c", "a"]
    assert all(type(i) is int for i in selection)
    assert len(selection) == 2


def test_it_is_of_int64_and_float64() -> None:
    for selection in (Selection.of([1], [1]), Selection.of([], [])):
        assert selection.indices.dtype == np.int64
        assert selection.scores.dtype == np.float64


def test_equal_selections_are_equal() -> None:
    assert Selection.of([2, 0], [0.5, 0.25]) == Selection.of([2, 0], [0.5, 0.25])
    assert Selection.of([2, 0], [0.5, 0.25]) != Selection.of([2, 0], [0.5, 0.5])
    assert Selection.of([2, 0], [0.5, 0.25]) != Selection.of([2], [0.5])
    assert Selection.of([2], [0.5]) != ([2], [0.5])
    assert pickle.loads(pickle.dumps(Selection.of([2], [0.5]))) == Selection.of([2], [0.5])  # our own


def test_it_prints_short() -> None:
    assert repr(Selection.of([], [])) == "Selection(indices=[], scores=[])"
    assert repr(Selection.of([2, 0], [1 / 3, -1e-17])) == "Selection(indices=[2, 0], scores=[0.3333, -1e-17])"
    long = repr(Selection.of(range(1000), np.zeros(1000)))
    assert long == "Selection(indices=[0, 1, 2, 3, 4, 5, 6, 7, ...], scores=[0, 0, 0, 0, 0, 0, 0, 0, ...])"


def test_it_is_no_key_and_not_to_be_changed() -> None:
    selection = Selection.of([2], [0.5])
    with pytest.raises(TypeError, match="unhashable"):
        hash(selection)
    with pytest.raises(FrozenInstanceError):
        selection.indices = np.array([1])  # type: ignore[misc]  # that is the test
