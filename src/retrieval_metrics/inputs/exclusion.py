"""Leave documents out of rankings before they are scored, such as the query itself where it is in the corpus."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.id_checks import require_valid_ids
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.ranking_checks import as_list
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, DocumentId, IntArray, QueryId
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.items import Ranking
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels

# The query's own id, or ids by query.
Exclude: TypeAlias = (
    Literal["query_id"] | Mapping[str, Collection["DocumentId"]] | Mapping[int, Collection["DocumentId"]]
)
QUERY_ID = "query_id"


class ExcludedRun(NamedTuple):
    """A run without the documents to leave out.

    Attributes:
        run: The rankings that remain; the documents below an excluded one move up.
        n_excluded: Shape (queries,), how many were left out for each judged query; None if none were to be.
    """

    run: Mapping[Any, Any]
    n_excluded: IntArray | None

    @property
    def total(self) -> int:
        """How many documents were left out for all judged queries."""
        return 0 if self.n_excluded is None else int(self.n_excluded.sum())


class Exclusion:
    """The documents to leave out of each ranking."""

    def __init__(self, exclude: Exclude) -> None:
        """Read the value of `exclude=`: `"query_id"`, or ids by query.

        Raises:
            TypeError: If it is neither, a value is not a list of ids, or an id is neither str nor int.
            ValueError: If it is another text, an empty mapping, or an id is invalid.
        """
        self._ids_by_query: dict[Any, frozenset[Any]] | None = None
        self._document_kind: type | None = None
        if isinstance(exclude, str):
            if exclude != QUERY_ID:
                raise ValueError(f"exclude must be {QUERY_ID!r} or a mapping of query ids to ids, got {exclude!r}")
            return
        if not isinstance(exclude, Mapping):
            raise TypeError(
                f"exclude must be {QUERY_ID!r} or a mapping of query ids to the ids to leave out, got "
                f"{type(exclude).__name__}"
            )
        if not exclude:
            raise ValueError("exclude is empty; omit it to exclude no documents")
        ids_by_query: dict[Any, frozenset[Any]] = {}
        types: set[type] = set()
        for query, ids in exclude.items():
            if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Collection):
                raise TypeError(f"exclude must map query {query!r} to a list or set of ids, got {ids!r}")
            common_id_type(set(map(type, ids)), f"the ids to leave out for query {query!r}")
            ids_by_query[query] = frozenset(ids)
            types.update(map(type, ids))
            _require_valid_ids(list(ids), query)
        common_id_type(set(map(type, ids_by_query)), "query ids in exclude=")
        self._document_kind = common_id_type(types, "the ids to leave out")
        self._ids_by_query = ids_by_query

    def require_fitting_ids(self, qrels: Qrels) -> None:
        """Raise if the documents to leave out cannot belong to these judgments.

        Raises:
            TypeError: If ids are str on one side and int on the other.
            ValueError: If they are of no judged query.
        """
        self.require_fitting_types(qrels.query_kind, qrels.document_kind)
        if self._ids_by_query is not None and not any(query in self._ids_by_query for query in qrels.queries):
            raise ValueError(
                f"exclude has none of the judged queries: it begins with {next(iter(self._ids_by_query))!r}, the qrels "
                f"with {qrels.queries[0]!r}"
            )

    def require_fitting_types(self, query_kind: type | None, document_kind: type | None) -> None:
        """Raise if ids are str on one side and int on the other, so that nothing could be left out.

        Args:
            query_kind: The type of the judged queries; None if it is unknown.
            document_kind: The type of the judged documents; None if it is unknown.

        Raises:
            TypeError: If they are.
        """
        if self._ids_by_query is None:
            require_same_id_type(query_kind, "query ids in the qrels", document_kind, "document ids")
            return
        require_same_id_type(self._document_kind, "the ids to leave out", document_kind, "document ids in the qrels")

    def find_relevant(self, qrels: Qrels) -> list[tuple[QueryId, DocumentId]]:
        """Return the queries and documents that are relevant and left out, so that nothing can find them."""
        found: list[tuple[QueryId, DocumentId]] = []
        for index, query in enumerate(qrels.queries):
            excluded_ids = self.ids(query)
            if not excluded_ids:
                continue
            for position in range(qrels.bounds[index], qrels.bounds[index + 1]):
                document: Any = qrels.documents[position]
                if document in excluded_ids and qrels.document_grade[position] > 0:
                    found.append((query, document))
        return found

    def ids(self, query: QueryId) -> Collection[Any]:
        """Return the ids to leave out of the ranking of a query."""
        if self._ids_by_query is None:
            return (query,)
        return self._ids_by_query.get(query, ())

    def remove(self, run: Mapping[Any, Any], qrels: Qrels, key: Key) -> ExcludedRun:
        """Return a run without the documents to leave out; it is not changed.

        Args:
            run: The run.
            qrels: The judgments, whose queries are counted.
            key: Returns the id of an item.

        Raises:
            TypeError: If the run is a view of an agent's searches, or a ranking has a wrong shape.
        """
        if isinstance(run, SearchHistory):
            raise TypeError("exclude= applies to the run of a retriever, not to the searches of an agent")
        if isinstance(run, Run):
            return self._remove_from_columns(run, qrels)
        n_excluded = np.zeros(len(qrels), dtype=np.int64)
        remaining: dict[Any, Any] = {}
        calls: dict[Any, Any] = {}
        for query, ranking in run.items():
            kept = self._find_kept(query, ranking, key)
            remaining[query] = ranking if kept is None else _select(ranking, kept)
            if kept is None:
                continue
            position = qrels.place.get(query)
            if position is not None:
                n_excluded[position] = len(ranking) - len(kept)
            if isinstance(run, RetrievedRun) and query in run.calls:
                calls[query] = [run.calls[query][index] for index in kept]
        if not isinstance(run, RetrievedRun):
            return ExcludedRun(remaining, n_excluded)
        stages = {}
        for name, stage_run in run.stages.items():
            if stage_run is not run:  # the last stage is the run itself
                stages[name] = self.remove(stage_run, qrels, key).run
        return ExcludedRun(_copy_retrieved(run, remaining, {**run.calls, **calls}, stages), n_excluded)

    def _find_kept(self, query: QueryId, ranking: Any, key: Key) -> list[int] | None:
        """Return the positions in a ranking that are kept; None if all are."""
        ids = self.ids(query)
        if not ids or not len(ranking):
            return None
        if isinstance(ranking, Mapping):
            if not any(document in ranking for document in ids):
                return None
            return [index for index, document in enumerate(ranking) if document not in ids]
        kept = []
        elements = as_list(ranking, query)
        for index, element in enumerate(elements):
            document = key(element) if isinstance(element, Retrieved) else element
            if document not in ids:
                kept.append(index)
        return kept if len(kept) < len(elements) else None

    def _remove_from_columns(self, run: Run, qrels: Qrels) -> ExcludedRun:
        n_excluded = np.zeros(len(qrels), dtype=np.int64)
        if run.is_in_memory:
            batches = []
            for batch in run.batches():
                is_kept = self._find_kept_rows(batch)
                _count_excluded(batch, is_kept, qrels, n_excluded)
                batches.append(_filter(batch, is_kept))
            return ExcludedRun(Run(batches), n_excluded)
        n_kept = 0
        for batch in run.batches():
            is_kept = self._find_kept_rows(batch)
            _count_excluded(batch, is_kept, qrels, n_excluded)
            n_kept += int(np.count_nonzero(is_kept))
        return ExcludedRun(_FilteredRun(run, self, n_kept), n_excluded)

    def _find_kept_rows(self, batch: Batch) -> BoolArray:
        """Return which rows of a batch are kept."""
        import polars as pl

        is_kept = np.ones(len(batch.documents), dtype=np.bool_)
        if self._ids_by_query is None:
            queries = pl.Series(batch.queries)
            if queries.dtype != batch.documents.dtype:
                return is_kept
            owners = queries.gather(np.repeat(np.arange(len(queries)), np.diff(batch.bounds)))
            return (batch.documents != owners).to_numpy()
        for index, query in enumerate(batch.queries):
            ids = self._ids_by_query.get(query)
            if ids:
                rows = slice(int(batch.bounds[index]), int(batch.bounds[index + 1]))
                documents = batch.documents[rows].to_list()
                is_kept[rows] = [document not in ids for document in documents]
        return is_kept

    def filter_batch(self, batch: Batch) -> Batch:
        """Return a batch without the rows to leave out."""
        return _filter(batch, self._find_kept_rows(batch))


def _require_valid_ids(ids: Sequence[Any], query: QueryId) -> None:
    """Raise if an id to leave out could be that of no document, because it would leave out nothing in silence."""
    require_valid_ids(ids, lambda position: f"the id {ids[position]!r} to leave out for query {query!r}")


def as_exclusion(exclude: Exclude | Exclusion | None) -> Exclusion | None:
    """Return the value of `exclude=` as an `Exclusion`; None if nothing is to be left out."""
    if exclude is None or isinstance(exclude, Exclusion):
        return exclude
    return Exclusion(exclude)


def remove_excluded(run: Any, qrels: Qrels, exclude: Exclude | Exclusion | None, key: Key) -> ExcludedRun:
    """Return a run without the documents of `exclude=`; the run itself, with a count of None, if that is None.

    Args:
        run: The run.
        qrels: The judgments.
        exclude: What to leave out.
        key: Returns the id of an item.

    Raises:
        TypeError: As in `Exclusion`.
        ValueError: As in `Exclusion`.
    """
    exclusion = as_exclusion(exclude)
    if exclusion is None:
        return ExcludedRun(run, None)
    exclusion.require_fitting_ids(qrels)
    return exclusion.remove(run, qrels, key)


def _select(ranking: Any, kept: list[int]) -> Ranking:
    """Return the elements of a ranking at some positions."""
    if isinstance(ranking, Mapping):
        entries = list(ranking.items())
        return dict(entries[index] for index in kept)
    return [ranking[index] for index in kept]


def _copy_retrieved(
    run: RetrievedRun, rankings: Mapping[Any, Any], calls: Mapping[Any, Any], stages: Mapping[str, Mapping[Any, Any]]
) -> RetrievedRun:
    """Return a run with other rankings, and the errors and durations of the original."""
    all_stages: dict[str, Mapping[Any, Any]] = {}
    for name, stage_run in run.stages.items():
        all_stages[name] = rankings if stage_run is run else stages[name]
    return RetrievedRun(rankings, run.errors, run.seconds, calls=calls, stages=all_stages)


def _filter(batch: Batch, is_kept: BoolArray) -> Batch:
    """Return a batch with some of its rows; every query stays, perhaps without a document."""
    if is_kept.all():
        return batch
    n_kept_before = np.concatenate([[0], np.cumsum(is_kept)])
    scores = None if batch.scores is None else batch.scores[is_kept]
    return batch._replace(bounds=n_kept_before[batch.bounds], documents=batch.documents.filter(is_kept), scores=scores)


def _count_excluded(batch: Batch, is_kept: BoolArray, qrels: Qrels, n_excluded: IntArray) -> None:
    """Add how many rows of each judged query are left out."""
    if is_kept.all():
        return
    n_excluded_before = np.concatenate([[0], np.cumsum(~is_kept)])
    for query, number in zip(batch.queries, np.diff(n_excluded_before[batch.bounds]).tolist(), strict=True):
        position = qrels.place.get(query)
        if number and position is not None:
            n_excluded[position] += number


class _FilteredRun(Run):
    """A run that stays on disk, without the documents to leave out."""

    def __init__(self, run: Run, exclusion: Exclusion, n_documents: int) -> None:
        self._run = run
        self._exclusion = exclusion
        self._index = run.positions
        self.n_documents = n_documents

    @property
    def is_in_memory(self) -> bool:
        return False

    def batches(self) -> Iterator[Batch]:
        for batch in self._run.batches():
            yield self._exclusion.filter_batch(batch)

    def read_batch(self, number: int) -> Batch:
        return self._exclusion.filter_batch(self._run.read_batch(number))
