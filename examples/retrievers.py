"""Two retrievers over any list of passages for the examples: a lexical and a dense one.

Both have ``search(query, k)``, which returns the scores of the ``k`` best passages by id, best first. Neither needs a
download, a network or a GPU, and both are deterministic.
"""

from collections.abc import Sequence
from typing import Protocol

import bm25s
import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer
from threadpoolctl import threadpool_limits

from corpus import Passage


class Retriever(Protocol):
    """What the examples need of a retriever."""

    def search(self, query: str, k: int = 10) -> dict[str, float]:
        """Return the scores of the ``k`` best passages by id, best first."""


class BM25:
    """Lexical retrieval: BM25 over whole words. A question in other words than the passage does not find it."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.ids = [passage.id for passage in passages]
        self._index = bm25s.BM25()
        self._index.index(_words([_content(passage) for passage in passages]), show_progress=False)

    def search(self, query: str, k: int = 10) -> dict[str, float]:
        """Return the scores of the ``k`` best passages that share a word with the query, by id, best first."""
        words = [word for word in _words([query])[0] if word in self._index.vocab_dict]
        scores = self._index.get_scores(words) if words else np.zeros(len(self.ids))
        return {name: score for name, score in _best(self.ids, scores, k).items() if score > 0}


class Dense:
    """Dense retrieval: latent semantic analysis, that is a truncated SVD of the TF-IDF of words and letter trigrams.

    Words that occur in the same passages get similar directions, and forms of a word share most of their trigrams, so
    a query can find a passage that uses other words.

    Attributes:
        ids: The ids of the passages.
        vectors: Their vectors of unit length, one row per passage, in the order of ``ids``.
    """

    def __init__(self, passages: Sequence[Passage], dimensions: int = 200) -> None:
        if len(passages) < 2:
            raise ValueError(f"a dense index needs at least 2 passages, got {len(passages)}")
        self.ids = [passage.id for passage in passages]
        self._encoder = make_pipeline(
            make_union(
                TfidfVectorizer(sublinear_tf=True, stop_words="english"),
                TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(3, 3), min_df=2),
            ),
            # ARPACK needs fewer directions than passages, and random_state makes it deterministic.
            TruncatedSVD(min(dimensions, len(passages) - 1), algorithm="arpack", random_state=0),
            Normalizer(copy=False),
        )
        contents = [_content(passage) for passage in passages]
        with threadpool_limits(1):  # several threads are slower on such small matrices
            self.vectors: NDArray[np.float32] = self._encoder.fit_transform(contents).astype(np.float32)

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the vector of a query, of unit length, or of zeros if it shares nothing with any passage."""
        vector: NDArray[np.float32] = self._encoder.transform([query])[0].astype(np.float32)
        return vector

    def search(self, query: str, k: int = 10) -> dict[str, float]:
        """Return the cosine similarities of the ``k`` best passages by id, best first."""
        return _best(self.ids, self.vectors @ self.encode(query), k)


def _content(passage: Passage) -> str:
    """Return the indexed text: with topic and title, because a passage often does not name its subject."""
    return f"{passage.topic} {passage.title}\n{passage.text}"


def _words(texts: Sequence[str]) -> list[list[str]]:
    words: list[list[str]] = bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
    return words


def _best(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> dict[str, float]:
    order = np.argsort(-scores, kind="stable")[:k]
    return {ids[row]: float(scores[row]) for row in order}
