"""Explain why a relevant document of a query was not found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval_metrics.explaining.granularity import further_parts, relatives
from retrieval_metrics.inputs.pieces import Piece
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.judging.matching.budget import no_lengths
from retrieval_metrics.presentation.numbers import count

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from retrieval_metrics.aliases import DocumentId, QueryId
    from retrieval_metrics.explaining.finding import Outcome
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching.budget import Budget
    from retrieval_metrics.judging.ranking_order import Rankings


@dataclass(kw_only=True)
class Case:
    """One query. Its ranking is sorted only if something is missing from it.

    Attributes:
        judged: The judged run.
        rankings: The rankings of the run.
        index: The position of the query among the judged ones.
        ranking: What was retrieved for it.
        k: How many items count; None counts all.
        budget: The budget that these fit into, if the cut-off is one.
        places: Rank and number of equal scores of each relevant document that was retrieved.
    """

    judged: JudgedRun
    rankings: Rankings
    index: int
    ranking: Any
    k: int | None
    budget: Budget | None
    places: Mapping[int, tuple[int, int]]

    @property
    def query(self) -> QueryId:
        """The query."""
        return self.judged.qrels.queries[self.index]

    @cached_property
    def ids(self) -> list[DocumentId]:
        """The ids of the ranking, in rank order."""
        return self.rankings.ids(self.ranking)

    def judge(self, place: int, grade: float, *, needed: bool) -> tuple[Outcome, str]:
        """Return the outcome of a relevant document, as a kind and in words."""
        rank, tied = self.places.get(place, (None, 1))
        if rank is not None and (self.k is None or rank <= self.k):
            return "found", "found"
        if not needed:
            return "not needed", "not needed: an alternative was found"
        if self._no_room(grade):
            first = self.k if self.budget is None else self.budget.in_words
            return "no room", f"no room: the first {first} are as relevant"
        return self._not_retrieved(place) if rank is None else self._too_late(place, rank, tied)

    def _no_room(self, grade: float) -> bool:
        k, grades = self.k, self.judged.qrels.document_grade
        if k is None or (self.budget is not None and self.budget.unit == "calls"):  # a call has room for everything
            return False
        # Several pieces at one rank take one place; the best of them counts.
        best: dict[int, float] = {}
        for at, (rank, _) in self.places.items():
            if rank <= k:
                best[rank] = max(best.get(rank, 0.0), float(grades[at]))
        return len(best) == k and min(best.values(), default=0.0) >= grade

    def _too_late(self, place: int, rank: int, tied: int) -> tuple[Outcome, str]:
        if self.budget is not None:
            return self._does_not_fit(rank, self.budget)
        k, ranking = self.k or 0, self.ranking
        if tied > 1 and isinstance(ranking, Mapping):
            score = ranking[self.judged.qrels.documents[place]]
            best = 1 + sum(other > score for other in ranking.values())
            if best <= k:
                return "lost a tie", f"lost a tie: {tied} documents have its score, from rank {best} on"
        above = self.ids[: rank - 1]
        repeats = len(above) - len(set(above)) if self.judged.n_repeated[self.index] else 0
        if rank - repeats <= k:
            return "behind repeats", f"behind {count(repeats, 'repeated document')}"
        parts = self._parts_above(above)
        surplus = sum(parts.values())
        if surplus and rank - repeats - surplus <= k:
            document, most = parts.most_common(1)[0]
            rest = f" and {surplus - most} of other documents" if surplus > most else ""
            return "behind chunks of one document", f"behind {count(most, 'further chunk')} of {document}{rest}"
        return "beyond the cut-off", f"beyond the cut-off {k}"

    def _does_not_fit(self, rank: int, budget: Budget) -> tuple[Outcome, str]:
        lengths = self.judged.lengths
        if lengths is None:
            raise no_lengths(budget)
        of_each = lengths.of_items(self.query, rank, budget.unit)
        if budget.unit == "calls":
            return "beyond the budget", f"beyond the first {budget.in_words}: call {of_each[-1]} found it"
        above, end = self.ids[: rank - 1], sum(of_each)
        repeated = (
            [at for at, one in enumerate(above) if one in above[:at]] if self.judged.n_repeated[self.index] else []
        )
        if repeated and end - sum(of_each[at] for at in repeated) <= budget.size:
            return "behind repeats", f"behind {count(len(repeated), 'repeated document')}"
        return "beyond the budget", f"does not fit into the first {budget.in_words}: it ends at {end:,}"

    def _parts_above(self, above: Sequence[DocumentId]) -> Counter[str]:
        items = self.rankings.items(self.ranking)
        distinct = list(dict.fromkeys(above))
        return further_parts((items[one] for one in distinct), distinct)

    def _not_retrieved(self, place: int) -> tuple[Outcome, str]:
        run = self.rankings.run
        error = run.errors.get(self.query) if isinstance(run, RetrievedRun) else None
        if error is not None:
            return "the retriever failed", f"the retriever failed: {type(error).__name__}: {error}"
        retrieved = int(self.judged.n_retrieved[self.index])
        if not retrieved:
            return "nothing retrieved", "nothing was retrieved for this query"
        document = self.judged.qrels.documents[place]
        other = [] if isinstance(document, Piece) else relatives(document, self.ids)
        if other:
            rank = self.ids.index(other[0]) + 1
            return "another granularity", f"its id occurs nowhere in the run, but {other[0]!r} does, at rank {rank}"
        return "never retrieved", never(retrieved)


def never(retrieved: int) -> str:
    """Return the words for a document that was never retrieved."""
    return f"never retrieved; the ranking has {count(retrieved, 'document')}"
