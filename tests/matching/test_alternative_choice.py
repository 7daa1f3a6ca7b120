"""The choice among alternatives that covers the largest share."""

from itertools import product
from math import prod
from random import Random

import pytest

from retrieval_metrics.matching import alternative_choice
from retrieval_metrics.matching.alternative_choice import Group, TextSegments, choose_alternatives


def draw_groups(seed: int) -> tuple[list[Group], TextSegments]:
    """Groups whose alternatives share segments."""
    random = Random(seed)
    segments = TextSegments()
    pieces = range(6)
    for _ in range(8):
        size = random.randint(1, 9)
        segments.add(random.sample(pieces, random.randint(1, 3)), random.randint(0, size), size)
    alternatives = list(dict(sorted(segments.by_piece.items())).values())
    return [random.sample(alternatives, random.randint(1, 3)) for _ in range(4)], segments


def share(choice: tuple[int, int]) -> float:
    covered, size = choice
    return covered / size


def largest_share(groups: list[Group], segments: TextSegments) -> float:
    return max(share(segments.count_characters(pieces)) for pieces in product(*groups))


@pytest.mark.parametrize("seed", range(50))
def test_no_choice_covers_a_larger_share(seed: int) -> None:
    groups, segments = draw_groups(seed)
    assert share(choose_alternatives(groups, segments)) == largest_share(groups, segments)


def test_exactly_so_many_choices_are_still_searched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_search = []
    for groups, segments in map(draw_groups, range(50)):
        best = largest_share(groups, segments)
        monkeypatch.setattr(alternative_choice, "MAX_SEARCHED_CHOICES", prod(map(len, groups)))
        assert share(choose_alternatives(groups, segments)) == best
        monkeypatch.setattr(alternative_choice, "MAX_SEARCHED_CHOICES", 1)
        needs_search.append(share(choose_alternatives(groups, segments)) < best)
    assert any(needs_search)


@pytest.mark.parametrize("seed", range(50))
def test_beyond_so_many_choices_no_change_of_a_single_group_covers_more(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternative_choice, "MAX_SEARCHED_CHOICES", 1)
    groups, segments = draw_groups(seed)
    chosen = choose_alternatives(groups, segments)
    choices = [list(pieces) for pieces in product(*groups) if segments.count_characters(pieces) == chosen]
    assert any(not is_improved_by_one_change(choice, groups, segments) for choice in choices)


def is_improved_by_one_change(choice: list[frozenset[int]], groups: list[Group], segments: TextSegments) -> bool:
    present = share(segments.count_characters(choice))
    for index, group in enumerate(groups):
        for alternative in group:
            changed = [*choice[:index], alternative, *choice[index + 1 :]]
            if share(segments.count_characters(changed)) > present:
                return True
    return False
