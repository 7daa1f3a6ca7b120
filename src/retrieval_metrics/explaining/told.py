"""Say in words what became of a relevant document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.explaining.finding import KINDS, Finding
from retrieval_metrics.explaining.granularity import Names
from retrieval_metrics.presentation.numbers import count

if TYPE_CHECKING:
    from retrieval_metrics.explaining.finding import Outcome
    from retrieval_metrics.explaining.investigation import Investigation
    from retrieval_metrics.explaining.outcomes import Outcomes


class Told:
    """The outcomes of one query, told in words."""

    def __init__(self, investigation: Investigation, outcomes: Outcomes, at: int, ranking: Any) -> None:
        """Take the query by its place among those of the outcomes, and its ranking as given."""
        self._investigation = investigation
        self._outcomes = outcomes
        self._at = at
        self._index = int(outcomes.positions[at])
        self._names = Names(investigation.rankings, ranking)
        self._k, self._budget = outcomes.cutoffs.of(at)

    def findings(self) -> list[Finding]:
        """Return the outcome of each relevant document, best grade first."""
        outcomes, documents = self._outcomes, self._investigation.judged.qrels.documents
        rows = outcomes.rows_of(self._at)
        columns = (each[rows].tolist() for each in (outcomes.document, outcomes.grade, outcomes.kind, outcomes.rank))
        found = []
        for row, (document, grade, kind, rank) in enumerate(zip(*columns, strict=True), rows.start):
            said = self._said(KINDS[kind], row, rank)
            found.append(Finding(documents[document], grade, KINDS[kind], rank or None, said, outcomes.groups_of(row)))
        return found

    def _said(self, kind: Outcome, row: int, rank: int) -> str:  # noqa: C901, PLR0911  (one for each kind)
        outcomes = self._outcomes
        match kind:
            case "not needed":
                return "not needed: an alternative was found"
            case "no room":
                first = self._k if self._budget is None else self._budget.in_words
                return f"no room: the first {first} are as relevant"
            case "lost a tie":
                tied, tied_from = outcomes.tied[row], outcomes.tied_from[row]
                return f"lost a tie: {tied} documents have its score, from rank {tied_from} on"
            case "behind repeats":
                return f"behind {count(int(outcomes.repeats[row]), 'repeated document')}"
            case "behind chunks of one document":
                parts = self._names.further_parts(rank - 1)
                document, most = parts.most_common(1)[0]
                others = parts.total() - most
                return f"behind {count(most, 'further chunk')} of {document}" + (
                    f" and {others} of other documents" if others else ""
                )
            case "beyond the cut-off":
                return f"beyond the cut-off {self._k}"
            case "beyond the budget":
                return self._beyond_the_budget(rank)
            case "another granularity":
                other = self._names.relatives(self._investigation.judged.qrels.documents[outcomes.document[row]])[0]
                at = self._names.ids.index(other) + 1
                return f"its id occurs nowhere in the run, but {other!r} does, at rank {at}"
            case "never retrieved":
                retrieved = int(self._investigation.judged.n_retrieved[self._index])
                return f"never retrieved; the ranking has {count(retrieved, 'document')}"
            case "nothing retrieved":
                return "nothing was retrieved for this query"
            case "the retriever failed":
                run: Any = self._investigation.rankings.run
                error = run.errors[self._investigation.judged.qrels.queries[self._index]]
                return f"the retriever failed: {type(error).__name__}: {error}"
            case "found":
                return "found"

    def _beyond_the_budget(self, rank: int) -> str:
        budget: Any = self._budget
        of_each = self._investigation.lengths(self._index, rank, budget)
        if budget.unit == "calls":
            return f"beyond the first {budget.in_words}: call {of_each[-1]} found it"
        return f"does not fit into the first {budget.in_words}: it ends at {sum(of_each):,}"
