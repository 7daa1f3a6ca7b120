"""Read JSON objects from a file, a DataFrame or a list."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.json_parsing import iterate_numbered_lines
from retrieval_metrics.files.opening import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.files.opening import Reader


PARQUET_MARK = b"PAR1"


@dataclass(slots=True)
class ObjectLocation:
    """Where the object stands that was yielded last, for messages.

    Attributes:
        name: The name of the file; empty if the objects are not from a file.
        unit: What the number counts: lines of a file, or elements.
        number: The number of its line or its element, from 1; 0 if it is unknown.
    """

    name: str = ""
    unit: str = "element"
    number: int = 0

    def __str__(self) -> str:
        if not self.number:
            return self.name
        position = f"{self.unit} {self.number}"
        return f"{self.name}, {position}" if self.name else position


def iterate_objects(source: Any, location: ObjectLocation | None = None) -> Iterator[Any]:
    """Yield the objects of a file, a DataFrame or an iterable, each as a dict if it is a JSON object or a row.

    Args:
        source: The file, the DataFrame or the iterable.
        location: A location that is set to that of each object before it is yielded.
    """
    if location is None:
        location = ObjectLocation()
    if isinstance(source, (str, bytes, bytearray)) or hasattr(source, "__fspath__") or hasattr(source, "read"):
        with open_source(source) as reader:
            location.name = reader.name
            yield from _iterate_file(reader, location)
        return
    if hasattr(source, "to_dicts"):  # a polars frame
        source = source.to_dicts()
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas frame
        source = _list_pandas_rows(source)
    if isinstance(source, Mapping) or hasattr(source, "model_dump") or hasattr(source, "info"):
        source = [source]
    if not isinstance(source, Iterable):
        raise TypeError(f"read_traces takes a file, a DataFrame, or a list of spans, got {type(source).__name__}")
    for number, element in enumerate(source, start=1):
        location.number = number
        if isinstance(element, dict):
            yield _drop_missing(element)
        else:
            yield element


def _list_pandas_rows(frame: Any) -> Any:
    """Return the rows of a frame with its index as a column, in which Phoenix keeps ids."""
    index_name = frame.index.name
    if index_name is not None and index_name not in frame.columns:
        frame = frame.reset_index()
    return frame.to_dict("records")


def _drop_missing(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a frame without the NaN that stand for missing values, and with lists for arrays."""
    present = {}
    for key, value in row.items():
        if hasattr(value, "tolist"):
            value = value.tolist()  # noqa: PLW2901  (the same value, as plain Python)
        if not (isinstance(value, float) and math.isnan(value)):
            present[key] = value
    return present


def _iterate_file(reader: Reader, location: ObjectLocation) -> Iterator[Any]:
    start = reader.beginning()
    if start.startswith(PARQUET_MARK):
        polars = import_optional("polars", "reading a Parquet file")
        location.unit = "row"
        yield from iterate_objects(polars.read_parquet(io.BytesIO(reader.content())), location)
        return
    if _is_one_value(start):
        yield from _iterate_value(reader, location)
        return
    location.unit = "line"
    for number, line in iterate_numbered_lines(reader):
        location.number = number
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            where = format_line_location(reader.name, number, line)
            raise ValueError(f"{where}: this is not JSON, or was cut short: {error}") from None


def _is_one_value(start: bytes) -> bool:
    """Return whether a file seems to hold one JSON value rather than one a line."""
    first_line, newline, remainder = start.lstrip().partition(b"\n")
    has_a_list_per_line = remainder.startswith(b"[") and _is_json(first_line, list)
    if has_a_list_per_line:
        return False
    return first_line.startswith(b"[") or (bool(newline) and not _is_json(first_line, dict))


def _iterate_value(reader: Reader, location: ObjectLocation) -> Iterator[Any]:
    try:
        content = json.loads(reader.read_text())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{reader.name} cannot be read as JSON: {error}") from None
    if isinstance(content, list):
        for number, element in enumerate(content, start=1):
            location.number = number
            yield element
    else:
        yield content


def _is_json(line: bytes, value_type: type) -> bool:
    try:
        return isinstance(json.loads(line), value_type)
    except ValueError:
        return False
