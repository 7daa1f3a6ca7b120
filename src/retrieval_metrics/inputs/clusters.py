"""Group queries that depend on each other into clusters, such as questions about the same document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import IntArray, QueryId
    from retrieval_metrics.inputs.items import Relevant
    from retrieval_metrics.inputs.qrels import Qrels


# What names of clusters that are fingerprints begin with.
HIDDEN_NAME_PREFIX = "cluster:"


@dataclass(frozen=True, eq=False)
class Clusters:
    """Queries and their clusters.

    Attributes:
        queries: The ids of the queries.
        names: The names of clusters for each query: none, one or several. Queries that share a name, directly or
            through other queries, are in one cluster; a query without a name is a cluster of its own. They are all
            fingerprints if they were hidden.
        by_source: Whether the names are sources that were found without `clusters=`.
    """

    queries: Sequence[QueryId]
    names: Sequence[tuple[Hashable, ...]]
    by_source: bool

    @cached_property
    def labels(self) -> IntArray | None:
        """Shape (queries,), the number of each query's cluster; None if all queries are independent."""
        labels = _join_queries(self.names)
        n_clusters = len(np.unique(labels))
        if n_clusters == len(labels) or (self.by_source and n_clusters == 1):
            return None
        return labels

    @property
    def count(self) -> int:
        """The number of clusters."""
        if self.labels is None:
            return len(self.queries)
        return len(np.unique(self.labels))

    def select(self, queries: Sequence[QueryId]) -> Clusters:
        """Return the clusters of some of the queries; an unknown query is a cluster of its own."""
        names_by_query = dict(zip(self.queries, self.names, strict=True))
        return Clusters(queries, [names_by_query.get(query, ()) for query in queries], self.by_source)

    def merge(self, other: Clusters) -> Clusters:
        """Return the clusters of the queries of both."""
        if {self._has_hidden_names, other._has_hidden_names} == {True, False}:
            return self.hide_names().merge(other.hide_names())
        names_by_query = dict(zip(self.queries, self.names, strict=True))
        for query, names in zip(other.queries, other.names, strict=True):
            first_names = names_by_query.setdefault(query, names)
            if first_names != names:
                raise ValueError(f"query {query!r} is in cluster {first_names!r} in one part and {names!r} in another")
        by_source = self.by_source and other.by_source
        return Clusters(tuple(names_by_query), list(names_by_query.values()), by_source)

    def hide_names(self) -> Clusters:
        """Return the same clusters under fingerprints of their names, which are often paths of sources.

        Raises:
            ValueError: If JSON cannot hold a name.
        """
        hidden_by_name: dict[Hashable, str] = {}
        for names in self.names:
            for name in names:
                if name not in hidden_by_name:
                    hidden_by_name[name] = _hide_name(name)
        hidden_names = [tuple(sorted(hidden_by_name[name] for name in names)) for names in self.names]
        return Clusters(self.queries, hidden_names, self.by_source)

    @property
    def _has_hidden_names(self) -> bool | None:
        """Whether the names are fingerprints; None without any name."""
        for names in self.names:
            for name in names:
                return _is_hidden(name)
        return None


def _is_hidden(name: Hashable) -> bool:
    return isinstance(name, str) and name.startswith(HIDDEN_NAME_PREFIX)


def _hide_name(name: Any) -> str:
    """Return the fingerprint of a name; one that is a fingerprint stays as it is."""
    # Imported here because only files without rankings need it.
    from retrieval_metrics.inputs.fingerprints import fingerprint
    from retrieval_metrics.inputs.json_codec import to_json_value

    if _is_hidden(name):
        return str(name)
    if isinstance(name, tuple):
        name = list(name)
    if isinstance(name, float) and not isfinite(name):
        name = repr(name)
    return HIDDEN_NAME_PREFIX + fingerprint(["cluster", to_json_value(name, "the name of a cluster")])


# The values of `clusters=`: the cluster of each query, as a mapping or a function of its id; `"source"`, the documents
# that its judgments come from; known clusters; or None, for independent queries.
ClustersBy: TypeAlias = 'Mapping[Any, Any] | Callable[[Any], Any] | Literal["source"] | Clusters | None'
# How many queries an error lists.
MAX_SHOWN_QUERIES = 3


def find_clusters(questions: Any, qrels: Qrels, by: ClustersBy) -> Clusters | None:
    """Return the clusters of the judged queries; None if they are independent or their clusters are unknown."""
    if by is None or isinstance(by, Clusters):
        return by
    if by == "source":
        return _cluster_by_source(questions, qrels)
    return cluster_queries(qrels.queries, by)


def cluster_queries(queries: Sequence[QueryId], by: Mapping[Any, Any] | Callable[[Any], Any] | str) -> Clusters:
    """Return the clusters of queries, as a mapping or a function of the query id says."""
    if isinstance(by, str):
        raise ValueError(f'clusters must be a mapping, a function of the query ID, "source" or None, got {by!r}')
    if isinstance(by, Mapping):
        if not any(query in by for query in queries):
            first_queries = ", ".join(map(repr, queries[:MAX_SHOWN_QUERIES]))
            raise ValueError(f"clusters= has none of the judged queries, such as {first_queries}")
        get_cluster: Callable[[Any], Any] = by.get
    elif callable(by):
        get_cluster = by
    else:
        raise TypeError(
            f'clusters must be a mapping, a function of the query ID, "source" or None, got {type(by).__name__}'
        )
    clusters = Clusters(queries, [_list_names(get_cluster(query)) for query in queries], by_source=False)
    if len(queries) > 1 and clusters.count == 1:
        raise ValueError("clusters= puts all queries into one cluster, from which nothing can be concluded")
    return clusters


def _cluster_by_source(questions: Any, qrels: Qrels) -> Clusters | None:
    """Return clusters by the sources that the questions name, or else by the sources of their judged pieces."""
    provenance_by_query: Mapping[Any, Any] = getattr(questions, "provenance", {})
    source_by_query = {query: provenance.source for query, provenance in provenance_by_query.items()}
    if any(source is not None for source in source_by_query.values()):
        names = [_list_names(source_by_query.get(query)) for query in qrels.queries]
        return Clusters(qrels.queries, names, by_source=True)
    if not qrels.has_pieces:
        return None
    # Imported here because only pieces name their sources.
    from retrieval_metrics.inputs.pieces import Metadata, Span

    sources: list[set[Hashable]] = [set() for _ in qrels.queries]
    for query_position, judged in iterate_relevant(qrels):
        if isinstance(judged, (Span, Metadata)) and judged.source is not None:
            sources[query_position].add(judged.source)
    if not any(sources):
        return None
    return Clusters(qrels.queries, [_sort_names(query_sources) for query_sources in sources], by_source=True)


def iterate_relevant(qrels: Qrels) -> Iterator[tuple[int, Relevant]]:
    """Yield each judged document or piece with the position of its query, except forbidden ones.

    A document that is forbidden to many questions does not make them depend on each other.
    """
    for index in np.flatnonzero(qrels.document_grade >= 0).tolist():
        yield int(qrels.document_query[index]), qrels.documents[index]


def _list_names(cluster: Any) -> tuple[Hashable, ...]:
    if cluster is None:
        return ()
    if isinstance(cluster, Iterable) and not isinstance(cluster, (str, bytes)):
        return _sort_names(set(cluster))
    return (cluster,)


def _sort_names(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return tuple(sorted(names, key=str))


def _join_queries(names_of_queries: Sequence[tuple[Hashable, ...]]) -> IntArray:
    """Return the number of each query's cluster, joining queries that share a name directly or through others."""
    parents = list(range(len(names_of_queries)))

    def find_root(query: int) -> int:
        while parents[query] != query:
            parents[query] = parents[parents[query]]
            query = parents[query]
        return query

    first_query_by_name: dict[Hashable, int] = {}
    for query, names in enumerate(names_of_queries):
        for name in names:
            first_query = first_query_by_name.setdefault(name, query)
            new_root = find_root(first_query)
            parents[find_root(query)] = new_root
    roots = [find_root(query) for query in range(len(names_of_queries))]
    labels = np.unique(roots, return_inverse=True)[1]
    return labels.reshape(-1).astype(np.int64)
