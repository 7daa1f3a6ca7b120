"""Match quotes: an item satisfies one if its text contains it after normalisation, without cutting a word or number."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.matching.piece_hits import pieces_by_query
from retrieval_metrics.matching.text_normalisation import (
    SearchedText,
    is_separate_part,
    normalise,
    normalise_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits


class _JudgedQuote(NamedTuple):
    """A quote with its position in `Qrels.documents`, as it was written and as it is searched for."""

    piece: int
    text: str
    normalised: str


class QuoteRule:
    """Finds quotes by containment after normalisation; each text is normalised once."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._quotes: dict[int, list[_JudgedQuote]] = {}
        self._normalise = cache(normalise)
        self._as_searched_text = cache(_read_searched_text)
        for query, pieces in pieces_by_query(qrels, Quote).items():
            for piece, quote in pieces.items():
                normalised = normalise(quote.text)
                if len(normalised) < matching.min_quote_length:
                    raise ValueError(
                        f"the quote {quote.text!r} for query {qrels.queries[query]!r} has {len(normalised)} characters "
                        f"and would be found by chance; quote at least {matching.min_quote_length}, or set "
                        f"match=Matching(min_quote_length={len(normalised)})"
                    )
                self._quotes.setdefault(query, []).append(_JudgedQuote(piece, quote.text, normalised))

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the quotes of a query in the items of its ranking."""
        quotes = self._quotes.get(query)
        if not quotes:
            return
        missing = {quote.piece for quote in quotes}
        for rank, item in ranking:
            if item.text is None:
                continue
            text = self._normalise(item.text)
            for piece, quote_text, normalised in quotes:
                # Most texts do not have the letters, which is faster to tell than where words begin and end.
                if normalised not in text or not self._contains(item.text, quote_text, normalised):
                    continue
                hits.add_overlapping(piece, rank)
                if piece in missing:
                    missing.remove(piece)
                    hits.add_satisfied(piece, rank)

    def _contains(self, text: str, quote_text: str, normalised: str) -> bool:
        """Return whether a text with the letters of a quote contains it without cutting a word or a number."""
        return is_separate_part(quote_text, text) or self._as_searched_text(text).holds(normalised)


def _read_searched_text(text: str) -> SearchedText:
    return SearchedText(normalise_words(text))
