"""Saved files hold the records that are registered."""

from typing import NamedTuple

from retrieval_metrics.files.record_classes import RECORDS, register_record
from retrieval_metrics.files.saved_records import decode_record, encode_record


def test_a_registered_class_is_saved_by_its_name() -> None:
    @register_record
    class Point(NamedTuple):
        """A record."""

        x: float
        y: float

    try:
        assert encode_record(Point(1.0, 2.0), "a point") == {"record": "Point", "x": 1.0, "y": 2.0}
        assert decode_record({"record": "Point", "x": 1.0, "y": 2.0}) == Point(1.0, 2.0)
    finally:
        del RECORDS["Point"]
