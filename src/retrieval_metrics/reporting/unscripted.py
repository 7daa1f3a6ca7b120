"""The queries of a report for readers without JavaScript, from the same data as the script's."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
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
FEW = 40
"""Letters that say nothing of a text."""


def unscripted(data: Mapping[str, Any], order: Sequence[int]) -> str:
    """Return every query of a page: its values, and folded in it what it needed and what came back, if that is there.

    Args:
        data: The data of the page.
        order: The places of the queries, as they are listed.
    """
    shown, texts = data["shown"], data["texts"] or [None] * len(data["ids"])
    titles = [
        f"{values}  {query}  {text or ''}".rstrip()
        for values, query, text in zip(_values(data), data["ids"], texts, strict=True)
    ]
    missing, escaped = _missing(data), cache(escape)  # many queries miss the same
    n = sum(len(row["needed"]) + sum(len(found or ()) for found in row["results"]) for row in shown.values())
    length = min(LONGEST, LETTERS // max(n, 1))
    length = length if length > FEW else 0
    return "".join(
        [
            _folded(data, shown[at], titles[at], missing[at], length)
            if at in shown
            else f"<p>{escape(titles[at])}<br>{escaped(missing[at])}</p>"
            for at in order
        ]
    )


def _values(data: Mapping[str, Any]) -> list[str]:
    """Return the values of each query, worded once where many queries have the same."""

    def worded(system: str, value: float | None) -> str:
        return f"{f'{system} ' if system else ''}{'-' if value is None else numbers.value(value)}"

    named = zip(data["systems"], data["values"], strict=True)
    of_system = [map(cache(partial(worded, name)), columns[data["main"]]) for name, columns in named]
    return [*map(", ".join, zip(*of_system, strict=True))]


def _missing(data: Mapping[str, Any]) -> list[str]:
    """Return what was found of each query and why the rest was not, worded once likewise."""
    kinds = data["kinds"]

    def worded(system: str, wanted: int | None, missed: int) -> str:
        if wanted is None:
            return ""
        counted = Counter(data["missed"][missed])
        why = ", ".join(f"{times} {kinds[kind]}" for kind, times in counted.items())
        found = f"{wanted - counted.total()} of {wanted} found{f': {why}' if why else ''}"
        return f"{f'{system}: ' if system else ''}{found if wanted else 'nothing relevant is known'}"

    named = zip(data["systems"], data["wanted"], data["missing"], strict=True)
    of_system = [map(cache(partial(worded, name)), wanted, missing) for name, wanted, missing in named]
    return ["; ".join(filter(None, each)) for each in zip(*of_system, strict=True)]


def _folded(data: Mapping[str, Any], row: Mapping[str, Any], title: str, missing: str, length: int) -> str:
    return page.folded(
        title,
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
