"""The objects of a source that has any: a file of JSON, a frame, a list."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import import_optional
from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.tabular_rows import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.files.opening import Reader


PARQUET = b"PAR1"


def iterate_objects(source: Any) -> Iterator[Any]:
    """Yield the objects of a source."""
    if isinstance(source, (str, bytes, bytearray)) or hasattr(source, "__fspath__") or hasattr(source, "read"):
        with open_source(source) as reader:
            yield from _of_file(reader)
        return
    if hasattr(source, "to_dicts"):  # a polars frame
        source = source.to_dicts()
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas frame; Phoenix keeps ids in the index
        index = source.index.name
        source = (source if index is None or index in source.columns else source.reset_index()).to_dict("records")
    if isinstance(source, Mapping) or hasattr(source, "model_dump") or hasattr(source, "info"):
        source = [source]
    if not isinstance(source, Iterable):
        raise TypeError(f"read_traces takes a file, a DataFrame, or a list of spans, got {type(source).__name__}")
    for unit in source:
        yield _without_gaps(unit) if isinstance(unit, dict) else unit


def _without_gaps(unit: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a frame without the NaN that stand for missing values, and with lists for arrays."""
    row = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in unit.items()}
    return {key: value for key, value in row.items() if not (isinstance(value, float) and math.isnan(value))}


def _of_file(reader: Reader) -> Iterator[Any]:
    start = reader.beginning()
    if start.startswith(PARQUET):
        yield from iterate_objects(
            import_optional("polars", "reading a Parquet file").read_parquet(io.BytesIO(reader.content()))
        )
        return
    line, newline, more = start.lstrip().partition(b"\n")
    a_list_in_each = more.startswith(b"[") and _is_json(line, list)
    if not a_list_in_each and (line.startswith(b"[") or (newline and not _is_json(line, dict))):
        try:
            content = json.loads(reader.whole_text())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{reader.name} cannot be read as JSON: {error}") from None
        yield from content if isinstance(content, list) else [content]
        return
    for number, text in numbered_lines(reader):
        try:
            yield json.loads(text)
        except (ValueError, RecursionError) as error:
            where = format_line_location(reader.name, number, text)
            raise ValueError(f"{where}: this is not JSON, or was cut short: {error}") from None


def _is_json(line: bytes, kind: type) -> bool:
    try:
        return isinstance(json.loads(line), kind)
    except ValueError:
        return False
