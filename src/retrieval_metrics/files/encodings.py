"""Refuse text that is not UTF-8, with its line, its probable encoding and the command that converts it."""

from __future__ import annotations

import codecs

BYTE_ORDER_MARK = codecs.BOM_UTF8
OTHERS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
SHOWN = 200
"""The number of characters of a line that a message quotes: about two lines of a terminal."""

RETURN_ALONE = r"a carriage return stands alone; lines end with a line feed: tr '\r' '\n' < FILE > NEW_FILE"
"""What is wrong with a text of an old Mac."""


def refuse_marks(start: bytes, name: str) -> None:
    """Raise if the beginning of a text shows that it is UTF-16 or UTF-32.

    Raises:
        ValueError: If it is; the message has the command that converts it.
    """
    found = next((encoding for mark, encoding in OTHERS.items() if start.startswith(mark)), None)
    if found is None and len(start) > 3 and b"\x00" in (start[:1], start[1:2]) and start[:2] != b"\x00\x00":  # noqa: PLR2004  (two characters)
        # Without a mark: one of the two bytes of a Latin letter is zero.
        odd, even = start[1::2].count(0), start[::2].count(0)
        found = "UTF-16" if max(odd, even) > 0.4 * len(start) / 2 else None
    if found is not None:
        raise ValueError(
            f"{name}, line 1: the text is {found}, and only UTF-8 is read; convert it: "
            f"iconv -f {found} -t UTF-8 FILE > NEW_FILE"
        )


def refuse_binary(start: bytes, name: str) -> None:
    """Raise if the beginning of a text holds a zero, as no text in UTF-8 does.

    Raises:
        ValueError: If it does.
    """
    if b"\x00" in start:
        raise ValueError(f"{name} is a binary file; the only binary format that can be read is Parquet")


def refuse_other_encoding(text: bytes, name: str) -> None:
    """Raise if a text is not UTF-8.

    Raises:
        ValueError: If it is not; the message has the line.
    """
    refuse_marks(text[: 1 << 16], name)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        number, line = line_around(text, error.start)
        decoded(line, name, number)
        raise


def line_around(text: bytes, at: int) -> tuple[int, bytes]:
    """Return the number and the bytes of the line in which a byte of a text is."""
    start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
    return text.count(b"\n", 0, at) + 1, text[start : end if end >= 0 else len(text)]


def decoded(line: bytes, name: str, number: int) -> str:
    """Return a line as text.

    Raises:
        ValueError: If it is not UTF-8, naming the line, and the encoding that it probably has.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{at_line(name, number, line.decode('latin-1').rstrip())}: it is not UTF-8 text (byte "
            f"0x{line[error.start]:02x} at column {error.start + 1}: {error.reason}), and is shown as Latin-1, which "
            "it probably is; convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW_FILE"
        ) from error


def at_line(name: str, number: int, line: str) -> str:
    """Return the description of a line for errors: file, number, and the line itself."""
    return f"{name}, line {number}: {line if len(line) <= SHOWN else line[:SHOWN] + '...'}"
