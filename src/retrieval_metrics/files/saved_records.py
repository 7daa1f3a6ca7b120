"""Encode small records as JSON, field by field, and decode them; only registered classes are created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from retrieval_metrics.files.record_classes import RECORDS, register_record
from retrieval_metrics.files.record_fields import require_field_types
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.statistics.exact_sums import ExactSums
from retrieval_metrics.statistics.mean_intervals import Interval
from retrieval_metrics.statistics.noninferiority import MarginTest
from retrieval_metrics.statistics.paired import PairedDifference

# Keys of the objects that stand for values which JSON does not have.
RESERVED_KEYS = {"number", "array", "tuple", "mapping", "record"}
# The types of numbers that an array in a file may have.
ARRAY_TYPES = {"float64", "int64", "bool"}


for record_class in (Clusters, ExactSums, Interval, PairedDifference, MarginTest):
    register_record(record_class)


def encode_record(value: Any, where: str) -> Any:
    """Return a value as JSON values, from which `decode_record` makes an equal value of the same types."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if isfinite(number) else {"number": repr(number)}
    record_class = RECORDS.get(type(value).__name__)
    if record_class is not None and isinstance(value, record_class):
        return _encode_fields(value, where)
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "values": encode_column(value)}
    if isinstance(value, tuple):
        return {"tuple": [encode_record(element, where) for element in value]}
    if isinstance(value, list):
        return [encode_record(element, where) for element in value]
    if isinstance(value, Mapping):
        return _encode_mapping(value, where)
    message = f"{where} is {value!r} ({type(value).__name__}), which cannot be saved"
    if callable(value):
        message += "; functions are not saved, because loading a file runs no code"
    raise ValueError(message)


def _encode_fields(record: Any, where: str) -> dict[str, Any]:
    names = [field.name for field in fields(record)] if is_dataclass(record) else record._fields
    entry: dict[str, Any] = {"record": type(record).__name__}
    for name in names:
        entry[name] = encode_record(getattr(record, name), f"{name} of {where}")
    return entry


def _encode_mapping(mapping: Mapping[Any, Any], where: str) -> dict[str, Any]:
    has_plain_keys = all(isinstance(key, str) for key in mapping) and not RESERVED_KEYS & mapping.keys()
    if has_plain_keys:
        return {key: encode_record(value, f"{key!r} of {where}") for key, value in mapping.items()}
    pairs = []
    for key, value in mapping.items():
        pairs.append([encode_record(key, where), encode_record(value, f"{key!r} of {where}")])
    return {"mapping": pairs}


def decode_record(value: Any) -> Any:
    """Return the value that `encode_record` encoded."""
    if isinstance(value, list):
        return [decode_record(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "array" in value:
        return decode_column(value["values"], value["array"])
    if "tuple" in value:
        return tuple(decode_record(element) for element in value["tuple"])
    if "mapping" in value:
        return {decode_record(key): decode_record(element) for key, element in value["mapping"]}
    if "record" not in value:
        return {key: decode_record(element) for key, element in value.items()}
    return _decode_fields(value)


def _decode_fields(entry: Mapping[str, Any]) -> Any:
    if entry["record"] not in RECORDS:
        raise ValueError(f"{entry['record']!r} is not a record; the records are {', '.join(RECORDS)}")
    record_class = RECORDS[entry["record"]]
    values = {name: decode_record(value) for name, value in entry.items() if name != "record"}
    require_field_types(record_class, values)
    return record_class(**values)


def encode_column(values: Any) -> list[Any]:
    """Return an array as a list, nested for each dimension, with None for NaN."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    if np.isinf(values).any():
        raise ValueError("a value is infinite, which JSON cannot hold")
    elements: list[Any] = values.tolist()
    if not np.isnan(values).any():
        return elements
    return _replace_nan(elements)


def _replace_nan(elements: list[Any]) -> list[Any]:
    if elements and isinstance(elements[0], list):
        return [_replace_nan(row) for row in elements]
    numbers = []
    for number in elements:
        is_nan = number != number  # noqa: PLR0124  (NaN alone differs from itself)
        numbers.append(None if is_nan else number)
    return numbers


def decode_column(values: list[Any], dtype: str = "float64") -> Any:
    """Return the array that `encode_column` encoded, with NaN for None."""
    if dtype not in ARRAY_TYPES:
        raise ValueError(f"an array has numbers of one of the kinds float64, int64 and bool, not {dtype!r}")
    if dtype != "bool":
        other_types = _collect_types(values) - {int, float, type(None)}
        if other_types:
            raise ValueError(f"an array of numbers holds a {other_types.pop().__name__}")
    return np.array(values, dtype=dtype)  # None becomes NaN


def _collect_types(values: list[Any]) -> set[type]:
    """Return the types of the values of a list, and of the lists in it."""
    types = set(map(type, values))
    if list in types:
        types.remove(list)
        for value in values:
            if isinstance(value, list):
                types |= _collect_types(value)
    return types
