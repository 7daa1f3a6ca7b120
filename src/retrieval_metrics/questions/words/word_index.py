"""Search texts with BM25, on the stems of their content words."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.questions.words.wording import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray


def can_search() -> bool:
    """Return whether BM25 is installed."""
    return find_spec("bm25s") is not None


class WordIndex:
    """BM25 over texts given as words."""

    def __init__(self, texts: Sequence[Sequence[str]], what: str) -> None:
        """Index the words of each text; `what` names the caller in messages.

        Raises:
            ImportError: If bm25s is not installed; the message holds the command.
        """
        self._size = len(texts)
        self._index = require("bm25s", what).BM25()
        self._index.index([content_words(tokens) or [""] for tokens in texts], show_progress=False)

    def scores(self, tokens: Sequence[str]) -> FloatArray:
        """Return the score of each text for the words of a query, shape (texts,)."""
        known = [term for term in content_words(tokens) if term in self._index.vocab_dict]
        if not known:
            return np.zeros(self._size)
        scores: FloatArray = self._index.get_scores(known).astype(np.float64)
        return scores
