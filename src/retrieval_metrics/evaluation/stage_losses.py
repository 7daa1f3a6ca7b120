"""Find which stage of a retriever lost each needed document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.evaluation.outcome_search import OutcomeSearch, find_retrieved_ranks
from retrieval_metrics.evaluation.outcomes import CODE_BY_OUTCOME, QueryCutoffs
from retrieval_metrics.evaluation.stage_sources import StageSources, find_sources
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.stage_rankings import RETURNED_STAGE, declare_sources, is_same_ranking
from retrieval_metrics.matching.judge import judge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.outcomes import ExplanationTarget, Outcome, Outcomes
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.judged_run import JudgedRun

# What becomes of a needed document; the columns of the last two also name a stage.
FOUND = "found"
CUTOFF_FULL = "cutoff_full"
NOT_RETRIEVED = "not_retrieved"
RETRIEVER_ERROR = "retriever_error"
DROPPED = "dropped"
BELOW_CUTOFF = "below_cutoff"

# The outcomes, of the run alone, of documents that an earlier stage may have held.
ABSENT: tuple[Outcome, ...] = ("not_retrieved", "id_granularity", "empty_ranking")


def loss_column(fate: str, stage: str) -> str:
    """Return the column of a fate at a stage: `dropped:fused`."""
    return f"{fate}:{stage}"


@dataclass(frozen=True, slots=True)
class JudgedStage:
    """One stage of a retriever with its judged run.

    The run holds the questions that reached the stage, and an empty ranking for each question that failed.
    """

    name: str
    run: RetrievedRun
    judged: JudgedRun

    @property
    def is_reached(self) -> bool:
        """Whether any question reached it."""
        return bool(self.run.keys() - self.run.errors.keys())


def judge_stages(scores: Scores) -> list[JudgedStage]:
    """Return the judged stages of a run, the last of which is the run itself; none if it does not tell its stages.

    They are cached in the scores.
    """
    cache = scores.cache
    if cache.stages is None:
        has_one_run = scores.origin is not None and scores.origin.rounds == 1
        cache.stages = list(_judge_stages(scores)) if has_one_run else []
    return cache.stages


def _judge_stages(scores: Scores) -> Iterator[JudgedStage]:
    origin = scores.require_origin("followed stage by stage")
    run = origin.run
    if not isinstance(run, RetrievedRun):
        return
    for name, rankings in run.stages.items():
        if rankings is run:
            yield JudgedStage(name, run, origin.judged)
            continue
        stage_run = RetrievedRun({**rankings, **dict.fromkeys(run.errors, ())}, run.errors)
        try:
            judged = judge(origin.judged.qrels, stage_run, origin.match, scores.rules.order)
        except (TypeError, ValueError) as error:  # such as chunks without an id, before they are merged
            warn(f"stage {name!r} is skipped, because its results cannot be judged: {error}")
            continue
        yield JudgedStage(name, stage_run, judged)


def find_stage_sources(scores: Scores, sources: Collection[str] | None = None) -> StageSources:
    """Return the stages of a run that are sources; see `find_sources`.

    Args:
        scores: The scores of the run. What its rankings say is cached in them.
        sources: The names of the sources, if the user states them here.

    Raises:
        ValueError: If `sources` names no stage.
    """
    stages = judge_stages(scores)
    stage_runs = {stage.name: stage.run for stage in stages}
    if sources is not None:
        return find_sources(stage_runs, declare_sources(stage_runs, sources), ())
    cache = scores.cache
    if cache.stage_sources is None:
        stage_sources = StageSources((), is_assumed=False)
        if stages:
            run = stages[-1].run
            stage_sources = find_sources(stage_runs, run.takes_documents, run.errors)
        cache.stage_sources = stage_sources
    return cache.stage_sources


class StageLosses:
    """The fates of the needed documents of some queries, stage by stage.

    Attributes:
        names: The names of the stages, in order.
        sources: The stages that are sources; the others pass on what they get.
        ranks: Shape (stages, rows), the rank of each document of the outcomes after each stage; 0 if it was not there.
    """

    def __init__(self, scores: Scores, outcomes: Outcomes, target: ExplanationTarget, sources: StageSources) -> None:
        """Attribute the outcomes of the last stage, for a target, to the stages."""
        stages = judge_stages(scores)
        self.names = [stage.name for stage in stages]
        self.sources = sources
        self._outcomes = outcomes
        self._one_suffices = target.one_suffices
        judged_queries = stages[-1].judged.qrels.queries
        queries = [judged_queries[query_position] for query_position in outcomes.positions.tolist()]
        self._reached = _find_reached_queries(stages, queries)
        self.ranks: IntArray = np.zeros((len(stages), len(outcomes.document)), dtype=np.int64)
        cutoffs = np.empty_like(self.ranks)
        order = np.argsort(outcomes.document)
        for stage_index, stage in enumerate(stages):
            retrieved = find_retrieved_ranks(stage.judged, outcomes.positions, outcomes.document[order])
            self.ranks[stage_index, order] = retrieved.rank
            k = outcomes.cutoffs.k
            if not target.cuts_at_n_needed:
                k = QueryCutoffs(stage.judged, target, outcomes.positions).k
            cutoffs[stage_index] = k[outcomes.query]
        # Shape (queries,), the last stage that each reached.
        self._last_stage: IntArray = len(stages) - 1 - np.argmax(self._reached[::-1], axis=0)
        is_retrieved = self.ranks > 0
        last_holding_stage = _find_last_true(is_retrieved)
        last_stage_within_cutoff = _find_last_true(is_retrieved & (self.ranks <= cutoffs))
        # Of each row, whether its document was retrieved, but ranked too low, and whether no stage ever held it.
        self._is_ranked_low: BoolArray = outcomes.rank > 0
        self._is_never_retrieved: BoolArray = last_holding_stage < 0
        last_good_stage = np.where(self._is_ranked_low, last_stage_within_cutoff, last_holding_stage)
        self._lost_by = self._find_stages_that_lost(last_good_stage)
        self._distance = self._measure_distances()

    def _find_stages_that_lost(self, last_good_stage: IntArray) -> IntArray:
        """Return the stage that lost each document, shape (rows,).

        Args:
            last_good_stage: Shape (rows,), the last stage that held it, within the cutoff if it is ranked low; -1 if
                none did.
        """
        query = self._outcomes.query
        losing_stage = self._find_losing_stages()[last_good_stage, query]
        return np.where(last_good_stage < 0, self._last_stage[query], losing_stage)

    def _measure_distances(self) -> IntArray:
        """Return how far each document missed, shape (rows,).

        A document ranked low is a nearer miss than a dropped one, and one lost later a nearer miss than one lost
        earlier.
        """
        n_stages = len(self.names)
        stages_to_end = n_stages - 1 - self._lost_by
        distance: IntArray = np.where(self._is_ranked_low, stages_to_end, n_stages + stages_to_end)
        distance[self._is_never_retrieved] = 2 * n_stages
        return distance

    def _find_losing_stages(self) -> IntArray:
        """Return for each stage the stage that lost the documents it was the last to hold, shape (stages, queries).

        That is the next stage that passes on what it gets, or the last stage.
        """
        passes_on = self._reached & ~np.isin(self.names, self.sources.names)[:, None]
        losing = np.empty(self._reached.shape, dtype=np.int64)
        following = self._last_stage.copy()
        for stage_index in reversed(range(len(self.names))):
            losing[stage_index] = following
            following = np.where(passes_on[stage_index], stage_index, following)
        return losing

    @cached_property
    def columns(self) -> dict[str, IntArray]:
        """How many of the needed documents, or groups, of each query had each fate, shape (queries,).

        Every fate that is possible in these stages is there, also if it befell none.
        """
        outcomes = self._outcomes
        lost_rows = outcomes.find_nearest_misses(self._distance, outcomes.is_failure)
        columns = {FOUND: outcomes.n_satisfied}
        if self._can_lack_room:
            n_lost = self._count_by_query(lost_rows)
            columns[CUTOFF_FULL] = outcomes.n_needed - outcomes.n_satisfied - n_lost
        is_error: BoolArray = outcomes.kind == CODE_BY_OUTCOME["retriever_error"]
        is_not_retrieved = self._is_never_retrieved & ~is_error
        columns[NOT_RETRIEVED] = self._count_by_query(lost_rows[is_not_retrieved[lost_rows]])
        columns[RETRIEVER_ERROR] = self._count_by_query(lost_rows[is_error[lost_rows]])
        is_dropped = ~self._is_ranked_low & ~self._is_never_retrieved
        for stage_index in self._stages_to_blame:
            if stage_index:  # the first stage drops nothing
                is_lost = is_dropped & (self._lost_by == stage_index)
                column = loss_column(DROPPED, self.names[stage_index])
                columns[column] = self._count_by_query(lost_rows[is_lost[lost_rows]])
        for stage_index in self._stages_to_blame:
            is_lost = self._is_ranked_low & (self._lost_by == stage_index)
            column = loss_column(BELOW_CUTOFF, self.names[stage_index])
            columns[column] = self._count_by_query(lost_rows[is_lost[lost_rows]])
        return columns

    def _count_by_query(self, rows: IntArray) -> IntArray:
        return np.bincount(self._outcomes.query[rows], minlength=len(self._outcomes.positions))

    @property
    def _can_lack_room(self) -> bool:
        """Whether the first `k` results can all be relevant while something needed is missing."""
        outcomes = self._outcomes
        if (outcomes.n_needed > outcomes.cutoffs.k).any() or outcomes.cutoffs.in_text.any():
            return True
        has_alternatives = len(outcomes.member_row) > len(outcomes.group_query)
        return has_alternatives and not self._one_suffices

    @property
    def _stages_to_blame(self) -> list[int]:
        """The indices of the stages that can lose documents: those that pass on, and the last of each question."""
        last_stages = set(self._last_stage.tolist())
        stage_indices = []
        for stage_index, name in enumerate(self.names):
            can_lose = name not in self.sources.names or stage_index in last_stages
            if can_lose and self._reached[stage_index].any():
                stage_indices.append(stage_index)
        return stage_indices

    def is_for(self, outcomes: Outcomes) -> bool:
        """Return whether the losses are those of these very outcomes."""
        return self._outcomes is outcomes

    def mark_dropped(self) -> None:
        """Set the outcome of each document that a stage held and the run does not to `dropped`.

        Of the run alone, such a document looks as if nothing had retrieved it.
        """
        kind = self._outcomes.kind
        is_absent = np.isin(kind, [CODE_BY_OUTCOME[outcome] for outcome in ABSENT])
        kind[is_absent & ~self._is_never_retrieved] = CODE_BY_OUTCOME["dropped"]

    def losing_stage(self, row: int) -> str:
        """Return the name of the stage that lost the document of a row."""
        return self.names[int(self._lost_by[row])]

    def losses(self) -> Counter[str]:
        """Count what was lost over all queries, by fate, most frequent first."""
        totals: Counter[str] = Counter()
        for name, column in self.columns.items():
            if name not in {FOUND, CUTOFF_FULL}:
                totals[name] = int(column.sum())
        return Counter({name: total for name, total in totals.most_common() if total})

    def rank_history(self, row: int) -> str:
        """Return the rank of a document after each stage that its question reached: `ranks: bm25 3, dense -`."""
        is_reached = self._reached[:, self._outcomes.query[row]].tolist()
        stage_ranks = []
        for stage_index, rank in enumerate(self.ranks[:, row].tolist()):
            if is_reached[stage_index]:
                stage_ranks.append(f"{self.names[stage_index]} {rank or '-'}")
        return f"ranks: {', '.join(stage_ranks)}" if stage_ranks else ""


def _find_last_true(by_stage: BoolArray) -> IntArray:
    """Return the index of the last true stage of each row, -1 if there is none, shape (rows,)."""
    stage_indices = np.arange(len(by_stage))[:, None]
    last: IntArray = np.where(by_stage, stage_indices, -1).max(axis=0)
    return last


def _find_reached_queries(stages: Sequence[JudgedStage], queries: Sequence[QueryId]) -> BoolArray:
    """Return which queries reached which stage, shape (stages, queries)."""
    reached: BoolArray = np.empty((len(stages), len(queries)), dtype=np.bool_)
    for stage_index, stage in enumerate(stages):
        reached[stage_index] = [query in stage.run for query in queries]
    last_stage = stages[-1]
    if last_stage.name == RETURNED_STAGE:
        # What the retriever returned counts as a stage only if it differs from what the stage before it held.
        reached[-1] = [not _is_last_ranking(stages[:-1], query, last_stage.run.get(query)) for query in queries]
    return reached


def _is_last_ranking(stages: Sequence[JudgedStage], query: QueryId, ranking: Any) -> bool:
    """Return whether a ranking is the one of the last stage that a query reached."""
    for stage in reversed(stages):
        if query in stage.run:
            return is_same_ranking(stage.run[query], ranking)
    return is_same_ranking(None, ranking)


def loss_shares(scores: Scores, target: ExplanationTarget, sources: StageSources) -> dict[str, FloatArray]:
    """Return by fate the share of the needed documents of each query, shape (queries,); NaN if it needs none."""
    last_stage = judge_stages(scores)[-1]
    search = OutcomeSearch(last_stage.judged, scores.rankings("followed"), target)
    outcomes = search.outcomes(scores.positions.tolist(), reads_ids=False)
    query_index = np.searchsorted(outcomes.positions, scores.positions)
    n_needed = np.where(outcomes.n_needed > 0, outcomes.n_needed, np.nan)
    columns = StageLosses(scores, outcomes, target, sources).columns
    return {name: (column / n_needed)[query_index] for name, column in columns.items()}
