"""In which respects the systems of a comparison were not compared on equal terms, in words."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.judging.matching.budget import Budget

if TYPE_CHECKING:
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.room import Room
    from retrieval_metrics.results.unjudged import Ignorance


def cautions(comparison: Compared) -> list[str]:
    """Return in which respects the systems were not compared on equal terms, a sentence each."""
    said = said_of_ignorance(comparison)
    return said if comparison.room is None else [*said, _said_of_room(comparison.room)]


def _said_of_room(room: Room) -> str:
    least, most = (of(room.characters.items(), key=lambda held: held[1]) for of in (min, max))
    k = room.metric.k
    results = "first result" if k == 1 else f"first {k} results"
    between = sqrt(least[1] * most[1])  # room for some of the larger chunks, and not for all that was retrieved
    size = max(1, round(float(f"{between:.2g}")))
    equal = Metric(room.metric.name, Budget(size, "chars"), room.metric.parameters)
    return (
        f"The {results} of {most[0]} hold {most[1]:,.0f} characters on average, those of {least[0]} {least[1]:,.0f}, "
        f"so @{k} compares unequal amounts of text; a budget such as {equal} compares equal ones."
    )


def said_of_ignorance(comparison: Compared) -> list[str]:
    """Return how unjudged documents were treated, if that alone could explain a difference."""
    known = comparison.ignorance
    if known is None:
        return []
    if any(one.rules.unjudged == "condensed" for one in comparison.scores.values()):
        return [_said_of_condensed(known)]
    if not known.unbalanced:
        return []
    better = "" if comparison.unjudged is not None else '; unjudged="bounds" shows how much'
    said = f"The systems are not judged alike ({_shares(known)}). Unjudged documents count as not relevant"
    return [f"{said}, which alone can make a difference{better}."]


def _said_of_condensed(known: Ignorance) -> str:
    said = (
        "Unjudged documents were taken out of the rankings, which favours the system that is judged less (Sakai and "
        f"Kando 2008): {_shares(known)}"
    )
    favoured = known.judged_less
    return f"{said}." if favoured is None else f"{said}, so it favours {favoured}."


def _shares(known: Ignorance) -> str:
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in known.judged.items())
    return f"judged@{known.k}: {shares}"
