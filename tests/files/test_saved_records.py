"""Small records come back from JSON as they were, and only those that are registered are created."""

import json
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.comparison.difference import Difference
from retrieval_metrics.files.record_classes import RECORDS
from retrieval_metrics.files.saved_records import decode_column, decode_record, encode_column, encode_record
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.statistics.mean_intervals import Interval

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.integers() | st.tuples(st.text()), inner)
    ),
    max_leaves=20,
)


@given(values)
def test_values_come_back_with_their_types(value: Any) -> None:
    decoded = decode_record(json.loads(json.dumps(encode_record(value, "a value"))))
    assert decoded == value
    assert repr(decoded) == repr(value)


def test_records_of_every_folder_are_registered_where_they_are_defined() -> None:
    for record_class in (Interval, rm.Matching, rm.Rules, Budget, Difference):
        assert RECORDS[record_class.__name__] is record_class
    for record in (rm.Matching(min_coverage=0.5), rm.Rules(name="mine")):
        assert decode_record(encode_record(record, "a record")) == record


def test_other_classes_are_neither_written_nor_created() -> None:
    class Point(NamedTuple):
        """A record of which no file knows."""

        x: float

    assert encode_record(Point(1.0), "a point") == {"tuple": [1.0]}
    with pytest.raises(ValueError, match=r"a set is \{1\} \(set\), which cannot be saved$"):
        encode_record({1}, "a set")
    with pytest.raises(ValueError, match="which cannot be saved; functions are not saved, because loading a file runs"):
        encode_record(len, "a function")
    with pytest.raises(ValueError, match="'Point' is not a record; the records are "):
        decode_record({"record": "Point", "x": 1.0})


@pytest.mark.parametrize(
    "array", [np.array([1.5, np.nan]), np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([1, 2]), np.array([True])]
)
def test_arrays_have_null_for_nan(array: Any) -> None:
    listed = json.loads(json.dumps(encode_column(array), allow_nan=False))
    np.testing.assert_array_equal(decode_column(listed, str(array.dtype)), array)


def test_arrays_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="a value is infinite"):
        encode_column(np.array([np.inf]))
    with pytest.raises(ValueError, match="of one of the kinds float64, int64 and bool, not 'object'"):
        decode_column([1], "object")
    with pytest.raises(ValueError, match="an array of numbers holds a str"):
        decode_column([[1.0], ["x"]])
