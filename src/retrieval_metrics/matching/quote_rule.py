"""Match quotes: an item satisfies one if its text contains it after normalisation, without cutting a word or number."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.inputs.pieces import Quote
from retrieval_metrics.matching.piece_hits import pieces_by_query
from retrieval_metrics.matching.quote_search import SearchedText, is_separate_part
from retrieval_metrics.matching.text_normalisation import normalise, normalise_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits


class _JudgedQuote(NamedTuple):
    """A quote that is judged for a query.

    Attributes:
        piece_position: Its position in `Qrels.documents`.
        text: The quote as it was written.
        normalised: The quote as `normalise` returns it, in which form it is searched for.
    """

    piece_position: int
    text: str
    normalised: str


class QuoteRule:
    """Finds quotes by containment after normalisation; each text is normalised once."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._quotes_by_query: dict[int, list[_JudgedQuote]] = {}
        self._normalise = cache(normalise)
        self._as_searched_text = cache(_read_searched_text)
        for query, pieces in pieces_by_query(qrels, Quote).items():
            for piece_position, quote in pieces.items():
                normalised = normalise(quote.text)
                if len(normalised) < matching.min_quote_length:
                    raise ValueError(
                        f"the quote {quote.text!r} for query {qrels.queries[query]!r} has {len(normalised)} characters "
                        f"and would be found by chance; quote at least {matching.min_quote_length} characters, or set "
                        f"match=Matching(min_quote_length={len(normalised)})"
                    )
                self._quotes_by_query.setdefault(query, []).append(_JudgedQuote(piece_position, quote.text, normalised))

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the quotes of a query in the items of its ranking."""
        quotes = self._quotes_by_query.get(query)
        if not quotes:
            return
        missing = {quote.piece_position for quote in quotes}
        for rank, item in ranking:
            if item.text is None:
                continue
            normalised_text = self._normalise(item.text)
            for quote in quotes:
                # Most texts lack the letters of the quote, which is faster to see than where words begin and end.
                if quote.normalised not in normalised_text or not self._contains(item.text, quote):
                    continue
                hits.add_overlapping(quote.piece_position, rank)
                if quote.piece_position in missing:
                    missing.remove(quote.piece_position)
                    hits.add_satisfied(quote.piece_position, rank)

    def _contains(self, text: str, quote: _JudgedQuote) -> bool:
        """Return whether a text that has the letters of a quote holds it without cutting a word or a number."""
        return is_separate_part(quote.text, text) or self._as_searched_text(text).holds(quote.normalised)


def _read_searched_text(text: str) -> SearchedText:
    return SearchedText(normalise_words(text))
