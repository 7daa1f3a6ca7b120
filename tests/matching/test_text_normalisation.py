"""Typography does not hide what was quoted."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Quote, Retrieved

FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str) -> Retrieved:
    return Retrieved(f"c{number}", text)


def means(truth: Any, ranking: Any, metrics: list[str]) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics).means)


class TestTypography:
    @pytest.mark.parametrize(
        "text",
        [
            "... THE WITH STATEMENT\r\n   wraps the execution of a block. And",
            "The\u00a0with state\u00adment wraps the execution of a block.",
            "\uff34he with statement wraps the execution of a block.",
        ],
    )
    def test_typography_does_not_hide_them(self, text: str) -> None:
        assert means([Quote(FACT)], [item(1, "other"), item(2, text)], ["mrr"]) == {"mrr": 1 / 2}

    def test_quotation_marks_hyphens_and_accents_have_one_form(self) -> None:
        quote = Quote("the \u201cna\u00efve\u201d hyphen\u2011ated word\u2019s end")
        assert means([quote], [item(1, 'The "nai\u0308ve" hyphen-ated word\'s end')], ["recall"]) == {"recall": 1}

    @pytest.mark.parametrize(
        ("quote", "text"),
        [
            ("watches that can be created", "of watches that can be cre-\n     ated per user"),
            ("watches that can be created", "of watches that can be cre\u2010\n     ated per user"),
            ("watches that can be cre-\nated", "of watches that can be created per user"),
            ("a well-known caf\u00e9-bar", "it is a well-\nknown cafe\u0301-\nbar"),
            ("user-friendly and safe", "user\u2014friendly and safe"),
            ("down to -5 degrees", "down to\n\u22125 degrees"),
        ],
    )
    def test_hyphens_between_letters_do_not_count(self, quote: str, text: str) -> None:
        assert means([Quote(quote)], [item(1, text)], ["recall"]) == {"recall": 1}
        marked = rm.evaluate({"q": [Quote(quote)]}, {"q": [item(1, text)]}, "recall").explain("q")
        assert marked.findings[0].rank == 1

    @pytest.mark.parametrize(
        "accent", ["\u0300", "\u0301", "\u036e", "\u036f"]
    )  # the first and the last, and two between
    def test_an_accent_belongs_to_its_letter(self, accent: str) -> None:
        assert means([Quote(f"the vis{accent}-a-vis{accent}")], [item(1, f"the vis{accent}avis{accent}")], ["mrr"]) == {
            "mrr": 1
        }

    def test_hyphens_before_digits_do(self) -> None:
        ranking = [item(1, "down to 5 degrees"), item(2, "down to -5 degrees")]
        assert means([Quote("down to -5 degrees")], ranking, ["mrr"]) == {"mrr": 1 / 2}

    def test_line_breaks_inside_scripts_without_spaces_do_not_hide_them(self) -> None:
        assert means(
            [Quote("\u4e0a\u4e0b\u6587\u7ba1\u7406\u5668\u534f\u8bae")],
            [item(1, "\u4e0a\u4e0b\u6587\u7ba1\n\u7406\u5668\u534f\u8bae")],
            ["recall"],
        ) == {"recall": 1}
