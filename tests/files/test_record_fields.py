"""The fields of records in files have the types of their annotations."""

from typing import Any

import pytest

from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
from retrieval_metrics.files.record_fields import require_field_types
from retrieval_metrics.statistics.mean_intervals import Interval


@pytest.mark.parametrize(
    ("record_class", "values"),
    [
        (Interval, {"low": 0.0, "high": 1}),
        (Interval, {}),
        (JudgedCoverage, {"shares": {"a": 0.5, "b": 1}}),
    ],
)
def test_right_fields_pass(record_class: type, values: dict[str, Any]) -> None:
    require_field_types(record_class, values)


@pytest.mark.parametrize(
    ("record_class", "values", "message"),
    [
        (Interval, {"low": "0.5"}, "low of Interval must be float, got '0.5'"),
        (Interval, {"high": True}, "high of Interval must be float, got True"),
        (Interval, {"high": None}, "got None"),
        (JudgedCoverage, {"shares": 3}, r"must be Mapping\[str, float\], got 3"),
        (JudgedCoverage, {"shares": {"a": 0.5, "b": [1]}}, r"got \[1\] for 'b'"),
    ],
)
def test_a_wrong_field_is_named(record_class: type, values: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        require_field_types(record_class, values)
