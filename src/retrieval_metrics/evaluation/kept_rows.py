"""Check rows that a host scored one at a time as the run that they are together."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.evaluation.data_warnings import find_data_warnings, system_wide_warnings
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.near_misses import find_type_mismatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.evaluation.row_scorer import Scorer
    from retrieval_metrics.evaluation.scores import Scores

# As many rows are kept, the last ones, because an application may score rows without end.
MAX_ROWS = 10_000
# One or two ids that nearly match may be chance: in generated collections whose ids differ so on purpose, a first check
# at the second one is wrong in 37 of 560 runs, at the third in 13, and one of the whole run in 7.
MIN_SIGNS = 3


class KeptRow(NamedTuple):
    """A row that was scored.

    Attributes:
        qrels: Its judgments.
        ranking: What was retrieved, without the documents that are left out.
        failure: Why the application failed, if it did.
        query: The query, for messages; empty if it is unknown.
    """

    qrels: Qrels
    ranking: Any
    failure: str | None = None
    query: str = ""


class KeptRows:
    """The rows of one run of a host, which sees each of them alone.

    Where a host says when its run ends, `find_warnings` returns what `evaluate` would warn of. Where it does not,
    `find_early_warning` speaks once, as soon as the rows so far show ids or values that nearly match.

    Example:
        >>> from retrieval_metrics.integration_api import RowScorer, KeptRows
        >>> rows = KeptRows()
        >>> scorer = RowScorer("mrr")
        >>> for judged, retrieved in (("d1", "d1"), ("d2", "D2"), ("d3", "D3")):
        ...     _ = scorer.row([judged], lambda retrieved=retrieved: [retrieved], rows=rows)
        >>> rows.find_warnings(scorer)[0][:66]
        '2 of 2 missing relevant documents were retrieved under a slightly '
    """

    def __init__(self) -> None:
        """Create the collection of no rows yet."""
        self._rows: deque[KeptRow] = deque(maxlen=MAX_ROWS)  # rows come from threads, and its methods are atomic
        self._n_signs = 0
        self._next_check = MIN_SIGNS
        self._has_warned = False

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: KeptRow) -> None:
        """Keep a row that was scored."""
        self._rows.append(row)

    def clear(self) -> None:
        """Forget all rows, as before another run."""
        self._rows.clear()
        self._n_signs = 0
        self._next_check = MIN_SIGNS
        self._has_warned = False

    def find_warnings(self, scorer: Scorer) -> list[str]:
        """Return what concerns every number of the run, a sentence each.

        Args:
            scorer: The scorer of the rows.
        """
        sentences = []
        for scores in self._score_groups(scorer):
            sentences += system_wide_warnings({"": scores})
        return list(dict.fromkeys(sentences))

    def find_early_warning(self, scorer: Scorer) -> str:
        """Return, once, that ids or values nearly match in the rows so far; else an empty text. Call it after each row.

        Args:
            scorer: The scorer of the rows.
        """
        if self._has_warned or not self._rows:
            return ""
        last_row = KeptRows()
        last_row.add(self._rows[-1])
        for scores in last_row._score_groups(scorer):
            self._n_signs += _count_signs(scores)
        if self._n_signs < self._next_check:
            return ""
        for scores in self._score_groups(scorer):
            if not has_near_ids(scores):
                continue
            for warning in find_data_warnings(scores):
                if warning.kind in {"near_misses", "value_types", "no_common_ids"}:
                    self._has_warned = True
                    return warning.message
        # The rows so far show that such ids are different documents. As many signs again may show otherwise.
        self._next_check = 2 * self._n_signs
        return ""

    def _score_groups(self, scorer: Scorer) -> Iterator[Scores]:
        """Yield the scores of the rows, of those with ids of one type together."""
        rows_by_kind: dict[type | None, list[KeptRow]] = {}
        for row in list(self._rows):
            rows_by_kind.setdefault(row.qrels.document_kind, []).append(row)
        for rows in rows_by_kind.values():
            qrels: dict[Any, Any] = {}
            rankings: dict[Any, Any] = {}
            errors: dict[Any, Exception] = {}
            for number, row in enumerate(rows, start=1):
                name = row.query or f"row {number}"
                if name in qrels:
                    name = f"{name} ({number})"
                qrels[name] = row.qrels.judgments(0)
                rankings[name] = row.ranking
                if row.failure is not None:
                    errors[name] = RuntimeError(row.failure)
            try:
                scores = scorer.run(Qrels(qrels), RetrievedRun(rankings, errors))
            except (TypeError, ValueError):
                # Each row was accepted alone. Where they contradict each other, they are no run to check.
                continue
            yield scores


def _count_signs(scores: Scores) -> int:
    """Return how many judgments of a row may have been missed because of the form of an id or the type of a value."""
    origin = scores.require_origin("checked")
    n_signs = len(find_type_mismatches(origin.judged, origin.run))
    if origin.judged.near_misses is not None:
        n_signs += len(origin.judged.near_misses.candidates.near_misses)
    return n_signs
