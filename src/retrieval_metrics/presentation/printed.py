"""Printing, notebook display and Markdown for every result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation.escapes import for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from retrieval_metrics.presentation.tables import Table


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
        from rich.console import Group  # noqa: PLC0415  (only rich calls this, so it is installed)

        return Group(*(table.rich() for table in self._tables()))
