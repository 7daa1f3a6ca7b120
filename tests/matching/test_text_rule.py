"""Reference texts: shared runs of words, and how much of a text they cover."""

import random
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics import Retrieved, Text
from retrieval_metrics.matching.text_rule import find_shared_words

FACT = "The with statement wraps the execution of a block."


def item(number: int, text: str | None = None, **values: Any) -> Retrieved:
    return Retrieved(f"c{number}", text, **values)


def means(judgments: Any, ranking: Any, metrics: list[str], **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": judgments}, {"q": ranking}, metrics, **options).means)


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
        half = self.REFERENCE[:102]
        second_half = self.REFERENCE[90:]
        result = means(
            [Text(self.REFERENCE)], [item(1, half), item(2, second_half)], ["recall@1", "recall@2", "precision", "mrr"]
        )
        assert result == {"recall@1": 0, "recall@2": 1, "precision": 1, "mrr": 1}

    @pytest.mark.filterwarnings("ignore:no retrieved document is judged")
    def test_exactly_the_share_is_enough_and_a_letter_less_is_not(self) -> None:
        reference, chunk = Text("aaaa bbbb cccc dddd eeee"), item(1, "aaaa bbbb cccc dddd")  # 16 of 20 letters
        for text_share, recall in ((0.8, 1), (0.81, 0)):
            match = rm.Matching(min_common_words=2, min_coverage=text_share)
            assert means([reference], [chunk], ["recall"], match=match) == {"recall": recall}
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
            means([Text("...")], [item(1, FACT)], ["mrr"])


def test_shared_words_are_found_where_they_stand() -> None:
    reference = "wraps a block of code in a with statement"
    text = "It wraps a block, I think, in a WITH state\u00adment."
    shared = [text[start:end] for start, end in find_shared_words(reference, text, 3)]
    assert shared == ["wraps a block", "in a WITH state\u00adment"]
    assert find_shared_words(reference, "nothing of it", 3) == []
    assert find_shared_words("...", text, 3) == []
