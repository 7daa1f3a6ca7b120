"""What a retriever holds after each of its steps: the retrieved, the joined, the reranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.evaluation.evaluation import Evaluation


class Stages(Printed, Mapping[str, "Evaluation"]):
    """The evaluation of a retriever after each of its steps, by the name of the step, in their order.

    Printed, it is the last evaluation and a table of all. `compare(stages)` tests what the steps change. A question
    that did not reach a step is left out of its evaluation, and `n` is then smaller; a question that failed has
    retrieved nothing in any.

    Attributes:
        unreached: The steps that no question reached; they have no evaluation.
    """

    def __init__(self, evaluations: Mapping[str, Evaluation], unreached: Iterable[str] = ()) -> None:
        """Take the evaluations, the last one of what the retriever returns."""
        self._evaluations = dict(evaluations)
        self.unreached = tuple(unreached)

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self._evaluations:
            raise KeyError(f"there is no stage {name!r}; the stages are {', '.join(map(repr, self)) or 'none'}")
        return self._evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    @property
    def last(self) -> Evaluation:
        """The evaluation of what the retriever returns."""
        return self[next(reversed(self._evaluations))]

    def table(self) -> Table:
        """Return the means of all stages as a table."""
        counts = {name: one.counts["queries"] for name, one in self.items()}
        shown = len(set(counts.values())) > 1
        rows = [
            [name, *([str(counts[name])] if shown else []), *(numbers.value(mean) for mean in one.means.values())]
            for name, one in self.items()
        ]
        notes = [f"no question reached {', '.join(self.unreached)}"] if self.unreached else []
        return Table(["after", *(["n"] if shown else []), *map(str, self.last.metrics)], rows, notes)

    def _tables(self) -> list[Table]:
        return [*self.last.tables, self.table()] if self else []

    def __repr__(self) -> str:
        return f"<Stages: {', '.join(self)}>"
