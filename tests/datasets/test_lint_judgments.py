"""Faults of judgments are found, at the border of each threshold, and mended only where that is safe."""

from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from lint_cases import COFFEE, CORPUS, QRELS, QUERIES, VAULT, find_queries, lint, list_serious
from words_apart import evidence, text


class TestJudgments:
    def test_an_id_that_is_not_in_the_corpus_leaves_its_group_without_a_way(self) -> None:
        result = lint(qrels={"q1": ["valut"]})
        assert list_serious(result) == [("unknown_document", "q1")]
        assert result.fixed().qrels == result.questions.qrels, "what the id should be takes a person"

    def test_it_is_taken_out_where_an_alternative_remains_or_where_it_is_not_relevant(self) -> None:
        result = lint(qrels={"q1": [["valut", "vault"]], "q2": {"coffee": 1, "tea": 0}})
        assert find_queries(result, "unknown_document") == ["q1", "q2"]
        assert find_queries(result, "impossible_group") == []
        repaired = result.fixed()
        assert repaired.qrels == QRELS | {"q1": {"vault": 1.0}, "q2": {"coffee": 1}}
        assert list_serious(repaired.lint(CORPUS)) == []

    def test_the_ids_of_the_corpus_are_enough_for_that(self) -> None:
        result = lint(qrels={"q1": ["valut"]}, corpus=list(CORPUS))
        assert find_queries(result, "unknown_document") == ["q1"]
        assert any("only ids" in sentence for sentence in result.skipped)

    def test_a_quote_that_is_not_there(self) -> None:
        result = lint(qrels={"q1": [rm.Quote("opened at night by the cleaning staff together")]})
        assert list_serious(result) == [("missing_quote", "q1")]

    def test_a_quote_in_other_punctuation_takes_the_words_of_the_source(self) -> None:
        result = lint(qrels={"q1": [rm.Quote("Both of them sign the register which the auditor reads")]})
        assert find_queries(result, "missing_quote") == ["q1"]
        repaired = result.fixed()
        assert repaired.qrels["q1"] == {rm.Quote("Both of them sign the register, which the auditor reads"): 1.0}
        assert list_serious(repaired.lint(CORPUS)) == []

    def test_a_quote_in_two_documents(self) -> None:
        corpus = CORPUS | {"copy": f"As the handbook says: {COFFEE[:38]} Nobody likes it."}
        (finding,) = lint(qrels={"q2": [rm.Quote(COFFEE[:38])]}, corpus=corpus).named("ambiguous_quote")
        assert sorted(finding.evidence["documents"]) == ["coffee", "copy"]

    def test_a_quote_where_passages_overlap_stands_once(self) -> None:
        chunks = [
            rm.Retrieved(f"c{start}", VAULT[start : start + 120], source="rules", start=start) for start in (0, 40, 80)
        ]
        result = lint(qrels={q: [rm.Quote("a second member of staff")] for q in QUERIES}, corpus=chunks)
        assert find_queries(result, "ambiguous_quote") == []

    def test_a_quote_that_the_passages_cut_gets_a_span_that_survives_it(self) -> None:
        chunks = [
            rm.Retrieved(f"c{offset}", VAULT[offset : offset + 60], source="rules", start=offset)
            for offset in range(0, 180, 60)
        ]
        quote = rm.Quote("at night by the duty officer together with a second")
        start = VAULT.index("at night")
        result = rm.EvaluationSet({"q1": QUERIES["q1"]}, {"q1": [quote]}).lint(chunks)
        assert find_queries(result, "cut_quote") == ["q1"]
        repaired: Any = result.fixed()
        assert repaired.qrels["q1"] == [{quote: 1.0, rm.Span("rules", start, start + len(quote.text)): 1.0}]
        assert list_serious(repaired.lint(chunks)) == []
        assert rm.evaluate(repaired, {"q1": chunks}, "recall").means["recall"] == 1

    def test_a_span_moves_to_where_its_quote_now_stands(self) -> None:
        corpus = CORPUS | {"vault": f"Rules for all branches.\n\n{VAULT}"}
        text = VAULT[:60].rsplit(" ", 1)[0]
        quote = rm.Quote(text)
        start = len("Rules for all branches.\n\n")
        result = lint(qrels={"q1": [[quote, rm.Span("vault", 0, 60)]]}, corpus=corpus)
        # The old place still holds a part of the sentence, but not the quote.
        assert find_queries(result, "moved_span") == ["q1"]
        assert result.fixed().qrels["q1"] == [{quote: 1.0, rm.Span("vault", start, start + len(text)): 1.0}]

    def test_a_span_that_holds_its_quote_is_fine(self) -> None:
        assert (
            list_serious(lint(qrels={"q1": [[rm.Quote(VAULT[4:60].rsplit(" ", 1)[0]), rm.Span("vault", 0, 60)]]})) == []
        )

    def test_a_span_behind_the_end_of_its_source_or_in_none(self) -> None:
        result = lint(qrels={"q1": [rm.Span("vault", 100, 9999)], "q2": [rm.Span("attic", 0, 10)]})
        assert find_queries(result, "moved_span") == ["q1"]
        assert find_queries(result, "unknown_source") == ["q2"]

    def test_nothing_is_relevant(self) -> None:
        result = lint(qrels={"q1": {"vault": 0}, "q2": []})
        assert (find_queries(result, "no_relevant"), find_queries(result, "unanswerable")) == (["q1"], ["q2"])
        assert find_queries(lint(qrels={"q1": {"vault": -1}, "q2": ["vault"]}), "unanswerable") == ["q1"]

    def test_what_is_forbidden_is_counted(self) -> None:
        (finding,) = lint(qrels={"q1": {"vault": -1, "x": -2}, "q2": {"vault": 1, "y": -1}}).named("forbidden")
        assert finding.message.startswith("3 judgments of 2 questions are below 0, which must not come back; if -1")
        assert not lint(qrels={"q1": ["vault"]}).named("forbidden")


class TestUnjudged:
    def test_a_copy_of_a_relevant_passage_becomes_its_alternative(self) -> None:
        corpus = CORPUS | {"copy": VAULT.upper()}
        result = lint(corpus=corpus)
        assert list_serious(result) == [("unjudged_duplicate", "q1")]
        repaired: Any = result.fixed()
        assert repaired.qrels["q1"] == [{"vault": 1.0, "copy": 1.0}]
        assert rm.evaluate({"q1": repaired.qrels["q1"]}, {"q1": ["copy"]}, "recall").means["recall"] == 1
        assert list_serious(repaired.lint(corpus)) == []

    def test_a_passage_that_holds_much_of_a_relevant_one_probably_answers_too(self) -> None:
        corpus = CORPUS | {
            "older": f"The handbook of last year put it in this way. {VAULT[:100]} Much has changed since."
        }
        (finding,) = lint(corpus=corpus).named("possible_answer")
        assert (finding.query, finding.evidence["document"], finding.fix) == ("q1", "older", None)

    def test_what_is_judged_is_not_reported_whatever_its_grade(self) -> None:
        assert list_serious(lint(qrels={"q1": {"vault": 1, "copy": 0}}, corpus=CORPUS | {"copy": VAULT})) == []

    def test_passages_that_overlap_in_their_source_are_not_copies(self) -> None:
        chunks = [
            rm.Retrieved(f"c{start}", VAULT[start : start + 150], source="rules", start=start) for start in (0, 20)
        ]
        result = rm.EvaluationSet({"q1": QUERIES["q1"]}, {"q1": ["c0"]}).lint(chunks)
        assert list_serious(result) == []

    def test_the_text_of_a_span_elsewhere(self) -> None:
        corpus = CORPUS | {"older": f"It was said: {VAULT[:80]} and so on"}
        (finding,) = lint(qrels={"q1": [rm.Span("vault", 0, 80)]}, corpus=corpus).named("possible_answer")
        assert finding.evidence["document"] == "older"


class TestWhatASplitterDropped:
    TEXT = f"{VAULT}\n\nSolutions\n\n{COFFEE}"

    def chunks(self, text: str) -> list[rm.Retrieved]:
        coffee = text.index(COFFEE)
        return [
            rm.Retrieved("c1", text[: len(VAULT)], "rules", 0),
            rm.Retrieved("c2", text[coffee:], "rules", coffee),
        ]

    def test_does_not_mean_that_the_source_changed(self) -> None:
        quote = rm.Quote(f"Solutions {COFFEE[:30]}")
        start = self.TEXT.index("Solutions")
        span = rm.Span("rules", start, self.TEXT.index(COFFEE) + 30)
        result = rm.EvaluationSet({"q": "How is coffee made?"}, {"q": [[quote, span]]}).lint(self.chunks(self.TEXT))
        assert find_queries(result, "moved_span") == []
        (finding,) = result.named("uncovered_span")
        assert finding.evidence == {"span": span, "missing": len("Solutions\n\n")}
        assert "\0" not in str(result)

    def test_but_a_covered_span_that_moved_has_moved(self) -> None:
        text = f"New. {self.TEXT}"
        away = rm.EvaluationSet(
            {"q": "Who opens it?"}, {"q": [[rm.Quote(VAULT[:60]), rm.Span("rules", 70, 120)]]}
        ).lint([rm.Retrieved("c1", text[: len(VAULT) + 5], "rules", 0)])
        assert find_queries(away, "moved_span") == ["q"]


class TestRewordedCopies:
    def test_a_copy_with_a_quarter_of_its_words_changed(self) -> None:
        words = VAULT.split()
        words[::4] = ["moreover"] * len(words[::4])
        result = lint(corpus=CORPUS | {"copy": " ".join(words)})
        (finding,) = result.named("possible_answer")
        assert (finding.query, finding.evidence["document"], finding.evidence["like"]) == ("q1", "copy", "vault")
        assert "shares 96% of its rare words with 'vault'" in finding.message
        assert finding.evidence["share"] == 22 / 23  # of its words, moreover alone is not in the original

    def test_other_passages_are_none(self) -> None:
        assert lint().named("possible_answer") == []


class TestWhatEveryRunRanksAtTheTop:
    QUESTIONS = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": ["d7"]})

    def find_documents(self, **runs: Any) -> list[Any]:
        return [finding.evidence["documents"] for finding in self.QUESTIONS.lint(runs=runs).named("unjudged_at_top")]

    def test_an_unjudged_document_is_reported_if_they_all_agree(self) -> None:
        assert self.find_documents(a={"q1": ["d1", "d7"]}, b={"q1": {"d7": 3.0, "d1": 2.0, "d2": 1.0}}) == [["d1"]]
        items = [rm.Retrieved("d9", "one"), rm.Retrieved("d1", "two"), rm.Retrieved("d7", "three")]
        assert self.find_documents(a={"q1": items}, b={"q1": ["d1"]}) == [["d1"]]

    def test_one_that_a_run_ranks_lower_or_one_run_alone_says_nothing(self) -> None:
        assert self.find_documents(a={"q1": ["d1", "d7"]}, b={"q1": ["d7", "d2", "d3", "d1"]}) == []
        assert self.find_documents(a={"q1": ["d1", "d7"]}) == []
        alone = self.QUESTIONS.lint(runs={"a": {"q1": ["d1", "d7"]}})
        assert any("retrievers agree on" in note for note in alone.skipped)

    def test_judged_as_not_relevant_is_judged(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": {"d7": 1, "d1": 0}})
        runs = {"a": {"q1": ["d1", "d7"]}, "b": {"q1": ["d1", "d7"]}}
        assert not questions.lint(runs=runs).named("unjudged_at_top")


class TestUnjudgedAtTheBorder:
    def compare(self, relevant: str, unjudged: str) -> list[tuple[str, float]]:
        result = rm.EvaluationSet({"q1": "Who opens it now?"}, {"q1": ["a"]}).lint({"a": relevant, "b": unjudged})
        findings = [*result.named("unjudged_duplicate"), *result.named("possible_answer")]
        return [(finding.name, finding.evidence["share"]) for finding in findings]

    @pytest.mark.parametrize(
        ("shared", "expected"),
        [
            (4, []),
            (5, [("possible_answer", 0.5)]),
            (7, [("possible_answer", 0.7)]),
            (8, [("unjudged_duplicate", 0.8)]),
        ],
    )
    def test_half_of_the_runs_of_four_words_resemble_and_80_percent_are_a_copy(
        self, shared: int, expected: list[tuple[str, float]]
    ) -> None:
        # 13 words have 10 runs of 4.
        n_common = shared + 3
        assert self.compare(text(slice(13)), text(slice(n_common), slice(100, 113 - n_common))) == expected

    def test_passages_of_fewer_than_four_runs_resemble_none(self) -> None:
        assert self.compare(text(slice(7)), text(slice(7), slice(100, 110))) == [("unjudged_duplicate", 1.0)]
        assert self.compare(text(slice(6)), text(slice(6), slice(100, 110))) == []
        assert self.compare(text(slice(7), slice(100, 110)), text(slice(6))) == []

    @pytest.mark.parametrize(
        ("size", "n_common", "expected"),
        [
            (20, 13, [("possible_answer", 0.65)]),
            (20, 12, []),
            (12, 12, [("possible_answer", 1.0)]),  # never more than possible: the order differs
            (11, 11, []),  # so few words are shared by chance
        ],
    )
    def test_65_percent_of_twelve_or_more_rare_words(
        self, size: int, n_common: int, expected: list[tuple[str, float]]
    ) -> None:
        reordered = text(slice(n_common - 1, None, -1), slice(100, 100 + size - n_common))
        assert self.compare(text(slice(size)), reordered) == expected

    @pytest.mark.parametrize(("length", "expected"), [(40, ["b"]), (39, [])])
    def test_a_span_of_forty_characters_is_looked_for_elsewhere(self, length: int, expected: list[str]) -> None:
        source = text(slice(20))
        corpus = {"a": source, "b": f"As they say: {source[:40]} and so on"}
        answers = evidence("possible_answer", {"q1": "Who opens it?"}, {"q1": [rm.Span("a", 0, length)]}, corpus)
        assert [answer["document"] for answer in answers] == expected

    def test_the_third_rank_is_at_the_top_and_the_fourth_is_not(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": ["d7"]})
        runs = {"a": {"q1": ["d7", "d2", "d1", "d4"]}, "b": {"q1": ["d1", "d5", "d7", "d2"]}}
        assert [finding.evidence["documents"] for finding in questions.lint(runs=runs).named("unjudged_at_top")] == [
            ["d1"]
        ]


class TestSpans:
    SOURCE = "One guard opens the vault. Two guards lock it"

    def names(self, *judged: Any, source: str = SOURCE) -> list[str]:
        result = rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [list(judged)]}).lint({"a": source})
        return [finding.name for finding in result if finding.name in {"moved_span", "cut_span"}]

    @pytest.mark.parametrize(
        ("start", "end", "expected"),
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
    def test_end_with_their_source_and_between_words(self, start: int, end: int, expected: list[str]) -> None:
        assert self.names(rm.Span("a", start, end)) == expected

    @pytest.mark.parametrize(
        ("source", "quotes", "moved"),
        [
            ("{} The guard opens it.", ["The guard opens it."], (41, 60)),
            ("{} The guard opens it. The guard opens it.", ["The guard opens it."], None),
            ("{}", ["The guard opens it."], None),
            # Either of two quotes may be the one that the span held.
            (
                "{} The guard opens it. It is locked at night.",
                ["The guard opens it.", "It is locked at night."],
                None,
            ),
        ],
    )
    def test_move_only_to_the_one_place_of_their_quote(
        self, source: str, quotes: list[str], moved: tuple[int, int] | None
    ) -> None:
        text = source.format("An introduction that is forty letters l.")
        group = [*map(rm.Quote, quotes), rm.Span("a", 0, 15)]
        result = rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [group]}).lint({"a": text})
        (finding,) = result.named("moved_span")
        if moved is None:
            assert finding.fix is None
        else:
            assert finding.fix is not None
            assert finding.fix.by == (rm.Span("a", *moved),)


class TestQuotes:
    QUOTE = rm.Quote("The guard opens the vault.")
    CORPUS: ClassVar = {"a": "The guard opens the vault. At noon.", "b": "At night. The guard opens the vault."}
    IN_A = rm.Span("a", 0, 26)
    IN_B = rm.Span("b", 10, 36)

    @pytest.mark.parametrize(
        ("group", "ambiguous"),
        [
            ([QUOTE], True),
            ([QUOTE, IN_A], True),
            ([QUOTE, IN_A, IN_B], False),  # each place is named
            ([QUOTE, IN_A, rm.Span("a", 4, 26)], True),  # both in one of the two documents
            ({QUOTE: 2, IN_A: 2, IN_B: 1}, True),  # a place that is worth less than the quote
        ],
    )
    def test_in_several_places_are_ambiguous_unless_each_is_named(self, group: Any, ambiguous: bool) -> None:  # noqa: FBT001
        findings = evidence("ambiguous_quote", {"q1": "Who has the key?"}, {"q1": [group]}, self.CORPUS)
        assert [finding["places"] for finding in findings] == [2] * ambiguous

    def test_twice_in_one_document_need_two_spans(self) -> None:
        twice = {"a": f"{self.CORPUS['a']} {self.QUOTE.text}"}
        queries = {"q1": "Who has it?"}
        one_span = [self.QUOTE, self.IN_A]
        assert len(evidence("ambiguous_quote", queries, {"q1": [one_span]}, twice)) == 1
        two_spans = [*one_span, rm.Span("a", 35, 61)]
        assert evidence("ambiguous_quote", queries, {"q1": [two_spans]}, twice) == []

    def test_twice_in_one_document_and_in_two_are_said_apart(self) -> None:
        def find_documents(corpus: dict[str, str]) -> list[Any]:
            (finding,) = evidence("ambiguous_quote", {"q1": "Who has the key?"}, {"q1": [self.QUOTE]}, corpus)
            return [finding["documents"], finding["places"]]

        assert find_documents(self.CORPUS) == [["a", "b"], 2]
        assert find_documents({"a": f"{self.CORPUS['a']} {self.QUOTE.text}"}) == [["a"], 2]

    def test_take_the_words_of_the_source_only_if_they_are_written_in_one_way(self) -> None:
        def find_same_words(corpus: dict[str, str]) -> Any:
            qrels = {"q1": [rm.Quote("the guard who has keys opens it")]}
            (finding,) = evidence("missing_quote", {"q1": "Who has it?"}, qrels, corpus)
            return finding["same_words"]

        once = {"a": "At noon the guard, who has keys, opens it."}
        assert find_same_words(once) == "the guard, who has keys, opens it."
        assert find_same_words(once | {"b": "Later the guard (who has keys) opens it."}) is None


class TestGroups:
    def lint(self, group: Any, corpus: Any = None) -> Any:
        return rm.EvaluationSet({"q1": "Who has the key?"}, {"q1": [group]}).lint(corpus or {"a": "The guard."})

    def test_an_unknown_document_is_spared_only_if_a_relevant_alternative_remains(self) -> None:
        (spared,) = self.lint({"gone": 1, "a": 1}).named("unknown_document")
        assert spared.fix is not None
        (needed,) = self.lint({"gone": 1, "a": 0}).named("unknown_document")
        assert needed.fix is None

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
        assert bool(self.lint(group, cut).named("impossible_group")) is impossible
