"""Judgments other than ids, and ids that are not the items' own."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import cutoffs, rankings, truths
from retrieval_metrics import Metadata, Quote, Retrieved, Span, Text

METRICS = ("hit_rate", "full_recall", "recall", "precision", "mrr", "map", "ndcg", "rbp", "judged")
FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str | None = None, **values: Any) -> Retrieved:
    return Retrieved(f"c{number}", text, **values)


def means(truth: Any, ranking: Any, metrics: Any = METRICS, **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics, **options).means)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestIds:
    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_items_matched_by_id_score_like_their_ids_to_the_last_bit(
        self, truth: list[dict[str, float]], ranking: list[str], k: int | None
    ) -> None:
        metrics = [rm.Metric(name, k) for name in METRICS]
        items = [Retrieved(document, "any text") for document in ranking]
        expected = rm.evaluate({"q": truth}, {"q": ranking, "r": []}, metrics)
        result = rm.evaluate({"q": truth}, {"q": items, "r": []}, metrics)
        assert repr(result.means) == repr(expected.means)
        assert result.counts == expected.counts

    @given(truth=truths, ranking=rankings, k=cutoffs)
    def test_beside_a_piece_nobody_holds_they_score_as_beside_an_id_nobody_retrieved(
        self, truth: list[dict[str, float]], ranking: list[str], k: int | None
    ) -> None:
        metrics = [rm.Metric(name, k) for name in METRICS]
        items = [Retrieved(document, "any text") for document in ranking]
        beside: list[Any] = [*truth, {Quote("in none of the items"): 1}]
        expected = rm.evaluate({"q": [*truth, {"never": 1.0}]}, {"q": ranking}, metrics).means
        result = rm.evaluate({"q": beside}, {"q": items}, metrics).means
        assert dict(result) == pytest.approx(dict(expected), nan_ok=True, abs=1e-15)

    @given(ranking=rankings, seed=st.integers(0, 9))
    def test_matching_by_source_by_metadata_and_by_a_callable_is_matching_by_that_id(
        self, ranking: list[str], seed: int
    ) -> None:
        truth = random.Random(seed).sample([f"d{number}" for number in range(12)], 4)
        items = [
            Retrieved(f"chunk{at}", source=document, metadata={"file": document}) for at, document in enumerate(ranking)
        ]
        expected = means(truth, ranking)
        for match in ("source", "metadata:file", "metadata:source", lambda one: one.source):
            assert repr(means(truth, items, match=match)) == repr(expected)

    def test_scores_of_items_do_not_reorder_them(self) -> None:
        assert means(["a"], [Retrieved("a", score=0.1), Retrieved("b", score=9)], "mrr") == {"mrr": 1}


class TestChunksOfDocuments:
    ITEMS = (
        Retrieved("a1", source="a.md"),
        Retrieved("a2", source="a.md"),
        Retrieved("b1", source="b.md"),
    )

    def test_a_repeat_keeps_its_place_and_earns_nothing(self) -> None:
        result = rm.evaluate({"q": ["b.md"]}, {"q": list(self.ITEMS)}, "mrr", match="source")
        assert result.means["mrr"] == pytest.approx(1 / 3)
        assert result.counts["duplicates"] == 1

    def test_collapsed_a_document_takes_one_place(self) -> None:
        options = rm.Matching(by="source", deduplicate=True)
        result = rm.evaluate({"q": ["b.md"]}, {"q": list(self.ITEMS)}, ["mrr", "precision"], match=options)
        assert dict(result.means) == {"mrr": 1 / 2, "precision": 1 / 2}
        assert result.counts["duplicates"] == 0

    def test_items_without_a_source_keep_their_places(self) -> None:
        items = [Retrieved("x"), Retrieved("y"), *self.ITEMS]
        assert means(["a.md"], items, ["mrr"], match="source") == {"mrr": 1 / 3}
        collapsed = rm.Matching(by="source", deduplicate=True)
        assert means(["b.md"], items, ["mrr"], match=collapsed) == {"mrr": 1 / 4}

    def test_pages_can_be_numbers(self) -> None:
        items = [Retrieved("x", metadata={"page": 7}), Retrieved("y", metadata={"page": 3})]
        assert means([3], items, ["mrr"], match="metadata:page") == {"mrr": 1 / 2}


class TestMetadata:
    def test_every_value_must_be_there(self) -> None:
        items = [
            Retrieved("x", source="a.pdf", metadata={"page": 2}),
            Retrieved("y", source="b.pdf", metadata={"page": 3}),
            Retrieved("z", metadata={"page": 3, "source": "a.pdf"}),
        ]
        assert means([Metadata(source="a.pdf", page=3)], items, ["mrr", "precision"]) == {
            "mrr": 1 / 3,
            "precision": 1 / 3,
        }


class TestQuotes:
    def test_an_item_that_holds_two_gives_two_hit_rows_and_counts_once_in_precision(self) -> None:
        ranking = [item(1, FACT + " It is entered and exited."), item(2, "other")]
        truth = {Quote(FACT): 1, Quote("entered and exited"): 2, Quote("nowhere to be seen"): 1}
        result = means(truth, ranking, ["recall@1", "map", "precision@2", "ndcg@2"])
        assert result["recall@1"] == pytest.approx(2 / 3)
        assert result["map"] == pytest.approx((1 + 1) / 3)
        assert result["precision@2"] == 1 / 2
        assert result["ndcg@2"] == 1  # rows 2, 1 are the first two of the ideal 2, 1, 1

    def test_a_second_item_with_the_same_quote_is_relevant_and_a_miss_row(self) -> None:
        ranking = [item(1, FACT), item(2, FACT), item(3, "It is entered and exited.")]
        result = means([Quote(FACT), Quote("entered and exited")], ranking, ["precision", "map"])
        assert result["precision"] == 1
        assert result["map"] == pytest.approx((1 + 2 / 3) / 2)

    def test_alternatives_and_needs(self) -> None:
        truth = [[Quote("nowhere to be seen"), "c2"], [Quote(FACT)]]
        assert means(truth, [item(1, FACT), item(2, "other")], ["full_recall@1", "full_recall@2"]) == {
            "full_recall@1": 0,
            "full_recall@2": 1,
        }

    def test_of_two_alternatives_in_one_item_the_higher_grade_counts(self) -> None:
        truth = [{Quote(FACT): 1, Quote("wraps the execution"): 3}]
        assert means(truth, [item(1, FACT)], ["dcg"]) == {"dcg": 3}

    def test_one_judged_not_relevant_is_judged(self) -> None:
        result = means({Quote(FACT): 0, Quote("entered and exited"): 1}, [item(1, FACT)], ["judged", "precision"])
        assert result == {"judged": 1, "precision": 0}

    def test_short_ones_are_refused_by_name(self) -> None:
        with pytest.raises(ValueError, match="the quote '16 bytes' for query 'q' has 7 characters"):
            means([Quote("16 bytes")], [item(1, FACT)])
        assert means(
            [Quote("16 bytes")], [item(1, "takes 16\nbytes.")], ["mrr"], match=rm.Matching(min_quote_length=7)
        ) == {"mrr": 1}


class TestTexts:
    REFERENCE = (
        "The with statement is used to wrap the execution of a block with methods defined by a context manager. "
        "This allows common try except finally usage patterns to be encapsulated for convenient reuse."
    )
    OTHER = "The for statement is used to iterate over the elements of a sequence such as a string or a list."

    def test_a_longer_chunk_around_it_satisfies_it(self) -> None:
        chunk = item(2, f"Before it. {self.REFERENCE.upper()} {self.OTHER}")
        assert means([Text(self.REFERENCE)], [item(1, self.OTHER), chunk], ["mrr", "precision"]) == {
            "mrr": 1 / 2,
            "precision": 1 / 2,
        }

    def test_a_chunk_inside_it_counts_in_precision_and_gives_no_row(self) -> None:
        half, rest = self.REFERENCE[:102], self.REFERENCE[90:]
        result = means(
            [Text(self.REFERENCE)], [item(1, half), item(2, rest)], ["recall@1", "recall@2", "precision", "mrr"]
        )
        assert result == {"recall@1": 0, "recall@2": 1, "precision": 1, "mrr": 1}

    @pytest.mark.filterwarnings("ignore:none of the retrieved documents is judged")
    def test_exactly_the_share_is_enough_and_a_letter_less_is_not(self) -> None:
        reference, chunk = Text("aaaa bbbb cccc dddd eeee"), item(1, "aaaa bbbb cccc dddd")  # 16 of 20 letters
        for text_share, found in ((0.8, 1), (0.81, 0)):
            match = rm.Matching(min_common_words=2, min_coverage=text_share)
            assert means([reference], [chunk], ["recall"], match=match) == {"recall": found}
        other = item(2, "aaaa bbbb other words")  # 8 of its 18 letters
        for overlap, counts in ((8 / 18, 1), (0.45, 0)):
            match = rm.Matching(min_common_words=2, min_overlap=overlap)
            assert means([reference], [other], ["precision"], match=match) == {"precision": counts}

    def test_common_words_alone_hold_nothing(self) -> None:
        shuffled = self.REFERENCE.split()
        random.Random(3).shuffle(shuffled)
        result = means(
            [Text(self.REFERENCE), "c2"], [item(1, " ".join(shuffled)), item(2)], ["recall", "precision", "mrr"]
        )
        assert result == {"recall": 1 / 2, "precision": 1 / 2, "mrr": 1 / 2}

    def test_a_text_shorter_than_a_run_is_found_whole(self) -> None:
        assert means([Text("context manager")], [item(1, self.REFERENCE)], ["recall"]) == {"recall": 1}
        assert means([Text("manager context"), "c1"], [item(1, self.REFERENCE)], ["recall"]) == {"recall": 1 / 2}

    def test_a_changed_word_hides_only_itself(self) -> None:
        edited = self.REFERENCE.replace("convenient", "handy")
        assert means([Text(self.REFERENCE)], [item(1, edited)], ["recall"]) == {"recall": 1}

    def test_scripts_without_spaces_are_read_letter_by_letter(self) -> None:
        text = "\u4e0a\u4e0b\u6587\u7ba1\u7406\u5668\u5b9a\u4e49\u4e86\u8fd0\u884c\u65f6\u4e0a\u4e0b\u6587"
        assert means([Text(text)], [item(1, "\u3002" + text[:9]), item(2, text[7:])], ["recall@1", "recall@2"]) == {
            "recall@1": 0,
            "recall@2": 1,
        }

    def test_one_without_words_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"the reference text '\.\.\.' for query 'q' has no words"):
            means([Text("...")], [item(1, FACT)])


class TestSpans:
    def test_halves_complete_a_span_that_a_boundary_cuts(self) -> None:
        items = [Retrieved(f"c{at}", source="a", start=at * 100, end=at * 100 + 100) for at in range(3)]
        result = means(
            [Span("a", 60, 160)], [items[0], items[2], items[1]], ["recall@2", "recall@3", "mrr", "precision"]
        )
        # c0 adds to it and gives no row, c2 is a miss, c1 completes it: row 2.
        assert result == {"recall@2": 0, "recall@3": 1, "mrr": 1 / 2, "precision": 1 / 3}

    def test_four_fifths_are_enough_and_a_character_less_is_not(self) -> None:
        span = Span("a", 0, 10)
        for end, found in ((8, 1), (7, 0)):
            assert means([span], [Retrieved("c", source="a", start=0, end=end)], ["recall"]) == {"recall": found}

    def test_what_follows_when_exactly_the_share_is_covered_does_not_count_again(self) -> None:
        stretches = [(0, 8), (8, 10), (20, 30)]
        items = [Retrieved(f"c{at}", source="a", start=start, end=end) for at, (start, end) in enumerate(stretches)]
        truth = [Span("a", 0, 10), Span("a", 20, 30)]
        assert [one.rank for one in rm.match({"q": truth}, {"q": items})] == [1, 3]
        assert means(truth, items, ["recall", "ndcg", "map"]) == {"recall": 1, "ndcg": 1, "map": 1}

    def test_what_is_covered_already_adds_nothing_and_is_a_miss(self) -> None:
        stretches = [(0, 5), (0, 5), (5, 10)]
        items = [Retrieved(f"c{at}", source="a", start=start, end=end) for at, (start, end) in enumerate(stretches)]
        # The first adds to it and gives no row, the second is a miss, the third completes it: row 2.
        assert means([Span("a", 0, 10)], items, ["mrr"]) == {"mrr": 1 / 2}
        assert means([Span("a", 0, 10)], [items[0], items[2], items[1]], ["mrr"]) == {"mrr": 1}

    @pytest.mark.filterwarnings("ignore:none of the retrieved documents is judged")
    def test_half_of_the_shorter_of_the_two_is_enough_for_precision(self) -> None:
        span = Span("a", 10, 20)
        for (start, end), counts in (
            ((5, 15), 1),
            ((4, 14), 0),
            ((8, 12), 1),
            ((7, 12), 0),
            ((0, 15), 1),
            ((0, 14), 0),
        ):
            found = means([span], [Retrieved("c", source="a", start=start, end=end)], ["precision"])
            assert found == {"precision": counts}

    @pytest.mark.filterwarnings("ignore:none of the retrieved documents is judged")
    def test_what_only_touches_a_span_holds_nothing_of_it(self) -> None:
        items = [Retrieved("c", source="a", start=0, end=10), Retrieved("d", source="a", start=20, end=30)]
        match = rm.Matching(min_coverage=1e-9, min_overlap=1e-9)
        assert means([Span("a", 10, 20)], items, ["recall", "precision"], match=match) == {"recall": 0, "precision": 0}
        near = [Retrieved("c", source="a", start=0, end=11), Retrieved("d", source="a", start=19, end=30)]
        assert means([Span("a", 10, 20)], near, ["recall", "precision"], match=match) == {"recall": 1, "precision": 1}

    def test_another_source_is_another_place(self) -> None:
        items = [Retrieved("c", source="b", start=0, end=100), Retrieved("d", source="a", start=0, end=100)]
        assert means([Span("a", 5, 50)], items, ["mrr"]) == {"mrr": 1 / 2}

    def test_an_uncertain_span_is_the_same_place(self) -> None:
        assert {Span("a", 0, 5, uncertain=True)} == {Span("a", 0, 5)}
        assert Span("a", 0, 5) != ("a", 0, 5)

    def test_it_needs_characters(self) -> None:
        with pytest.raises(TypeError, match=r"the offsets of a Span must be integers, got 0\.5 in 'a'"):
            Span("a", 0.5, 5)  # type: ignore[arg-type]  # what a user may do
        with pytest.raises(ValueError, match="a Span needs 0 <= start < end, got 5 and 5 in 'a'"):
            Span("a", 5, 5)


class TestWhatIsRefused:
    def test_truth_of_pieces_with_rankings_of_ids(self) -> None:
        with pytest.raises(TypeError, match="the ranking of query 'q' holds 'd1', but the judgments"):
            means([Quote(FACT)], ["d1"])
        with pytest.raises(TypeError, match="the ranking of query 'q' maps ids to scores"):
            means([Quote(FACT)], {"d1": 2.0})

    def test_rankings_of_ids_matched_by_source(self) -> None:
        with pytest.raises(TypeError, match="holds 'd1'"):
            means(["a.md"], ["d1"], match="source")

    def test_items_among_ids(self) -> None:
        with pytest.raises(TypeError, match="document ids in the run must be str or int, got Retrieved"):
            means(["d1"], ["d1", Retrieved("d2")])
        with pytest.raises(TypeError, match="holds 'd1', but"):
            means(["d1"], [Retrieved("d2"), "d1"])

    def test_an_unknown_word_for_match(self) -> None:
        with pytest.raises(
            ValueError,
            match="match must be 'id', 'source', 'metadata:<name>' or a callable, got 'page'; if that is a key "
            "of the metadata, write match='metadata:page'",
        ):
            means(["d1"], [Retrieved("d1")], match="page")
        with pytest.raises(
            ValueError, match=r"got 'text'; for the whole text, pass lambda item: item\.text; a judged Quote"
        ):
            means(["d1"], [Retrieved("d1")], match="text")

        wrong: Any = ["page"]
        with pytest.raises(ValueError, match=r"got \['page'\]"):
            means(["d1"], [Retrieved("d1")], match=wrong)

    def test_a_key_that_no_item_has(self) -> None:
        with pytest.raises(ValueError, match="no retrieved item has a value for match='metadata:page'; the first is"):
            means(["d1"], [Retrieved("d1")], match="metadata:page")

    def test_items_without_ids_matched_by_id(self) -> None:
        with pytest.raises(ValueError, match="an item in the ranking of query 'q' has no id; match by 'source'"):
            means(["d1"], [Retrieved("d1"), Retrieved(None, FACT)])

    def test_ids_of_another_type(self) -> None:
        with pytest.raises(TypeError, match="are int and those in the run are str"):
            means([3], [Retrieved("x", metadata={"page": "3"})], match="metadata:page")
        with pytest.raises(TypeError, match="are int and those in the run are str"):
            means([3, Quote(FACT)], [Retrieved("x", FACT)])

    def test_a_bare_piece_for_a_list_of_pieces(self) -> None:
        with pytest.raises(TypeError, match=r"are the bare Quote Quote.*write a list"):
            means(Quote(FACT), [item(1, FACT)])

    @pytest.mark.parametrize(
        ("option", "value", "error", "message"),
        [
            ("min_coverage", 0, ValueError, "min_coverage must be above 0 and at most 1, got 0"),
            ("min_overlap", "half", TypeError, "min_overlap must be a number above 0 and at most 1, got 'half'"),
            ("min_quote_length", 0, ValueError, "min_quote_length must be a positive integer"),
        ],
    )
    def test_options_without_meaning(self, option: str, value: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            rm.Matching(**{option: value})

    def test_texts_that_are_none(self) -> None:
        with pytest.raises(TypeError, match="a Quote must hold a str, got 3"):
            Quote(3)  # type: ignore[arg-type]  # what a user may do
        with pytest.raises(ValueError, match="a Text needs a text, got ' '"):
            Text(" ")


def test_a_repeated_item_keeps_its_place_and_earns_nothing() -> None:
    ranking = [item(1, "other"), item(1, "other"), item(2, FACT), item(2, FACT)]
    result = rm.evaluate({"q": [Quote(FACT)]}, {"q": ranking}, ["mrr", "precision"])
    assert dict(result.means) == {"mrr": 1 / 3, "precision": 1 / 4}
    assert result.counts["duplicates"] == 2


def test_another_passage_under_an_id_is_no_repeat_for_what_is_looked_for_in_texts() -> None:
    ranking = [Retrieved("d1", "another passage"), Retrieved("d1", FACT), Retrieved("d1", FACT)]
    result = rm.evaluate({"q": [Quote(FACT)]}, {"q": ranking}, ["mrr", "precision"])
    assert dict(result.means) == {"mrr": 1 / 2, "precision": 1 / 3}
    assert result.counts["duplicates"] == 1
    assert rm.evaluate({"q": ["d1"]}, {"q": ranking}, "precision").means["precision"] == 1 / 3


def test_where_nothing_is_found_the_warning_asks_for_texts_and_places() -> None:
    with pytest.warns(rm.RetrievalWarning, match="do the items have the texts, sources and offsets"):
        means([Quote(FACT)], [Retrieved("c1")])


def test_nothing_that_is_given_is_changed() -> None:
    truth: dict[str, Any] = {"q": [[Quote(FACT), "c2"], [Span("a", 0, 5)]]}
    run = {"q": [item(1, FACT, source="a", start=0), item(2, source="b")]}
    before = repr((truth, run))
    rm.evaluate(truth, run, match=rm.Matching(deduplicate=True))
    assert repr((truth, run)) == before
