"""Convert the texts of command-line arguments to values."""

from __future__ import annotations

import argparse
import json
import re
from collections import UserDict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import retrieval_metrics as rm
from retrieval_metrics.cli.trec_eval_lines import is_known_metric, is_trec_eval_only
from retrieval_metrics.metrics.metric_names import UnknownMetricError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


# The number of bytes in each unit of a memory size.
BYTES_PER_UNIT = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
# A comma between metrics: any that is not within parentheses.
METRIC_SEPARATOR = re.compile(r",(?![^(]*\))")
NUMBER = re.compile(r"[0-9]*\.?[0-9]+")
# A measure with a cutoff as trec_eval takes it, such as `P.5`.
MEASURE_WITH_CUTOFF = re.compile(rf"(?P<measure>[A-Za-z]\w*)\.{NUMBER.pattern}")
# The message for a text that is not a metric with a number.
NOT_METRIC_AND_NUMBER = "{!r} must be a metric and a number, such as ndcg@10=0.35"


def parse_metrics(text: str) -> list[str]:
    """Return the names in a text such as `ndcg@10,map`, or `P.5,10` as in trec_eval.

    An unknown name is let through, because a saved file can hold its values; `argument_checks.refuse_unknown_metrics`
    refuses it if none can.

    Raises:
        argparse.ArgumentTypeError: If a text cannot be the name of a metric.
    """
    names: list[str] = []
    for name in map(str.strip, METRIC_SEPARATOR.split(text)):
        # A bare number is a further cutoff of the measure before it, as the 10 of P.5,10.
        earlier = None
        if names and NUMBER.fullmatch(name):
            earlier = MEASURE_WITH_CUTOFF.fullmatch(names[-1])
        names.append(name if earlier is None else f"{earlier['measure']}.{name}")
    for name in names:
        _require_valid_metric_name(name)
    return names


def _require_valid_metric_name(name: str) -> None:
    """Refuse a text that cannot be the name of a metric; a name that is only unknown is accepted."""
    if is_trec_eval_only(name):
        return
    try:
        rm.Metric.parse(name)
    except UnknownMetricError:
        return
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_metric(text: str) -> rm.Metric:
    """Return the one metric that a text names.

    Raises:
        argparse.ArgumentTypeError: If there is no such metric; the message offers the nearest.
    """
    try:
        return rm.Metric.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_bound(text: str) -> tuple[rm.Metric | str, float]:
    """Return the metric and the number in a text such as `ndcg@10=0.35`.

    An unknown metric, such as `latency`, is returned as its name, because a saved file can hold its values.
    """
    name, number = _split_metric_and_number(text)
    may_be_saved = "," not in name and not is_known_metric(name) and not is_trec_eval_only(name)
    if may_be_saved:
        return name, number
    return _parse_metric_of(text, name), number


def parse_metric_value(text: str) -> tuple[rm.Metric, float]:
    """Return the metric and the number in a text such as `ndcg@10=0.35`."""
    name, number = _split_metric_and_number(text)
    return _parse_metric_of(text, name), number


def _split_metric_and_number(text: str) -> tuple[str, float]:
    """Return the name and the finite number in a text such as `ndcg@10=0.35`."""
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = None
    if not name or number is None:
        raise argparse.ArgumentTypeError(NOT_METRIC_AND_NUMBER.format(text))
    if not isfinite(number):
        raise argparse.ArgumentTypeError(
            f"{NOT_METRIC_AND_NUMBER.format(text)}: a mean cannot be compared with {value}"
        )
    return name, number


def _parse_metric_of(text: str, name: str) -> rm.Metric:
    """Return the metric of a name; an error shows the whole text of the argument."""
    try:
        return rm.Metric.parse(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{NOT_METRIC_AND_NUMBER.format(text)}: {error}") from error


def parse_columns(pairs: Sequence[str]) -> dict[str, str | None] | None:
    """Return the columns given as `query=qid` by role; the name is None in `grade=`. Return None if there are none."""
    columns: dict[str, str | None] = {}
    for pair in pairs:
        role, equals, name = pair.partition("=")
        if not equals:
            raise ValueError(f"a column must be given as ROLE=NAME, such as query=qid, got {pair!r}")
        columns[role] = name or None
    return columns or None


def has_positions(columns: Mapping[str, str | None] | None) -> bool:
    """Return whether columns are given as positions, as in `query=1`, so that the file has no header."""
    names = [name for name in (columns or {}).values() if name is not None]
    return bool(names) and all(name.isdecimal() for name in names)


def parse_labels(pairs: Sequence[str]) -> dict[str, str]:
    """Return the labels given as `commit=4f2a91c`."""
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"a label must be given as NAME=TEXT, such as commit=4f2a91c, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def parse_memory_size(text: str) -> int:
    """Return the number of bytes in `4GB`, `500M` or `1000000`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} must be a size such as 4GB or 500MB")
    return int(float(match[1]) * BYTES_PER_UNIT[match[2]])


class ReadingKey(NamedTuple):
    """A key of `--reading`.

    Attributes:
        placeholder: The word that stands for its value in messages.
        convert: Converts the text of its value.
    """

    placeholder: str
    convert: Callable[[str], Any]


def _parse_yes_or_no(text: str) -> bool:
    """Return whether a text is `yes`, and refuse anything but `yes` and `no`."""
    if text not in {"yes", "no"}:
        raise ValueError("it takes yes or no")
    return text == "yes"


# The keys that `--reading` takes, as in `--reading line=1GB`.
READING_KEYS: Mapping[str, ReadingKey] = {
    "compression": ReadingKey("RATIO", lambda text: rm.Limits(compression=float(text)).compression),
    "line": ReadingKey("SIZE", lambda text: rm.Limits(line=parse_memory_size(text)).line),
    "progress": ReadingKey("yes|no", _parse_yes_or_no),
    "separator": ReadingKey("TEXT", str),
    "split": ReadingKey("NAME", str),
    "subset": ReadingKey("NAME", str),
}


def parse_clusters(text: str) -> rm.types.ClustersBy:
    """Return the value of `--clusters`: the mapping in the file, or a word."""
    if text == "source":
        return "source"
    if text == "none":
        return None
    return read_values_by_query(text, "clusters")


class ValuesByQuery(UserDict[Any, Any]):
    """The values of a JSON object by query id; an id that is a number is looked up by its text, as JSON has it."""

    def __getitem__(self, query: Any) -> Any:
        return self.data[str(query)]

    def __contains__(self, query: object) -> bool:
        return str(query) in self.data


def read_values_by_query(path: str, what: str) -> ValuesByQuery:
    """Read the JSON object in a file, with a value for each query.

    Args:
        path: The file.
        what: What the values are, for the error message.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold a JSON object of query ids and {what}, got {type(content).__name__}")
    return ValuesByQuery(content)
