"""Check rows that a host scored one at a time as the run that they are together."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.data_warning_wording import format_unused_exclusion
from retrieval_metrics.evaluation.data_warnings import find_data_warnings, system_wide_warnings
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids
from retrieval_metrics.evaluation.ranking_depths import count_depths
from retrieval_metrics.evaluation.summary_wording import depth_notes
from retrieval_metrics.evaluation.unused_exclusion import find_unused_exclusion
from retrieval_metrics.inputs.exclusion import Exclusion
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.near_misses import find_type_mismatches

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.evaluation.row_scorer import Scorer
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric

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
        exclude: The ids of documents that were to be left out.
        n_excluded: How many documents were left out.
    """

    qrels: Qrels
    ranking: Any
    failure: str | None = None
    query: str = ""
    exclude: Collection[DocumentId] = ()
    n_excluded: int = 0


class _ScoredRows(NamedTuple):
    """Rows that were scored together.

    Attributes:
        scores: Their scores.
        exclude: The ids that were to be left out, by query.
        n_excluded: How many documents were left out.
    """

    scores: Scores
    exclude: Mapping[Any, Collection[DocumentId]]
    n_excluded: int

    def find_unused_exclusion(self, scorer: Scorer) -> str:
        """Return that nothing was left out although something nearly was; an empty text if nothing looks wrong."""
        if self.n_excluded or not any(self.exclude.values()):
            return ""
        origin = self.scores.require_origin("checked")
        try:
            exclusion = Exclusion(self.exclude)
        except TypeError:  # of two types in two rows, each of which was accepted alone
            return ""
        unused = find_unused_exclusion(exclusion, origin.run, origin.judged.qrels, scorer.match)
        return "" if unused is None else format_unused_exclusion(unused)


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
        self._next_exclusion_check = MIN_SIGNS
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
        self._next_exclusion_check = MIN_SIGNS
        self._has_warned = False

    def find_warnings(self, scorer: Scorer) -> list[str]:
        """Return what concerns every number of the run, a sentence each.

        Args:
            scorer: The scorer of the rows.
        """
        sentences = []
        for group in self._score_groups(scorer):
            sentences += system_wide_warnings({"": group.scores})
            unused_exclusion = group.find_unused_exclusion(scorer)
            if unused_exclusion:
                sentences.append(f"{unused_exclusion}.")
        return list(dict.fromkeys(sentences))

    def find_depth_notes(self, metrics: Sequence[Metric]) -> list[str]:
        """Return which of the metrics look further than the rankings of the run go, as `evaluate` prints it.

        Args:
            metrics: All metrics of the rows, of which a host may score each by itself.
        """
        rows = list(self._rows)
        n_retrieved = np.array([len(row.ranking) for row in rows], dtype=np.int64)
        n_excluded = np.array([row.n_excluded for row in rows], dtype=np.int64)
        return depth_notes(count_depths(n_retrieved, metrics, n_excluded), metrics)

    def find_early_warning(self, scorer: Scorer) -> str:
        """Return, once, that ids or values nearly match in the rows so far; else an empty text. Call it after each row.

        Args:
            scorer: The scorer of the rows.
        """
        if self._has_warned or not self._rows:
            return ""
        last_row = KeptRows()
        last_row.add(self._rows[-1])
        for group in last_row._score_groups(scorer):
            self._n_signs += _count_signs(group.scores)
        unused_exclusion = self._find_unused_exclusion(scorer)
        if unused_exclusion:
            self._has_warned = True
            return unused_exclusion
        if self._n_signs < self._next_check:
            return ""
        for group in self._score_groups(scorer):
            if not has_near_ids(group.scores):
                continue
            for warning in find_data_warnings(group.scores):
                if warning.kind in {"near_misses", "value_types", "no_common_ids"}:
                    self._has_warned = True
                    return warning.message
        # The rows so far show that such ids are different documents. As many signs again may show otherwise.
        self._next_check = 2 * self._n_signs
        return ""

    def _find_unused_exclusion(self, scorer: Scorer) -> str:
        """Return what is wrong with the ids to leave out, at the third row, the sixth, and so on; else nothing."""
        if len(self._rows) < self._next_exclusion_check:
            return ""
        self._next_exclusion_check = 2 * len(self._rows)  # a look at all rows after each would take ever longer
        rows = list(self._rows)
        if not any(row.exclude for row in rows) or any(row.n_excluded for row in rows):
            return ""
        for group in self._score_groups(scorer):
            message = group.find_unused_exclusion(scorer)
            if message:
                return message
        return ""

    def _score_groups(self, scorer: Scorer) -> Iterator[_ScoredRows]:
        """Yield the rows with their scores, those with ids of one type together."""
        rows_by_kind: dict[type | None, list[KeptRow]] = {}
        for row in list(self._rows):
            rows_by_kind.setdefault(row.qrels.document_kind, []).append(row)
        for rows in rows_by_kind.values():
            qrels: dict[Any, Any] = {}
            rankings: dict[Any, Any] = {}
            exclude: dict[Any, Collection[DocumentId]] = {}
            errors: dict[Any, Exception] = {}
            for number, row in enumerate(rows, start=1):
                name = row.query or f"row {number}"
                if name in qrels:
                    name = f"{name} ({number})"
                qrels[name] = row.qrels.judgments(0)
                rankings[name] = row.ranking
                exclude[name] = row.exclude
                if row.failure is not None:
                    errors[name] = RuntimeError(row.failure)
            try:
                scores = scorer.run(Qrels(qrels), RetrievedRun(rankings, errors))
            except (TypeError, ValueError):
                # Each row was accepted alone. Where they contradict each other, they are no run to check.
                continue
            yield _ScoredRows(scores, exclude, sum(row.n_excluded for row in rows))


def _count_signs(scores: Scores) -> int:
    """Return how many judgments of a row may have been missed because of the form of an id or the type of a value."""
    origin = scores.require_origin("checked")
    n_signs = len(find_type_mismatches(origin.judged, origin.run))
    if origin.judged.near_misses is not None:
        n_signs += len(origin.judged.near_misses.candidates.near_misses)
    return n_signs
