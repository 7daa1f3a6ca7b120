"""Read judgments and runs according to a rule set, before any metric is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import argument

if TYPE_CHECKING:
    from retrieval_metrics.checks import BoolArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.rules import Rules


def truth_under(truth: Qrels, rules: Rules) -> Qrels:
    """Return the judgments as the rules read them.

    Raises:
        ValueError: If a grade is not a whole number and the rules allow only whole numbers.
    """
    if rules.negative == "unjudged":
        truth = truth.without_negative_grades()
    if rules.grades == "integer":
        truth.require_integer_grades(rules.name)
    return truth.flattened() if rules.groups == "flatten" else truth


def refuse(judged: JudgedRun, rules: Rules) -> None:
    """Raise if the rules refuse a query.

    Raises:
        ValueError: If they do; the message names the first such query and the rule.
    """
    for rule, (queries, complaint) in refusals(judged, rules).items():
        if queries.any():
            query = judged.qrels.queries[int(queries.argmax())]
            raise ValueError(
                f'{complaint.format(query=repr(query))}, which {rules.name} refuses ({rule}="error"); {_advice(rule)}'
            )


def refusals(judged: JudgedRun, rules: Rules) -> dict[str, tuple[BoolArray, str]]:
    """Return, for each rule that refuses something, the queries it refuses and the reason."""
    found: dict[str, tuple[BoolArray, str]] = {}
    if rules.repeats == "error":
        found["repeats"] = judged.n_repeated > 0, "the ranking of query {query} holds a document twice"
    if rules.no_relevant == "error":
        found["no_relevant"] = judged.n_relevant() == 0, "query {query} has no relevant document"
    if rules.empty == "error":
        found["empty"] = judged.n_retrieved == 0, "nothing was retrieved for query {query}"
    return found


def fractions(truth: Qrels) -> BoolArray:
    """Return which queries have a grade that is not a whole number, shape (queries,)."""
    found: BoolArray = np.bincount(truth.document_query, truth.document_grade % 1 != 0, minlength=len(truth)) > 0
    return found


def _advice(rule: str) -> str:
    what, otherwise = _ADVICE[rule]
    return f"remove {what}, or use {argument('semantics', 'standard')}, where {otherwise}"


_ADVICE = {
    "repeats": ("it", "only the first counts"),
    "no_relevant": ("the query", "it is counted but left out of the mean"),
    "empty": ("the query", "it scores 0"),
}
