"""Refuse text that is not UTF-8, or not CSV, with its line and what to do about it."""

from __future__ import annotations

import codecs
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


BYTE_ORDER_MARK = codecs.BOM_UTF8
OTHERS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
SHOWN = 200
"""The number of characters of a line that a message quotes: about two lines of a terminal."""

LONE_CARRIAGE_RETURN = r"a carriage return stands alone; lines end with a line feed: tr '\r' '\n' < FILE > NEW_FILE"
"""What is wrong with a text of an old Mac."""


def require_no_utf16_mark(start: bytes, name: str) -> None:
    """Raise if the beginning of a text shows that it is UTF-16 or UTF-32."""
    found = next((encoding for mark, encoding in OTHERS.items() if start.startswith(mark)), None)
    if found is None and len(start) > 3 and b"\x00" in (start[:1], start[1:2]) and start[:2] != b"\x00\x00":
        # Without a mark: one of the two bytes of a Latin letter is zero.
        odd, even = start[1::2].count(0), start[::2].count(0)
        found = "UTF-16" if max(odd, even) > 0.4 * len(start) / 2 else None
    if found is not None:
        raise ValueError(
            f"{name}, line 1: the text is {found}, and only UTF-8 is read; convert it: "
            f"iconv -f {found} -t UTF-8 FILE > NEW_FILE"
        )


def require_no_zero_byte(start: bytes, name: str) -> None:
    """Raise if the beginning of a text holds a zero, as no text in UTF-8 does."""
    if b"\x00" in start:
        raise ValueError(f"{name} is a binary file; the binary formats that can be read are Parquet and Arrow")


def require_utf8(text: bytes, name: str) -> None:
    """Raise if a text is not UTF-8."""
    require_no_utf16_mark(text[: 1 << 16], name)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        number, line = line_around(text, error.start)
        decode_line(line, name, number)
        raise


def line_around(text: bytes, at: int) -> tuple[int, bytes]:
    """Return the number and the bytes of the line in which a byte of a text is."""
    start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
    return text.count(b"\n", 0, at) + 1, text[start : end if end >= 0 else len(text)]


def decode_line(line: bytes, name: str, number: int) -> str:
    """Return a line as text."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{format_line_location(name, number, line.decode('latin-1').rstrip())}: it is not UTF-8 text (byte "
            f"0x{line[error.start]:02x} at column {error.start + 1}: {error.reason}), and is shown as Latin-1, which "
            "it probably is; convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW_FILE"
        ) from error


def format_line_location(name: str, number: int, line: str) -> str:
    """Return the description of a line for errors: file, number, and the line itself."""
    return f"{name}, line {number}: {line if len(line) <= SHOWN else line[:SHOWN] + '...'}"


# Refuse CSV text whose quotes or line ends are not those of CSV, before a lenient reader makes something of it.

QUOTE = '"'
DOUBLED = 'a quote inside a value is written twice, in a value that is quoted: "a ""quoted"" word"'


def require_closed_quotes(text: bytes, separator: str, name: str) -> None:
    """Raise if a quote is not at the end of a value, or is not closed (RFC 4180)."""
    if QUOTE.encode() not in text:
        return
    quotes = quotes_of(text)
    letters = np.frombuffer(text, np.uint8)
    ends = np.frombuffer(f"{separator}\r\n".encode(), np.uint8)
    begin, close = quotes[::2], quotes[1::2]
    # A doubled quote closes a value and begins the next at once.
    after_end = (begin == 0) | np.isin(letters[begin - 1], ends)
    doubled = np.zeros(len(begin), dtype=np.bool_)
    doubled[1:] = begin[1:] == close[: len(begin) - 1] + 1
    stray = begin[~(after_end | doubled)]
    before_end = np.isin(letters[close + 1], ends)
    followed = np.zeros(len(close), dtype=np.bool_)
    followed[: len(begin) - 1] = doubled[1:][: len(close)]
    early = np.flatnonzero(~(before_end | followed))
    if len(early) and not (len(stray) and stray[0] < close[early[0]]):
        at = int(early[0])
        _refuse_early(text, int(begin[at]), int(close[at]), name)
    if len(stray):
        raise ValueError(f"{_line_at(text, int(stray[0]), name)}: a quote stands inside a value; {DOUBLED}")
    if len(quotes) % 2:
        raise ValueError(f"{_line_at(text, int(begin[-1]), name)}: {_open(text, int(begin[-1]))} is never closed")


def quotes_of(text: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where the quotes of a text are."""
    return np.flatnonzero(np.frombuffer(text, np.uint8) == ord(QUOTE))


def require_line_feeds(text: bytes, name: str, *, quoted: bool) -> None:
    r"""Raise if a carriage return outside of quotes is not followed by a line feed."""
    if text.count(b"\r") == text.count(b"\r\n"):
        return
    letters = np.frombuffer(text, np.uint8)
    returns = np.flatnonzero(letters == ord("\r"))
    alone = returns[letters[np.minimum(returns + 1, len(letters) - 1)] != ord("\n")]
    if quoted:
        alone = alone[np.searchsorted(quotes_of(text), alone) % 2 == 0]
    if len(alone):
        raise ValueError(f"{_line_at(text, int(alone[0]), name)}: {LONE_CARRIAGE_RETURN}")


def _refuse_early(text: bytes, begin: int, close: int, name: str) -> None:
    here, there = (line_around(text, at)[0] for at in (begin, close))
    if here != there:
        raise ValueError(
            f"{_line_at(text, begin, name)}: {_open(text, begin)} is not closed on its line; the next quote, on line "
            f"{there}, does not end a value"
        )
    raise ValueError(f"{_line_at(text, begin, name)}: a quoted value goes on after its closing quote; {DOUBLED}")


def _open(text: bytes, at: int) -> str:
    column = len(text[text.rfind(b"\n", 0, at) + 1 : at].decode()) + 1
    return f"the quote at column {column}"


def _line_at(text: bytes, at: int, name: str) -> str:
    number, line = line_around(text, at)
    return format_line_location(name, number, line.decode().removesuffix("\r").replace("\r", r"\r"))


@contextmanager
def name_file_in_errors(name: str) -> Iterator[None]:
    """Turn any error while reading a file into a ValueError that names the file."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, RecursionError, LookupError) as error:
        if isinstance(error, ValueError) and not isinstance(error, UnicodeError) and name in str(error):
            raise
        raise ValueError(f"{name}: {error or type(error).__name__}") from error
    except _of_polars() as error:
        raise ValueError(
            f"{name} is damaged, or of another format: {next(iter(str(error).splitlines()), '')}"
        ) from error


def _of_polars() -> tuple[type[BaseException], ...]:
    """Return what polars raises for damaged data, if anything was read with it."""
    errors = getattr(sys.modules.get("polars"), "exceptions", None)
    return () if errors is None else (errors.PolarsError, errors.PanicException)
