"""A page of rankings side by side: what stayed, moved, entered and left, query by query."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.tables import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics._internal.validation import DocumentId, QueryId
    from retrieval_metrics.reports.tables import Table

SHOWN = 240
"""The characters of a text that are shown."""


class SideBySideQuery(NamedTuple):
    """One query on the page.

    Attributes:
        query: Its id.
        text: Its text; empty if unknown.
        value: How far the rankings agree, in words.
        rows: Each document with its rank before and after, None where it was not retrieved, and its text.
    """

    query: QueryId
    text: str
    value: str
    rows: Sequence[tuple[DocumentId, int | None, int | None, str]]


def write_side_by_side(
    path: str | PathLike[str], title: str, summary: Table, shown: Sequence[SideBySideQuery], *, depth: int, changed: int
) -> None:
    """Write the page: the numbers, then the queries, of which the first is open."""
    queries = "".join(_query(one, depth, opened=not at) for at, one in enumerate(shown))
    left_out = changed - len(shown)
    shown_by = python_or_cli_text("; explain(query) shows them")
    rest = [page.paragraph(f"{numbers.format_query_count(left_out)} more changed less{shown_by}")]
    parts = [
        page.table(summary),
        page.section("Most changed first", queries or page.paragraph(f"No query has other first {depth}.")),
        *(rest if left_out > 0 else []),
    ]
    page.write(path, title, parts)


def _query(one: SideBySideQuery, depth: int, *, opened: bool) -> str:
    words = f'<span class="id">{escape(str(one.query))}</span><span class="words">{escape(one.text)}</span>'
    columns = "".join(
        f'<div class="system"><h3>{name}</h3><ol>{_column(one, side, depth)}</ol></div>'
        for side, name in enumerate(("before", "after"))
    )
    return (
        f'<details class="query"{" open" if opened else ""}><summary><span class="asked">{words}</span>'
        f'<span class="values">{escape(one.value)}</span></summary>'
        f'<div class="opened"><div class="systems">{columns}</div></div></details>'
    )


def _column(one: SideBySideQuery, side: int, depth: int) -> str:
    """Return the first documents of one side, each with what became of it on the other."""
    items = []
    for document, *ranks, text in one.rows:
        rank, other = ranks[side], ranks[1 - side]
        if rank is None or rank > depth:
            continue
        gone = other is None or other > depth
        where = "" if other in {None, rank} else f"{('to', 'from')[side]} {other}"
        said = f"{('left', 'entered')[side]} {where}".strip() if gone else where
        state = ("1", "0")[side] if gone else "3" if said else "2"
        body = f'<div class="text">{escape(shorten(text, SHOWN))}</div>' if text else ""
        head = f'<span class="rank">{rank}</span><span class="id">{escape(str(document))}</span>'
        item = f'<div class="head">{head}<span class="state">{said}</span></div>{body}'
        items.append((rank, f'<li class="result state{state}">{item}</li>'))
    return "".join(item for _, item in sorted(items))
