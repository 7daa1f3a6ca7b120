"""One alternative of each group is chosen so that the covered share is largest."""

from itertools import product
from math import prod
from random import Random

import pytest

from retrieval_metrics.judging import pieces_met as alternatives
from retrieval_metrics.judging.pieces_met import Atoms, Group, best_choice


def drawn(seed: int) -> tuple[list[Group], Atoms]:
    """Groups whose alternatives share atoms."""
    random, atoms = Random(seed), Atoms()
    pieces = range(6)
    for _ in range(8):
        size = random.randint(1, 9)
        atoms.add(random.sample(pieces, random.randint(1, 3)), random.randint(0, size), size)
    held = [atoms.of[piece] for piece in pieces if piece in atoms.of]
    return [random.sample(held, random.randint(1, 3)) for _ in range(4)], atoms


def share(choice: tuple[int, int]) -> float:
    return choice[0] / choice[1]


@pytest.mark.parametrize("seed", range(50))
def test_no_choice_covers_a_larger_share(seed: int) -> None:
    groups, atoms = drawn(seed)
    assert share(best_choice(groups, atoms)) == max(share(atoms.sums(pieces)) for pieces in product(*groups))


def test_exactly_so_many_choices_are_still_searched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    for groups, atoms in map(drawn, range(50)):
        best = max(share(atoms.sums(pieces)) for pieces in product(*groups))
        monkeypatch.setattr(alternatives, "MOST_CHOICES", prod(map(len, groups)))
        assert share(best_choice(groups, atoms)) == best
        monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
        searched.append(share(best_choice(groups, atoms)) < best)
    assert any(searched)  # some need the search


@pytest.mark.parametrize("seed", range(50))
def test_beyond_so_many_choices_no_change_of_a_single_group_covers_more(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
    groups, atoms = drawn(seed)
    found = best_choice(groups, atoms)
    choices = [pieces for pieces in product(*groups) if atoms.sums(pieces) == found]
    assert any(
        all(
            share(atoms.sums([*pieces[:at], other, *pieces[at + 1 :]])) <= share(found)
            for at, group in enumerate(groups)
            for other in group
        )
        for pieces in choices
    )
