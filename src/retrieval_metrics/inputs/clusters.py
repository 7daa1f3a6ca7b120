"""Clusters of queries, such as those that ask about the same document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.inputs.items import Metadata, Span

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from retrieval_metrics._internal.validation import IntArray, QueryId
    from retrieval_metrics.inputs.items import Relevant
    from retrieval_metrics.inputs.qrels import Qrels


@dataclass(frozen=True, eq=False)
class Clusters:
    """Queries and their clusters.

    Attributes:
        queries: The ids of the queries.
        names: The names of clusters for each query: none, one or several. Queries that share a name, directly or
            through other queries, are in one cluster; a query without a name is a cluster of its own.
        by_source: Whether the names are sources that were found without `clusters=`.
    """

    queries: Sequence[QueryId]
    names: Sequence[tuple[Hashable, ...]]
    by_source: bool

    @cached_property
    def labels(self) -> IntArray | None:
        """Shape (queries,), the number of each query's cluster; None if all queries are independent."""
        labels = _joined(self.names)
        found = len(np.unique(labels))
        return None if found == len(labels) or (self.by_source and found == 1) else labels

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.queries) if self.labels is None else len(np.unique(self.labels))

    def select(self, queries: Sequence[QueryId]) -> Clusters:
        """Return the clusters of some of the queries; an unknown query is a cluster of its own."""
        names = dict(zip(self.queries, self.names, strict=True))
        return Clusters(queries, [names.get(query, ()) for query in queries], self.by_source)

    def merge(self, other: Clusters) -> Clusters:
        """Return the clusters of the queries of both."""
        known = dict(zip(self.queries, self.names, strict=True))
        for query, names in zip(other.queries, other.names, strict=True):
            if known.setdefault(query, names) != names:
                raise ValueError(f"query {query!r} is in cluster {known[query]!r} in one part and {names!r} in another")
        return Clusters(tuple(known), list(known.values()), self.by_source and other.by_source)


ClustersBy: TypeAlias = 'Mapping[Any, Any] | Callable[[Any], Any] | Literal["source"] | Clusters | None'
"""The values of `clusters=`: the cluster of each query, as a mapping or a function of its id; `"source"`, the documents
that its judgments come from; known clusters; or None, for independent queries."""


def find_clusters(questions: Any, truth: Qrels, by: ClustersBy) -> Clusters | None:
    """Return the clusters of the judged queries; None if they are independent or their clusters are unknown."""
    if by is None or isinstance(by, Clusters):
        return by
    return _by_source(questions, truth) if by == "source" else cluster_queries(truth.queries, by)


def cluster_queries(queries: Sequence[QueryId], by: Mapping[Any, Any] | Callable[[Any], Any] | str) -> Clusters:
    """Return the clusters of queries, as a mapping or a function of the query id says."""
    if isinstance(by, str):
        raise ValueError(  # noqa: TRY004  (the type may be right, but no other text is known)
            f'clusters must be a mapping, a function of the query id, "source" or None, got {by!r}'
        )
    if isinstance(by, Mapping):
        if not any(query in by for query in queries):
            some = ", ".join(map(repr, queries[:3]))
            raise ValueError(f"{format_argument('clusters')} has none of the judged queries, such as {some}")
        cluster_of: Callable[[Any], Any] = by.get
    elif callable(by):
        cluster_of = by
    else:
        raise TypeError(
            f'clusters must be a mapping, a function of the query id, "source" or None, got {type(by).__name__}'
        )
    found = Clusters(queries, [_names(cluster_of(query)) for query in queries], by_source=False)
    if len(queries) > 1 and found.count == 1:
        raise ValueError(
            f"{format_argument('clusters')} puts all queries into one cluster, from which nothing can be concluded"
        )
    return found


def _by_source(questions: Any, truth: Qrels) -> Clusters | None:
    provenance: Mapping[Any, Any] = getattr(questions, "provenance", {})
    named = {query: made.source for query, made in provenance.items() if made.source is not None}
    if named:
        return Clusters(truth.queries, [_names(named.get(query)) for query in truth.queries], by_source=True)
    if not truth.has_pieces:
        return None
    names: list[set[Hashable]] = [set() for _ in truth.queries]
    for query, piece in iterate_relevant(truth):
        if isinstance(piece, (Span, Metadata)) and piece.source is not None:
            names[query].add(piece.source)
    if not any(names):
        return None
    return Clusters(truth.queries, [tuple(sorted(each, key=str)) for each in names], by_source=True)


def iterate_relevant(truth: Qrels) -> Iterator[tuple[int, Relevant]]:
    """Yield what is judged, with its query; what is forbidden to many questions does not make them depend."""
    for at in np.flatnonzero(truth.document_grade >= 0).tolist():
        yield int(truth.document_query[at]), truth.documents[at]


def _names(cluster: Any) -> tuple[Hashable, ...]:
    if cluster is None:
        return ()
    if isinstance(cluster, Iterable) and not isinstance(cluster, (str, bytes)):
        return tuple(sorted(set(cluster), key=str))
    return (cluster,)


def _joined(names: Sequence[tuple[Hashable, ...]]) -> IntArray:
    """Return the cluster of each query, joining queries that share a name."""
    parent = list(range(len(names)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first: dict[Hashable, int] = {}
    for at, each in enumerate(names):
        for name in each:
            parent[root(at)] = root(first.setdefault(name, at))
    return np.unique([root(at) for at in range(len(names))], return_inverse=True)[1].reshape(-1).astype(np.int64)
