"""Guard a caller's long mappings of scores, which are not copied: reading one after a change is an error.

Judging reads only the scores of judged documents one by one and adds up the others, so a copy would cost as much again.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.kept_rankings import MAX_COPIED_SCORES
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.read_scores import ReadScores, sum_scores

if TYPE_CHECKING:
    from collections.abc import Collection, ItemsView, Iterator, KeysView, ValuesView

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.matching.judged_run import JudgedRun


class GuardedScores(Mapping[Any, Any]):
    """A caller's mapping of scores, which cannot be read after it was changed.

    A change is seen if another document is the last, if the sum of the scores differs, or the score of a judged
    document.
    """

    __slots__ = ("_query", "_read_scores", "_row", "_scores")

    def __init__(self, scores: dict[Any, Any], query: QueryId, read_scores: ReadScores, row: int) -> None:
        """Take the scores of a query, and the row that says what was read of them."""
        self._scores = scores
        self._query = query
        self._read_scores = read_scores
        self._row = row

    def read(self) -> dict[Any, Any]:
        """Return the scores.

        Raises:
            ValueError: If they were changed.
        """
        if self._read_scores.differs(self._row, self._scores):
            raise ValueError(
                f"the ranking of query {self._query!r} was changed after it was evaluated, so it can no longer be "
                "explained, reported or saved. Evaluate again, or evaluate a copy: {query: dict(scores) for query, "
                "scores in run.items()}"
            )
        return self._scores

    def __getitem__(self, document: DocumentId) -> Any:
        return self.read()[document]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __contains__(self, document: object) -> bool:
        return document in self.read()

    def keys(self) -> KeysView[Any]:
        """Return the ids of the documents."""
        return self.read().keys()

    def values(self) -> ValuesView[Any]:
        """Return the scores."""
        return self.read().values()

    def items(self) -> ItemsView[Any, Any]:
        """Return the ids with their scores."""
        return self.read().items()

    def __repr__(self) -> str:
        return repr(self._scores)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self.read()),)  # nobody else can change the copy


def check_once(ranking: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a mapping of scores that is not checked again, to be read at once and not kept.

    Raises:
        ValueError: If it is guarded and was changed.
    """
    return ranking.read() if isinstance(ranking, GuardedScores) else ranking


class GuardedRun(Mapping[Any, Any]):
    """A run whose long mappings of scores are guarded when they are looked up.

    Creating guards for all of them would take a twentieth of judging, and few are looked up.
    """

    __slots__ = ("_place", "_rankings", "_read_scores")

    def __init__(self, rankings: dict[Any, Any], place: Mapping[Any, int], read_scores: ReadScores) -> None:
        """Take the rankings, the positions of the judged queries, and what was read of theirs."""
        self._rankings = rankings
        self._place = place
        self._read_scores = read_scores

    def __getitem__(self, query: QueryId) -> Any:
        ranking = self._rankings[query]
        row = self._read_scores.find_row(self._place.get(query, -1))
        return ranking if row is None else GuardedScores(ranking, query, self._read_scores, row)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rankings)

    def __len__(self) -> int:
        return len(self._rankings)

    def __contains__(self, query: object) -> bool:
        return query in self._rankings

    def __repr__(self) -> str:
        return repr(self._rankings)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # of guards, each of which becomes a copy


def guard_long_rankings(run: Any, judged: JudgedRun) -> Any:
    """Return a run of `copy_run` that was judged, with guards for what was too long to copy."""
    if isinstance(run, Run):
        return run
    read_scores = judged.read_scores
    n_read = 0 if read_scores is None else len(read_scores)
    are_all_short = judged.longest_ranking <= MAX_COPIED_SCORES and len(run) == judged.count_queries_in(run)
    if len(run) > n_read and not are_all_short:
        _guard_unread(run, _list_read_queries(judged))
    if isinstance(run, RetrievedRun):
        if read_scores is not None:
            _guard(run, _list_read_queries(judged), read_scores)
        for stage in run.stages.values():
            if stage is not run:
                _guard_unread(stage)
        return run
    if read_scores is None or not n_read:
        return run
    read_scores.take_mappings()
    return GuardedRun(run, judged.qrels.place, read_scores)


def _list_read_queries(judged: JudgedRun) -> list[QueryId]:
    """Return the queries of the mappings of which something was read."""
    positions = [] if judged.read_scores is None else judged.read_scores.query_positions
    return list(map(judged.qrels.queries.__getitem__, positions))


def _guard_unread(rankings: Any, read_queries: Collection[QueryId] = ()) -> None:
    """Guard the rankings of which nothing was read by id, such as those of queries without judgments."""
    are_scores = set(map(type, rankings.values())) == {dict}
    if are_scores and max(map(len, rankings.values())) <= MAX_COPIED_SCORES:
        return
    are_read = set(read_queries)
    unread = ReadScores(())
    queries = []
    for query, ranking in rankings.items():
        is_long = type(ranking) is dict and len(ranking) > MAX_COPIED_SCORES
        if is_long and query not in are_read:
            unread.add(-1, ranking, sum_scores(ranking), [], [])
            queries.append(query)
    _guard(rankings, queries, unread)


def _guard(rankings: Any, queries: list[QueryId], read_scores: ReadScores) -> None:
    """Put guards in the place of the mappings of queries, of which something was read."""
    mappings = read_scores.take_mappings()
    rows = range(len(queries))
    rankings.update(zip(queries, map(GuardedScores, mappings, queries, repeat(read_scores), rows), strict=True))
