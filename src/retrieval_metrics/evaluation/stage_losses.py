"""Where it got lost: what each step of a retriever held of what is needed, and which step lost it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import warn
from retrieval_metrics.evaluation.outcome_search import OutcomeSearch, retrieved_ranks
from retrieval_metrics.evaluation.outcomes import FAILURES, QueryCutoffs
from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.stage_rankings import RETURNED_STAGE, is_same_ranking
from retrieval_metrics.matching.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, IntArray
    from retrieval_metrics.evaluation.outcomes import ExplanationTarget, Outcomes
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.judged_run import JudgedRun

FOUND, CUTOFF_FULL, NOT_RETRIEVED, DROPPED, BELOW_CUTOFF = (
    "found",
    "cutoff_full",
    "not_retrieved",
    "dropped",
    "below_cutoff",
)
"""What becomes of what is needed; the last two name a step."""

LOSS_LABELS = {
    CUTOFF_FULL: "no room",
    NOT_RETRIEVED: "never retrieved",
    DROPPED: "dropped by",
    BELOW_CUTOFF: "ranked low by",
}
"""What becomes of what is needed, as it is printed."""


def loss_column(fate: str, stage: str) -> str:
    """Return the column of a fate that names a stage: `dropped:fused`."""
    return f"{fate}:{stage}"


def loss_label(column: str) -> str:
    """Return a column of losses as it is printed.

    Example:
        >>> loss_label("dropped:fused"), loss_label("not_retrieved")
        ('dropped by fused', 'never retrieved')
    """
    fate, _, stage = column.partition(":")
    label = LOSS_LABELS.get(fate, fate)
    return f"{label} {stage}" if stage else label


class JudgedStage(NamedTuple):
    """One step of a retriever, judged: the questions that reached it, and those that failed, which hold nothing."""

    name: str
    run: RetrievedRun
    judged: JudgedRun


def judge_stages(scores: Scores) -> list[JudgedStage]:
    """Return the steps of a run, the last of which is the run itself; none if it does not tell them. They are kept."""
    known = scores.cache
    if "steps" not in known:
        known["steps"] = [] if scores.origin is None or scores.origin.rounds > 1 else [*_judged_steps(scores)]
    steps: list[JudgedStage] = known["steps"]
    return steps


def _judged_steps(scores: Scores) -> Iterable[JudgedStage]:
    origin = scores.require_origin("followed step by step")
    run, qrels = origin.run, origin.judged.qrels
    if not isinstance(run, RetrievedRun):
        return
    for name, held in run.stages.items():
        if held is run:
            yield JudgedStage(name, run, origin.judged)
        else:
            reached = RetrievedRun({**held, **dict.fromkeys(run.errors, ())}, run.errors)
            try:
                yield JudgedStage(name, reached, judge(qrels, reached, origin.match, scores.rules.order))
            except (TypeError, ValueError) as error:  # such as chunks without an id, before they are merged
                warn(f"the step {name!r} cannot be judged, so it is left out: {error}")


def find_first_stages(scores: Scores) -> list[str]:
    """Return the steps of a run that are sources; they are kept. See `_sources`."""
    known = scores.cache
    if "sources" not in known:
        known["sources"] = _sources(judge_stages(scores))
    sources: list[str] = known["sources"]
    return sources


def _sources(steps: Sequence[JudgedStage]) -> list[str]:
    """Return the steps that hold something that none before them held, in at least half of their questions.

    They retrieve: what another one found and they did not is no loss of theirs. All other steps pass on what they get;
    that one of these adds a document now and then, a neighbour or a default, does not make it a source.
    """
    if not steps:
        return []
    failed = steps[-1].run.errors
    held: dict[str, Mapping[Any, Any]] = {step.name: step.run for step in steps}
    total = {name: len(run.keys() - failed.keys()) for name, run in held.items()}
    left, new = dict(total), dict.fromkeys(held, 0)
    undecided = list(held)
    for query in dict.fromkeys(query for run in held.values() for query in run if query not in failed):
        seen: set[Any] = set()
        for name, run in held.items():
            if query in run:
                ids = _identities(run[query])
                new[name] += not seen.issuperset(ids)
                left[name] -= 1
                seen.update(ids)
            if name == undecided[-1]:
                break
        undecided = [name for name in undecided if 2 * new[name] < total[name] <= 2 * (new[name] + left[name])]
        if not undecided:
            break
    return [name for name in held if total[name] and 2 * new[name] >= total[name]]


def _identities(ranking: Any) -> Any:
    items = not isinstance(ranking, Mapping) and isinstance(next(iter(ranking), None), Retrieved)
    return [*map(item_identity, ranking)] if items else ranking


class StageLosses:
    """What became of everything that some queries need, step by step.

    Attributes:
        names: The steps, in order.
        sources: Those that retrieve; the others pass on what they get.
        ranks: Shape (steps, rows), the rank of each document of the outcomes after each step; 0 if it was not there.
    """

    def __init__(self, scores: Scores, outcomes: Outcomes, question: ExplanationTarget) -> None:
        """Take the outcomes of the last step for the question."""
        steps = judge_stages(scores)
        self.names = [step.name for step in steps]
        self.sources = find_first_stages(scores)
        self._outcomes, self._one_suffices = outcomes, question.one_suffices
        queries = steps[-1].judged.qrels.queries
        asked = [queries[at] for at in outcomes.positions.tolist()]
        self._reached: BoolArray = np.array([[query in step.run for query in asked] for step in steps], dtype=np.bool_)
        if self.names[-1] == RETURNED_STAGE:  # it is no step of its own where it is what the step before it held
            self._reached[-1] = [not _is_last(steps[:-1], query, steps[-1].run.get(query)) for query in asked]
        order = np.argsort(outcomes.document)
        at, document = outcomes.positions, outcomes.document[order]
        self.ranks: IntArray = np.zeros((len(steps), len(order)), dtype=np.int64)
        cuts = np.empty_like(self.ranks)
        for step, ranks, cut in zip(steps, self.ranks, cuts, strict=True):
            ranks[order] = retrieved_ranks(step.judged, at, document)[0]
            k = outcomes.cutoffs.k if question.cuts_at_n_needed else QueryCutoffs(step.judged, question, at).k
            cut[:] = k[outcomes.query]
        self._attribute(cuts)

    def _attribute(self, cuts: IntArray) -> None:
        """Find for each document that is not found whether it was dropped, or ranked low, and by which step."""
        query, n = self._outcomes.query, len(self.names)
        places = np.arange(n)
        passes = self._reached & ~np.isin(self.names, self.sources)[:, None]
        self._last = n - 1 - np.argmax(self._reached[::-1], axis=0)
        behind, following = np.empty((n, len(self._last)), dtype=np.int64), self._last.copy()
        for at in places[::-1]:  # the first step behind each that passes on what it gets; else the last
            behind[at] = following
            following = np.where(passes[at], at, following)
        is_there = self.ranks > 0
        is_high = is_there & (self.ranks <= cuts)
        held, high = (np.where(where, places[:, None], -1).max(axis=0) for where in (is_there, is_high))
        self._is_low: BoolArray = self._outcomes.rank > 0
        self._never: BoolArray = held < 0
        since = np.where(self._is_low, high, held)
        self._by = np.where(since < 0, self._last[query], behind[since, query])
        # Ranked low is a nearer miss than dropped, and a later step a nearer one than an earlier.
        self._far = np.where(self._never, 2 * n, (~self._is_low) * n + n - 1 - self._by)

    @cached_property
    def columns(self) -> dict[str, IntArray]:
        """How many of the needed documents, or groups, of each query had each fate, shape (queries,).

        Every fate that is possible in these steps is there, also if it befell none.
        """
        outcomes, n = self._outcomes, len(self._outcomes.positions)
        lost = outcomes.nearest_misses(self._far, outcomes.kind < len(FAILURES))

        def number(where: Any) -> IntArray:
            of: IntArray = lost[where[lost]]
            return np.bincount(outcomes.query[of], minlength=n)

        columns = {FOUND: outcomes.n_satisfied}
        if self._can_lack_room:
            columns[CUTOFF_FULL] = (
                outcomes.n_needed - outcomes.n_satisfied - np.bincount(outcomes.query[lost], minlength=n)
            )
        columns[NOT_RETRIEVED] = number(self._never)
        dropped: BoolArray = ~self._is_low & ~self._never
        for fate, where in ((DROPPED, dropped), (BELOW_CUTOFF, self._is_low)):
            for at, name in self._to_blame:
                if fate == BELOW_CUTOFF or at:
                    columns[loss_column(fate, name)] = number(where & (self._by == at))
        return columns

    @property
    def _can_lack_room(self) -> bool:
        """Whether the first `k` can all be relevant while something needed is missing; else nothing has no room."""
        outcomes = self._outcomes
        alternatives = len(outcomes.member_row) > len(outcomes.group_query) and not self._one_suffices
        more = (outcomes.n_needed > outcomes.cutoffs.k).any()
        return bool(more or alternatives or outcomes.cutoffs.in_text.any())

    @property
    def _to_blame(self) -> list[tuple[int, str]]:
        """The steps that can lose something, with their places: those that pass on, and where a question ends."""
        ends = set(self._last.tolist())
        passing = {at for at, name in enumerate(self.names) if name not in self.sources}
        there = set(np.flatnonzero(self._reached.any(axis=1)).tolist())
        return [(at, self.names[at]) for at in sorted(there & (passing | ends))]

    def losses(self) -> Counter[str]:
        """Count what was lost over all queries, by fate, most frequent first."""
        counts = {name: int(column.sum()) for name, column in self.columns.items() if name not in {FOUND, CUTOFF_FULL}}
        return Counter(dict(sorted(((name, n) for name, n in counts.items() if n), key=lambda one: -one[1])))

    def rank_history(self, row: int) -> str:
        """Return the rank of a document after each step that its question reached: `bm25 3, dense -, fused 12`."""
        reached = self._reached[:, self._outcomes.query[row]]
        told = zip(self.names, reached.tolist(), self.ranks[:, row].tolist(), strict=True)
        return ", ".join(f"{name} {rank or '-'}" for name, there, rank in told if there)


def loss_shares(scores: Scores, question: ExplanationTarget) -> dict[str, FloatArray]:
    """Return the share of what each query needs that had each fate, shape (queries,); NaN where nothing is needed."""
    investigation = OutcomeSearch(judge_stages(scores)[-1].judged, scores.rankings("followed"), question)
    outcomes = investigation.outcomes(scores.positions.tolist(), by_names=False)
    place = np.searchsorted(outcomes.positions, scores.positions)
    needed = np.where(outcomes.n_needed > 0, outcomes.n_needed, np.nan)
    columns = StageLosses(scores, outcomes, question).columns
    return {name: (column / needed)[place] for name, column in columns.items()}


def _is_last(steps: Sequence[JudgedStage], query: Any, ranking: Any) -> bool:
    """Return whether a ranking is what the last of the steps that a question reached holds."""
    last = next((step.run[query] for step in reversed(steps) if query in step.run), None)
    return is_same_ranking(last, ranking)
