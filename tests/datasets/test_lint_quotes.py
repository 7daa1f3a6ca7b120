"""Quotes that are short, missing, cut or in several places are found, and mended only where that is safe."""

from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from lint_cases import COFFEE, CORPUS, QUERIES, VAULT, find_queries, lint, list_serious
from words_apart import evidence


class TestQuotesInCorpus:
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
    def test_in_several_places_are_ambiguous_unless_each_is_named(self, group: Any, ambiguous: bool) -> None:
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


class TestShortQuotes:
    def test_a_quote_that_comparing_refuses(self) -> None:
        (finding,) = lint(qrels={"q1": [rm.Quote("night")]}).named("short_quote")
        assert (finding.query, finding.evidence) == ("q1", {"quote": "night", "length": 5})
        with pytest.raises(ValueError, match="'night' for query 'q1' has 5 characters"):
            rm.evaluate({"q1": [rm.Quote("night")]}, {"q1": [rm.Retrieved("vault", VAULT)]})
        assert not rm.EvaluationSet({"q": QUERIES["q1"]}, {"q": [rm.Quote("at night by")]}).lint().named("short_quote")
