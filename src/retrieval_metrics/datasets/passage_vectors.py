"""Passages as tf-idf vectors, and clusters of them, so that questions are spread over the contents of a corpus."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.datasets.content_words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray


# After so many rounds the centres of clusters hardly move.
MAX_ROUNDS = 25

# The number of passages used to find the centres of clusters.
MAX_SAMPLE = 5000


class PassageVectors:
    """Passages as tf-idf vectors of length 1 of their content words, and clusters of them.

    Attributes:
        clusters: The cluster of each passage, shape (passages,), from 0.
    """

    def __init__(self, tokens_of_passages: Sequence[Sequence[str]], seed: int) -> None:
        self._tokens = tokens_of_passages
        self._random = np.random.default_rng(seed)
        n_clusters = max(1, round(math.sqrt(len(tokens_of_passages) / 2)))
        self.clusters: IntArray = self._find_clusters(n_clusters)

    @cached_property
    def _vectors(self) -> Any:
        from scipy import sparse

        column_by_stem: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        for row, tokens in enumerate(self._tokens):
            for stem in content_words(tokens):
                rows.append(row)
                columns.append(column_by_stem.setdefault(stem, len(column_by_stem)))
        n_passages = len(self._tokens)
        n_columns = max(len(column_by_stem), 1)
        weights = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_passages, n_columns))
        weights.sum_duplicates()
        n_passages_with_stem = np.bincount(weights.indices, minlength=n_columns)
        inverse_frequency = np.log((1 + n_passages) / (1 + n_passages_with_stem)) + 1
        weights.data = (1 + np.log(weights.data)) * inverse_frequency[weights.indices]
        lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
        weights.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(weights.indptr))
        return weights

    def order(self) -> list[int]:
        """Return the passages in an order whose every prefix is spread over the clusters."""
        priority = np.zeros(len(self._tokens))
        for cluster in range(int(self.clusters.max()) + 1):
            members = np.flatnonzero(self.clusters == cluster)
            priority[self._random.permutation(members)] = np.arange(len(members)) / max(len(members), 1)
        tie_breakers = self._random.random(len(priority))
        return [int(position) for position in np.lexsort((tie_breakers, priority))]

    def find_nearest(self, position: int) -> list[int]:
        """Return the other passages that share content words with one, the most similar first."""
        similarities: FloatArray = (self._vectors @ self._vectors[[position]].T).toarray().ravel()
        similarities[position] = 0.0
        n_similar = int((similarities > 0).sum())
        return [int(other) for other in np.argsort(-similarities, kind="stable")[:n_similar]]

    def _find_clusters(self, n_clusters: int) -> IntArray:
        """Cluster the passages by k-means on their directions."""
        vectors = self._vectors
        n_passages = vectors.shape[0]
        sample = vectors
        if n_passages > MAX_SAMPLE:
            sample = vectors[np.sort(self._random.choice(n_passages, MAX_SAMPLE, replace=False))]
        centres = self._draw_first_centres(sample, n_clusters)
        for _ in range(MAX_ROUNDS):
            nearest = np.argmax(sample @ centres.T, axis=1)
            moved_centres = _mean_directions(sample, nearest, centres)
            if np.allclose(moved_centres, centres):
                break
            centres = moved_centres
        _, labels = np.unique(np.argmax(vectors @ centres.T, axis=1), return_inverse=True)
        clusters: IntArray = labels.reshape(-1).astype(np.int64)
        return clusters

    def _draw_first_centres(self, sample: Any, n_clusters: int) -> FloatArray:
        """Return distinct passages, each drawn with a higher probability the less it resembles earlier ones."""
        drawn = [int(self._random.integers(sample.shape[0]))]
        similarities = (sample @ sample[drawn].T).toarray().ravel()
        while len(drawn) < n_clusters:
            weights = np.clip(1 - similarities, 0, None) ** 2
            weights[drawn] = 0.0
            if weights.sum() == 0:
                break
            drawn.append(int(self._random.choice(len(weights), p=weights / weights.sum())))
            similarities = np.maximum(similarities, (sample @ sample[drawn[-1:]].T).toarray().ravel())
        centres: FloatArray = sample[drawn].toarray()
        return centres


def _mean_directions(sample: Any, nearest: IntArray, centres: FloatArray) -> FloatArray:
    """Return the mean direction of the passages of each cluster; the centre of an empty one stays as it is."""
    from scipy import sparse

    n_passages = len(nearest)
    membership = sparse.csr_array(
        (np.ones(n_passages), (nearest, np.arange(n_passages))), shape=(len(centres), n_passages)
    )
    sums: FloatArray = (membership @ sample).toarray()
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), centres)
