"""Refuse CSV text with malformed quotes or line ends, which a lenient reader would misread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from retrieval_metrics.files.encodings import find_line, format_line_location

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import IntArray

QUOTE = '"'
DOUBLED_QUOTE_HINT = 'a quote inside a value is written twice, in a value that is quoted: "a ""quoted"" word"'
# The error about text with the line ends of classic Mac OS.
LONE_CARRIAGE_RETURN = r"lone carriage return; lines end with a line feed: tr '\r' '\n' < FILE > NEW_FILE"


def require_closed_quotes(text: bytes, separator: str, name: str) -> None:
    """Raise if a quote is not at the end of a value, or is not closed (RFC 4180)."""
    if QUOTE.encode() not in text:
        return
    quotes = _find_quotes(text)
    characters = np.frombuffer(text, np.uint8)
    value_ends = np.frombuffer(f"{separator}\r\n".encode(), np.uint8)
    opening = quotes[::2]
    closing = quotes[1::2]
    # A doubled quote inside a value looks like a quote that closes the value and another that opens it again.
    opens_at_value_start = (opening == 0) | np.isin(characters[opening - 1], value_ends)
    is_doubled = np.zeros(len(opening), dtype=np.bool_)
    is_doubled[1:] = opening[1:] == closing[: len(opening) - 1] + 1
    stray = opening[~(opens_at_value_start | is_doubled)]
    closes_at_value_end = np.isin(characters[closing + 1], value_ends)
    is_reopened = np.zeros(len(closing), dtype=np.bool_)
    is_reopened[: len(opening) - 1] = is_doubled[1:][: len(closing)]
    closed_early = np.flatnonzero(~(closes_at_value_end | is_reopened))
    if len(closed_early):
        pair = int(closed_early[0])
        is_stray_first = len(stray) and stray[0] < closing[pair]
        if not is_stray_first:
            _refuse_early_close(text, int(opening[pair]), int(closing[pair]), name)
    if len(stray):
        raise ValueError(
            f"{_locate_line(text, int(stray[0]), name)}: a quotation mark inside a value; {DOUBLED_QUOTE_HINT}"
        )
    if len(quotes) % 2:
        unclosed = int(opening[-1])
        raise ValueError(f"{_locate_line(text, unclosed, name)}: {_describe_quote(text, unclosed)} is never closed")


def _find_quotes(text: bytes) -> IntArray:
    """Return the positions of the quotes in a text, ascending."""
    return np.flatnonzero(np.frombuffer(text, np.uint8) == ord(QUOTE))


def _refuse_early_close(text: bytes, opening: int, closing: int, name: str) -> NoReturn:
    opening_line, _ = find_line(text, opening)
    closing_line, _ = find_line(text, closing)
    where = _locate_line(text, opening, name)
    if opening_line != closing_line:
        raise ValueError(
            f"{where}: {_describe_quote(text, opening)} is not closed on its line; the next quote, on line "
            f"{closing_line}, does not end a value"
        )
    raise ValueError(f"{where}: a quoted value continues after its closing quote; {DOUBLED_QUOTE_HINT}")


def _describe_quote(text: bytes, position: int) -> str:
    line_start = text.rfind(b"\n", 0, position) + 1
    column = len(text[line_start:position].decode()) + 1
    return f"the quote at column {column}"


def require_line_feeds(text: bytes, name: str, *, quoted: bool) -> None:
    r"""Raise if a carriage return outside of quotes is not followed by a line feed."""
    if text.count(b"\r") == text.count(b"\r\n"):
        return
    characters = np.frombuffer(text, np.uint8)
    returns = np.flatnonzero(characters == ord("\r"))
    next_characters = characters[np.minimum(returns + 1, len(characters) - 1)]
    lone_returns = returns[next_characters != ord("\n")]
    if quoted:
        n_quotes_before = np.searchsorted(_find_quotes(text), lone_returns)
        lone_returns = lone_returns[n_quotes_before % 2 == 0]
    if len(lone_returns):
        raise ValueError(f"{_locate_line(text, int(lone_returns[0]), name)}: {LONE_CARRIAGE_RETURN}")


def _locate_line(text: bytes, position: int, name: str) -> str:
    number, line = find_line(text, position)
    return format_line_location(name, number, line.decode().removesuffix("\r").replace("\r", r"\r"))
