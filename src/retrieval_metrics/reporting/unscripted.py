"""The queries of a report for readers without JavaScript, from the same data as the script's."""

from __future__ import annotations

from html import escape
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


def unscripted(data: Mapping[str, Any]) -> str:
    """Return every query of a page, folded: its values, what it needed and what came back."""
    rows = _in_order(data)
    shown = sum(len(row.get("needed", ())) + sum(len(found or ()) for found in row.get("results", ())) for row in rows)
    length = min(LONGEST, LETTERS // max(shown, 1))
    return "".join(_folded(data, row, length if length > 40 else 0) for row in rows)  # noqa: PLR2004  (a few words)


def _in_order(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the lowest values first, or of two systems those that moved most."""
    main, (first, second) = data["main"], data["pair"]

    def urgency(row: Mapping[str, Any]) -> float:
        values = [None if row["values"][at] is None else row["values"][at][main] for at in (first, second)]
        if values[0] is None or values[1] is None:
            return float("inf")
        return float(values[0]) if first == second else -abs(float(values[0] - values[1]))

    return sorted(data["queries"], key=urgency)


def _folded(data: Mapping[str, Any], row: Mapping[str, Any], length: int) -> str:
    main = data["main"]
    of_system = [
        (f"{name} " if name else "") + ("-" if values is None or values[main] is None else numbers.value(values[main]))
        for name, values in zip(data["systems"], row["values"], strict=True)
    ]
    summary = f"{', '.join(of_system)}  {row['id']}  {row.get('text', '')}".rstrip()
    missing = [
        f"{f'{name}: ' if name else ''}{_said(data, kinds or (), wanted)}"
        for name, kinds, wanted in zip(data["systems"], row["missing"], row["wanted"], strict=True)
        if wanted is not None
    ]
    if "needed" not in row:
        return f"<p>{escape(summary)}<br>{escape('; '.join(missing))}</p>"
    return page.folded(
        summary,
        f"<p>{escape('; '.join(missing))}</p>",
        *(f"<p>{escape(line)}</p>" for line in _needed(data, row, length)),
        *_results(data, row, length),
    )


def _said(data: Mapping[str, Any], kinds: Sequence[int], wanted: int) -> str:
    if not wanted:
        return "nothing relevant is known"
    counted = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    why = ", ".join(f"{times} {data['kinds'][kind]}" for kind, times in counted.items())
    return f"{wanted - len(kinds)} of {wanted} found{f': {why}' if why else ''}"


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
