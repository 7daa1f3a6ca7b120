"""A run in columns, read from files and DataFrames without a dict of dicts in between."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.checks import in_python
from retrieval_metrics.inputs.columns import OF_A_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from os import PathLike

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.shapes import Ranking

    Index = dict[Any, tuple[int, int]]


class Run(Mapping[Any, Any]):
    """The rankings of a retriever in columns, readable as a mapping of query ids to rankings.

    `read_run` and `Run.from_frame` return it. `evaluate` accepts it like a dict, with the same results.

    Attributes:
        queries: The ids of the queries, in the order of the file.
        n_documents: How many documents were retrieved, over all queries.
    """

    def __init__(self, batches: Iterable[Batch]) -> None:
        """Take the columns in batches of whole queries, each query once."""
        self._batches = tuple(batches)
        self._index = index_of(self._batches)
        self.n_documents = sum(len(batch.documents) for batch in self._batches)

    @classmethod
    def from_frame(
        cls, frame: Any, *, columns: Mapping[str, str | None] | None = None, allow: str | Collection[str] = ()
    ) -> Run:
        """Read a DataFrame with one row per retrieved document.

        Args:
            frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
            columns: The names of the columns `query`, `document`, and `score` or `rank`, if they differ from the
                usual ones (`query_id`, `qid`, `doc_id`, `docno`, `sim` and the like). With scores the ranking is by
                score, with ranks by rank; with neither, the rows of a query are in rank order. None stands for a
                missing column: `{"score": None}`.
            allow: What to accept that is refused otherwise: `"blanks"`, ids that begin or end with a blank;
                `"repeated"`, columns with the same name, of which the first counts.

        Raises:
            ValueError: If a column is not found or ambiguous, or there is neither score nor rank but an unknown column
                that could be it; if an id is missing, a score is not finite, a scored document appears twice in a
                query, or two ranks are equal.
            ImportError: If polars is not installed.

        Example:
            >>> run = Run.from_frame({"query": ["q1", "q1"], "document": ["d3", "d7"], "score": [2.0, 1.5]})
            >>> run["q1"]
            {'d3': 2.0, 'd7': 1.5}
        """
        from retrieval_metrics.inputs.frames import LongTable  # noqa: PLC0415  (only those with a frame need it)

        return cls([LongTable(frame, OF_A_RUN, columns, allow=allow).rankings()])

    @property
    def queries(self) -> list[QueryId]:
        """The ids of the queries."""
        return list(self._index)

    def batches(self) -> Iterator[Batch]:
        """Return the columns in batches of whole queries."""
        return iter(self._batches)

    def __getitem__(self, query: QueryId) -> Any:
        number, at = self._index[query]
        return self._batch(number).ranking(at)

    def _batch(self, number: int) -> Batch:
        return self._batches[number]

    def __contains__(self, query: object) -> bool:
        return query in self._index

    def __iter__(self) -> Iterator[QueryId]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def rankings(self) -> Iterator[tuple[QueryId, Ranking]]:
        """Yield every query with its ranking, in one pass."""
        for batch in self.batches():
            for at, query in enumerate(batch.queries):
                yield query, batch.ranking(at)

    def as_dict(self) -> dict[Any, Any]:
        """Return the rankings by query, in memory."""
        return dict(self.rankings())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} queries, {self.n_documents:,} documents{self._how()}>"

    def _how(self) -> str:
        return ""


def index_of(batches: Iterable[Batch]) -> Index:
    """Return where each query is: the number of its batch, and its position there."""
    return {query: (number, at) for number, batch in enumerate(batches) for at, query in enumerate(batch.queries)}


class StreamedRun(Run):
    """A run that stays on disk because its columns would need too much memory; every use reads it again.

    Every use raises a ValueError if the file has changed since it was first read.
    """

    def __init__(
        self, path: str | PathLike[str], read: Callable[[], Iterator[Batch]], index: Index, n_documents: int
    ) -> None:
        """Take the function that reads the batches, which must return the same ones at every call."""
        self._path = path
        self._read = read
        self._index = index
        self.n_documents = n_documents

    def batches(self) -> Iterator[Batch]:
        """Read the file again, in batches of whole queries.

        Raises:
            ValueError: If it has other queries, or more or fewer documents, than when it was first read.
        """
        queries = documents = 0
        for number, batch in enumerate(self._read()):
            queries += len(batch.queries)
            documents += len(batch.documents)
            if any(self._index.get(query) != (number, at) for at, query in enumerate(batch.queries)):
                self._refuse_change()
            yield batch
        if (queries, documents) != (len(self._index), self.n_documents):
            self._refuse_change()

    def _batch(self, number: int) -> Batch:
        return next(islice(self.batches(), number, None))

    def changed(self, change: Callable[[Batch], Batch]) -> StreamedRun:
        """Return a run whose batches are changed as they are read."""
        return StreamedRun(self._path, lambda: map(change, self._read()), self._index, self.n_documents)

    def _refuse_change(self) -> NoReturn:
        again = in_python("read it again with read_run", "run the command again")
        raise ValueError(f"{self._path} has changed since it was read; {again}")

    def _how(self) -> str:
        return f", streamed from {self._path}"
