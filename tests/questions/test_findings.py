"""Each threshold of a lint, at the border itself and one step beside it."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.questions.findings import Subject
from retrieval_metrics.questions.search import Search, _Found
from retrieval_metrics.questions.words import Passages

METALS = ["copper", "silver", "bronze", "nickel", "cobalt", "carbon", "radium", "helium", "sodium", "barium"]
WORDS = [f"word{chr(97 + at // 26)}{chr(97 + at % 26)}x" for at in range(200)]
"""Content words that occur nowhere else."""


def text(*parts: slice) -> str:
    return " ".join(word for part in parts for word in WORDS[part])


def evidence(name: str, queries: Mapping[str, str], qrels: Mapping[str, Any], corpus: Any = None) -> list[Any]:
    return [dict(one.evidence) for one in rm.EvaluationSet(queries, qrels).lint(corpus).of(name)]


class TestNearlyTheSameQuestion:
    def shares(self, one: str, other: str, *, shared: bool) -> list[float]:
        qrels = {"q1": ["a"], "q2": ["a" if shared else "b"]}
        return [found["share"] for found in evidence("near_duplicate_question", {"q1": one, "q2": other}, qrels)]

    @pytest.mark.parametrize(
        ("first", "second", "alone", "shared"),
        [
            (4, 5, [0.8], [0.8]),
            (3, 4, [], [0.75]),  # less than 80 % is enough only with a relevant document in common
            (7, 10, [], [0.7]),
            (9, 13, [], []),  # 69 %
        ],
    )
    def test_has_80_percent_of_the_content_words_or_70_with_a_relevant_document_in_common(
        self, first: int, second: int, alone: list[float], shared: list[float]
    ) -> None:
        metals = [*METALS, "gallium", "argon", "xenon"]
        one, other = " ".join(metals[:first]), " ".join(metals[:second])
        assert self.shares(one, other, shared=False) == alone
        assert self.shares(one, other, shared=True) == shared

    def test_contradicts_the_other_only_from_80_percent_on(self) -> None:
        def contradictions(first: int, second: int) -> list[Any]:
            queries = {"q1": " ".join(METALS[:first]), "q2": " ".join(METALS[:second])}
            qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 1, "c": 1}}
            return [one["opposed"] for one in evidence("contradicting_judgments", queries, qrels)]

        assert contradictions(4, 5) == [["c"]]
        assert contradictions(3, 4) == []

    @pytest.mark.parametrize(("letters", "shares"), [(14, [5 / 7]), (15, [])])
    def test_has_half_of_the_trigrams_of_the_one_with_fewer(self, letters: int, shares: list[float]) -> None:
        # The short words have 2 + 4 * 3 = 14 trigrams, and a word of n letters has n.
        animals = "ox elk yak emu gnu"
        one, other = "bcdfghjklmnpqrtvw"[:letters], "qzxwvtrqpnmlkjhgfdcb"[:letters]
        assert self.shares(f"{animals} {one}", f"{animals} {other}", shared=True) == shares

    @pytest.mark.parametrize(
        ("word", "other", "shares"),
        [
            ("yarn", "yarm", [1.0]),  # 2 * 3 equal letters of 8
            ("plum", "pluck", []),  # 2 * 3 of 9
            ("emu", "emo", []),  # so short words differ by a letter
        ],
    )
    def test_may_have_a_typo_in_a_word_of_four_letters(self, word: str, other: str, shares: list[float]) -> None:
        begun = " ".join(METALS[:4])
        assert self.shares(f"{begun} {word}", f"{begun} {other}", shared=False) == shares


class TestSingleQuestions:
    @pytest.mark.parametrize(
        ("question", "short"),
        [("opens vault", True), ("who opens vault", False), ("who is it", True), ("who is vault", False)],
    )
    def test_three_words_and_one_content_word_are_enough(self, question: str, short: bool) -> None:  # noqa: FBT001
        assert bool(evidence("short_question", {"q1": question}, {"q1": ["a"]})) is short

    @pytest.mark.parametrize(
        ("question", "answer", "found"),
        [
            # 13 of 20 words in a row are 65 %.
            (text(slice(13), slice(100, 107)), text(slice(30)), [(13, 0.65)]),
            (text(slice(13), slice(100, 108)), text(slice(30)), []),
            # Without a run: 95 % of the content words, ...
            (text(slice(18, None, -1), slice(100, 101)), text(slice(30)), [(1, 0.95)]),
            (text(slice(17, None, -1), slice(100, 101)), text(slice(30)), []),
            # ... which are six or more, ...
            (text(slice(5, None, -1)), text(slice(30)), [(1, 1.0)]),
            (text(slice(4, None, -1)), text(slice(30)), []),
            # ... in a sentence of at most 60 words.
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 50}", [(1, 1.0)]),
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 51}", []),
        ],
    )
    def test_an_echo(self, question: str, answer: str, found: list[tuple[int, float]]) -> None:
        echoes = evidence("echo", {"q1": question}, {"q1": ["a"]}, {"a": answer})
        assert [(one["longest_run"], one["share"]) for one in echoes] == found


class TestUnjudged:
    def alike(self, one: str, other: str) -> list[tuple[str, float]]:
        result = rm.EvaluationSet({"q1": "Who opens it now?"}, {"q1": ["a"]}).lint({"a": one, "b": other})
        names = ("unjudged_duplicate", "possible_answer")
        return [(found.name, found.evidence["share"]) for name in names for found in result.of(name)]

    @pytest.mark.parametrize(
        ("shared", "found"),
        [
            (4, []),
            (5, [("possible_answer", 0.5)]),
            (7, [("possible_answer", 0.7)]),
            (8, [("unjudged_duplicate", 0.8)]),
        ],
    )
    def test_half_of_the_runs_of_four_words_resemble_and_80_percent_are_a_copy(
        self, shared: int, found: list[tuple[str, float]]
    ) -> None:
        # 13 words have 10 runs of 4.
        same = shared + 3
        assert self.alike(text(slice(13)), text(slice(same), slice(100, 113 - same))) == found

    def test_passages_of_fewer_than_four_runs_resemble_none(self) -> None:
        assert self.alike(text(slice(7)), text(slice(7), slice(100, 110))) == [("unjudged_duplicate", 1.0)]
        assert self.alike(text(slice(6)), text(slice(6), slice(100, 110))) == []
        assert self.alike(text(slice(7), slice(100, 110)), text(slice(6))) == []

    @pytest.mark.parametrize(
        ("size", "same", "found"),
        [
            (20, 13, [("possible_answer", 0.65)]),
            (20, 12, []),
            (12, 12, [("possible_answer", 1.0)]),  # never more than possible: the order differs
            (11, 11, []),  # so few words are shared by chance
        ],
    )
    def test_65_percent_of_twelve_or_more_rare_words(
        self, size: int, same: int, found: list[tuple[str, float]]
    ) -> None:
        reordered = text(slice(same - 1, None, -1), slice(100, 100 + size - same))
        assert self.alike(text(slice(size)), reordered) == found

    @pytest.mark.parametrize(("length", "found"), [(40, ["b"]), (39, [])])
    def test_a_span_of_forty_characters_is_looked_for_elsewhere(self, length: int, found: list[str]) -> None:
        held = text(slice(20))
        corpus = {"a": held, "b": f"As they say: {held[:40]} and so on"}
        answers = evidence("possible_answer", {"q1": "Who opens it?"}, {"q1": [rm.Span("a", 0, length)]}, corpus)
        assert [one["document"] for one in answers] == found

    def test_the_third_rank_is_at_the_top_and_the_fourth_is_not(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": ["d7"]})
        runs = {"a": {"q1": ["d7", "d2", "d1", "d4"]}, "b": {"q1": ["d1", "d5", "d7", "d2"]}}
        assert [one.evidence["documents"] for one in questions.lint(runs=runs).of("unjudged_at_top")] == [["d1"]]


class TestWholeSet:
    @pytest.mark.parametrize(
        ("sources", "effective"),
        [
            ("a" * 9, []),  # too few questions to say so
            ("a" * 10, [1.0]),
            ("abcdefghi" * 2, [9.0]),
            ("abcdefghij", []),  # ten of equal share, exactly
            ("abcdefghijk", []),
            ("aaabbbbbbb", [100 / 58]),  # 1 / (0.3^2 + 0.7^2)
        ],
    )
    def test_ten_questions_from_fewer_than_ten_documents(self, sources: str, effective: list[float]) -> None:
        rows = [
            {"id": f"q{at}", "query": f"Question number {at}?", "relevant": ["d"], "source": source}
            for at, source in enumerate(sources)
        ]
        found = [one.evidence["effective"] for one in rm.EvaluationSet.of(rows).lint().of("few_sources")]
        assert found == pytest.approx(effective)


class TestSearching:
    QUERIES: ClassVar = {"q1": "Where does the copper kettle whistle?"}

    def lint(self, judged: Any, passages: int = 20) -> Any:
        filler = {f"d{at}": f"Filler paragraph number{at} concerns subject{at} alone." for at in range(passages - 2)}
        corpus = {"a": "Copper kettle whistle whistle copper kettle.", "b": "The kettle stands here alone."} | filler
        return rm.EvaluationSet(self.QUERIES, {"q1": judged}).lint(corpus)

    @pytest.mark.parametrize(
        ("judged", "chance"),
        [
            (["a"], 0.5 / 20),
            (["b"], 1.5 / 20),
            ([["a", "b"]], 1 - (1 - 0.5 / 20) ** 2),  # the better of two
            # Fisher: p (1 - ln p) for the product p of two probabilities.
            ([["a"], ["b"]], 0.025 * 0.075 * (1 - math.log(0.025 * 0.075))),
        ],
    )
    def test_the_probability_that_random_passages_rank_as_well(self, judged: Any, chance: float) -> None:
        chances = [one.evidence["chance"] for one in self.lint(judged) if one.name in {"easy", "unanswered"}]
        assert chances == pytest.approx([chance])

    def test_ranks_among_twenty_passages_tell_something(self) -> None:
        assert len(self.lint(["a"]).of("easy")) == 1
        few = self.lint(["a"], passages=19)
        assert not few.of("easy")
        assert any("at least 20 passages" in one for one in few.unchecked)

    def found(self, chance: float, share: float, better: str | None = None) -> list[str]:
        passages = Passages.of({"a": "Copper kettle."})
        search = Search(Subject(self.QUERIES, as_qrels({"q1": ["a"]}), passages), passages)
        # BM25 gives no such round scores.
        return [one.name for one in search._judged("q1", _Found(chance, share, easy=False), better)]  # noqa: SLF001

    @pytest.mark.parametrize(
        ("chance", "below"),
        [(0.13, 0.7), (0.129, 0.35), (0.005, 0.35), (0.0049, 0.0)],
    )
    def test_unanswered_is_what_ranks_by_chance_and_scores_low(self, chance: float, below: float) -> None:
        assert self.found(chance, below - 0.001 if below else 0.0) == ["unanswered"]
        assert self.found(chance, below or 0.001) == []

    def test_so_is_what_another_question_with_the_same_judgments_finds_better(self) -> None:
        assert self.found(0.001, 0.899, better="q1") == ["unanswered"]
        assert self.found(0.001, 0.9, better="q1") == []

    @pytest.mark.parametrize(
        ("strange", "questions", "reported"),
        [(9, 12, 9), (10, 40, 10), (11, 40, 0)],  # fewer than ten; a quarter; more than a quarter
    )
    def test_a_quarter_of_the_questions_or_nine_may_be_unanswered(
        self, strange: int, questions: int, reported: int
    ) -> None:
        things = [f"{one}{other}" for one in "bdfgklmn" for other in ("aro", "eki", "ilo", "omu", "uta")]
        corpus = {thing: f"Whoever needs a {thing} finds the {thing} in room {thing}room." for thing in things}
        texts = {
            thing: f"Wherever might one borrow such odd gadget {at}?" if at < strange else f"Where is a {thing} found?"
            for at, thing in enumerate(things[:questions])
        }
        result = rm.EvaluationSet(texts, {thing: [thing] for thing in texts}).lint(corpus)
        assert len(result.of("unanswered")) == reported


class TestSpans:
    SOURCE = "One guard opens the vault. Two guards lock it"

    def names(self, *judged: Any, source: str = SOURCE) -> list[str]:
        result = rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [list(judged)]}).lint({"a": source})
        return [one.name for one in result if one.name in {"moved_span", "cut_span"}]

    @pytest.mark.parametrize(
        ("start", "end", "found"),
        [
            (0, 45, []),
            (0, 46, ["moved_span"]),
            (4, 9, []),
            (5, 9, ["cut_span"]),
            (4, 8, ["cut_span"]),
            (3, 10, []),  # white space at the ends
            (4, 25, []),  # before a full stop
            (4, 26, []),
        ],
    )
    def test_end_with_their_source_and_between_words(self, start: int, end: int, found: list[str]) -> None:
        assert self.names(rm.Span("a", start, end)) == found

    @pytest.mark.parametrize(
        ("source", "quotes", "said", "moved"),
        [
            ("{} The guard opens it.", ["The guard opens it."], "which is now at 41 to 60", (41, 60)),
            ("{} The guard opens it. The guard opens it.", ["The guard opens it."], "which is now at 41 to 60", None),
            ("{}", ["The guard opens it."], "which its source no longer has", None),
            # Either of two quotes may be the one that the span held.
            (
                "{} The guard opens it. It is locked at night.",
                ["The guard opens it.", "It is locked at night."],
                "which its source no longer has",
                None,
            ),
        ],
    )
    def test_move_only_to_the_one_place_of_their_quote(
        self, source: str, quotes: list[str], said: str, moved: tuple[int, int] | None
    ) -> None:
        text = source.format("An introduction that is forty letters l.")
        group = [*map(rm.Quote, quotes), rm.Span("a", 0, 15)]
        result = rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [group]}).lint({"a": text})
        (found,) = result.of("moved_span")
        assert said in found.message
        assert (found.change.by if found.change else None) == (None if moved is None else (rm.Span("a", *moved),))


class TestQuotes:
    QUOTE = rm.Quote("The guard opens the vault.")
    CORPUS: ClassVar = {"a": "The guard opens the vault. At noon.", "b": "At night. The guard opens the vault."}
    HERE, THERE = rm.Span("a", 0, 26), rm.Span("b", 10, 36)

    @pytest.mark.parametrize(
        ("group", "ambiguous"),
        [
            ([QUOTE], True),
            ([QUOTE, HERE], True),
            ([QUOTE, HERE, THERE], False),  # each place is named
            ([QUOTE, HERE, rm.Span("a", 4, 26)], True),  # both in one of the two documents
            ({QUOTE: 2, HERE: 2, THERE: 1}, True),  # a place that is worth less than the quote
        ],
    )
    def test_in_several_places_are_ambiguous_unless_each_is_named(self, group: Any, ambiguous: bool) -> None:  # noqa: FBT001
        found = evidence("ambiguous_quote", {"q1": "Who has the key?"}, {"q1": [group]}, self.CORPUS)
        assert [one["places"] for one in found] == [2] * ambiguous

    def test_twice_in_one_document_need_two_spans(self) -> None:
        twice = {"a": f"{self.CORPUS['a']} {self.QUOTE.text}"}
        groups = [self.QUOTE, self.HERE], [self.QUOTE, self.HERE, rm.Span("a", 35, 61)]
        found = [evidence("ambiguous_quote", {"q1": "Who has it?"}, {"q1": [one]}, twice) for one in groups]
        assert list(map(len, found)) == [1, 0]

    def test_twice_in_one_document_and_in_two_are_said_apart(self) -> None:
        def said(corpus: dict[str, str]) -> str:
            result = rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [self.QUOTE]}).lint(corpus)
            return result.of("ambiguous_quote")[0].message

        assert "occurs in 2 documents, such as 'a', 'b'" in said(self.CORPUS)
        assert "occurs 2 times in 'a'" in said({"a": f"{self.CORPUS['a']} {self.QUOTE.text}"})

    def test_take_the_words_of_the_source_only_if_they_are_written_in_one_way(self) -> None:
        def own(corpus: dict[str, str]) -> list[Any]:
            judged = {"q1": [rm.Quote("the guard who has keys opens it")]}
            return [one["same_words"] for one in evidence("missing_quote", {"q1": "Who has it?"}, judged, corpus)]

        once = {"a": "At noon the guard, who has keys, opens it."}
        assert own(once) == ["the guard, who has keys, opens it."]
        assert own(once | {"b": "Later the guard (who has keys) opens it."}) == [None]


class TestGroups:
    def lint(self, group: Any, corpus: Any = None) -> Any:
        return rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [group]}).lint(corpus or {"a": "The guard."})

    def test_an_unknown_document_is_spared_only_if_a_relevant_alternative_remains(self) -> None:
        assert [one.change is None for one in self.lint({"gone": 1, "a": 1}).of("unknown_document")] == [False]
        assert [one.change is None for one in self.lint({"gone": 1, "a": 0}).of("unknown_document")] == [True]

    @pytest.mark.parametrize(
        ("group", "impossible"),
        [
            (["gone"], False),  # which `unknown_document` says
            (["gone", "lost"], True),
            (["gone", "a"], False),
            ({"gone": 1, "a": 0}, True),
            ({"gone": 0, "lost": 0}, False),  # nothing to satisfy
            ([rm.Quote("nobody has ever said this"), rm.Span("lost", 0, 9)], True),
            ([rm.Quote("a guard who opens the vault"), "gone"], False),  # in the source, though the passages cut it
        ],
    )
    def test_are_impossible_if_nothing_relevant_in_them_is_in_the_corpus(
        self,
        group: Any,
        impossible: bool,  # noqa: FBT001
    ) -> None:
        text = "There is a guard who opens the vault."
        cut = [rm.Retrieved("a", text[:20], "s", 0, 20), rm.Retrieved("b", text[20:], "s", 20, 37)]
        assert bool(self.lint(group, cut).of("impossible_group")) is impossible


@pytest.mark.parametrize(
    ("count", "windows"), [(400, [400]), (401, [200, 200, 200, 101, 1]), (500, [200, 200, 200, 200, 100])]
)
def test_documents_of_more_than_400_words_are_searched_in_windows_of_200(count: int, windows: list[int]) -> None:
    passages = Passages.of({"a": " ".join(f"w{at}" for at in range(count))})
    search = Search(Subject({"q1": "why?"}, as_qrels({"q1": [rm.Quote("w0 w1 w2 w3 w4 w5")]}), passages), passages)
    assert [len((item.text or "").split()) for item in search.passages.items] == windows
    assert [(item.text or "").split()[0] for item in search.passages.items] == [
        f"w{100 * at}" for at in range(len(windows))
    ]
    by_id = Search(Subject({"q1": "why?"}, as_qrels({"q1": ["a"]}), passages), passages)
    assert len(by_id.passages.items) == 1
