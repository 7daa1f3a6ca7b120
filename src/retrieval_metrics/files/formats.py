"""Find the format of a file by its extension or its content, without guessing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.files.compressions import COMPRESSIONS, LZ4_MAGIC
from retrieval_metrics.files.encodings import require_no_utf16_mark, require_no_zero_byte
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.files.opening import Reader


class Format(NamedTuple):
    """A format of runs and judgments.

    Attributes:
        extensions: The extensions of its files.
        separator: The separator of the columns in a line; empty if the format is not text with columns.
        quote: The quote around a value that holds a separator; None if no value may hold one.
        has_names: Whether its columns have names, from which `columns` can choose.
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
# The formats of other tools whose columns have neither names nor a header, each with the name of the tool.
POSITIONAL_FORMATS = {"msmarco": "MS MARCO", "tevatron": "Tevatron", "colbert": "ColBERT", "ntcir": "NTCIR"}
# The columns of their files, for messages.
POSITIONAL_FORMAT_HINT = (
    "format='msmarco' (query document rank), 'tevatron' (query document score), 'colbert' (query document rank score) "
    "or 'ntcir' (query document grade, such as L2)"
)
# The format of the runs of ranx, which is recognised by its content and never written.
RANX_FORMAT = "ranx"
# The first bytes of the binary formats; those of 255 are Arrow's streaming format. ranx compresses its runs twice, so
# that a decompressed one still begins as a compressed file does.
FORMAT_BY_MARK = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", LZ4_MAGIC: RANX_FORMAT}
# What a run of NTCIR says of its system before the first line.
SYSTEM_DESCRIPTION = re.compile(rb"\A\s*<SYSDESC>.*?</SYSDESC>[^\n]*", re.DOTALL | re.IGNORECASE)
# The numbers of columns in a line of TREC qrels and of a TREC run.
TREC_WIDTHS = (4, 6)
# The key of the documents in results of rank_llm, whose query is an object with its text and its id.
CANDIDATES_KEY = "candidates"
# The keys under which a line of JSONL holds all documents of its query.
DOCUMENT_LIST_KEYS = ("documents", "ranking", "relevant", "relevant_docs", "doc_ids", "results", CANDIDATES_KEY)
# Bytes of a line that a message quotes.
MAX_SHOWN_BYTES = 100


def _map_extensions() -> dict[str, str]:
    format_by_extension: dict[str, str] = {}
    for name, file_format in FORMATS.items():
        for extension in file_format.extensions:
            format_by_extension[extension] = name
    return format_by_extension


FORMAT_BY_EXTENSION = _map_extensions()


def find_format_by_name(path: str | PathLike[str]) -> str | None:
    """Return the format of an extension, ignoring that of a compressed file; None if the extension is unknown."""
    file_path = Path(path)
    if file_path.suffix in COMPRESSIONS:
        file_path = Path(file_path.stem)
    return FORMAT_BY_EXTENSION.get(file_path.suffix.lower())


YAML_EXTENSIONS = (".yaml", ".yml")


def detect_format(source: Reader, format: str | None) -> str:
    """Return the format of a source: the one passed, else that of its extension, else that of its content."""
    if format is not None:
        return require_readable_format(format)
    format_of_extension = find_format_by_name(source.file_name)
    # TREC files with tabs are sometimes named .tsv.
    if format_of_extension is not None and format_of_extension != "tsv":
        return format_of_extension
    return _detect_by_content(source)


def require_known_format(format: str) -> str:
    """Return the format if it can be read and written."""
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
    return format


def require_readable_format(format: str) -> str:
    """Return the format if it can be read."""
    readable = [*FORMATS, *POSITIONAL_FORMATS]
    if format not in readable:
        raise ValueError(f"unknown format {format!r}; the formats are {', '.join(readable)}")
    return format


def _detect_by_content(source: Reader) -> str:
    start = source.beginning()
    for mark, format_name in FORMAT_BY_MARK.items():
        if start.startswith(mark):
            return format_name
    require_no_utf16_mark(start, source.name)
    lines = [line for line in start.splitlines() if line.strip()]
    if not lines:
        hint = ", or begins with many blank lines; pass format=" if start else ""
        raise ValueError(f"{source.name} is empty{hint}")
    require_no_zero_byte(lines[0], source.name)
    first_line = lines[0].strip()
    if first_line.startswith((b"{", b"[")):
        # One object per line, or one object that is the whole file.
        has_complete_lines = first_line.endswith((b"}", b"]")) and len(lines) > 1
        return "jsonl" if has_complete_lines or _is_row(first_line) else "json"
    fields = first_line.decode(errors="replace").split("\t")
    if any(field.strip().lower() in QUERY_COLUMNS for field in fields):
        return "tsv"
    if SYSTEM_DESCRIPTION.match(start) or len(_find_first_row(lines, first_line).split()) in TREC_WIDTHS:
        return "trec"
    if len(fields) > 1:
        return "tsv"
    shown = first_line[:MAX_SHOWN_BYTES].decode(errors="replace")
    if source.file_name.lower().endswith(YAML_EXTENSIONS):
        raise ValueError(f"{source.name} is YAML, which is not supported; pass its content: yaml.safe_load(open(path))")
    raise ValueError(
        f"cannot tell the format of {source.name} from its first line {shown!r}; pass "
        f"format={' or '.join(map(repr, FORMATS))}, or for a file without a header {POSITIONAL_FORMAT_HINT}"
    )


def blank_system_description(text: bytes) -> bytes:
    """Return the beginning of a TREC file with empty lines in place of a description of the system, as NTCIR has it."""
    if not text.lstrip().startswith(b"<"):
        return text
    return SYSTEM_DESCRIPTION.sub(lambda description: b"\n" * description[0].count(b"\n"), text)


def _find_first_row(lines: list[bytes], default: bytes) -> bytes:
    """Return the first line that is not a comment of TREC files; `default` if there is none."""
    for line in lines:
        if not line.lstrip().startswith(b"#"):
            return line
    return default


def _is_row(line: bytes) -> bool:
    """Return whether a line is a complete JSON object with a query and one or all of its documents."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # only its beginning, or not JSON: the reader raises the error
        return False
    if not isinstance(row, dict):
        return False
    has_query = any(key in QUERY_COLUMNS for key in row)
    has_documents = any(key in DOCUMENT_COLUMNS or key in DOCUMENT_LIST_KEYS for key in row)
    return has_query and has_documents
