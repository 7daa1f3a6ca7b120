"""Find the format of a file by its extension or its content, without guessing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.files.encodings import require_no_utf16_mark, require_no_zero_byte
from retrieval_metrics.files.opening import COMPRESSIONS
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.files.opening import Reader


class Format(NamedTuple):
    """A format of runs and judgments.

    Attributes:
        extensions: The extensions of its files.
        separator: What separates the columns of its lines; an empty text if it is no text with columns.
        quote: What stands around a value that holds a separator; None if no value can.
        has_names: Whether its columns have names, which `columns` can choose.
    """

    extensions: tuple[str, ...]
    separator: str = ""
    quote: str | None = None
    has_names: bool = True


FORMATS: Mapping[str, Format] = {
    "trec": Format((".qrel", ".qrels", ".run", ".trec"), " ", has_names=False),
    "csv": Format((".csv",), ",", '"'),
    "tsv": Format((".tsv",), "\t"),
    "json": Format((".json",)),
    "jsonl": Format((".jsonl", ".ndjson")),
    "parquet": Format((".parquet", ".pq")),
    "arrow": Format((".arrow", ".arrows", ".feather", ".ipc")),
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
"""What binary formats begin with; the last is the streaming format of Arrow."""
EXTENSIONS = {extension: name for name, one in FORMATS.items() for extension in one.extensions}
TREC_WIDTHS = (4, 6)
DOCUMENT_LIST_KEYS = ("documents", "ranking", "relevant", "relevant_docs", "doc_ids", "results")
"""The keys under which a line of JSONL holds all documents of its query."""


def find_format_by_name(path: str | PathLike[str]) -> str | None:
    """Return the format of an extension, ignoring that of a compressed file; None if the extension is unknown."""
    name = Path(path)
    return EXTENSIONS.get((Path(name.stem) if name.suffix in COMPRESSIONS else name).suffix.lower())


def detect_format(source: Reader, given: str | None) -> str:
    """Return the format of a source: the given one, or that of its extension, or that of its beginning."""
    if given is not None:
        return require_known_format(given)
    by_name = find_format_by_name(source.file_name)
    # TREC files with tabs are sometimes named .tsv.
    return by_name if by_name is not None and by_name != "tsv" else _by_content(source)


def require_known_format(given: str) -> str:
    """Return the format if it is known."""
    if given not in FORMATS:
        raise ValueError(f"unknown format {given!r}; the formats are {', '.join(FORMATS)}")
    return given


def _by_content(source: Reader) -> str:
    start, name = source.beginning(), source.name
    if binary := [kind for magic, kind in MAGIC.items() if start.startswith(magic)]:
        return binary[0]
    require_no_utf16_mark(start, name)
    lines = [line for line in start.splitlines() if line.strip()]
    if not lines:
        raise ValueError(
            f"{name} is empty" + (", or begins with very many blank lines; pass {argument('format')}" if start else "")
        )
    require_no_zero_byte(lines[0], name)
    first = lines[0].strip()
    if first.startswith((b"{", b"[")):
        # One object per line, or one object that is the whole file.
        many = first.endswith((b"}", b"]")) and len(lines) > 1
        return "jsonl" if many or _is_row(first) else "json"
    fields = first.decode(errors="replace").split("\t")
    if any(field.strip().lower() in QUERY_COLUMNS for field in fields):
        return "tsv"
    # Lines that begin with # are comments in TREC files.
    row = next((line for line in lines if not line.lstrip().startswith(b"#")), first)
    if len(row.split()) in TREC_WIDTHS:
        return "trec"
    if len(fields) > 1:
        return "tsv"
    shown = first[:100].decode(errors="replace")
    raise ValueError(
        f"cannot tell the format of {name} from its first line {shown!r}; pass "
        + format_argument("format", tuple(FORMATS), python=f"format={' or '.join(map(repr, FORMATS))}")
    )


def _is_row(line: bytes) -> bool:
    """Return whether a line is a whole object with a query and its documents, or one of them."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # only its beginning, or not JSON: the reader raises the error
        return False
    return (
        isinstance(row, dict)
        and any(key in QUERY_COLUMNS for key in row)
        and any(key in (*DOCUMENT_COLUMNS, *DOCUMENT_LIST_KEYS) for key in row)
    )
