"""Rankings of a retriever, a file or a table: checked, and in 32 bits where a rule asks for that."""

from __future__ import annotations

import pickle
import sys
from bisect import bisect_right
from collections.abc import Mapping
from itertools import islice
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from retrieval_metrics.checks import in_python
from retrieval_metrics.inputs.columns import OF_A_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
    from os import PathLike

    from retrieval_metrics.checks import DocumentId, FloatArray, QueryId
    from retrieval_metrics.inputs.columns import Batch
    from retrieval_metrics.inputs.items import Ranking, Retrieved

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
    """A run that stays on disk because its columns would need too much memory; every use reads it again."""

    def __init__(
        self, path: str | PathLike[str], read: Callable[[], Iterator[Batch]], index: Index, n_documents: int
    ) -> None:
        """Take the function that reads the batches, which must return the same ones at every call."""
        self._path = path
        self._read = read
        self._index = index
        self.n_documents = n_documents

    def batches(self) -> Iterator[Batch]:
        """Read the file again, in batches of whole queries."""
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


# Check that a ranking is one, and say what is wrong with it otherwise.

ITEMS = 'their ids, or items: [rm.Retrieved(row["id"], row["text"]) for row in found]'
"""What to give instead of dicts."""


def as_list(ranking: Any, query: QueryId) -> Sequence[Any]:
    """Return a ranking in rank order as a list."""
    if isinstance(ranking, (list, tuple, range)):
        ranked: Sequence[DocumentId] = ranking
    elif isinstance(ranking, (str, bytes)):
        raise TypeError(f"the ranking of query {query!r} is the bare string {ranking!r}; write a list: [{ranking!r}]")
    elif hasattr(ranking, "tolist"):
        ranked = ranking.tolist()
    else:
        msg = (
            f"the ranking of query {query!r} must be a list of document ids, best first, or a mapping of document ids "
            f"to scores, got {type(ranking).__name__}"
        )
        if isinstance(ranking, (set, frozenset)):
            msg += "; a set has no order"
        raise TypeError(msg)
    if ranked and isinstance(ranked[0], (tuple, list)):
        if lists_of_ids(ranked[0]):
            raise TypeError(
                f"the ranking of query {query!r} holds lists such as {ranked[0]!r}; pass one list of ids, best first"
            )
        raise TypeError(
            f"the ranking of query {query!r} holds pairs such as {ranked[0]!r}; pass dict(ranking) for scored documents"
        )
    if ranked and isinstance(ranked[0], Mapping):
        raise TypeError(f"the ranking of query {query!r} holds {keyed(ranked[0])}; pass {ITEMS}")
    return ranked


def lists_of_ids(first: Sequence[Any]) -> bool:
    """Tell whether the first item of a ranking holds ids and nothing else, so that it is no pair of id and score."""
    return len(first) != 1 + 1 or all(isinstance(one, str) for one in first)


def keyed(row: Mapping[Any, Any]) -> str:
    """Return words for a list of dicts, of which this is the first."""
    return f"dicts with keys {', '.join(map(repr, row)) or 'none'}"


def refuse_bad_score(ranking: Mapping[Any, float], query: QueryId) -> None:
    """Raise for the first score that is not finite; finite scores with an infinite sum are not an error."""
    for document, score in ranking.items():
        if not isinstance(score, Real):
            raise TypeError(
                f"the score of document {document!r} for query {query!r} must be a number, got {score!r} "
                f"({type(score).__name__})"
            )
        if not abs(score) <= sys.float_info.max:
            raise ValueError(
                f"the score of document {document!r} for query {query!r} is {score!r}; scores must be finite"
            )


# The answers of a retriever to many queries, with their failures and durations.


class Seen(NamedTuple):
    """One ranking, and which of several searches found its items.

    Attributes:
        ranking: The items, best first.
        places: The number of the call that found each item, from 1, and its rank in that call.
        in_call_order: Whether the items stand in the order of the calls.
        failure: Why nothing was found, if every search failed.
    """

    ranking: Ranking
    places: tuple[tuple[int, int], ...] = ()
    in_call_order: bool = True
    failure: str | None = None

    @property
    def calls(self) -> list[int]:
        """The number of the call that found each item; empty if the items do not stand in that order."""
        return [call for call, _ in self.places] if self.in_call_order else []


class RetrievedRun(dict[Any, Any]):
    """A run, with the errors of the queries that failed and the seconds that each query took.

    A failed query has an empty ranking, because nothing was retrieved for it: it scores 0 and is counted.

    Attributes:
        errors: The exception of each failed query, by query id.
        seconds: How long the retriever took for each query, by query id; for several attempts, the last. Other queries
            under way at the same time (`workers`) slow it down, as they would in production.
        calls: For the searches of an agent: the number of the call that found each item of a ranking, by query id. It
            is what cut-offs such as `recall@3calls` count; empty for a retriever.

    Example:
        >>> run = RetrievedRun({"q1": ["d7"], "q2": []}, {"q2": TimeoutError("too slow")}, {"q1": 0.02, "q2": 5.0})
        >>> run
        <RetrievedRun: 2 queries, 1 failed>
    """

    def __init__(
        self,
        rankings: Mapping[QueryId, Ranking],
        errors: Mapping[QueryId, Exception] | None = None,
        seconds: Mapping[QueryId, float] | None = None,
        *,
        calls: Mapping[QueryId, Sequence[int]] | None = None,
    ) -> None:
        super().__init__(rankings)
        self.errors: dict[QueryId, Exception] = dict(errors or {})
        self.seconds: dict[QueryId, float] = dict(seconds or {})
        self.calls: dict[QueryId, Sequence[int]] = dict(calls or {})

    def __repr__(self) -> str:
        return f"<RetrievedRun: {len(self)} queries, {len(self.errors)} failed>"

    def require_an_answer(self) -> None:
        """Raise if every query failed: from nothing follows nothing, not that the retriever is bad.

        Raises:
            ValueError: If so; it names the first failure, which is its cause.
        """
        if self and len(self.errors) >= len(self):
            query, error = next(iter(self.errors.items()))
            raise ValueError(
                f"there is nothing to evaluate: the retriever failed for every query, {len(self.errors)} of "
                f"{len(self)}; the first, {query!r}: {type(error).__name__}: {error}"
            ) from error

    def require_judged_rows(self, judged: Container[QueryId]) -> None:
        """Raise if the judgments are of questions whose rows have other ids; those of a retriever have none."""

    def place(self, query: QueryId, rank: int) -> tuple[int, int] | None:  # noqa: ARG002  (a retriever has no calls)
        """Return the number of the call that found an item of a ranking and its rank in that call; None if unknown."""
        return None

    def everything(self, query: QueryId) -> list[Retrieved]:  # noqa: ARG002  (likewise)
        """Return every item on the way into a ranking; none for the answer of a retriever, which is the ranking."""
        return []

    def searches(self, query: QueryId) -> list[tuple[str, str]]:  # noqa: ARG002  (a retriever is asked once)
        """Return what each search of an agent asked for, and why it added nothing if so; nothing for a retriever."""
        return []

    def story(self, query: QueryId, wanted: Callable[[Any], bool]) -> str:  # noqa: ARG002  (likewise)
        """Return what became of a document on its way into the ranking; empty for the answer of a retriever."""
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        errors = {query: _portable(error) for query, error in self.errors.items()}
        return _restored, (type(self), dict(self), errors, self.seconds, self.calls)


def _restored(kind: type[RetrievedRun], *given: Any) -> RetrievedRun:
    *others, calls = given
    return kind(*others, calls=calls)


def _portable(error: Exception) -> Exception:
    """Return an exception, or a copy of its message if it cannot be pickled, as those of many clients cannot."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (made in the line itself)
    except Exception:  # noqa: BLE001  (a foreign class may raise anything)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


THE_RUN = "the run"
"""The name of a single run."""


def named_runs(runs: Any, queries: Collection[Any], are: str) -> dict[str, Any]:
    """Return the runs by name; a single run, recognised by one of the queries, gets the name "the run"."""
    if isinstance(runs, Run) or (isinstance(runs, Mapping) and any(query in runs for query in queries)):
        return {THE_RUN: runs}
    if not isinstance(runs, Mapping) or not runs or not all(isinstance(run, (Mapping, Run)) for run in runs.values()):
        raise TypeError(
            "runs must be a run, or map names to runs, such as {'bm25': {'q1': ['d7', 'd3']}}, got "
            f"{type(runs).__name__}{'' if not isinstance(runs, Mapping) else f' without a query that is {are}'}"
        )
    return dict(runs)


# Scores in 32 bits, as trec_eval compares them.
#
# Rounding keeps the order of scores and can only make some of them equal. So a ranking is rounded only where that may
# matter: if a score that is asked for is close to its neighbour.

LARGEST = float(np.finfo(np.float32).max)
"""What is beyond it in either direction counts as this number."""
CLOSE = 2.0**-22
"""Numbers that differ by more than this share of one of them are not the same in 32 bits, of which 24 are digits."""
SMALLEST = 2.0**-149
"""The step between numbers of 32 bits next to 0."""


def rounded(scores: Iterable[float]) -> FloatArray:
    """Return the nearest numbers of 32 bits.

    Example:
        >>> one, other = rounded([0.12345678, 0.123456781]).tolist()
        >>> one == other
        True
    """
    numbers = np.clip(np.fromiter(scores, np.float64), -LARGEST, LARGEST)
    return numbers.astype(np.float32).astype(np.float64)


def may_gain_a_tie(ordered: Sequence[float], scores: Iterable[float]) -> bool:
    """Return whether some of the sorted scores are so close to a neighbour that both may be the same in 32 bits."""
    if ordered[-1] > LARGEST or ordered[0] < -LARGEST:
        return True
    n = len(ordered)
    for score in scores:
        right, near = bisect_right(ordered, score), CLOSE * abs(score) + SMALLEST
        if (right < n and ordered[right] - score <= near) or (right > 1 and score - ordered[right - 2] <= near):
            return True
    return False


def in_single_precision(ranking: Mapping[Any, float]) -> dict[Any, float]:
    """Return a ranking with its scores rounded."""
    return dict(zip(ranking, rounded(ranking.values()).tolist(), strict=True))


def columns_in_single_precision(run: Run) -> Run:
    """Return a run in columns with its scores rounded."""
    if isinstance(run, StreamedRun):
        return run.changed(_rounded)
    return Run(map(_rounded, run.batches()))


def _rounded(batch: Batch) -> Batch:
    return batch if batch.scores is None else batch._replace(scores=rounded(batch.scores))
