"""Ranges of characters: their union, intersection and difference."""

import random

from retrieval_metrics.matching.character_ranges import RangeUnion, intersect_ranges, merge_ranges


class TestRangesThatTouch:
    def test_their_union_is_one(self) -> None:
        assert merge_ranges([(3, 5), (0, 3)]) == [(0, 5)]
        assert merge_ranges([(4, 5), (0, 3)]) == [(0, 3), (4, 5)]

    def test_they_share_nothing(self) -> None:
        assert intersect_ranges([(3, 5)], [(0, 3), (4, 9)]) == [(4, 5)]
        assert intersect_ranges([(3, 5)], [(0, 3), (5, 9)]) == []
        assert intersect_ranges([(3, 5)], [(0, 4), (4, 9)]) == [(3, 4), (4, 5)]

    def test_each_is_new_and_they_become_one(self) -> None:
        union = RangeUnion()
        assert [union.add(*stretch) for stretch in ((4, 6), (2, 4), (6, 8), (9, 10))] == [
            [(4, 6)], [(2, 4)], [(6, 8)], [(9, 10)],
        ]  # fmt: skip
        assert union.ranges == [(2, 8), (9, 10)]
        assert (union.add(2, 8), union.add(8, 9)) == ([], [(8, 9)])
        assert union.ranges == [(2, 10)]


def offsets(ranges: list[tuple[int, int]]) -> set[int]:
    covered: set[int] = set()
    for start, end in ranges:
        covered.update(range(start, end))
    return covered


def test_they_are_sets_of_offsets() -> None:
    rng = random.Random(3)
    for _ in range(300):
        left, right = (
            [(start, start + rng.randint(1, 6)) for start in rng.sample(range(30), rng.randint(0, 5))] for _ in range(2)
        )
        assert offsets(merge_ranges(left)) == offsets(left)
        common = intersect_ranges(merge_ranges(left), merge_ranges(right))
        assert offsets(common) == offsets(left) & offsets(right)
        union = RangeUnion()
        covered: set[int] = set()
        for start, end in left:
            assert offsets(union.add(start, end)) == set(range(start, end)) - covered
            covered.update(range(start, end))
        assert union.ranges == merge_ranges(left)
