"""Judgments as JSON: what is not understood is refused with its place."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.entries import judgments_of, of_judgments

QUOTE = {"type": "quote", "text": "wraps a block"}


@pytest.mark.parametrize(
    ("judgments", "said"),
    [
        ([QUOTE, QUOTE], r"row 1: Quote\(text='wraps a block'\) is judged twice"),
        ([QUOTE, "d1"], "row 1: 'd1' has no type, but other objects beside it have one; add it"),
        ([{"type": "page", "id": 3}], "row 1: .*'page'.* must have one of the types id, quote, text, span, metadata"),
        ([{"type": "id", "ids": 3}], "row 1: .*'ids': 3.* must have one of the types .*, and the keys of that type"),
        ([{"type": "span", "source": "a.md", "start": 9, "end": 3}], "row 1: .* cannot be judged: a Span needs"),
        ([{"type": "quote"}], "row 1: .* cannot be judged: .*'text'"),
    ],
)
def test_what_is_not_understood_is_refused(judgments: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        judgments_of(judgments, "row 1")


def test_a_piece_of_a_kind_of_ones_own_cannot_be_written() -> None:
    class Page(rm.types.Piece):
        """A kind of piece that no file holds."""

    with pytest.raises(ValueError, match="query 'q': a Page cannot be written"):
        of_judgments([Page()], "query 'q'")
