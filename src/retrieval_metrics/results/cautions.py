"""In which respects the systems of a comparison were not compared on equal terms, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.argument_names import argument
from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.results.ignorance import Ignorance
    from retrieval_metrics.results.room import BudgetUse, Room


def cautions(budgets: Sequence[BudgetUse], room: Room | None, ignorance: Sequence[str]) -> list[str]:
    """Return in which respects the systems were not compared on equal terms, a sentence each."""
    said = [*(sentence for use in budgets for sentence in _said_of_budget(use)), *ignorance]
    return said if room is None else [*said, _said_of_room(room, budgets)]


def _said_of_budget(use: BudgetUse) -> list[str]:
    """Return which systems do not fill a budget, how far they fill it, and what to do."""
    short, long = ([(name, use.systems[name]) for name in names] for names in (use.short, use.too_long))
    instead = f"compare at a budget that all fill, such as {use.shared}"
    said = []
    if short:
        filled = numbers.listed([f"{name} fills {100 * each.share:.0f} % of it" for name, each in short])
        more = numbers.listed(
            [f"about {each.enough} results of {name} instead of {each.retrieved:.0f}" for name, each in short]
        )
        said.append(
            f"The budget of {use.budget.in_words} is not filled: {filled}, because the ranking ends. "
            f"Retrieve {more}{f', or {instead}' if use.shared is not None else ''}."
        )
    if long:
        filled = numbers.listed([f"{name} fills {100 * each.share:.0f} % of it" for name, each in long])
        said.append(
            f"The budget of {use.budget.in_words} is too small for some results: {filled}, because the next result "
            "does not fit. Choose a larger budget."
        )
    return said


def _said_of_room(room: Room, budgets: Sequence[BudgetUse]) -> str:
    least, most = (of(room.characters.items(), key=lambda held: held[1]) for of in (min, max))
    k = room.metric.k
    results = "first result" if k == 1 else f"first {k} results"
    advice = f"retrieve more results of {least[0]}, and compare at a budget of characters"
    if fair := [name for use in budgets if not (use.short or use.too_long) for name in use.metrics]:
        advice = f"{fair[0]} compares equal ones"
    elif room.shared is not None:
        equal = Metric(room.metric.name, room.shared, room.metric.parameters)
        advice = f"a budget such as {equal} compares equal ones"
    return (
        f"The {results} of {most[0]} hold {most[1]:,.0f} characters on average, those of {least[0]} {least[1]:,.0f}, "
        f"so @{k} compares unequal amounts of text; {advice}."
    )


def said_of_ignorance(known: Ignorance | None, *, condensed: bool, bounded: bool) -> list[str]:
    """Return how unjudged documents were treated, if that alone could explain a difference.

    Args:
        known: How much of what each system retrieved is judged; None if that is unknown.
        condensed: Whether unjudged documents were taken out of the rankings.
        bounded: Whether bounds over their grades are known.
    """
    if known is None:
        return []
    if condensed:
        return [_said_of_condensed(known)]
    if not known.unbalanced:
        return []
    better = "" if bounded else f"; {argument('unjudged', 'bounds')} shows how much"
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
