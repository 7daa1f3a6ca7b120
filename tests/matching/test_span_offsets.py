"""Items are located in their sources, and unverified offsets count only if something confirms them."""

import warnings
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Span

SOURCE = "One two three four. Refunds take five working days. Nothing else is said of them in this text."


FACT = "Refunds take five working days."


FACT_START = SOURCE.index(FACT)


SPAN = Span("s", FACT_START, FACT_START + len(FACT))


def chunk(start: int, end: int, shift: int = 0, **options: Any) -> Retrieved:
    """A chunk as a framework hands it over, its offsets wrong by `shift`."""
    values = {"source": "s", "start": start + shift, "end": end + shift, "offsets_unverified": True, **options}
    return Retrieved(f"{start}", SOURCE[start:end], **values)


def recall(truth: Any, *ranking: Retrieved, **options: Any) -> tuple[float, int]:
    result = rm.evaluate({"q": truth}, {"q": list(ranking)}, "recall", **options)
    return result.means["recall"], result.counts["unlocated"]


class TestWithoutTheSource:
    def test_the_offsets_of_the_caller_count(self) -> None:
        assert recall([SPAN], chunk(15, 60, offsets_unverified=False)) == (1, 0)

    def test_those_of_a_framework_are_unchecked_and_said_to_be(self) -> None:
        with pytest.warns(rm.RetrievalWarning) as caught:
            assert recall([SPAN], chunk(15, 60), chunk(0, 15)) == (0, 2)
        assert "2 results could not be located in their sources and nothing else matched" in str(caught[0].message)
        assert "(e.g. '15' of query 'q': unchecked)" in str(caught[0].message)

    def test_a_run_without_any_judged_source_is_unplaced(self) -> None:
        leaves = [chunk(15, 60, source="piece 1 of s"), chunk(0, 15, source="piece 0 of s")]
        with pytest.warns(rm.RetrievalWarning) as caught:
            assert recall([SPAN], *leaves) == (0, 2)
        assert "2 from a run whose sources are not the judged ones" in str(caught[0].message)
        assert recall_without_warning([SPAN], leaves[0], chunk(0, 15, offsets_unverified=False)) == (0, 0)
        assert recall_without_warning([[SPAN, Quote(FACT)]], *leaves) == (1, 0)
        assert recall([SPAN], *leaves, documents={"s": SOURCE}) == (1, 0)

    def test_the_count_is_printed(self) -> None:
        with pytest.warns(rm.RetrievalWarning):
            result = rm.evaluate({"q": [SPAN]}, {"q": [chunk(15, 60)]}, "recall")
        assert "1 result with unknown source position" in str(result)

    @pytest.mark.parametrize("cut", [(15, 60), (0, 35), (25, 45), (35, len(SOURCE)), (60, len(SOURCE)), (0, 15)])
    def test_the_quote_beside_a_span_confirms_or_contradicts_them(self, cut: tuple[int, int]) -> None:
        truth = [[Quote(FACT), SPAN]]
        holds_fact = cut[0] <= FACT_START and FACT_START + len(FACT) <= cut[1]
        assert recall_without_warning(truth, chunk(*cut)) == (holds_fact, 0)
        for shift in (-11, 13):
            if shift + cut[0] >= 0:
                assert recall_without_warning(truth, chunk(*cut, shift))[0] == holds_fact

    def test_two_halves_are_confirmed_by_their_quote(self) -> None:
        halves = chunk(0, FACT_START + 12), chunk(FACT_START + 12, len(SOURCE))
        assert recall([[Quote(FACT), SPAN]], *halves) == (1, 0)
        wrong = chunk(0, FACT_START + 12), chunk(FACT_START + 12, len(SOURCE), 30)
        assert recall_without_warning([[Quote(FACT), SPAN]], *wrong) == (0, 1)
        assert recall_without_warning([[Quote(FACT), SPAN]], wrong[1], wrong[0]) == (0, 1)

    @pytest.mark.parametrize(
        ("text", "start", "unlocated"),
        [
            ("Refunds take five", FACT_START, 0),  # the first words of the quote where it begins
            ("take five working", FACT_START, 1),  # others
            ("five working days.", FACT_START + len(FACT) - 18, 0),  # the last words where it ends
            ("take five working", FACT_START + len(FACT) - 17, 1),
            ("Refunds take five", FACT_START + len(FACT), 1),  # words of the quote right behind it
            ("working days.", FACT_START - 13, 1),  # and right before it
            ("Nothing else is", FACT_START + len(FACT), 0),  # nothing of it, right behind it and right before it
            ("two three fou", FACT_START - 13, 0),
            ("working day begins", FACT_START + len(FACT), 0),  # words of the quote, and not up to its end
            ("in ten working days", FACT_START - 19, 0),  # and not from its beginning
        ],
    )
    def test_they_are_confirmed_at_the_edges_of_the_quote_too(self, text: str, start: int, unlocated: int) -> None:
        item = Retrieved("a", text, "s", start, start + len(text), offsets_unverified=True)
        assert recall_without_warning([[Quote(FACT), SPAN]], item) == (0, unlocated)

    def test_a_span_without_a_quote_leaves_them_unchecked(self) -> None:
        assert recall_without_warning([[Quote(FACT), SPAN], [Span("s", 60, 70)]], chunk(15, 60)) == (0.5, 1)

    def test_an_item_without_offsets_needs_none_if_it_holds_all_or_nothing_of_each_quote(self) -> None:
        truth = [[Quote(FACT), SPAN]]
        complete, nothing, half = (
            Retrieved(text, text, "s") for text in (SOURCE, SOURCE[60:], SOURCE[: FACT_START + 15])
        )
        assert recall(truth, complete, nothing) == (1, 0)
        assert recall_without_warning(truth, half) == (0, 1)


class TestWithTheSource:
    MATCH = rm.Matching(sources={"s": SOURCE})

    @pytest.mark.parametrize("shift", [0, 7, 40])
    def test_an_item_is_placed_by_its_text(self, shift: int) -> None:
        assert recall([SPAN], chunk(15, 60, shift), match=self.MATCH) == (1, 0)
        assert recall_without_warning([SPAN], chunk(55, 90, -shift), match=self.MATCH) == (0, 0)

    def test_offsets_without_a_text_are_checked_by_nothing(self) -> None:
        claim = Retrieved("a", source="s", start=15, end=60, offsets_unverified=True)
        assert recall_without_warning([SPAN], claim, match=self.MATCH) == (0, 1)
        assert recall([SPAN], Retrieved("a", source="s", start=15, end=60), match=self.MATCH) == (1, 0)

    @pytest.mark.parametrize(
        ("source", "spans"),
        [
            ("abcdefghsame one ijklmnop same one.", [(0, 8), (26, 34)]),  # the first place begins where a span ends
            ("same oneabcdefgh ijklmnop same one.", [(8, 16), (26, 34)]),  # and ends where one begins
        ],
    )
    def test_of_two_places_one_that_only_touches_a_span_is_not_the_judged_one(
        self, source: str, spans: list[tuple[int, int]]
    ) -> None:
        truth = [Span("s", *stretch) for stretch in spans]
        item = Retrieved("a", "same one")
        match = rm.Matching(sources={"s": source})
        assert source[slice(*spans[1])] == "same one"
        assert recall(truth, item, match=match) == (0.5, 0)

    def test_an_item_from_another_known_source_is_not_looked_for_here(self) -> None:
        matching = rm.Matching(sources={"s": SOURCE, "t": SOURCE})
        assert recall_without_warning([SPAN], chunk(15, 60, source="t"), match=matching) == (0, 0)

    def test_a_text_of_unknown_source_is_elsewhere_if_it_is_found_there(self) -> None:
        other = rm.Matching(sources={"s": SOURCE, "t": "Quite another text."})
        assert recall_without_warning([SPAN], Retrieved("a", "another text"), match=other) == (0, 0)
        assert recall_without_warning([SPAN], Retrieved("a", "from nowhere"), match=other) == (0, 1)


def recall_without_warning(*arguments: Any, **options: Any) -> tuple[float, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        return recall(*arguments, **options)


def test_what_is_claimed_survives_a_file(tmp_path: Any) -> None:
    path = tmp_path / "run.json"
    rm.write_run({"q": [chunk(15, 60), chunk(0, 15, offsets_unverified=False)]}, path)
    assert [item.offsets_unverified for item in rm.read_run(path)["q"]] == [True, False]


def test_coverage_is_unknown_from_the_first_unplaced_item_on() -> None:
    truth = {"q": [SPAN]}
    run = {"q": [chunk(15, 60, offsets_unverified=False), chunk(0, 15)]}
    with pytest.warns(rm.RetrievalWarning):
        means = rm.evaluate(truth, run, ["coverage@1", "coverage@2"]).means
    assert repr(means) == "{'coverage@1': 1.0, 'coverage@2': nan}"


class TestChunksWithSomethingAdded:
    BOOK = (
        "The first chapter tells of the house and of the garden behind it. The gate is painted green every spring. "
        "Nobody knows who planted the old pear tree there. The second chapter tells of the road to the town. "
        "It was built in the year of the great flood. Carts took a whole day to reach the market on it."
    )
    FACT = "Nobody knows who planted the old pear tree there."
    FACT_START = BOOK.index(FACT)
    TRUTH = (Span("b", FACT_START, FACT_START + len(FACT)),)
    MATCH = rm.Matching(sources={"b": BOOK})
    CHUNK = BOOK[FACT_START - 40 : FACT_START + len(FACT)].strip()

    @pytest.mark.parametrize(
        "text",
        [
            f"This passage is about the garden of the old house and its trees. {CHUNK}",
            f"Source 1:\n{CHUNK}\n",
            f"# The garden\n\n{CHUNK}",
            f"{BOOK[:20]} ... {CHUNK}",
            f"{FACT} Carts took a whole day to reach the market on it.",  # a compressor kept two sentences
            CHUNK.replace(" ", "\n"),
        ],
    )
    @pytest.mark.parametrize("source", ["b", None, "section 3 of b"])
    def test_the_part_that_is_of_the_source_is_found(self, text: str, source: str | None) -> None:
        item = Retrieved("a", text, source, offsets_unverified=True, start=None if source is None else self.FACT_START)
        assert recall(list(self.TRUTH), item, match=self.MATCH) == (1, 0)

    def test_what_was_added_covers_nothing(self) -> None:
        far = "Context: nobody knows of a pear tree. It was built in the year of the great flood."
        assert recall_without_warning(list(self.TRUTH), Retrieved("a", far, "b"), match=self.MATCH) == (0, 0)

    def test_what_was_written_anew_is_unplaced(self) -> None:
        summary = Retrieved("a", "A summary: there is a pear tree of unknown origin in the garden.", "b")
        assert recall_without_warning(list(self.TRUTH), summary, match=self.MATCH) == (0, 1)

    def test_a_few_words_do_not_make_a_text_of_unknown_source_part_of_a_book(self) -> None:
        other = "In another book, the carts took a whole day to reach the market on it, which is told at length there."
        for source in (None, "another"):
            item = Retrieved("a", f"{other} {other.upper()}", source)
            truth = [Span("b", self.BOOK.index("Carts"), len(self.BOOK))]
            assert recall_without_warning(truth, item, match=self.MATCH)[0] == 0

    @pytest.mark.parametrize(("n_more", "placed"), [(0, True), (1, False)])
    def test_a_text_of_unknown_source_is_from_a_book_if_half_of_it_is(self, n_more: int, *, placed: bool) -> None:
        added = "x" * (len("".join(self.CHUNK.split())) + n_more)
        item = Retrieved("a", f"{added} {self.CHUNK}")
        assert recall_without_warning(list(self.TRUTH), item, match=self.MATCH) == (placed, not placed)

    def test_a_budget_counts_what_is_handed_over(self) -> None:
        item = Retrieved("a", f"{'A long context that says little. ' * 3}{self.FACT}", "b")
        names = [f"recall@{len(item.text or '') - 1}chars", f"recall@{len(item.text or '')}chars"]
        means = rm.evaluate({"q": list(self.TRUTH)}, {"q": [item]}, names, match=self.MATCH).means
        assert list(means.values()) == [0, 1]

    def test_density_counts_what_was_added_and_coverage_does_not(self) -> None:
        item = Retrieved("a", f"Source 1: {self.FACT}", "b")
        run = {"q": [item]}
        means = rm.evaluate({"q": list(self.TRUTH)}, run, ["coverage", "density"], match=self.MATCH).means
        n_covered = len("".join(self.FACT.split()))
        assert means == {"coverage": 1.0, "density": n_covered / (n_covered + len("Source1:"))}

    def test_a_sentence_without_spaces_between_its_words(self) -> None:
        text = (
            "\u7b2c\u4e00\u7ae0\u8bb2\u623f\u5b50\u548c\u82b1\u56ed\u3002"
            "\u6ca1\u6709\u4eba\u77e5\u9053\u662f\u8c01\u79cd\u4e86\u90a3\u68f5\u8001\u68a8\u6811\u5728\u8fd9\u91cc\u5f88\u4e45\u4e86\u3002"
        )
        start = text.index("\u6ca1\u6709")
        match = rm.Matching(sources={"b": text})
        item = Retrieved("a", f"\u6765\u6e901\uff1a{text[start:]}", "b")
        assert recall([Span("b", start, len(text))], item, match=match) == (1, 0)


unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def means(truth: Any, ranking: list[Retrieved], metrics: list[str], sources: Any = None) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics, match=rm.Matching(sources=sources)).means)


@unwarned
class TestWhereAnItemStands:
    SOURCES: ClassVar = {"s": "one two\r\nthree four.\r\n\r\none two five"}

    def evaluate(self, *ranking: Retrieved) -> rm.Evaluation:
        truth = {"q": [Span("s", 9, 20)]}
        return rm.evaluate(truth, {"q": list(ranking)}, ["mrr"], match=rm.Matching(sources=self.SOURCES))

    def test_an_item_without_offsets_is_looked_for_in_its_source(self) -> None:
        result = self.evaluate(Retrieved("x", "one two five", "s"), Retrieved("y", "two\n\nthree  four.", "s"))
        assert (result.means["mrr"], result.counts["unlocated"], result.counts["ambiguous_locations"]) == (1 / 2, 0, 0)

    def test_one_that_stands_there_twice_is_counted(self) -> None:
        result = self.evaluate(Retrieved("x", "one two", "s"), Retrieved("y", "three four.", "s"))
        assert (result.means["mrr"], result.counts["ambiguous_locations"]) == (1 / 2, 1)
        assert "1 result with text that occurs more than once in the source" in str(result)

    def test_of_several_places_of_the_same_words_the_judged_one_counts(self) -> None:
        sources = {"s": "The lock is open. Call us.\n\nElsewhere.\n\nThe lock is open. Call us."}
        second = sources["s"].rindex("The lock")
        for item in (Retrieved("x", "The lock is open.", "s"), Retrieved("x", "The lock is open.")):
            for start in (0, second):
                truth = {"q": [Span("s", start, start + 17)], "r": [Span("s", 28, 38)]}
                run = {"q": [item], "r": [item]}
                result = rm.evaluate(truth, run, ["mrr"], match=rm.Matching(sources=sources))
                assert list(result.per_query["mrr"].values()) == [1.0, 0.0], (item, start)
                assert result.counts["ambiguous_locations"] == 1

    def test_one_whose_text_is_not_in_its_source_is_counted(self) -> None:
        result = self.evaluate(Retrieved("x", "not there", "s"), Retrieved("y", "nor there"))
        assert (result.means["mrr"], result.counts["unlocated"]) == (0, 2)

    def test_one_without_a_source_or_from_an_unknown_one_is_found_by_its_text(self) -> None:
        for source in (None, "a section of s"):
            result = self.evaluate(Retrieved("x", "x", "other"), Retrieved("y", "three four.", source))
            assert (result.means["mrr"], result.counts["unlocated"]) == (1 / 2, 0)

    def test_a_span_behind_the_end_of_its_source_is_refused(self) -> None:
        with pytest.raises(ValueError, match="ends beyond its source, which has 36 characters"):
            means([Span("s", 30, 37)], [], ["mrr"], self.SOURCES)

    def test_a_span_of_white_space_is_refused(self) -> None:
        with pytest.raises(ValueError, match="contains only white space"):
            means([Span("s", 20, 24)], [], ["mrr"], self.SOURCES)
