"""Try an evaluation on the first answer of a retriever, before the others are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.scoring.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.types import QrelsMapping, RunMapping


def first_answer_check(
    qrels: QrelsMapping | Qrels,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    semantics: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
) -> Callable[[RunMapping], None]:
    """Return a check that raises, for a run of one query, what `evaluate` would raise for the whole run.

    Such as a cut-off by characters where documents have no text, quotes where there are only ids, or a repeated
    document under rules that refuse it. It is what `retrieve` takes as `check=`.

    Args:
        qrels: What is true, and
        metrics: by what the run will be scored,
        semantics: under which rules, with
        match: what ids are compared with, and
        ties: how ties are broken; all as in `evaluate`.

    Raises:
        TypeError: If judgments, metrics or rules are of the wrong type.
        ValueError: If a metric or a rule set is unknown, or the judgments are empty.

    Example:
        >>> check = first_answer_check({"q1": ["d7"]}, "recall@2000chars")
        >>> try:
        ...     check({"q1": ["d7"]})
        ... except ValueError as error:
        ...     print(str(error).partition(";")[0])
        a cut-off of 2000chars needs the lengths of the items, but the rankings hold only ids
    """
    rules, chosen, truth = as_rules(semantics, ties), as_metrics(metrics), as_qrels(qrels)

    def check(run: RunMapping) -> None:
        judged = {query: truth.judgments(at) for at, query in enumerate(truth.queries) if query in run}
        if judged:
            scored_run(Qrels(judged), run, chosen, rules, match, scale=truth.largest_grade)  # type: ignore[arg-type]

    return check
