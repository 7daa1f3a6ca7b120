"""Small records as JSON, field by field; reading a file creates only the records listed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from retrieval_metrics.inputs.question_clusters import Clusters
from retrieval_metrics.judging.budget import Budget, Filled
from retrieval_metrics.judging.ranking_order import Matching
from retrieval_metrics.results.conclusions import Ignorance, UnjudgedBounds
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.results.room import BudgetUse, Filling
from retrieval_metrics.scoring.rules import Rules
from retrieval_metrics.statistics.means import ExactSums, Interval
from retrieval_metrics.statistics.paired import PairedDifference, WithinMargin

RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (
        Budget,
        BudgetUse,
        Clusters,
        Difference,
        ExactSums,
        Filled,
        Filling,
        Ignorance,
        Interval,
        Matching,
        PairedDifference,
        Rules,
        UnjudgedBounds,
        WithinMargin,
    )
}

RESERVED = {"number", "array", "tuple", "mapping", "record"}
"""Keys of objects for values that JSON does not have."""


def of_record(value: Any, where: str) -> Any:  # noqa: PLR0911  (one for each kind of value)
    """Return a value as JSON holds it, such that `record_of` returns an equal one, of the same types.

    Args:
        value: Text, a number, an array, a tuple, a list, a mapping, or one of the records.
        where: What it is, for the message.

    Raises:
        ValueError: If JSON cannot hold it.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if isfinite(number) else {"number": repr(number)}
    if type(value).__name__ in RECORDS and isinstance(value, RECORDS[type(value).__name__]):
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        return {"record": type(value).__name__} | {
            name: of_record(getattr(value, name), f"{name} of {where}") for name in names
        }
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "values": of_column(value)}
    if isinstance(value, tuple):
        return {"tuple": [of_record(each, where) for each in value]}
    if isinstance(value, list):
        return [of_record(each, where) for each in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and not RESERVED & value.keys():
            return {key: of_record(each, f"{key!r} of {where}") for key, each in value.items()}
        return {
            "mapping": [[of_record(key, where), of_record(each, f"{key!r} of {where}")] for key, each in value.items()]
        }
    raise ValueError(
        f"{where} is {value!r} ({type(value).__name__}), which cannot be saved"
        + ("; functions are not saved, because loading a file runs no code" if callable(value) else "")
    )


def record_of(value: Any) -> Any:  # noqa: PLR0911  (likewise)
    """Return what `of_record` was given.

    Raises:
        ValueError: If it is anything else.
    """
    if isinstance(value, list):
        return [record_of(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "array" in value:
        return column_of(value["values"], value["array"])
    if "tuple" in value:
        return tuple(record_of(each) for each in value["tuple"])
    if "mapping" in value:
        return {record_of(key): record_of(each) for key, each in value["mapping"]}
    if "record" not in value:
        return {key: record_of(each) for key, each in value.items()}
    if value["record"] not in RECORDS:
        raise ValueError(f"{value['record']!r} is not a record; the records are {', '.join(RECORDS)}")
    record = RECORDS[value["record"]]
    return record(**{name: record_of(each) for name, each in value.items() if name != "record"})


def of_column(values: Any) -> list[Any]:
    """Return an array as a list, null for NaN; nested as the array is.

    Raises:
        ValueError: If a number is infinite.
    """
    if values.dtype.kind != "f":
        return list(values.tolist())
    if np.isinf(values).any():
        raise ValueError("a value is infinite, which JSON cannot hold")
    listed: list[Any] = values.tolist()
    if not np.isnan(values).any():
        return listed
    return _null_for_nan(listed)


def _null_for_nan(listed: list[Any]) -> list[Any]:
    if listed and isinstance(listed[0], list):
        return [_null_for_nan(each) for each in listed]
    return [None if number != number else number for number in listed]  # noqa: PLR0124  (NaN alone differs from itself)


def column_of(values: list[Any], dtype: str = "float64") -> Any:
    """Return the array of such a list, NaN for null.

    Raises:
        ValueError: If it is not an array of numbers.
    """
    if dtype not in {"float64", "int64", "bool"}:
        raise ValueError(f"an array has numbers of one of the kinds float64, int64 and bool, not {dtype!r}")
    if dtype != "bool" and (others := _types(values) - {int, float, type(None)}):
        raise ValueError(f"an array of numbers holds a {others.pop().__name__}")
    return np.array(values, dtype=dtype)  # None becomes NaN


def _types(values: list[Any]) -> set[type]:
    """Return the types of the values of a list, and of the lists in it."""
    found = set(map(type, values))
    if list in found:
        found = found.difference([list]).union(*(_types(each) for each in values if isinstance(each, list)))
    return found
