"""Try an evaluation on the first answer of a retriever, before asking the other questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.scoring.metric import DEFAULT_METRICS, as_metrics
from retrieval_metrics.scoring.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.inputs.items import QrelsMapping, RunMapping
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules


def first_answer_check(
    qrels: QrelsMapping | Qrels,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    semantics: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    unjudged: str | None = None,
) -> Callable[[RunMapping], None]:
    """Return a check that raises, for a run of one query, what `evaluate` would raise for the whole run.

    It finds a cut-off by characters for documents without text, quotes for rankings of ids, or a repeated document
    under rules that refuse it. Pass it to `retrieve` as `check=`. What needs no answer to be refused, such as a quote
    that is too short, is raised at once.

    Args:
        qrels: The judgments, as in `evaluate`.
        metrics: The metrics, as in `evaluate`.
        semantics: The rules, as in `evaluate`.
        match: What ids are compared with, as in `evaluate`.
        ties: How ties are broken, as in `evaluate`.
        unjudged: How unjudged documents count, as in `evaluate`.

    Raises:
        TypeError: If judgments, metrics or rules are of the wrong type.
        ValueError: If a metric or a rule set is unknown, the judgments are empty, or they cannot be used with the
            metrics, the rules or `match`.

    Example:
        >>> check = first_answer_check({"q1": ["d7"]}, "recall@2000chars")
        >>> try:
        ...     check({"q1": ["d7"]})
        ... except ValueError as error:
        ...     print(str(error).partition(";")[0])
        a cut-off of 2000chars needs the lengths of the items, but the rankings hold only ids
    """
    rules, chosen, truth = as_rules(semantics, ties, unjudged), as_metrics(metrics), as_qrels(qrels)
    nothing: Any = dict.fromkeys(truth.queries, ())
    scored_run(truth, nothing, chosen, rules, match)

    def check(run: RunMapping) -> None:
        judged = {query: truth.judgments(at) for at, query in enumerate(truth.queries) if query in run}
        if judged:
            scored_run(Qrels(judged), run, chosen, rules, match, scale=truth.largest_grade)  # type: ignore[arg-type]

    return check
