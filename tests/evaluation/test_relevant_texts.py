"""Needed words are found in what was retrieved."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts


def test_the_words_of_a_quote_are_marked_where_a_text_has_them() -> None:
    needed = RelevantTexts(rm.Matching(), {}, {})
    item = rm.Retrieved("a", "Refunds take five working days.")
    assert needed.marked_ranges(item, rm.Quote("five working")) == [(13, 25)]
    assert needed.marked_ranges(item, rm.Quote("six working")) == []
