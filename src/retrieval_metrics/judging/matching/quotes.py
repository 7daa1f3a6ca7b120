"""Match quotes: an item satisfies a quote if it contains it, ignoring typography."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from retrieval_metrics.checks import in_python
from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.judging.matching.normalised import SearchedText, normalised, spaced, stands_alone
from retrieval_metrics.judging.matching.piece_hits import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.judging.matching.piece_hits import PieceHits


class QuoteRule:
    """Finds quotes by containment after normalisation; each text is normalised once."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._quotes: dict[int, list[tuple[int, str, str]]] = {}
        self._normalised = cache(normalised)
        self._reading = cache(lambda text: SearchedText(spaced(text)))
        for query, pieces in pieces_of(qrels, Quote).items():
            for at, piece in pieces.items():
                quote = normalised(piece.text)
                if len(quote) < matching.shortest_quote:
                    raise ValueError(
                        f"the quote {piece.text!r} for query {qrels.queries[query]!r} has {len(quote)} characters and "
                        f"would be found by chance; quote at least {matching.shortest_quote}"
                        + in_python(f", or set match=Matching(shortest_quote={len(quote)})")
                    )
                self._quotes.setdefault(query, []).append((at, piece.text, quote))

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the quotes of a query in the items of its ranking."""
        quotes = self._quotes.get(query)
        if not quotes:
            return
        missing = {at for at, _, _ in quotes}
        for rank, item in ranking:
            if item.text is None:
                continue
            text = self._normalised(item.text)
            for at, given, quote in quotes:
                # Most texts do not have the letters, which is found out much faster than where words begin and end.
                if quote in text and (stands_alone(given, item.text) or self._reading(item.text).holds(quote)):
                    hits.overlapping(at, rank)
                    if at in missing:
                        missing.remove(at)
                        hits.satisfied(at, rank)
