"""Encode values that JSON does not have, such as dates in the metadata of items, and decode them.

They are encoded rather than replaced by text when an item is made, because functions passed as `match=` read metadata:
they must see the same values in live results, in resumed ones and in loaded ones. An encoded value is an object with
the key `$python`, which names its type.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

import numpy as np

from retrieval_metrics.inputs.json_codec import NESTED_TOO_DEEPLY

# The key of an encoded value that holds the name of its type, and the key that holds what it is made from.
TYPE_KEY = "$python"
VALUE_KEY = "value"
# The types whose values JSON holds as they are.
PLAIN_TYPES = frozenset({str, int, bool, type(None)})
# The kinds of arrays that are saved: truth values, integers, floats and text.
ARRAY_KINDS = "biufU"


@dataclass(frozen=True, slots=True)
class _TextType:
    """A type whose values are saved as text.

    Attributes:
        type: The type; values of its subclasses are saved as values of it.
        write: Returns the text of a value.
        read: Returns the value of a text.
    """

    type: type
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _write_bytes(value: bytes) -> str:
    return b64encode(value).decode()


def _read_bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


def _write_timedelta(value: timedelta) -> str:
    return f"{value.days},{value.seconds},{value.microseconds}"


def _read_timedelta(text: str) -> timedelta:
    days, seconds, microseconds = map(int, text.split(","))
    return timedelta(days, seconds, microseconds)


def _write_timedelta64(value: np.timedelta64) -> str:
    unit, step = np.datetime_data(value.dtype)
    return f"{value.astype(np.int64)},{step}{unit}"


def _read_timedelta64(text: str) -> np.timedelta64:
    count, unit = text.split(",")
    duration: np.timedelta64 = np.int64(count).astype(f"m8[{unit}]")
    return duration


def _read_posix_path(text: str) -> PurePath:
    # A path of this system can be opened; one of another system can only be taken apart.
    return Path(text) if isinstance(Path(), PurePosixPath) else PurePosixPath(text)


def _read_windows_path(text: str) -> PurePath:
    return Path(text) if isinstance(Path(), PureWindowsPath) else PureWindowsPath(text)


# A datetime is a date too, so its type stands first.
TEXT_TYPES: Mapping[str, _TextType] = {
    "datetime": _TextType(datetime, datetime.isoformat, datetime.fromisoformat),
    "date": _TextType(date, date.isoformat, date.fromisoformat),
    "time": _TextType(time, time.isoformat, time.fromisoformat),
    "timedelta": _TextType(timedelta, _write_timedelta, _read_timedelta),
    "datetime64": _TextType(np.datetime64, str, np.datetime64),
    "timedelta64": _TextType(np.timedelta64, _write_timedelta64, _read_timedelta64),
    "Decimal": _TextType(Decimal, str, Decimal),
    "Fraction": _TextType(Fraction, str, Fraction),
    "UUID": _TextType(UUID, str, UUID),
    "bytes": _TextType(bytes, _write_bytes, _read_bytes),
    "bytearray": _TextType(bytearray, _write_bytes, lambda text: bytearray(_read_bytes(text))),
    "PosixPath": _TextType(PurePosixPath, str, _read_posix_path),
    "WindowsPath": _TextType(PureWindowsPath, str, _read_windows_path),
}
COLLECTION_TYPES: Mapping[str, type[tuple[Any, ...] | set[Any] | frozenset[Any]]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def encode_value(value: Any, where: str) -> Any:
    """Return a value as JSON holds it, from which `decode_value` makes an equal value.

    Numbers of numpy and dates of pandas become the equal ones of Python, and the missing values of pandas become None.

    Args:
        value: None, text, a truth value, a number, a date, time or duration, a Decimal, Fraction, UUID, Path or bytes,
            an array of numbers or texts, or a list, tuple, set or mapping of such values.
        where: What the value is, for messages.

    Raises:
        ValueError: If it is anything else, holds anything else or itself, or is nested too deeply.
    """
    try:
        return _encode_nested(value, where)
    except RecursionError:
        raise ValueError(f"{where}{NESTED_TOO_DEEPLY}") from None


def _encode_nested(value: Any, where: str) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if _is_missing(value):
        return None
    if isinstance(value, list):
        return [_encode_nested(element, where) for element in value]
    if isinstance(value, Mapping):
        return _encode_mapping(value, where)
    if isinstance(value, np.bool_):
        return bool(value)
    # Durations of numpy count as integers, and fractions as real numbers.
    if isinstance(value, Real) and not isinstance(value, (np.timedelta64, Fraction)):
        return _encode_number(value)
    encoded = _encode_as_text(value)
    if encoded is None:
        encoded = _encode_collection(value, where)
    if encoded is None:
        raise ValueError(
            f"{where} is {value!r:.200} ({type(value).__name__}), which a file cannot hold; convert it to text"
        )
    return encoded


def decode_value(encoded: Any) -> Any:
    """Return the value that `encode_value` encoded.

    Raises:
        ValueError: If an object names a type that is not known, or does not fit its type.
    """
    if isinstance(encoded, list):
        return [decode_value(element) for element in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if TYPE_KEY not in encoded:
        return {key: decode_value(element) for key, element in encoded.items()}
    name = encoded[TYPE_KEY]
    try:
        return _decode_tagged(name, encoded[VALUE_KEY])
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"{encoded!r:.200} is not a saved {name}: {error}") from error


def _encode_number(value: Real) -> Any:
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return number if isfinite(number) else _tag("float", repr(number))


def _encode_as_text(value: Any) -> dict[str, Any] | None:
    """Return an encoded value of a type that is saved as text; None if it is not of such a type."""
    has_nanoseconds = getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0)
    if has_nanoseconds:
        # Times of Python have no nanoseconds, and times of numpy have no time zone.
        if isinstance(value, timedelta):
            value = value.to_timedelta64()  # type: ignore[attr-defined]  # a Timedelta of pandas
        elif isinstance(value, datetime) and value.tzinfo is None:
            value = value.to_datetime64()  # type: ignore[attr-defined]  # a Timestamp of pandas
        else:
            return None
    for name, text_type in TEXT_TYPES.items():
        if isinstance(value, text_type.type):
            return _tag(name, text_type.write(value))
    return None


def _encode_collection(value: Any, where: str) -> dict[str, Any] | None:
    """Return an encoded tuple, set or array; None if it is none."""
    for name, collection_type in COLLECTION_TYPES.items():
        if isinstance(value, collection_type):
            elements = [_encode_nested(element, where) for element in value]
            if name != "tuple":
                elements.sort(key=json.dumps)
            return _tag(name, elements)
    if isinstance(value, np.ndarray) and value.dtype.kind in ARRAY_KINDS:
        return _tag("array", {"dtype": value.dtype.str, "values": _encode_nested(value.tolist(), where)})
    return None


def _encode_mapping(mapping: Mapping[Any, Any], where: str) -> dict[str, Any]:
    has_text_keys = set(map(type, mapping)) <= {str} or all(isinstance(key, str) for key in mapping)
    if has_text_keys and TYPE_KEY not in mapping:
        if set(map(type, mapping.values())) <= PLAIN_TYPES:  # the usual case, and items are many
            return dict(mapping)
        return {key: _encode_nested(element, where) for key, element in mapping.items()}
    pairs = []
    for key, element in mapping.items():
        pairs.append([_encode_nested(key, where), _encode_nested(element, where)])
    return _tag("dict", pairs)


def _decode_tagged(name: str, value: Any) -> Any:
    if name in TEXT_TYPES:
        return TEXT_TYPES[name].read(value)
    if name in COLLECTION_TYPES:
        return COLLECTION_TYPES[name](decode_value(value))
    if name == "dict":
        return {decode_value(key): decode_value(element) for key, element in value}
    if name == "float":
        return float(value)
    if name == "array":
        return _decode_array(value)
    raise ValueError("this type is not known; a newer version of retrieval-metrics may have written it")


def _decode_array(value: Mapping[str, Any]) -> Any:
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"an array of {dtype} cannot be saved")
    return np.array(decode_value(value["values"]), dtype)


def _tag(name: str, value: Any) -> dict[str, Any]:
    return {TYPE_KEY: name, VALUE_KEY: value}


def _is_missing(value: Any) -> bool:
    """Return whether a value is one of pandas' missing values, NA and NaT."""
    return type(value).__name__ in {"NAType", "NaTType"}
