"""A page of rankings side by side: what stayed, moved, entered and left, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.display_text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.reports.tables import Table


# The characters of a text that are shown.
MAX_TEXT_LENGTH = 240

# The classes of results on the page, of which each has its colour.
_LEFT = "1"
_ENTERED = "0"
_MOVED = "3"
_STAYED = "2"


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


@dataclass(frozen=True, slots=True)
class _Fate:
    """What became of a document of one side on the other: a class for the page, and a word for its reader."""

    state: str
    label: str


def write_side_by_side(
    path: str | PathLike[str], title: str, summary: Table, shown: Sequence[SideBySideQuery], *, depth: int, changed: int
) -> None:
    """Write the page: the numbers, then the queries, of which the first is open."""
    queries = [_format_query(query, depth, is_open=number == 0) for number, query in enumerate(shown)]
    content = "".join(queries) or page.paragraph(f"No query has other first {depth}.")
    parts = [page.table(summary), page.section("Most changed first", content)]
    n_left_out = changed - len(shown)
    if n_left_out > 0:
        left_out = numbers.format_query_count(n_left_out)
        parts.append(page.paragraph(f"{left_out} more changed less; explain(query) shows them"))
    page.write(path, title, parts)


def _format_query(query: SideBySideQuery, depth: int, *, is_open: bool) -> str:
    words = f'<span class="id">{escape(str(query.query))}</span><span class="words">{escape(query.text)}</span>'
    columns = _format_column("before", _items_before(query, depth)) + _format_column(
        "after", _items_after(query, depth)
    )
    return (
        f'<details class="query"{" open" if is_open else ""}><summary><span class="asked">{words}</span>'
        f'<span class="values">{escape(query.value)}</span></summary>'
        f'<div class="opened"><div class="systems">{columns}</div></div></details>'
    )


def _format_column(name: str, items: dict[int, str]) -> str:
    """Return the items of one side, in the order of their ranks."""
    in_order = "".join(items[rank] for rank in sorted(items))
    return f'<div class="system"><h3>{name}</h3><ol>{in_order}</ol></div>'


def _items_before(query: SideBySideQuery, depth: int) -> dict[int, str]:
    """Return the first documents before, by rank, each with what became of it after."""
    items = {}
    for document, rank, rank_after, text in query.rows:
        if rank is not None and rank <= depth:
            fate = _fate(rank, rank_after, depth, gone=_Fate(_LEFT, "left"), preposition="to")
            items[rank] = _format_item(document, rank, text, fate)
    return items


def _items_after(query: SideBySideQuery, depth: int) -> dict[int, str]:
    """Return the first documents after, by rank, each with what it was before."""
    items = {}
    for document, rank_before, rank, text in query.rows:
        if rank is not None and rank <= depth:
            fate = _fate(rank, rank_before, depth, gone=_Fate(_ENTERED, "entered"), preposition="from")
            items[rank] = _format_item(document, rank, text, fate)
    return items


def _fate(rank: int, other_rank: int | None, depth: int, *, gone: _Fate, preposition: str) -> _Fate:
    """Return what became of a document: gone if the other side does not have it among its first ones."""
    if other_rank is None:
        return gone
    if other_rank > depth:
        return _Fate(gone.state, f"{gone.label} {preposition} {other_rank}")
    if other_rank != rank:
        return _Fate(_MOVED, f"{preposition} {other_rank}")
    return _Fate(_STAYED, "")


def _format_item(document: DocumentId, rank: int, text: str, fate: _Fate) -> str:
    head = f'<span class="rank">{rank}</span><span class="id">{escape(str(document))}</span>'
    body = f'<div class="text">{escape(shorten(text, MAX_TEXT_LENGTH))}</div>' if text else ""
    state = f'<span class="state">{fate.label}</span>'
    return f'<li class="result state{fate.state}"><div class="head">{head}{state}</div>{body}</li>'
