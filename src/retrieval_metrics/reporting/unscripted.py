"""The queries of a report for readers without JavaScript, from the same data as the script's."""

from __future__ import annotations

from collections import Counter
from functools import cache
from html import escape
from operator import add
from typing import TYPE_CHECKING, Any

from retrieval_metrics.presentation import numbers, page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIGNS = ("✓", "✗", "↻", "○")
"""Of a result that is relevant, not relevant, a repeat or unjudged, as in the script."""
LETTERS = 1_500_000
"""Letters of texts that all queries together show."""
LONGEST = 300
"""The most letters of a text."""


def unscripted(data: Mapping[str, Any], order: Sequence[int]) -> str:
    """Return every query of a page: its values, and folded in it what it needed and what came back, if that is there.

    Args:
        data: The data of the page.
        order: The places of the queries, as they are listed.
    """
    rows = [data["queries"][at] for at in order]
    shown = sum(len(row.get("needed", ())) + sum(len(found or ()) for found in row.get("results", ())) for row in rows)
    length = min(LONGEST, LETTERS // max(shown, 1))
    lines = Lines(data)
    return "".join(_folded(data, lines, row, length if length > 40 else 0) for row in rows)  # noqa: PLR2004  (a few words)


class Lines:
    """Says the values of a query and what it missed; many queries have the same, so each is worded once."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._systems = [f"{name} " if name else "" for name in data["systems"]]
        self.value = cache(lambda value: "-" if value is None else numbers.value(value))
        self.missing = cache(self._missing)

    def values(self, row: Mapping[str, Any]) -> str:
        """Return the value of each system."""
        main = self._data["main"]
        values = (self.value(None if values is None else values[main]) for values in row["values"])
        return ", ".join(map(add, self._systems, values))

    def _missing(self, system: int, kinds: tuple[int, ...], wanted: int) -> str:
        name, kind = self._data["systems"][system], self._data["kinds"]
        counted = ", ".join(f"{times} {kind[one]}" for one, times in Counter(kinds).items())
        why = f": {counted}" if counted else ""
        found = f"{wanted - len(kinds)} of {wanted} found{why}" if wanted else "nothing relevant is known"
        return f"{f'{name}: ' if name else ''}{found}"


def _folded(data: Mapping[str, Any], lines: Lines, row: Mapping[str, Any], length: int) -> str:
    summary = f"{lines.values(row)}  {row['id']}  {row.get('text', '')}".rstrip()
    missing = "; ".join(
        [
            lines.missing(at, tuple(kinds or ()), wanted)
            for at, (kinds, wanted) in enumerate(zip(row["missing"], row["wanted"], strict=True))
            if wanted is not None
        ]
    )
    if "needed" not in row:
        return f"<p>{escape(summary)}<br>{escape(missing)}</p>"
    return page.folded(
        summary,
        f"<p>{escape(missing)}</p>",
        *(f"<p>{escape(line)}</p>" for line in _needed(data, row, length)),
        *_results(data, row, length),
    )


def _needed(data: Mapping[str, Any], row: Mapping[str, Any], length: int) -> list[str]:
    lines = []
    for place, grade, _, outcomes in row["needed"]:
        became = [
            (f"{name}: " if name else "") + data["details"][found[2]] + (f" (rank {found[1]})" if found[1] else "")
            for name, found in zip(data["systems"], outcomes, strict=True)
            if found is not None
        ]
        lines.append(f"Needed, grade {grade}: {_called(data, place, length)}. {'; '.join(became)}")
    return lines


def _results(data: Mapping[str, Any], row: Mapping[str, Any], length: int) -> list[str]:
    parts = []
    for name, found in zip(data["systems"], row["results"], strict=True):
        items = []
        for result in found or ():
            place, state = (result, 3) if isinstance(result, int) else (result[0], (*result, 3)[1])
            items.append(f"<li>{SIGNS[state]} {escape(_called(data, place, length))}</li>")
        said = f"{name} retrieved" if name else "Retrieved"
        parts.append(
            f"<p>{escape(said)}{':' if items else ' nothing.'}</p>{f'<ol>{chr(10).join(items)}</ol>' if items else ''}"
        )
    return parts


def _called(data: Mapping[str, Any], place: int, length: int) -> str:
    name, source, text, _ = (*data["documents"][place], None, None, None)[:4]
    words = " ".join((text or "")[: 2 * length].split())
    short = f"{words[:length]}…" if len(words) > length else words
    return ": ".join(str(part) for part in (name, source, short) if part not in {None, ""}) or "-"


def note(detailed: int, total: int) -> str:
    """Return what the page leaves out, in a sentence; an empty text if nothing."""
    if detailed == total:
        return ""
    return (
        f"What was needed and what came back is here for {numbers.queries(detailed)}: those with the lowest values, or "
        "that moved most. Of the others, explain(query) tells it."
    )
