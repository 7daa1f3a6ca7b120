"""One small table in three forms: plain text, Markdown, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def text(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return an aligned plain-text table: first column to the left, the others to the right, notes below."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in (header, *rows)
    ]
    return "\n".join([*(line.rstrip() for line in lines), *notes])


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return a Markdown table, notes as a list below it."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = line(["---", *("---:" for _ in header[1:])])
    lines = [line(header), rule, *map(line, rows)]
    return "\n".join([*lines, *([""] if notes else []), *(f"- {note}" for note in notes)])


def html(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return an HTML table, notes as its caption; colours are those of the page it stands in."""
    from html import escape  # noqa: PLC0415  (its table of entities costs as much to import as half of this package)

    def line(cells: Sequence[str], tag: str) -> str:
        left, right = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"
        styles = [left, *(right for _ in cells[1:])]
        inside = (f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(cells, styles, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    caption = "<br>".join(map(escape, notes))
    body = "".join(line(row, "td") for row in rows)
    return (
        f'<table><caption style="caption-side:bottom;text-align:left">{caption}</caption>'
        f"<thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"
    )
