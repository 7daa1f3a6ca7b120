"""Show results as tables, for terminals, files and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.reports.display_text import escaped, for_terminal, format_cells, format_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType


# Inline alignment of cells, for HTML inside another page, such as a notebook.
LEFT = ' style="text-align:left"'
RIGHT = ' style="text-align:right;font-variant-numeric:tabular-nums"'


# What Markdown reads as code, emphasis, strikethrough or a column; an underscore within a word is none of these. Of
# backslashes, brackets and the like, those that Markdown would not show: before a sign, in links, tags and entities.
_MARKUP = lazy_pattern(
    r"[|`*~]|(?<![^\W_])_|_(?![^\W_])"
    r"|\\(?=[!-/:-@\[-`{-~]|\s*$)|\[(?=[^\]]*\][(\[:])|<(?=[a-zA-Z/!?])|&(?=#?\w+;)"
)
# What begins a heading, a quotation or an item of a list.
_LINE_START_MARKUP = lazy_pattern(r"^(\d*)([#+.)-](?=\s|[#-]|$)|>)")


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

    @property
    def width(self) -> int:
        """The number of characters of the longest line of the aligned table; the notes below may be longer."""
        return max(map(len, self._aligned_rows()), default=0) if self.header else 0

    def text(self) -> str:
        """Return an aligned plain-text table with the notes below; control characters in it are shown as escapes."""
        lines = []
        if self.title:
            lines.append(escaped(self.title))
        if self.header:
            lines.extend(self._aligned_rows())
        lines.extend(escaped(note) for note in self.notes)
        return "\n".join(lines)

    def _aligned_rows(self) -> list[str]:
        """Return the header and the rows as lines of text, padded to the width of each column."""
        rows = list(map(format_cells, (self.header, *self.rows)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        alignments = self._by_alignment("<", ">")
        lines = []
        for row in rows:
            padded = [f"{cell:{align}{width}}" for cell, align, width in zip(row, alignments, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        return lines

    def markdown(self) -> str:
        """Return a Markdown table with the notes as a list below."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(map(_markdown_cell, cells)) + " |"

        lines = []
        if self.title:
            lines += [f"**{_markdown_text(self.title)}**", ""]
        if self.header:
            lines += [line(self.header), line(self._by_alignment("---", "---:")), *map(line, self.rows)]
            if self.notes:
                lines.append("")
        lines.extend(f"- {_markdown_text(note)}" for note in self.notes)
        return "\n".join(lines)

    def html(self, left: str = LEFT, right: str = RIGHT) -> str:
        """Return an HTML table with the notes below, in the colours of the surrounding page."""
        from html import escape

        styles = self._by_alignment(left, right)

        def line(cells: Sequence[str], tag: str) -> str:
            styled = [f"<{tag}{style}>{escape(cell)}</{tag}>" for cell, style in zip(cells, styles, strict=True)]
            return f"<tr>{''.join(styled)}</tr>"

        heading = f"<p><strong>{escape(self.title)}</strong></p>" if self.title else ""
        notes = "<br>".join(map(escape, self.notes))
        if not self.header:
            return f"{heading}<p>{notes}</p>"
        body = "".join(line(row, "td") for row in self.rows)
        # Below the table and not in its caption, which would be no wider than the table.
        below = f"<p>{notes}</p>" if notes else ""
        return f"{heading}<table><thead>{line(self.header, 'th')}</thead><tbody>{body}</tbody></table>{below}"

    def rich(self) -> RenderableType:
        """Return the table for rich, which must be installed because only rich calls this."""
        from rich import box
        from rich.console import Group
        from rich.table import Table as Grid
        from rich.text import Text

        # Text objects, because rich would read a name such as [d7] as markup.
        parts: list[RenderableType] = []
        if self.title:
            parts.append(Text(escaped(self.title), style="bold"))
        if self.header:
            grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
            word_columns = self._word_columns
            for column, name in enumerate(self.header):
                justify: Literal["left", "right"] = "left" if column in word_columns else "right"
                # On a narrow terminal cells are folded, so that rows stay rows.
                grid.add_column(Text(format_one_line(name)), justify=justify, overflow="fold")
            for row in self.rows:
                grid.add_row(*(Text(format_one_line(cell)) for cell in row))
            parts.append(grid)
        return Group(*parts, *(Text(escaped(note)) for note in self.notes))

    @property
    def _word_columns(self) -> set[int]:
        """The numbers of the columns of words, from 0."""
        if not self.header:
            return set()
        return {column % len(self.header) for column in self.words}

    def _by_alignment(self, left: str, right: str) -> list[str]:
        """Return one text per column: `left` for those of words, `right` for the others."""
        word_columns = self._word_columns
        texts = []
        for column in range(len(self.header)):
            texts.append(left if column in word_columns else right)
        return texts


def _markdown_cell(cell: str) -> str:
    """Return a cell that ends neither its row nor its column and is shown as it is; intervals stay readable."""
    return _MARKUP.sub(r"\\\g<0>", format_one_line(cell))


def _markdown_text(text: str) -> str:
    """Return a title or a note on one line, in which names are no links, tags, headings or items of a list."""
    return _LINE_START_MARKUP.sub(r"\1\\\2", _markdown_cell(text))


class Printed:
    """A result shown as tables, which its subclass defines."""

    __slots__ = ()

    def _tables(self) -> Sequence[Table]:
        raise NotImplementedError

    @property
    def tables(self) -> Sequence[Table]:
        """The tables in which the result is shown."""
        return self._tables()

    def to_markdown(self) -> str:
        """Return the tables as Markdown, with the notes below each."""
        return "\n\n".join(table.markdown() for table in self._tables())

    def __str__(self) -> str:
        return for_terminal("\n\n".join(table.text() for table in self._tables()))

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())

    def __rich__(self) -> RenderableType:
        from rich.console import Group

        return Group(*(table.rich() for table in self._tables()))
