"""Parse the JSON text of judgments, runs and texts, and say where it is wrong."""

from __future__ import annotations

import json
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.csv_checks import LONE_CARRIAGE_RETURN
from retrieval_metrics.files.encodings import decode_line, format_line_location
from retrieval_metrics.files.opening import Reader, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from os import PathLike


class _ObjectWithRepeatedKey(dict[Any, Any]):
    """An object in which a key appears twice; the first counts.

    Attributes:
        repeated_key: The last key that appears again.
    """

    repeated_key: str


class _ObjectReader:
    """Makes the objects of a JSON text, and records whether any of them repeats a key."""

    has_repeated_key = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        json_object = dict(pairs)
        if len(json_object) == len(pairs):
            return json_object
        self.has_repeated_key = True
        first_values = _ObjectWithRepeatedKey()
        for key, value in pairs:
            if key in first_values:
                first_values.repeated_key = key
            else:
                first_values[key] = value
        return first_values


def parse_json(text: str | bytes, locate: Callable[[str], str], allow: Collection[str]) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        locate: Returns a message with the location of the text in front of it.
        allow: `"repeated"` allows repeated keys, of which the first counts.
    """
    read_object = _ObjectReader()
    try:
        value = json.loads(text, object_pairs_hook=read_object)
    except json.JSONDecodeError as error:
        # Strings in JSON hold no carriage return, so one before the error stands between two values.
        if error.msg == "Extra data" and "\r" in error.doc[: error.pos]:
            raise ValueError(locate(LONE_CARRIAGE_RETURN)) from error
        raise ValueError(
            locate(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
        ) from error
    except RecursionError:
        raise ValueError(locate("it is nested too deeply to hold judgments or a run")) from None
    except ValueError as error:  # a number with too many digits for Python
        raise ValueError(locate(f"this cannot be read as JSON: {error}")) from error
    if read_object.has_repeated_key and "repeated" not in allow:
        note = _describe_repeated_key(value, "")
        if note:
            raise ValueError(
                locate(f"{note}; remove one of them, or pass allow='repeated', with which the first counts")
            )
    return value


def _describe_repeated_key(value: Any, location: str) -> str:
    """Return which key appears twice and in which value; empty if none does."""
    if isinstance(value, _ObjectWithRepeatedKey):
        return f"key {value.repeated_key!r} appears twice{location}"
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    for key, child in children:
        note = _describe_repeated_key(child, f" in {key!r}")
        if note:
            return note
    return ""


def read_jsonl_objects(source: Reader, allow: Collection[str] = ()) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the objects of a JSONL file, each with the number and the text of its line."""
    for number, line in iterate_numbered_lines(source):
        where = format_line_location(source.name, number, line)
        row = parse_json(line, partial("{}: {}".format, where), allow)
        if not isinstance(row, dict):
            raise ValueError(f"{where}: a line must be an object, such as {{'query': ..., 'document': ...}}")
        yield number, line, row


def iterate_numbered_lines(source: Reader) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not blank, with their numbers from 1."""
    number = 0
    for piece in source.pieces():
        for line in BytesIO(piece):  # one by one, because often only the first is asked for
            number += 1
            if line.strip():
                yield number, decode_line(line.removesuffix(b"\n").removesuffix(b"\r"), source.name, number)


def read_json(path: str | PathLike[str]) -> Any:
    """Return the content of a JSON file, with or without a byte order mark.

    Raises:
        ValueError: If it is not UTF-8 or not JSON; the message names the file, and says what to do.
        OSError: If it cannot be opened.
    """
    with open_source(path) as reader:
        return parse_json(reader.read_text().decode(), f"{reader.name} cannot be read as JSON: {{}}".format, ())


def read_json_file(source: Reader, allow: Collection[str] = ()) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the one object of a JSON file, or its array of objects."""

    def locate(message: str) -> str:
        hint = ""
        if "not JSON" in message:
            hint = "; if it has one object per line, pass format='jsonl'"
        return f"{source.name} cannot be read as JSON: {message}{hint}"

    content = parse_json(source.read_text().decode(), locate, allow)
    if isinstance(content, dict):
        return content
    if content == []:
        raise ValueError(f"{source.name} is empty: its array holds nothing")
    element_note = ""
    if isinstance(content, list):
        if all(isinstance(element, dict) for element in content):
            return content
        element_note = f" of {type(content[0]).__name__}"
    raise ValueError(
        f"{source.name} must hold one object that maps each query to its documents, or an array of objects such as "
        f"{{'query': ..., 'document': ...}}, got {type(content).__name__}{element_note}"
    )


def convert_array_to_lines(content: list[dict[str, Any]], source: Reader) -> Reader:
    """Return a reader of a JSONL text with one line per object of a JSON array."""
    text = "\n".join(json.dumps(element, ensure_ascii=False) for element in content)
    name = f"{source.name}, a JSON array read as lines"
    return Reader(name, BytesIO(text.encode()), source.limits, is_regular=False)
