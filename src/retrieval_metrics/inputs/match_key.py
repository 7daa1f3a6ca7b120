"""Resolve what the ids of judgments are compared with: the id of an item, its source, or a value of its metadata."""

from __future__ import annotations

from operator import attrgetter
from os import fsdecode
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.items import Retrieved

    # A function that returns the value of an item to compare with ids; None if the item has none.
    Key: TypeAlias = Callable[[Retrieved], DocumentId | None]

# What precedes the name of a value of the metadata in `match="metadata:page"`.
METADATA_PREFIX = "metadata:"
# The option that compares the name of a file, without its folders.
FILE_NAME = "filename"
# Where frameworks keep the path or the name of the file that an item comes from, the first that is present.
FILE_NAME_KEYS = ("source", "file_path", "file_name", "filename", "path")
# The same for an item whose source may be a generated id, as LlamaIndex and Haystack give it to every document.
FILE_NAME_KEYS_BEFORE_SOURCE = ("file_path", "file_name", "filename", "source", "path")
# How the URL of a file begins; others keep their percent signs, which can be part of a name.
FILE_URL_PREFIX = "file:"


class KeyedMatching(Protocol):
    """Options that include what ids are compared with, such as `Matching`."""

    @property
    def by(self) -> str | Key:
        """What an id of the judgments is compared with."""


def get_match_key(match: str | Key | KeyedMatching) -> Key:
    """Return the function that returns the value of an item to compare with ids."""
    by = match if isinstance(match, str) or callable(match) else getattr(match, "by", match)
    if callable(by):
        return by
    if by == "id":
        return attrgetter("id")  # faster than a function of our own
    if by == "source":
        return lambda item: item.value("source")
    if by == FILE_NAME:
        return get_file_name
    if isinstance(by, str) and by.startswith(METADATA_PREFIX) and by != METADATA_PREFIX:
        name = by.removeprefix(METADATA_PREFIX)
        return lambda item: item.value(name)
    raise ValueError(
        f"match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got {by!r}{_match_hint(by)}"
    )


def get_file_name(item: Retrieved) -> str | None:
    r"""Return the last part of the path that an item comes from: its source, or the path or name in its metadata.

    A source that is not in the metadata may be a generated id, so a `file_path`, `file_name` or `filename` there counts
    first.

    Example:
        >>> from retrieval_metrics.inputs.items import Retrieved
        >>> get_file_name(Retrieved("c1", source="C:\\docs\\guide.md")), get_file_name(Retrieved("c2"))
        ('guide.md', None)
    """
    path = get_file_path(item)
    return None if path is None else last_part(path)


def get_file_path(item: Retrieved) -> str | None:
    """Return the path that an item comes from, or the name of the file if that is all that is known."""
    keys = FILE_NAME_KEYS
    if item.source is not None and "source" not in (item.metadata or ()):
        keys = FILE_NAME_KEYS_BEFORE_SOURCE
    for key in keys:
        path = item.value(key)
        if isinstance(path, bytes):
            path = fsdecode(path)
        if isinstance(path, str) and path.strip():
            return path
    return None


def name_path_match(item: Retrieved) -> str:
    """Return the `match=` that compares the whole path of an item."""
    path = get_file_path(item)
    if item.source == path:
        return "source"
    for key in FILE_NAME_KEYS:
        if item.value(key) == path:
            return METADATA_PREFIX + key
    return "source"


def last_part(path: str) -> str:
    """Return the last part of a path with either slash, without escapes if it is the URL of a file.

    A slash at its end does not count.

    Example:
        >>> last_part("docs/guide.md"), last_part("file:///docs/my%20guide.md")
        ('guide.md', 'my guide.md')
    """
    if path[: len(FILE_URL_PREFIX)].lower() == FILE_URL_PREFIX and "%" in path:
        from urllib.parse import unquote  # imported here, because few paths are URLs

        path = unquote(path)
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def _match_hint(by: Any) -> str:
    if by in ("text", "content"):  # a tuple, because the value may not be hashable
        return "; for the whole text, pass lambda item: item.text; a judged Quote or Text is found in the text anyway"
    if isinstance(by, str) and by.isidentifier():
        return f"; if that is a key of the metadata, write match={METADATA_PREFIX + by!r}"
    return ""
