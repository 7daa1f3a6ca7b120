"""Convert the texts of arguments to values."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
# Commas that are not within parentheses.
BETWEEN_METRICS = re.compile(r",(?![^(]*\))")
NUMBER = re.compile(r"[0-9]*\.?[0-9]+")
WITH_CUT = re.compile(rf"(?P<measure>[A-Za-z]\w*)\.{NUMBER.pattern}")


def parse_metrics(text: str) -> list[str]:
    """Return the names in a text such as `ndcg@10,map`, or `P.5,10` as in trec_eval.

    An unknown name is let through, because a saved file can hold its values; `argument_checks.refuse_unknown_metrics`
    refuses it if none can.

    Raises:
        argparse.ArgumentTypeError: If a text cannot be the name of a metric.
    """
    names: list[str] = []
    for name in map(str.strip, BETWEEN_METRICS.split(text)):
        before = WITH_CUT.fullmatch(names[-1]) if names and NUMBER.fullmatch(name) else None
        names.append(f"{before['measure']}.{name}" if before else name)  # the 10 of P.5,10
    for name in names:
        if not is_trec_eval_only(name):
            try:
                rm.Metric.parse(name)
            except ValueError as error:
                if not str(error).startswith("unknown metric"):
                    raise argparse.ArgumentTypeError(str(error)) from error
    return names


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
    """Return the metric and the number in a text such as `latency=0.5`, of which a saved file can give the values."""
    name, number = _pair(text)
    may_be_saved = "," not in name and not is_known_metric(name) and not is_trec_eval_only(name)
    return (name if may_be_saved else _metric_in(text, name)), number


def parse_metric_value(text: str) -> tuple[rm.Metric, float]:
    """Return the metric and the number in a text such as `ndcg@10=0.35`."""
    name, number = _pair(text)
    return _metric_in(text, name), number


def _pair(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = None
    if not name or number is None:
        raise argparse.ArgumentTypeError(PAIR.format(text))
    if not isfinite(number):
        raise argparse.ArgumentTypeError(f"{PAIR.format(text)}: a mean cannot be compared with {value}")
    return name, number


def _metric_in(text: str, name: str) -> rm.Metric:
    try:
        return rm.Metric.parse(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{PAIR.format(text)}: {error}") from error


PAIR = "{!r} must be a metric and a number, such as ndcg@10=0.35"


def parse_columns(pairs: Sequence[str]) -> dict[str, str | None] | None:
    """Return the columns given as `query=qid`, None for one given as `grade=`; None without any."""
    columns: dict[str, str | None] = {}
    for pair in pairs:
        role, equals, name = pair.partition("=")
        if not equals:
            raise ValueError(f"a column must be given as ROLE=NAME, such as query=qid, got {pair!r}")
        columns[role] = name or None
    return columns or None


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
    return int(float(match[1]) * UNITS[match[2]])


class ReadingKey(NamedTuple):
    """A key of `--reading`: a word for its value, and how the text of the value is read."""

    placeholder: str
    convert: Callable[[str], Any]


def _yes_or_no(text: str) -> bool:
    if text not in {"yes", "no"}:
        raise ValueError("it takes yes or no")
    return text == "yes"


# What `--reading` takes.
READING_KEYS: Mapping[str, ReadingKey] = {
    "compression": ReadingKey("RATIO", lambda text: rm.Limits(compression=float(text)).compression),
    "line": ReadingKey("SIZE", lambda text: rm.Limits(line=parse_memory_size(text)).line),
    "progress": ReadingKey("yes|no", _yes_or_no),
    "split": ReadingKey("NAME", str),
    "subset": ReadingKey("NAME", str),
}


def parse_clusters(text: str) -> rm.types.ClustersBy:
    """Return the value of `--clusters`: the mapping in the file, or a word."""
    if text in {"source", "none"}:
        return "source" if text == "source" else None
    return read_values_by_query(text, "clusters")


class ValuesByQuery(UserDict[Any, Any]):
    """What a JSON object holds for each query; its keys are texts, so a number is looked up by its text."""

    def __getitem__(self, query: Any) -> Any:
        return self.data[str(query)]

    def __contains__(self, query: object) -> bool:
        return str(query) in self.data


def read_values_by_query(path: str, what: str) -> ValuesByQuery:
    """Return what the JSON object in a file holds for each query."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold a JSON object of query ids and {what}, got {type(content).__name__}")
    return ValuesByQuery(content)
