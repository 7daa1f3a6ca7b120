"""Tell a failed metric from an undefined one in a table, which has one mark, NaN, for both."""

from __future__ import annotations

import warnings
from math import isnan
from typing import TYPE_CHECKING

import retrieval_metrics as rm
from ragas_retrieval_metrics.compared import compared
from retrieval_metrics.adapting import Scorer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragas_retrieval_metrics.names import Named
    from ragas_retrieval_metrics.reading import ScoredRow
    from ragas_retrieval_metrics.references import References


def told_apart(
    rows: Sequence[ScoredRow], columns: Mapping[str, Named], references: References | None
) -> list[ScoredRow]:
    """Return the rows of a table, in which a NaN is a failure where the judgments have something relevant.

    Args:
        rows: The rows, with all that is known of them.
        columns: The metrics.
        references: The judgments that are not in the rows.

    Warns:
        RetrievalWarning: If a row has neither a value nor judgments, so that it may have failed as well.
    """
    found, unknown = [], []
    for one in rows:
        nan = [column for column, value in one.scores.items() if value is not None and isnan(value)]
        needed = {column: _has_relevant(one, columns[column], references) for column in nan}
        if None in needed.values() and references is None:
            unknown.append(one)
        failed = dict.fromkeys(column for column, relevant in needed.items() if relevant)
        found.append(one._replace(scores={**one.scores, **failed}))
    if unknown:
        warnings.warn(
            f"{len(unknown)} of {len(rows)} rows have neither a value nor judgments, for example "
            f"{unknown[0].row.query!r}: they are left out as undefined, but their metrics may have failed; pass "
            "expected=dataset or qrels=",
            rm.RetrievalWarning,
            stacklevel=3,
        )
    return found


def _has_relevant(one: ScoredRow, named: Named, references: References | None) -> bool | None:
    """Whether something is relevant to a metric, so that it has a value; None if the judgments are unknown."""
    if named.on_unjudged == "zero":
        return True  # it has a value in every row
    if not named.metric.definition.needs_relevant:
        return False
    try:
        judgments = compared(one.row.read(), named.by, references).judgments
        if judgments is None:
            return None
        recall = rm.Metric.of("recall", None, **{key: value for key, value in named.metric.parameters if key == "rel"})
        return not isnan(Scorer(recall).queries({"row": judgments}, {"row": []})[recall]["row"].value)
    except (TypeError, ValueError):
        return True  # a row that cannot be read has failed
