"""Spans that moved, that passages leave out or that cut a word are found."""

from typing import Any

import pytest

import retrieval_metrics as rm
from lint_cases import COFFEE, CORPUS, VAULT, find_queries, lint, list_serious


class TestSpansInCorpus:
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
            assert finding.fix.replacements == (rm.Span("a", *moved),)
