"""A naive reference for spans: sets of characters, one query, plain loops. Shares nothing with the package.

Truth is a list of groups, each a list of ((source, start, end), grade); a flat judgment is a group of one. The ranking
is a list of (id, source, start, end). A character is a (source, offset) whose character is no white space.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

Place = tuple[str, int, int]
Truth = list[list[tuple[Place, float]]]


class Chunk(NamedTuple):
    id: str
    source: str
    start: int
    end: int


Sources = dict[str, str]


def characters(sources: Sources, source: str, start: int, end: int) -> set[tuple[str, int]]:
    text = sources[source]
    return {(source, position) for position in range(start, min(end, len(text))) if not text[position].isspace()}


def relevant(grade: float, rel: float | None) -> bool:
    return grade > 0 if rel is None else grade >= rel


def first_of_each_id(ranking: list[Chunk]) -> list[Chunk | None]:
    """The ranking, with None where an id stands again."""
    seen_ids: set[str] = set()
    first_chunks: list[Chunk | None] = []
    for chunk in ranking:
        first_chunks.append(None if chunk.id in seen_ids else chunk)
        seen_ids.add(chunk.id)
    return first_chunks


def fitting(ranking: list[Chunk], budget: int) -> int:
    """How many chunks fit a budget of characters, white space included."""
    total = 0
    for count, chunk in enumerate(ranking):
        total += chunk.end - chunk.start
        if total > budget:
            return count
    return len(ranking)


def rows(
    truth: Truth, ranking: list[Chunk], sources: Sources, k: int | None = None, rel: float | None = None
) -> list[tuple[int, float | None]]:
    """The expanded ranking of the first k items, not yet cut by rows: (rank, grade of the hit, or None for a miss)."""
    places = {place for group in truth for place, _ in group}
    gold = {place: characters(sources, *place) for place in places}
    covered: set[tuple[str, int]] = set()
    done: set[Place] = set()
    credited: set[int] = set()
    expanded: list[tuple[int, float | None]] = []
    for rank, chunk in enumerate(first_of_each_id(ranking)[:k], start=1):
        added = characters(sources, *chunk[1:]) - covered if chunk else set()
        covered |= added
        completed = {
            place for place in places - done if Fraction(len(gold[place] & covered), len(gold[place])) >= Fraction(4, 5)
        }
        done |= completed
        grades = []
        for number, group in enumerate(truth):
            best = [grade for place, grade in group if place in completed and relevant(grade, rel)]
            if best and number not in credited:
                credited.add(number)
                grades.append(max(best))
        everything = [(place, grade) for group in truth for place, grade in group if relevant(grade, rel)]
        adds = any(gold[place] & added for place, _ in everything)
        completes = any(place in completed for place, _ in everything)
        if grades:
            expanded += [(rank, grade) for grade in sorted(grades, reverse=True)]
        elif completes or not adds:
            expanded.append((rank, None))
    return expanded


def precision(truth: Truth, ranking: list[Chunk], sources: Sources, k: int | None, rel: float | None) -> int:
    """How many of the first k chunks overlap gold by at least half of the shorter."""
    good = 0
    for chunk in first_of_each_id(ranking)[:k]:
        if chunk is None:
            continue
        own = characters(sources, *chunk[1:])
        good += any(
            relevant(grade, rel)
            and bool(gold & own)
            and Fraction(len(gold & own), min(len(gold), len(own))) >= Fraction(1, 2)
            for group in truth
            for place, grade in group
            for gold in [characters(sources, *place)]
        )
    return good


def best_choices(truth: Truth, ranking: list[Chunk], sources: Sources, k: int | None) -> list[tuple[int, int]]:
    """(covered, all) of every choice of one alternative per group whose share is the largest."""
    covered: set[tuple[str, int]] = set()
    for chunk in ranking[:k]:
        covered |= characters(sources, *chunk[1:])
    groups = [[characters(sources, *place) for place, grade in group if grade > 0] for group in truth]
    choices = list(itertools.product(*filter(None, groups)))
    unions = [set().union(*choice) for choice in choices]
    share = [Fraction(len(gold & covered), len(gold)) for gold in unions]
    return [(len(gold & covered), len(gold)) for gold, value in zip(unions, share, strict=True) if value == max(share)]


COVERED: dict[str, Callable[[int, int, int], float]] = {
    "coverage": lambda covered, needed, _: covered / needed,
    "density": lambda covered, _, retrieved: covered / max(retrieved, 1),
}
"""The metrics of characters: from how many are covered, how many are needed, and how many were retrieved."""


def metrics(
    truth: Truth,
    ranking: list[Chunk],
    sources: Sources,
    k: int | None = None,
    *,
    rel: float | None = None,
    budget: int | None = None,
) -> dict[str, float]:
    """The metrics at a cutoff in items, or at a budget of characters, by the formulas of their docstrings."""
    first = k if budget is None else fitting(ranking, budget)
    n_needed = sum(any(relevant(grade, rel) for _, grade in group) for group in truth)
    expanded = rows(truth, ranking, sources, first, rel)
    n_found = sum(grade is not None for _, grade in expanded)
    cut = [grade for _, grade in expanded][:k]
    places = len(ranking) if first is None else first
    return {
        "hit_rate": float(any(grade is not None for grade in cut)),
        "recall": n_found / n_needed,
        "full_recall": float(n_found == n_needed),
        "precision": precision(truth, ranking, sources, first, rel) / max(places, 1),
        "ndcg": ndcg(truth, expanded, k) if rel is None else math.nan,
        **ranked(cut, n_needed),
    }


def ranked(grades: list[float | None], n_needed: int) -> dict[str, float]:
    hits = 0
    total = 0.0
    first = 0.0
    for row, grade in enumerate(grades, start=1):
        if grade is not None:
            hits += 1
            total += hits / row
            first = first or 1 / row
    return {"mrr": first, "map": total / n_needed}


def ndcg(truth: Truth, expanded: list[tuple[int, float | None]], k: int | None) -> float:
    def discounted(grades: list[float | None]) -> float:
        return sum((grade or 0) / math.log2(row + 1) for row, grade in enumerate(grades, start=1))

    best: list[float | None] = [
        *sorted((top for group in truth if (top := max(grade for _, grade in group)) > 0), reverse=True)
    ]
    return discounted([grade for _, grade in expanded][:k]) / discounted(best[:k])
