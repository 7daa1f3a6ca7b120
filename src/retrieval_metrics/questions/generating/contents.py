"""Cluster passages by content, so that questions can be spread over the whole corpus."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.questions.words.wording import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray, IntArray

ROUNDS = 25
SAMPLE = 5000
"""The number of passages used to find the centres of clusters."""


class Contents:
    """Passages as tf-idf vectors of length 1 of their content words, and clusters of them.

    The clusters are those of spherical k-means (Dhillon and Modha 2001), initialised as in k-means++ (Arthur and
    Vassilvitskii 2007) with a seed; there are about sqrt(n / 2) of them for n passages.

    Attributes:
        clusters: The cluster of each passage, shape (passages,), from 0.
    """

    def __init__(self, tokens: Sequence[Sequence[str]], seed: int) -> None:
        self._tokens = tokens
        self._random = np.random.default_rng(seed)
        self.clusters: IntArray = self._clustered(max(1, round(math.sqrt(len(tokens) / 2))))

    @cached_property
    def _vectors(self) -> Any:
        from scipy import sparse  # noqa: PLC0415  (only needed to generate questions)

        terms: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        for at, tokens in enumerate(self._tokens):
            stems = content_words(tokens)
            rows.extend([at] * len(stems))
            columns.extend(terms.setdefault(one, len(terms)) for one in stems)
        shape = len(self._tokens), max(len(terms), 1)
        counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        counts.sum_duplicates()
        holding = np.bincount(counts.indices, minlength=shape[1])
        counts.data = (1 + np.log(counts.data)) * (np.log((1 + shape[0]) / (1 + holding)) + 1)[counts.indices]
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(counts.indptr))
        return counts

    def order(self) -> list[int]:
        """Return the passages in an order whose every prefix is spread over the clusters.

        First comes one passage of each cluster; after that, larger clusters come more often.
        """
        priority = np.zeros(len(self._tokens))
        for cluster in range(int(self.clusters.max()) + 1):
            (members,) = np.nonzero(self.clusters == cluster)
            priority[self._random.permutation(members)] = np.arange(len(members)) / max(len(members), 1)
        return [int(at) for at in np.lexsort((self._random.random(len(priority)), priority))]

    def near(self, at: int) -> list[int]:
        """Return the other passages that share content words with one, the most similar first."""
        likeness: FloatArray = (self._vectors @ self._vectors[[at]].T).toarray().ravel()
        likeness[at] = 0.0
        order = np.argsort(-likeness, kind="stable")
        return [int(other) for other in order[: int((likeness > 0).sum())]]

    def _clustered(self, count: int) -> IntArray:
        vectors = self._vectors
        size = vectors.shape[0]
        sample = vectors
        if size > SAMPLE:
            sample = vectors[np.sort(self._random.choice(size, SAMPLE, replace=False))]
        centres = self._first_centres(sample, count)
        for _ in range(ROUNDS):
            nearest = np.argmax(sample @ centres.T, axis=1)
            moved = _centres(sample, nearest, centres)
            if np.allclose(moved, centres):
                break
            centres = moved
        _, labels = np.unique(np.argmax(vectors @ centres.T, axis=1), return_inverse=True)
        found: IntArray = labels.reshape(-1).astype(np.int64)
        return found

    def _first_centres(self, sample: Any, count: int) -> FloatArray:
        """Return distinct passages, each drawn with a higher probability the less it resembles earlier ones."""
        drawn = [int(self._random.integers(sample.shape[0]))]
        nearest = (sample @ sample[drawn].T).toarray().ravel()
        while len(drawn) < count:
            away = np.clip(1 - nearest, 0, None) ** 2
            away[drawn] = 0.0
            if away.sum() == 0:
                break
            drawn.append(int(self._random.choice(len(away), p=away / away.sum())))
            nearest = np.maximum(nearest, (sample @ sample[drawn[-1:]].T).toarray().ravel())
        centres: FloatArray = sample[drawn].toarray()
        return centres


def _centres(sample: Any, nearest: IntArray, before: FloatArray) -> FloatArray:
    """Return the mean direction of the passages of each cluster; an empty one stays where it is."""
    from scipy import sparse  # noqa: PLC0415  (as above)

    count = len(before)
    members = sparse.csr_array((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), shape=(count, len(nearest)))
    sums: FloatArray = (members @ sample).toarray()
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), before)
