"""The file of a saved result: a JSON object with its format and kind, and one entry per line in long lists."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy import __version__ as numpy_version

from retrieval_metrics.checks import in_python
from retrieval_metrics.files.opening import Limits, opened, saving_compressed
from retrieval_metrics.inputs.entries import plain
from retrieval_metrics.journal import FORMAT, VERSION, journal_kind, refuse_newer
from retrieval_metrics.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    Labels = Mapping[str, str | float]

OF_TRUST = Limits(compression=2000.0)
"""Columns of equal numbers compress far better than runs."""


MARK = re.compile(rb'^\s*\{\s*"format":\s*"' + FORMAT.encode() + rb'"')
"""The beginning of every file of this format."""


DIGEST = b',\n"digest": "sha256:'
"""What stands before the digest, which is the last key of a file."""
OF_PEOPLE = {"labels", "questions"}
"""Kinds of files that people and the labelling page write too, without a digest."""
WITHOUT_DIGEST = 1
"""The version whose files may have no digest."""


VERSIONS = {"retrieval-metrics": __version__, "python": sys.version.partition(" ")[0], "numpy": numpy_version}
"""What writes a file, for who has to find out why a number is another one elsewhere."""


class Section(dict[str, Any]):
    """An object written with one line, or several, per key."""


class Lines(list[Any]):
    """An array written with one line per entry."""


@dataclass(frozen=True, slots=True)
class Document:
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

    @property
    def is_of_these_versions(self) -> bool:
        """Whether this version of the package and of numpy wrote it."""
        written = self.content.get("written")
        names = ("retrieval-metrics", "numpy")
        return isinstance(written, dict) and all(written.get(name) == VERSIONS[name] for name in names)

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


def checked_labels(labels: Labels | None) -> dict[str, Any]:
    """Return the labels of a user as JSON holds them.

    Raises:
        TypeError: If they are not a mapping of names to text or numbers.
    """
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must map names to text or numbers, got {labels!r}")
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, (str, int, float)):
            raise TypeError(
                f"a label must have a str as its name, and text or a number as its value, got {name!r}: {value!r}"
            )
    return {name: plain(value, f"the label {name!r}") for name, value in labels.items()}


def now() -> str:
    """Return the date and the time, with the offset from UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_document(
    path: str | PathLike[str], kind: str, sections: Mapping[str, Any], labels: Labels | None = None
) -> None:
    """Write a file of this format; it is complete in memory before anything is written.

    Raises:
        ValueError: If JSON cannot hold something.
        OSError: If it cannot be written; a file that was there stays as it was.
    """
    written = {"date": now(), **VERSIONS}
    content = Section(format=FORMAT, version=VERSION, kind=kind, written=written, labels=checked_labels(labels))
    text = signed("".join(_text(Section({**content, **sections}))).encode())
    with saving_compressed(path) as file:
        file.write(text)


def signed(text: bytes) -> bytes:
    """Return the text of a JSON object with the digest of all before it as its last key."""
    before = text.rstrip().removesuffix(b"}").rstrip()
    return before + DIGEST + sha256(before).hexdigest().encode() + b'"\n}\n'


def _refuse_other_content(text: bytes, name: str, content: Mapping[str, Any]) -> None:
    """Raise if a text is not what was written.

    Raises:
        ValueError: If it does not have the digest of its content, or has none and is neither of a kind that people
            write nor of the version that wrote none.
    """
    kind = str(content.get("kind"))
    before, found, digest = text.replace(b"\r\n", b"\n").rpartition(DIGEST)  # git can change the ends of lines
    if not found:
        if "digest" not in content and (kind in OF_PEOPLE or content.get("version") == WITHOUT_DIGEST):
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
    with opened(path, OF_TRUST) as source:
        try:
            return MARK.match(source.beginning()) is not None
        except ValueError:  # damaged data; the reader raises a better error
            return False


def read_document(path: str | PathLike[str]) -> Document:
    """Read a file of this format.

    Raises:
        OSError: If it cannot be opened.
        ValueError: If it is not of this format, is damaged, or is of a newer version.
    """
    with opened(path, OF_TRUST) as source:
        return document_in(source.whole_text(), fspath(path))


def document_in(text: bytes, name: str) -> Document:
    """Read the text of a file of this format, which messages call by the name.

    Raises:
        ValueError: As in `read_document`.
    """
    if MARK.match(text) is None:
        raise ValueError(
            f"{name} holds no saved result"
            + in_python("; read other files with read_run, read_qrels, read_queries or read_corpus")
        )
    if (kind := journal_kind(text)) is not None:
        return Document(name, kind, {})
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
    refuse_newer(name, content.get("version"))
    _refuse_other_content(text, name, content)
    return Document(name, str(content.get("kind")), content)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; a missing number is null")
