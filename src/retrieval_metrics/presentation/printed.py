"""Printing, notebook display and Markdown for every result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from retrieval_metrics.presentation.tables import Table


class Printed:
    """A result that is shown as the tables its subclass defines."""

    __slots__ = ()

    def _tables(self) -> Sequence[Table]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return the tables as Markdown, with the notes below each."""
        return "\n\n".join(tables.markdown(*table) for table in self._tables())

    def __str__(self) -> str:
        return "\n\n".join(tables.text(*table) for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(tables.html(*table) for table in self._tables())

    def __rich__(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415  (only rich calls this, so it is installed)

        return Group(*(tables.rich(*table) for table in self._tables()))
