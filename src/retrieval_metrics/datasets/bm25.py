"""Search texts with BM25, on the stems of their content words."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.datasets.content_words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray


def can_search() -> bool:
    """Return whether BM25 is installed."""
    return find_spec("bm25s") is not None


class WordIndex:
    """A BM25 index of texts, each given as its words."""

    def __init__(self, texts: Sequence[Sequence[str]], caller: str) -> None:
        """Index the words of each text; the error if bm25s is not installed names `caller` as what needs it."""
        self._n_texts = len(texts)
        self._index = import_optional("bm25s", caller).BM25()
        # A text without content words is indexed with an empty word, so that every text has its place.
        terms_of_texts = [content_words(tokens) or [""] for tokens in texts]
        self._index.index(terms_of_texts, show_progress=False)

    def scores(self, tokens: Sequence[str]) -> FloatArray:
        """Return the score of each text for the words of a query, shape (texts,)."""
        indexed_terms = [term for term in content_words(tokens) if term in self._index.vocab_dict]
        if not indexed_terms:
            return np.zeros(self._n_texts)
        scores: FloatArray = self._index.get_scores(indexed_terms).astype(np.float64)
        return scores
