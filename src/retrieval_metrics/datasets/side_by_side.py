"""Write a page with the rankings before and after a change side by side, query by query."""

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
    from retrieval_metrics.datasets.moves import DocumentMove
    from retrieval_metrics.reports.tables import Table


# How many characters of a text are shown.
MAX_TEXT_LENGTH = 240

# The classes of documents on the page, each with a colour in the style of reports: see `_format_item`.
_LEFT = "1"
_ENTERED = "0"
_MOVED = "3"
_STAYED = "2"


class SideBySideQuery(NamedTuple):
    """One query on the page.

    Attributes:
        query: Its id.
        text: Its text; empty if unknown.
        agreement: How far the rankings agree, in words.
        moves: The documents, each with its rank before and after.
    """

    query: QueryId
    text: str
    agreement: str
    moves: Sequence[DocumentMove]


@dataclass(frozen=True, slots=True)
class _RankChange:
    """How the rank of a document on one side compares with its rank on the other.

    Attributes:
        css_class: The class of the change, which has its colour on the page.
        label: The change in words; empty if the rank is the same.
    """

    css_class: str
    label: str


def write_side_by_side(
    path: str | PathLike[str],
    title: str,
    summary: Table,
    shown: Sequence[SideBySideQuery],
    *,
    depth: int,
    n_changed: int,
) -> None:
    """Write the page: the numbers, then the queries, with the first one unfolded.

    Args:
        path: The file to write.
        title: The heading.
        summary: The table of numbers.
        shown: The queries to show, the most changed first.
        depth: How many first documents of each ranking are shown.
        n_changed: How many queries changed in all.
    """
    queries = [_format_query(query, depth, is_open=number == 0) for number, query in enumerate(shown)]
    content = "".join(queries) or page.paragraph(f"All queries have the same top {depth}.")
    sections = [page.table(summary), page.section("Largest changes first", content)]
    n_left_out = n_changed - len(shown)
    if n_left_out > 0:
        left_out = numbers.format_count(n_left_out, "more query", "more queries")
        sections.append(page.paragraph(f"{left_out} changed less; see explain(query)"))
    page.write(path, title, sections)


def _format_query(query: SideBySideQuery, depth: int, *, is_open: bool) -> str:
    words = f'<span class="id">{escape(str(query.query))}</span><span class="words">{escape(query.text)}</span>'
    column_before = _format_column("before", _items_before(query, depth))
    column_after = _format_column("after", _items_after(query, depth))
    return (
        f'<details class="query"{" open" if is_open else ""}><summary><span class="asked">{words}</span>'
        f'<span class="values">{escape(query.agreement)}</span></summary>'
        f'<div class="opened"><div class="systems">{column_before}{column_after}</div></div></details>'
    )


def _format_column(name: str, items: dict[int, str]) -> str:
    """Return the items of one side, in the order of their ranks."""
    in_order = "".join(items[rank] for rank in sorted(items))
    return f'<div class="system"><h3>{name}</h3><ol>{in_order}</ol></div>'


def _items_before(query: SideBySideQuery, depth: int) -> dict[int, str]:
    """Return the first documents before the change as items of a list, by rank, each with its rank after."""
    items = {}
    for move in query.moves:
        rank = move.rank_before
        if rank is not None and rank <= depth:
            change = _compare_ranks(rank, move.rank_after, depth, absent=_RankChange(_LEFT, "left"), preposition="to")
            items[rank] = _format_item(move.document, rank, move.text, change)
    return items


def _items_after(query: SideBySideQuery, depth: int) -> dict[int, str]:
    """Return the first documents after the change as items of a list, by rank, each with its rank before."""
    items = {}
    absent = _RankChange(_ENTERED, "entered")
    for move in query.moves:
        rank = move.rank_after
        if rank is not None and rank <= depth:
            change = _compare_ranks(rank, move.rank_before, depth, absent=absent, preposition="from")
            items[rank] = _format_item(move.document, rank, move.text, change)
    return items


def _compare_ranks(
    rank: int, other_rank: int | None, depth: int, *, absent: _RankChange, preposition: str
) -> _RankChange:
    """Return how a rank on one side compares with that on the other; `absent` if the other side lacks the document.

    A document counts as absent, with its rank, also if the other side has it below the first `depth`.
    """
    if other_rank is None:
        return absent
    if other_rank > depth:
        return _RankChange(absent.css_class, f"{absent.label} {preposition} {other_rank}")
    if other_rank != rank:
        return _RankChange(_MOVED, f"{preposition} {other_rank}")
    return _RankChange(_STAYED, "")


def _format_item(document: DocumentId, rank: int, text: str, change: _RankChange) -> str:
    head = f'<span class="rank">{rank}</span><span class="id">{escape(str(document))}</span>'
    body = f'<div class="text">{escape(shorten(text, MAX_TEXT_LENGTH))}</div>' if text else ""
    state = f'<span class="state">{change.label}</span>'
    return f'<li class="result state{change.css_class}"><div class="head">{head}{state}</div>{body}</li>'
