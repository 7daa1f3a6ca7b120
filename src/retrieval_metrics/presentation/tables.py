"""A small table as plain text, Markdown, HTML, or rich output for the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.presentation.escapes import escaped, on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

LEFT = ' style="text-align:left"'
RIGHT = ' style="text-align:right;font-variant-numeric:tabular-nums"'
"""Inline alignment of cells, for HTML inside another page, such as a notebook."""


class Table(NamedTuple):
    """A table of text cells, plus notes.

    Attributes:
        header: The names of the columns.
        rows: The cells, row by row.
        notes: Sentences below the table.
        title: A heading above the table, or empty.
        words: The columns of words, which are left-aligned; the others are right-aligned. -1 is the last.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    title: str = ""
    words: Sequence[int] = (0,)


def text(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    title: str = "",
    words: Sequence[int] = (0,),
) -> str:
    """Return an aligned plain-text table with the notes below; control characters in it are shown as escapes."""
    header, rows = list(map(on_one_line, header)), [list(map(on_one_line, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    to_the_left = _places(words, header)

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if at in to_the_left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    lines = map(line, (header, *rows)) if header else ()
    return "\n".join([*([escaped(title)] if title else []), *lines, *map(escaped, notes)])


def markdown(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    title: str = "",
    words: Sequence[int] = (0,),
) -> str:
    """Return a Markdown table with the notes as a list below."""
    to_the_left = _places(words, header)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_markdown_cell, cells)) + " |"

    rule = line(["---" if at in to_the_left else "---:" for at in range(len(header))])
    lines = [line(header), rule, *map(line, rows)] if header else []
    heading = [f"**{escaped(title)}**", ""] if title else []
    gap = [""] if lines and notes else []
    return "\n".join([*heading, *lines, *gap, *(f"- {on_one_line(note)}" for note in notes)])


def _markdown_cell(cell: str) -> str:
    """Return a cell that cannot end its row or column: bars, and backslashes before them, are escaped."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", on_one_line(cell))


def html(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    title: str = "",
    words: Sequence[int] = (0,),
) -> str:
    """Return an HTML table with the notes below, in the colours of the surrounding page."""
    from html import escape  # noqa: PLC0415  (importing it takes half as long as importing this package)

    to_the_left = _places(words, header)

    def line(cells: Sequence[str], tag: str) -> str:
        styles = (LEFT if at in to_the_left else RIGHT for at in range(len(cells)))
        inside = (f"<{tag}{style}>{escape(cell)}</{tag}>" for cell, style in zip(cells, styles, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    heading = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    notes = "<br>".join(map(escape, notes))
    if not header:
        return f"{heading}<p>{notes}</p>"
    body = "".join(line(row, "td") for row in rows)
    # Below the table and not in its caption, which would be no wider than the table.
    below = f"<p>{notes}</p>" if notes else ""
    return f"{heading}<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>{below}"


def rich(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    title: str = "",
    words: Sequence[int] = (0,),
) -> RenderableType:
    """Return the table for rich, which must be installed because only rich calls this."""
    from rich import box  # noqa: PLC0415  (an extra: imported where it is used)
    from rich.console import Group  # noqa: PLC0415  (as above)
    from rich.table import Table as Grid  # noqa: PLC0415  (as above)
    from rich.text import Text  # noqa: PLC0415  (as above)

    # Text objects, because rich would read a name such as [d7] as markup.
    parts: list[RenderableType] = [Text(escaped(title), style="bold")] if title else []
    if header:
        to_the_left = _places(words, header)
        drawn = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        for at, name in enumerate(header):
            # On a narrow terminal cells are folded, so that rows stay rows.
            drawn.add_column(Text(on_one_line(name)), justify="left" if at in to_the_left else "right", overflow="fold")
        for row in rows:
            drawn.add_row(*(Text(on_one_line(cell)) for cell in row))
        parts.append(drawn)
    return Group(*parts, *(Text(escaped(note)) for note in notes))


def _places(words: Sequence[int], header: Sequence[str]) -> set[int]:
    return {at % len(header) for at in words} if header else set()
