"""Coverage and density count the needed characters that the retrieved items cover."""

import math
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Span, Text

unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def means(judgments: Any, ranking: list[Retrieved], metrics: list[str]) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics).means)


@unwarned
class TestCoverageAndDensity:
    TRUTH: ClassVar = [Span("s", 0, 10), Span("s", 30, 40)]

    def test_they_add_up_characters(self) -> None:
        ranking = [Retrieved("a", source="s", start=5, end=15), Retrieved("b", source="s", start=0, end=10)]
        assert means(self.TRUTH, ranking, ["coverage@1", "coverage", "density@1", "density"]) == {
            "coverage@1": 5 / 20,
            "coverage": 10 / 20,
            "density@1": 5 / 10,
            "density": 10 / 20,
        }

    def test_of_alternatives_the_best_counts(self) -> None:
        judgments = [[Span("s", 0, 10), Span("s", 100, 120)], [Span("s", 30, 40)]]
        ranking = [Retrieved("a", source="s", start=95, end=125)]
        assert means(judgments, ranking, ["coverage", "density"]) == {"coverage": 20 / 30, "density": 20 / 30}

    def test_what_two_spans_share_is_needed_once(self) -> None:
        ranking = [Retrieved("a", source="s", start=0, end=20)]
        assert means([Span("s", 0, 10), Span("s", 5, 20)], ranking, ["coverage", "density"]) == {
            "coverage": 1,
            "density": 1,
        }

    def test_of_alternatives_that_overlap_the_union_counts(self) -> None:
        # A[1:2] with A[1:3] needs 2 characters, with A[2:4] it needs 3; A[2:3] is one of either.
        judgments = [[Span("A", 1, 2)], [Span("A", 2, 4), Span("A", 1, 3)]]
        ranking = [Retrieved("a", source="A", start=2, end=3)]
        assert means(judgments, ranking, ["coverage", "density"]) == {"coverage": 1 / 2, "density": 1}

    def test_nothing_retrieved_covers_nothing(self) -> None:
        assert means(self.TRUTH, [], ["coverage", "density"]) == {"coverage": 0, "density": 0}

    def test_without_offsets_they_are_undefined_from_that_rank_on(self) -> None:
        ranking = [
            Retrieved("a", source="s", start=0, end=10),
            Retrieved("b", "x", source="s"),
            Retrieved("c", "x", "t"),
        ]
        result = means(self.TRUTH, ranking, ["coverage@1", "coverage@2", "density@2"])
        assert repr(result) == "{'coverage@1': 0.5, 'coverage@2': nan, 'density@2': nan}"

    @pytest.mark.parametrize("judgments", [["a"], [Quote("some words of a text")], [[Span("s", 0, 10)], ["a"]]])
    def test_where_something_needed_has_no_place_they_are_undefined(self, judgments: Any) -> None:
        ranking = [Retrieved("a", "text", source="s", start=0, end=10)]
        assert all(map(math.isnan, means(judgments, ranking, ["coverage", "density"]).values()))

    def test_texts_are_covered_word_by_word(self) -> None:
        judgments = [Text("one two three four, five six seven eight.")]
        ranking = [Retrieved("a", "one two three four five - other words"), Retrieved("b", "unrelated")]
        result = means(judgments, ranking, ["coverage@1", "density@1"])
        assert result == pytest.approx({"coverage@1": 19 / 32, "density@1": 19 / 29})

    def test_words_that_only_items_beyond_the_cutoff_hold_are_not_covered(self) -> None:
        judgments = [Text("one two three four, five six seven eight.")]
        ranking = [Retrieved("a", "one two three four five"), Retrieved("b", "four five six seven eight")]
        assert means(judgments, ranking, ["coverage@1", "coverage@2", "density@1"]) == {
            "coverage@1": 19 / 32,
            "coverage@2": 1.0,
            "density@1": 1.0,
        }

    def test_what_is_covered_beyond_the_cutoff_chooses_no_alternative(self) -> None:
        judgments = [[Span("s", 0, 10), Span("s", 100, 110)]]
        first = Retrieved("a", source="s", start=9, end=20)
        later = [Retrieved(f"b{start}", source="s", start=start, end=start + 1) for start in (100, 103, 106)]
        metrics = ["coverage@1", "density@1"]
        assert means(judgments, [first, *later], metrics) == means(judgments, [first], metrics)
