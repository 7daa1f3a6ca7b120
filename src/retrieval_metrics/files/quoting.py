"""Refuse CSV text whose quotes or line ends are not those of CSV, before a lenient reader makes something of it."""

from __future__ import annotations

import numpy as np

from retrieval_metrics.files.encodings import RETURN_ALONE, at_line, line_around

QUOTE = '"'
DOUBLED = 'a quote inside a value is written twice, in a value that is quoted: "a ""quoted"" word"'


def refuse_quotes(text: bytes, separator: str, name: str) -> None:
    """Raise if a quote is not at the end of a value, or is not closed (RFC 4180).

    Readers disagree on such text: of the value `"a"b"c"` polars makes `abc`, and the csv module `ab"c"`.

    Args:
        text: The text, whose last line is ended.
        separator: What separates the values of a line.
        name: The name of the file, for messages.

    Raises:
        ValueError: If there is one; the message has the line.
    """
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


def refuse_carriage_returns(text: bytes, name: str, *, quoted: bool) -> None:
    r"""Raise if a carriage return outside of quotes is not followed by a line feed.

    Args:
        text: The text.
        name: The name of the file, for messages.
        quoted: Whether a value can be quoted, and then hold line ends of any kind.

    Raises:
        ValueError: If there is one; the message has the line.
    """
    if text.count(b"\r") == text.count(b"\r\n"):
        return
    letters = np.frombuffer(text, np.uint8)
    returns = np.flatnonzero(letters == ord("\r"))
    alone = returns[letters[np.minimum(returns + 1, len(letters) - 1)] != ord("\n")]
    if quoted:
        alone = alone[np.searchsorted(quotes_of(text), alone) % 2 == 0]
    if len(alone):
        raise ValueError(f"{_line_at(text, int(alone[0]), name)}: {RETURN_ALONE}")


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
    return at_line(name, number, line.decode().removesuffix("\r").replace("\r", r"\r"))
