"""The form of a saved file: its lines, its records, and the identity of what it holds."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from math import isfinite
from numbers import Integral, Real
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy import __version__ as numpy_version

from retrieval_metrics._internal.append_log import FORMAT, VERSION, find_log_kind, require_supported_version
from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics._internal.version import __version__
from retrieval_metrics.comparison.difference import Difference
from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
from retrieval_metrics.evaluation.budget_coverage import BudgetFill, BudgetUse
from retrieval_metrics.files.opening import Limits, open_for_saving, open_source
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.inputs.json_codec import (
    fingerprint,
    judgments_fingerprint,
    question_fingerprint,
    ranking_fingerprint,
    to_json_value,
)
from retrieval_metrics.matching.budget import Budget, BudgetFills
from retrieval_metrics.matching.ranking_order import Matching
from retrieval_metrics.metrics.base.rules import Rules
from retrieval_metrics.reports.tables import Printed
from retrieval_metrics.statistics.means import ExactSums, Interval
from retrieval_metrics.statistics.paired import MarginTest, PairedDifference

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.evaluation.scores import Scores

    LabelMapping = Mapping[str, str | float]


OF_TRUST = Limits(compression=2000.0)
"""Columns of equal numbers compress far better than runs."""


MARK = re.compile(rb'^\s*\{\s*"format":\s*"' + FORMAT.encode() + rb'"')
"""The beginning of every file of this format."""


DIGEST_PREFIX = b',\n"digest": "sha256:'
"""What stands before the digest, which is the last key of a file."""
OF_PEOPLE = {"labels", "questions"}
"""Kinds of files that people and the labelling page write too, without a digest."""


VERSIONS = {"retrieval-metrics": __version__, "python": sys.version.partition(" ")[0], "numpy": numpy_version}
"""What writes a file, for who has to find out why a number is another one elsewhere."""


class Section(dict[str, Any]):
    """An object written with one line, or several, per key."""


class Lines(list[Any]):
    """An array written with one line per entry."""


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The content of a file of this format.

    Attributes:
        name: The name of the file, for messages.
        kind: What was saved: `evaluation`, `comparison`, `questions` or `run`.
        content: The object; empty for a journal, whose entries are read by what wrote them.
    """

    name: str
    kind: str
    content: dict[str, Any]

    @property
    def labels(self) -> dict[str, Any]:
        """The labels with which it was saved."""
        with self.place("labels"):
            return dict(self.content.get("labels", {}))

    @contextmanager
    def place(self, where: str) -> Iterator[None]:
        """Name the damaged place of the file in any error raised inside."""
        try:
            yield
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, ValueError) and str(error).startswith(self.name):
                raise
            said = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{self.name} is damaged at {where}: {said}") from error


def validate_labels(labels: LabelMapping | None) -> dict[str, Any]:
    """Return the labels of a user as JSON holds them."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must map names to text or numbers, got {labels!r}")
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, (str, int, float)):
            raise TypeError(
                f"a label must have a str as its name, and text or a number as its value, got {name!r}: {value!r}"
            )
    return {name: to_json_value(value, f"the label {name!r}") for name, value in labels.items()}


def format_current_time() -> str:
    """Return the date and the time, with the offset from UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_saved_file(
    target: str | PathLike[str] | BytesIO, kind: str, sections: Mapping[str, Any], labels: LabelMapping | None = None
) -> None:
    """Write a file of this format, or its bytes; it is complete in memory before anything is written."""
    written = {"date": format_current_time(), **VERSIONS}
    content = Section(format=FORMAT, version=VERSION, kind=kind, written=written, labels=validate_labels(labels))
    text = signed("".join(_text(Section({**content, **sections}))).encode())
    with nullcontext(target) if isinstance(target, BytesIO) else open_for_saving(target) as file:
        file.write(text)


def signed(text: bytes) -> bytes:
    """Return the text of a JSON object with the digest of all before it as its last key."""
    before = text.rstrip().removesuffix(b"}").rstrip()
    return before + DIGEST_PREFIX + sha256(before).hexdigest().encode() + b'"\n}\n'


def _refuse_other_content(text: bytes, name: str, content: Mapping[str, Any]) -> None:
    """Raise if a text is not what was written."""
    kind = str(content.get("kind"))
    before, found, digest = text.replace(b"\r\n", b"\n").rpartition(DIGEST_PREFIX)  # git can change the ends of lines
    if not found:
        if "digest" not in content and kind in OF_PEOPLE:
            return
        raise ValueError(f"{name} is damaged: the digest at its end is missing")
    if digest.partition(b'"')[0].decode(errors="replace") != sha256(before).hexdigest():
        remedy = f", or remove its last key, if you changed these {kind} on purpose" if kind in OF_PEOPLE else ""
        raise ValueError(
            f"{name} is damaged, or was changed after it was saved: its content is not that of the digest at its end; "
            f"save it again{remedy}"
        )


def _text(value: Any) -> Iterator[str]:
    if isinstance(value, Section) and value:
        opening = "{\n"
        for key, each in value.items():
            yield f"{opening}{_compact(key)}: "
            yield from _text(each)
            opening = ",\n"
        yield "\n}"
    elif isinstance(value, Lines) and value:
        opening = "[\n"
        for each in value:
            yield opening
            yield _compact(each)
            opening = ",\n"
        yield "\n]"
    else:
        yield _compact(value)


def _compact(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as in a cut text, is kept by escaping it
        return json.dumps(value, allow_nan=False)
    return text


def is_saved(path: str | PathLike[str]) -> bool:
    """Return whether a file holds a saved result; False for a pipe or a missing file."""
    if not Path(path).is_file():
        return False
    with open_source(path, OF_TRUST) as source:
        try:
            return MARK.match(source.beginning()) is not None
        except ValueError:  # damaged data; the reader raises a better error
            return False


def read_saved_file(path: str | PathLike[str]) -> SavedFile:
    """Read a file of this format."""
    with open_source(path, OF_TRUST) as source:
        return parse_saved_file(source.whole_text(), fspath(path))


def parse_saved_file(text: bytes, name: str) -> SavedFile:
    """Read the text of a file of this format, which messages call by the name."""
    if MARK.match(text) is None:
        raise ValueError(
            f"{name} holds no saved result"
            + python_or_cli_text("; read other files with read_run, read_qrels, read_queries or read_corpus")
        )
    if (kind := find_log_kind(text)) is not None:
        return SavedFile(name, kind, {})
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{name} is damaged or cut short at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{name} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{name} holds no saved result: it does not say that its format is {FORMAT!r}")
    require_supported_version(name, content.get("version"))
    _refuse_other_content(text, name, content)
    return SavedFile(name, str(content.get("kind")), content)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; a missing number is null")


# Results that are their fields: they are equal if these are, and their files hold them, one after the other.

SavedT = TypeVar("SavedT", bound="SavedFields")


class SavedFields(Printed):
    """A dataclass, declared with `eq=False`, that can be saved and that equals what is loaded again.

    Attributes:
        kind: The kind of its files.
        records: The records that its fields hold, which `load` may then create.
    """

    __slots__ = ()
    kind: ClassVar[str]
    records: ClassVar[tuple[type, ...]] = ()
    __hash__ = None  # type: ignore[assignment]  # its fields are mappings

    def __init_subclass__(cls) -> None:
        RECORDS.update({each.__name__: each for each in (cls, *cls.records)})

    def save(self, path: str | PathLike[str]) -> None:
        """Save it to a file that `load` reads."""
        write_saved_file(path, self.kind, {name: _in_lines(value) for name, value in self._written().items()})

    def __eq__(self, other: object) -> bool:
        return self._written() == other._written() if isinstance(other, type(self)) else NotImplemented

    def _written(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # it is a dataclass
        return {name: encode_record(getattr(self, name), f"{name} of the {self.kind}") for name in names}


def decode_saved_fields(kind: type[SavedT], document: SavedFile) -> SavedT:
    """Return what was saved."""
    found = {}
    for field in fields(kind):  # type: ignore[arg-type]  # it is a dataclass
        with document.place(field.name):
            found[field.name] = decode_record(document.content[field.name])
    with document.place(", ".join(found)):
        return kind(**found)


def _in_lines(said: Any) -> Any:
    """Return a value with one line per entry, if it has entries."""
    if not isinstance(said, dict):
        return said
    return Section({name: Lines(value) if isinstance(value, list) else value for name, value in said.items()})


# Small records as JSON, field by field; reading a file creates only the records listed here.

RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (
        Budget,
        BudgetUse,
        Clusters,
        Difference,
        ExactSums,
        BudgetFills,
        BudgetFill,
        JudgedCoverage,
        Interval,
        Matching,
        PairedDifference,
        Rules,
        UnjudgedBounds,
        MarginTest,
    )
}

RESERVED = {"number", "array", "tuple", "mapping", "record"}
"""Keys of objects for values that JSON does not have."""


def encode_record(value: Any, where: str) -> Any:
    """Return a value as JSON holds it, such that `decode_record` returns an equal one, of the same types."""
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
            name: encode_record(getattr(value, name), f"{name} of {where}") for name in names
        }
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "values": encode_column(value)}
    if isinstance(value, tuple):
        return {"tuple": [encode_record(each, where) for each in value]}
    if isinstance(value, list):
        return [encode_record(each, where) for each in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and not RESERVED & value.keys():
            return {key: encode_record(each, f"{key!r} of {where}") for key, each in value.items()}
        return {
            "mapping": [
                [encode_record(key, where), encode_record(each, f"{key!r} of {where}")] for key, each in value.items()
            ]
        }
    raise ValueError(
        f"{where} is {value!r} ({type(value).__name__}), which cannot be saved"
        + ("; functions are not saved, because loading a file runs no code" if callable(value) else "")
    )


def decode_record(value: Any) -> Any:
    """Return what `encode_record` was given."""
    if isinstance(value, list):
        return [decode_record(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "array" in value:
        return decode_column(value["values"], value["array"])
    if "tuple" in value:
        return tuple(decode_record(each) for each in value["tuple"])
    if "mapping" in value:
        return {decode_record(key): decode_record(each) for key, each in value["mapping"]}
    if "record" not in value:
        return {key: decode_record(each) for key, each in value.items()}
    if value["record"] not in RECORDS:
        raise ValueError(f"{value['record']!r} is not a record; the records are {', '.join(RECORDS)}")
    record = RECORDS[value["record"]]
    return record(**{name: decode_record(each) for name, each in value.items() if name != "record"})


def encode_column(values: Any) -> list[Any]:
    """Return an array as a list, null for NaN; nested as the array is."""
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


def decode_column(values: list[Any], dtype: str = "float64") -> Any:
    """Return the array of such a list, NaN for null."""
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


# Identify evaluations by fingerprints: what two evaluations have in common, and what differs.

NAMES = {"name", "metrics"}
"""Fields of `Rules` that change no number."""


def question_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the text of each query whose text is known."""
    if scores.origin is None:
        return {}
    texts = scores.origin.judged.qrels.texts
    return {query: question_fingerprint(text) for query, text in texts.items()}


def judgments_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the judgments of each query; none if the scores came without them."""
    if scores.origin is None:
        return {}
    qrels = scores.origin.judged.qrels
    return {query: judgments_fingerprint(judgments) for query, judgments in qrels.as_dict().items()}


def rankings_fingerprint(scores: Scores) -> str | None:
    """Return the fingerprint of the rankings of all queries; None if the scores came without them."""
    if scores.origin is None:
        return None
    run = scores.origin.run
    return fingerprint([ranking_fingerprint(run.get(query, [])) for query in scores.queries])


def questions_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of all questions with their judgments, or of their ids if no more is known."""
    texts, judged = question_fingerprints(scores), judgments_fingerprints(scores)
    return fingerprint(sorted([str(query), texts.get(query), judged.get(query)] for query in scores.queries))


def describe_rule_differences(one: Rules, other: Rules) -> list[str]:
    """Return in words how two rule sets differ, apart from their names."""
    both = {field.name: (getattr(one, field.name), getattr(other, field.name)) for field in fields(one)}
    return [
        f"{name} is {ours!r} and {theirs!r}" if isinstance(ours, str) else f"the {name} of metrics differ"
        for name, (ours, theirs) in both.items()
        if name not in NAMES and ours != theirs
    ]


def rules_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of the rules, and of what ids are compared with; names do not matter."""
    rules = {
        field.name: encode_record(getattr(scores.rules, field.name), "the rules")
        for field in fields(scores.rules)
        if field.name not in NAMES
    }
    return fingerprint([rules, describe_match(scores)])


def describe_match(scores: Scores) -> str | None:
    """Return in words what ids are compared with; None if the scores came without it."""
    if scores.origin is None:
        return None
    match = scores.origin.match
    if not isinstance(match, Matching):
        return match if isinstance(match, str) else getattr(match, "__qualname__", type(match).__name__)
    usual = Matching()
    options = ("deduplicate", "min_quote_length", "min_common_words", "min_coverage", "min_overlap")
    changed = (name for name in options if getattr(match, name) != getattr(usual, name))
    return ", ".join([str(match), *(f"{name}={getattr(match, name)!r}" for name in changed)])
