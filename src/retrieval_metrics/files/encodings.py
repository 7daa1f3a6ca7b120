"""Refuse text that is not UTF-8, with its line and what to do about it."""

from __future__ import annotations

import codecs
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


BYTE_ORDER_MARK = codecs.BOM_UTF8
ENCODING_BY_MARK = {
    codecs.BOM_UTF32_LE: "UTF-32",  # listed before UTF-16, because it begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# A text without a mark is UTF-16 if more than this share of its even or odd bytes is zero.
MIN_ZERO_SHARE = 0.4
# A text without a mark is taken for UTF-16 if it has at least this many bytes: two letters.
MIN_UTF16_BYTES = 4
# The number of bytes at the start of a text in which a mark and zero bytes are searched for.
MARK_SEARCH_BYTES = 1 << 16
# The number of characters of a line that a message quotes: about two lines of a terminal.
MAX_SHOWN_CHARACTERS = 200


def require_no_utf16_mark(start: bytes, name: str) -> None:
    """Raise if the beginning of a text shows that it is UTF-16 or UTF-32."""
    encoding = _find_other_encoding(start)
    if encoding is not None:
        raise ValueError(
            f"{name}, line 1: the text is {encoding}, and only UTF-8 is read; convert it: "
            f"iconv -f {encoding} -t UTF-8 FILE > NEW_FILE"
        )


def _find_other_encoding(start: bytes) -> str | None:
    for mark, encoding in ENCODING_BY_MARK.items():
        if start.startswith(mark):
            return encoding
    # UTF-16 without a mark: exactly one of the two bytes of a Latin letter is zero.
    begins_with_letter = b"\x00" in (start[:1], start[1:2]) and start[:2] != b"\x00\x00"
    if len(start) >= MIN_UTF16_BYTES and begins_with_letter:
        n_zeros = max(start[1::2].count(0), start[::2].count(0))
        if n_zeros > MIN_ZERO_SHARE * len(start) / 2:
            return "UTF-16"
    return None


def require_no_zero_byte(start: bytes, name: str) -> None:
    """Raise if the beginning of a text holds a zero byte, which no readable text in UTF-8 does."""
    if b"\x00" in start:
        raise ValueError(f"{name} is a binary file; the binary formats that can be read are Parquet and Arrow")


def require_utf8(text: bytes, name: str) -> None:
    """Raise if a text is not UTF-8."""
    require_no_utf16_mark(text[:MARK_SEARCH_BYTES], name)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        number, line = find_line(text, error.start)
        decode_line(line, name, number)
        raise


def find_line(text: bytes, position: int) -> tuple[int, bytes]:
    """Return the number and the bytes of the line that holds the byte at a position."""
    start = text.rfind(b"\n", 0, position) + 1
    end = text.find(b"\n", position)
    if end < 0:
        end = len(text)
    return text.count(b"\n", 0, position) + 1, text[start:end]


def decode_line(line: bytes, name: str, number: int) -> str:
    """Return a line as text."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        # Spreadsheets on Windows write this encoding. It has every letter of Latin-1, and dashes and quotation marks.
        shown_line = line.decode("cp1252", errors="replace")
        raise ValueError(
            f"{format_line_location(name, number, shown_line.rstrip())}: it is not UTF-8 text (byte "
            f"0x{line[error.start]:02x} at column {error.start + 1}: {error.reason}), and is shown as Windows-1252, "
            "which it probably is; convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
        ) from error


def format_line_location(name: str, number: int, line: str) -> str:
    """Return the description of a line for errors: file, number, and the line itself."""
    if len(line) > MAX_SHOWN_CHARACTERS:
        line = line[:MAX_SHOWN_CHARACTERS] + "..."
    return f"{name}, line {number}: {line}"


@contextmanager
def name_file_in_errors(name: str) -> Iterator[None]:
    """Turn any error while reading a file into a ValueError that names the file."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, RecursionError, LookupError) as error:
        if isinstance(error, ValueError) and not isinstance(error, UnicodeError) and name in str(error):
            raise
        raise ValueError(f"{name}: {error or type(error).__name__}") from error
    except _get_polars_errors() as error:
        raise ValueError(
            f"{name} is damaged, or of another format: {next(iter(str(error).splitlines()), '')}"
        ) from error


def _get_polars_errors() -> tuple[type[BaseException], ...]:
    """Return the exceptions that polars raises for damaged data; none if polars was not imported."""
    exceptions = getattr(sys.modules.get("polars"), "exceptions", None)
    if exceptions is None:
        return ()
    return (exceptions.PolarsError, exceptions.PanicException)
