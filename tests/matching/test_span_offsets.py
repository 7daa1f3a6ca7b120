"""A place is trusted only where it was checked."""

import random
import warnings
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved, Span
from retrieval_metrics.inputs.chunk_offsets import SourceText
from retrieval_metrics.matching.span_offsets import RangeUnion, merge_ranges, repair_line_endings
from retrieval_metrics.matching.span_offsets import intersect_ranges as in_common
from retrieval_metrics.matching.text_normalisation import normalise

SOURCE = "One two three four. Refunds take five working days. Nothing else is said of them in this text."
FACT = "Refunds take five working days."
AT = SOURCE.index(FACT)
SPAN = Span("s", AT, AT + len(FACT))


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
        with pytest.warns(rm.RetrievalWarning) as said:
            assert recall([SPAN], chunk(15, 60), chunk(0, 15)) == (0, 2)
        assert "the place of 2 retrieved items is unknown, so no span was found in them, nor is" in str(said[0].message)
        assert "example '15' for query 'q' (unchecked)" in str(said[0].message)

    def test_a_run_without_any_judged_source_is_unplaced(self) -> None:
        leaves = [chunk(15, 60, source="piece 1 of s"), chunk(0, 15, source="piece 0 of s")]
        with pytest.warns(rm.RetrievalWarning) as said:
            assert recall([SPAN], *leaves) == (0, 2)
        assert "2 of a run in which no source is a judged one" in str(said[0].message)
        assert recall_without_warning([SPAN], leaves[0], chunk(0, 15, offsets_unverified=False)) == (0, 0)
        assert recall_without_warning([[SPAN, Quote(FACT)]], *leaves) == (1, 0)
        assert recall([SPAN], *leaves, documents={"s": SOURCE}) == (1, 0)

    def test_the_count_is_printed(self) -> None:
        with pytest.warns(rm.RetrievalWarning):
            result = rm.evaluate({"q": [SPAN]}, {"q": [chunk(15, 60)]}, "recall")
        assert "1 retrieved items whose position in a source is unknown" in str(result)

    @pytest.mark.parametrize("cut", [(15, 60), (0, 35), (25, 45), (35, len(SOURCE)), (60, len(SOURCE)), (0, 15)])
    def test_the_quote_beside_a_span_confirms_or_contradicts_them(self, cut: tuple[int, int]) -> None:
        truth = [[Quote(FACT), SPAN]]
        whole = cut[0] <= AT and AT + len(FACT) <= cut[1]
        assert recall_without_warning(truth, chunk(*cut)) == (whole, 0)
        for shift in (-11, 13):
            if shift + cut[0] >= 0:
                assert recall_without_warning(truth, chunk(*cut, shift))[0] == whole

    def test_two_halves_are_confirmed_by_their_quote(self) -> None:
        halves = chunk(0, AT + 12), chunk(AT + 12, len(SOURCE))
        assert recall([[Quote(FACT), SPAN]], *halves) == (1, 0)
        wrong = chunk(0, AT + 12), chunk(AT + 12, len(SOURCE), 30)
        assert recall_without_warning([[Quote(FACT), SPAN]], *wrong) == (0, 1)
        assert recall_without_warning([[Quote(FACT), SPAN]], wrong[1], wrong[0]) == (0, 1)

    @pytest.mark.parametrize(
        ("text", "start", "unlocated"),
        [
            ("Refunds take five", AT, 0),  # the first words of the quote where it begins
            ("take five working", AT, 1),  # others
            ("five working days.", AT + len(FACT) - 18, 0),  # the last words where it ends
            ("take five working", AT + len(FACT) - 17, 1),
            ("Refunds take five", AT + len(FACT), 1),  # words of the quote right behind it
            ("working days.", AT - 13, 1),  # and right before it
            ("Nothing else is", AT + len(FACT), 0),  # nothing of it, right behind it and right before it
            ("two three fou", AT - 13, 0),
            ("working day begins", AT + len(FACT), 0),  # words of the quote, and not up to its end
            ("in ten working days", AT - 19, 0),  # and not from its beginning
        ],
    )
    def test_they_are_confirmed_at_the_edges_of_the_quote_too(self, text: str, start: int, unlocated: int) -> None:
        item = Retrieved("a", text, "s", start, start + len(text), offsets_unverified=True)
        assert recall_without_warning([[Quote(FACT), SPAN]], item) == (0, unlocated)

    def test_a_span_without_a_quote_leaves_them_unchecked(self) -> None:
        assert recall_without_warning([[Quote(FACT), SPAN], [Span("s", 60, 70)]], chunk(15, 60)) == (0.5, 1)

    def test_an_item_without_offsets_needs_none_if_it_holds_all_or_nothing_of_each_quote(self) -> None:
        truth = [[Quote(FACT), SPAN]]
        whole, nothing, half = (Retrieved(text, text, "s") for text in (SOURCE, SOURCE[60:], SOURCE[: AT + 15]))
        assert recall(truth, whole, nothing) == (1, 0)
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
        item, match = Retrieved("a", "same one"), rm.Matching(sources={"s": source})
        assert source[slice(*spans[1])] == "same one"
        assert recall(truth, item, match=match) == (0.5, 0)

    def test_an_item_from_another_known_source_is_not_looked_for_here(self) -> None:
        both = rm.Matching(sources={"s": SOURCE, "t": SOURCE})
        assert recall_without_warning([SPAN], chunk(15, 60, source="t"), match=both) == (0, 0)

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
    assert [one.offsets_unverified for one in rm.read_run(path)["q"]] == [True, False]


def test_coverage_is_unknown_from_the_first_unplaced_item_on() -> None:
    truth, run = {"q": [SPAN]}, {"q": [chunk(15, 60, offsets_unverified=False), chunk(0, 15)]}
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
    AT = BOOK.index(FACT)
    TRUTH = (Span("b", AT, AT + len(FACT)),)
    MATCH = rm.Matching(sources={"b": BOOK})
    CHUNK = BOOK[AT - 40 : AT + len(FACT)].strip()

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
        item = Retrieved("a", text, source, offsets_unverified=True, start=None if source is None else self.AT)
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

    @pytest.mark.parametrize(("more", "placed"), [(0, True), (1, False)])
    def test_a_text_of_unknown_source_is_from_a_book_if_half_of_it_is(self, more: int, *, placed: bool) -> None:
        added = "x" * (len("".join(self.CHUNK.split())) + more)
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
        held = len("".join(self.FACT.split()))
        assert means == {"coverage": 1.0, "density": held / (held + len("Source1:"))}

    def test_a_sentence_without_spaces_between_its_words(self) -> None:
        text = (
            "\u7b2c\u4e00\u7ae0\u8bb2\u623f\u5b50\u548c\u82b1\u56ed\u3002"
            "\u6ca1\u6709\u4eba\u77e5\u9053\u662f\u8c01\u79cd\u4e86\u90a3\u68f5\u8001\u68a8\u6811\u5728\u8fd9\u91cc\u5f88\u4e45\u4e86\u3002"
        )
        start = text.index("\u6ca1\u6709")
        match, item = rm.Matching(sources={"b": text}), Retrieved("a", f"\u6765\u6e901\uff1a{text[start:]}", "b")
        assert recall([Span("b", start, len(text))], item, match=match) == (1, 0)


LINES = [f"Rule {at}: a{' very' * (at % 7)} large order of class {at} is sent after {at + 2} days." for at in range(60)]
READ = "\n\n".join(LINES)
"""As Python's `open` reads the file."""
RAW = READ.replace("\n", "\r\n")
"""As its bytes are decoded."""


def span_of(line: str, text: str) -> Span:
    at = text.index(line)
    return Span("rules.txt", at, at + len(line))


def chunks(text: str, of: str = RAW) -> list[Retrieved]:
    """Chunks of one text whose offsets were recorded in another."""
    return [
        Retrieved(line.split(":")[0], line, source="rules.txt", start=at, end=at + len(line), offsets_unverified=True)
        for line in LINES
        if line in text
        for at in [of.index(line)]
    ]


NOTHING = pytest.mark.filterwarnings("ignore:none of the retrieved documents is judged")


def recall_of(truth: Any, line: int, source: str, of: str, metric: str = "recall") -> float:
    found = chunks(source, of)
    return rm.evaluate({"q": truth}, {"q": [found[line]]}, metric, documents={"rules.txt": source}).means[metric]


@NOTHING
@pytest.mark.parametrize("written", [RAW, READ], ids=["raw", "read"])
@pytest.mark.parametrize("given", [RAW, READ], ids=["raw", "read"])
@pytest.mark.parametrize("recorded", [RAW, READ], ids=["raw", "read"])
class TestASpanMeansItsWords:
    def test_with_its_quote(self, written: str, given: str, recorded: str) -> None:
        for at in (0, 1, 30, 59):
            truth = [[span_of(LINES[at], written), Quote(LINES[at])]]
            for retrieved in {at, max(at - 1, 0), min(at + 1, 59), 20}:
                hit = float(retrieved == at)
                assert recall_of(truth, retrieved, given, recorded) == hit
                assert recall_of(truth, retrieved, given, recorded, "coverage") == hit
                assert recall_of(truth, retrieved, given, recorded, "density") == hit

    def test_without_it_that_is_said(self, written: str, given: str, recorded: str) -> None:
        for at in (10, 32, 45):
            truth = [span_of(LINES[at], written)]
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = recall_of(truth, at, given, recorded, "coverage")
            messages = [str(one.message) for one in said if "1 spans cut words of their sources" in str(one.message)]
            assert all("that they were written against, documents=" in message for message in messages)
            doubted = bool(messages)
            assert doubted == (written != given)
            assert doubted or found == 1


def read(*spans: Span, text: str = RAW, quote: str | None = None) -> tuple[list[Span], list[int]]:
    beside = {} if quote is None else {0: [normalise(quote)]}
    found, doubtful = repair_line_endings(dict(enumerate(spans)), {"rules.txt": SourceText(text)}, beside)
    return [*found.values()], doubtful


def test_spans_are_in_doubt_if_more_than_four_times_as_many_fit_only_otherwise() -> None:
    certain = span_of(LINES[30], RAW)
    others = [span_of(line, READ) for line in LINES[20:25]]
    assert read(certain, *others[:4]) == ([certain, *others[:4]], [])
    assert read(certain, *others) == ([certain, *others], [1, 2, 3, 4, 5])


def test_a_span_that_fits_as_well_either_way_stays_and_says_nothing_of_others() -> None:
    text = "x\r\n!!!! one two"
    either, otherwise = Span("rules.txt", 3, 4), Span("rules.txt", 7, 10)  # the second means "one", and holds " on"
    assert read(either, text=text) == ([either], [])
    assert read(either, otherwise, text=text) == ([either, otherwise], [1])
    for quote in ("!", "another text"):  # which is at both places, or at neither
        assert read(either, text=text, quote=quote) == ([either], [])
    assert read(otherwise, text=text, quote="one") == ([Span("rules.txt", 8, 11)], [])


@pytest.mark.parametrize(
    ("text", "stretch", "doubted"),
    [
        ("x\r\n!!! one two", (3, 9), True),  # "!!! on", or "!! one"
        ("x\r\n!!! one two", (3, 10), False),  # "!!! one", or "!! one "
        ("x\n\n\nab", (5, 6), False),  # "b", or nothing
        ("x\r\nab", (3, 5), False),  # "ab", or what is beyond the end
        ("x\r\n !ab", (4, 6), True),  # "!a", or "ab"
    ],
)
def test_a_span_fits_if_it_begins_and_ends_with_whole_words(
    text: str, stretch: tuple[int, int], *, doubted: bool
) -> None:
    span = Span("rules.txt", *stretch)
    assert read(span, text=text) == ([span], [0] if doubted else [])


def test_spans_that_cut_words_both_ways_are_not_doubted() -> None:
    generator = random.Random(4)
    starts = [generator.randrange(200, len(RAW) - 80) for _ in range(60)]
    qrels = {str(start): [Span("rules.txt", start, start + 80)] for start in starts}
    run = {query: chunks(RAW) for query in qrels}
    for text in (RAW, READ + " " * 200):
        assert rm.evaluate(qrels, run, "coverage", documents={"rules.txt": text}).means["coverage"] > 0.99


def test_a_text_that_stands_twice_is_found_by_its_offsets() -> None:
    raw = ("The same line.\n" * 8).replace("\n", "\r\n")
    judged = Span("s", 5 * 16, 5 * 16 + 14)
    twins = [
        Retrieved(at, "The same line.", source="s", start=at * 15, end=at * 15 + 14, offsets_unverified=True)
        for at in (4, 5)
    ]
    result = rm.evaluate({"q": [judged]}, {"q": twins}, ["recall@1", "recall@2"], documents={"s": raw})
    assert (result.means["recall@1"], result.means["recall@2"]) == (0, 1)


def test_a_kept_source_is_not_changed_by_the_ends_of_its_lines() -> None:
    questions = rm.EvaluationSet.from_dataset(
        [{"id": "q", "query": "Which?", "relevant": [[span_of(LINES[9], READ), Quote(LINES[9])]]}]
    )
    kept = questions.with_sources({"rules.txt": READ})
    result = rm.evaluate(kept, {"q": [chunks(RAW)[9]]}, "coverage", documents={"rules.txt": RAW})
    assert result.means["coverage"] == 1


def test_lint_reads_spans_as_judging_does() -> None:
    relevant = [[span_of(LINES[9], READ), Quote(LINES[9])]]
    questions = rm.EvaluationSet.from_dataset([{"id": "q", "query": "When is class nine sent?", "relevant": relevant}])
    names = {finding.name for finding in questions.lint({"rules.txt": RAW})}
    assert not names & {"moved_span", "cut_span"}


def test_an_explanation_shows_the_words_that_are_meant() -> None:
    truth = {"q": [[span_of(LINES[30], READ), Quote(LINES[30])]]}
    result = rm.evaluate(truth, {"q": [chunks(RAW)[30]]}, "coverage", documents={"rules.txt": RAW})
    assert "class 30 is sent" in str(result.explain("q"))
    assert "class 29" not in str(result.explain("q"))


unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def means(truth: Any, ranking: list[Retrieved], metrics: list[str], sources: Any = None) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics, match=rm.Matching(sources=sources)).means)


@unwarned
class TestStretchesThatTouch:
    def test_their_union_is_one(self) -> None:
        assert merge_ranges([(3, 5), (0, 3)]) == [(0, 5)]
        assert merge_ranges([(4, 5), (0, 3)]) == [(0, 3), (4, 5)]

    def test_they_share_nothing(self) -> None:
        assert in_common([(3, 5)], [(0, 3), (4, 9)]) == [(4, 5)]
        assert in_common([(3, 5)], [(0, 3), (5, 9)]) == []
        assert in_common([(3, 5)], [(0, 4), (4, 9)]) == [(3, 4), (4, 5)]

    def test_each_is_new_and_they_become_one(self) -> None:
        union = RangeUnion()
        assert [union.add(*stretch) for stretch in ((4, 6), (2, 4), (6, 8), (9, 10))] == [
            [(4, 6)], [(2, 4)], [(6, 8)], [(9, 10)],
        ]  # fmt: skip
        assert union.ranges == [(2, 8), (9, 10)]
        assert (union.add(2, 8), union.add(8, 9)) == ([], [(8, 9)])
        assert union.ranges == [(2, 10)]


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
        assert "1 items that occur in their source more than once" in str(result)

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
