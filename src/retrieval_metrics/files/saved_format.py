"""Write and read saved files: JSON with one entry per line, and a digest of the content at the end."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from numbers import Real
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.append_log import FORMAT, VERSION, find_log_kind, require_supported_version
from retrieval_metrics._internal.version import __version__
from retrieval_metrics.files.compressions import open_for_saving
from retrieval_metrics.files.opening import Limits, open_source
from retrieval_metrics.inputs.json_codec import to_json_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    LabelMapping = Mapping[str, str | float]


# A column of equal numbers compresses better than a run, so the limit is higher; gzip ends at about 1,030.
SAVED_FILE_LIMITS = Limits(compression=500.0)

# The beginning of every file of this format.
START_PATTERN = re.compile(rb'^\s*\{\s*"format":\s*"' + FORMAT.encode() + rb'"')

# What stands before the digest, which is the last key of a file.
DIGEST_PREFIX = b',\n"digest": "sha256:'
# Kinds of files that humans and the labelling page write too, without a digest.
HUMAN_WRITTEN_KINDS = {"labels", "questions"}

# The versions that a file was written with: they help to explain a number that differs on another machine.
VERSIONS = {"retrieval-metrics": __version__, "python": sys.version.partition(" ")[0], "numpy": np.__version__}


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
        content: The JSON object of the file; empty for a log, whose entries the writer of the log reads.
    """

    name: str
    kind: str
    content: dict[str, Any]

    @property
    def labels(self) -> dict[str, Any]:
        """The labels with which it was saved."""
        with self.name_place_in_errors("labels"):
            return dict(self.content.get("labels", {}))

    @contextmanager
    def name_place_in_errors(self, where: str) -> Iterator[None]:
        """Turn an error raised inside into a ValueError that names the file and the damaged place in it."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
            if isinstance(error, ValueError) and str(error).startswith(self.name):
                raise
            problem = f"there is no {error}" if type(error) is KeyError else str(error)
            raise ValueError(f"{self.name} is damaged at {where}: {problem}") from error


def validate_labels(labels: LabelMapping | None) -> dict[str, Any]:
    """Return the labels of a user as JSON values; raise if one cannot be a label."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must map names to text or numbers, got {labels!r}")
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, (str, Real, np.bool_)):
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
    text = add_digest("".join(_format_value(Section({**content, **sections}))).encode())
    with nullcontext(target) if isinstance(target, BytesIO) else open_for_saving(target) as file:
        file.write(text)


def add_digest(text: bytes) -> bytes:
    """Return the text of a JSON object with a last key that holds the digest of the text before it."""
    content = text.rstrip().removesuffix(b"}").rstrip()
    return content + DIGEST_PREFIX + sha256(content).hexdigest().encode() + b'"\n}\n'


def _require_digest(text: bytes, name: str, content: Mapping[str, Any]) -> None:
    """Raise if the digest of a text is wrong, or missing from a file that only this package writes."""
    kind = str(content.get("kind"))
    is_human_written = kind in HUMAN_WRITTEN_KINDS
    # git can change line ends.
    digested_text, prefix, digest = text.replace(b"\r\n", b"\n").rpartition(DIGEST_PREFIX)
    if not prefix:
        if "digest" not in content and is_human_written:
            return
        raise ValueError(f"{name} is damaged: the digest at its end is missing")
    if digest.partition(b'"')[0].decode(errors="replace") != sha256(digested_text).hexdigest():
        remedy = "save it again"
        if is_human_written:
            remedy += f", or remove its last key, if you changed these {kind} on purpose"
        raise ValueError(
            f"{name} is damaged, or was changed after it was saved: its content does not match the digest at its end; "
            f"{remedy}"
        )


def _format_value(value: Any) -> Iterator[str]:
    """Yield the JSON text of a value piece by piece."""
    if isinstance(value, Section) and value:
        separator = "{\n"
        for key, section_value in value.items():
            yield f"{separator}{_compact(key)}: "
            yield from _format_value(section_value)
            separator = ",\n"
        yield "\n}"
    elif isinstance(value, Lines) and value:
        separator = "[\n"
        for element in value:
            yield separator
            yield _compact(element)
            separator = ",\n"
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
    with open_source(path, SAVED_FILE_LIMITS) as source:
        try:
            return START_PATTERN.match(source.beginning()) is not None
        except ValueError:  # damaged data; the reader raises a better error
            return False


def read_saved_file(path: str | PathLike[str]) -> SavedFile:
    """Read a file of this format."""
    with open_source(path, SAVED_FILE_LIMITS) as source:
        source.growth_remedy = "if you trust it, decompress it yourself"
        return parse_saved_file(source.read_text(), fspath(path))


def parse_saved_file(text: bytes, name: str) -> SavedFile:
    """Parse the text of a file of this format; messages call the file `name`."""
    if START_PATTERN.match(text) is None:
        raise ValueError(
            f"{name} holds no saved result; read other files with read_run, read_qrels, read_queries or read_corpus"
        )
    log_kind = find_log_kind(text)
    if log_kind is not None:
        return SavedFile(name, log_kind, {})
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
    _require_digest(text, name, content)
    return SavedFile(name, str(content.get("kind")), content)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; a missing number is null")
