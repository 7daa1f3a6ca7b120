"""Describe rules in words, and show what they apply to in a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.comparison.rule_attribution import RuleChange
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


# The largest number of grades of a query that are listed.
MAX_GRADES = 5


RULE_MEANINGS: Mapping[str, str] = {
    "duplicates=ignore": "a duplicate document gets no credit",
    "duplicates=count": "a duplicate document counts again",
    "duplicates=error": "a duplicate document is an error",
    "ties=docid": "equal scores are ordered by document ID",
    "ties=input": "equal scores stay in the order given",
    "ties=expected": "the value is the mean over all orders of equal scores",
    "groups=credit": "one document of a group suffices",
    "groups=flatten": "every document of a group is needed",
    "negative=nonrelevant": "a negative grade counts as judged not relevant",
    "negative=unjudged": "a negative grade counts as unjudged",
    "grades=real": "any grade is allowed",
    "grades=integer": "a grade that is not a whole number is refused",
    "scores=double": "scores are compared as they are",
    "scores=single": "scores are compared in 32 bits, so those that differ only after seven digits are equal",
    "missing=zero": "a query that is not in the run counts as one without results",
    "missing=skip": "a query that is not in the run is left out",
    "empty=zero": "a query with nothing retrieved scores 0, by the formula",
    "empty=undefined": "a query with nothing retrieved is left out of the mean",
    "empty=error": "a query with nothing retrieved is refused",
    "no_relevant=undefined": "a query without a relevant document is left out of the mean",
    "no_relevant=zero": "a query without a relevant document scores 0",
    "no_relevant=match": "a query without a relevant document scores 1 if nothing was retrieved, else 0",
    "no_relevant=error": "a query without a relevant document is refused",
}


def format_rule(change: RuleChange, metric: Metric) -> str:
    """Return a rule as a sentence; a rule without a sentence is returned as written."""
    if change.is_parameter:
        return metric.definition.parameters[change.rule].choices.get(str(change.value), str(change))
    return RULE_MEANINGS[str(change)]


def rule_detail(change: RuleChange, judged: JudgedRun, query: int, metric: Metric) -> str:
    """Return what a rule applies to in a query; an empty string if there is nothing to show."""
    subject: str = _SUBJECT_BY_RULE.get(change.rule, "")
    if change.is_parameter:
        subject = metric.definition.parameters[change.rule].acts_on
    return _DETAIL_BY_SUBJECT[subject](judged, query, metric) if subject else ""


def _duplicates_detail(judged: JudgedRun, query: int, metric: Metric) -> str:
    duplicates = judged.duplicates.document[judged.duplicates.query == query]
    judged_duplicates = duplicates[duplicates >= 0]
    if not len(judged_duplicates):
        return f"{len(duplicates)} of its ranks hold duplicates" if len(duplicates) else ""
    relevant_duplicates = judged_duplicates[judged.qrels.document_grade[judged_duplicates] > 0]
    shown = relevant_duplicates if len(relevant_duplicates) else judged_duplicates
    document = int(shown[0])
    n_times = int((judged_duplicates == document).sum()) + 1
    times = "twice" if n_times == 2 else f"{n_times} times"
    return f"document {judged.qrels.documents[document]!r} is retrieved {times}"


def _ties_detail(judged: JudgedRun, query: int, metric: Metric) -> str:
    items = judged.items
    rows = np.flatnonzero((items.query == query) & (items.tied > 1))
    if not len(rows):
        return ""
    row = int(rows[np.argmax(items.grade[rows])])
    n_others = _format_count(int(items.tied[row]) - 1, "other")
    return f"document {judged.qrels.documents[int(items.document[row])]!r} has the same score as {n_others}"


def _lengths_detail(judged: JudgedRun, query: int, metric: Metric) -> str:
    n_relevant = int(judged.n_relevant()[query])
    n_retrieved = int(judged.n_retrieved[query])
    cutoff = "" if metric.k is None else f", k is {metric.k}"
    return f"{n_retrieved} retrieved, {n_relevant} relevant{cutoff}"


def _grades_detail(judged: JudgedRun, query: int, metric: Metric) -> str:
    grades = judged.qrels.document_grade[judged.qrels.bounds[query] : judged.qrels.bounds[query + 1]]
    highest_first = sorted(grades.tolist(), reverse=True)
    listed = ", ".join(f"{grade:g}" for grade in highest_first[:MAX_GRADES])
    ellipsis = ", ..." if len(highest_first) > MAX_GRADES else ""
    return f"grades {listed}{ellipsis}"


def _groups_detail(judged: JudgedRun, query: int, metric: Metric) -> str:
    n_documents = judged.qrels.bounds[query + 1] - judged.qrels.bounds[query]
    n_groups = int((judged.qrels.group_query == query).sum())
    return f"{_format_count(n_documents, 'document')} in {_format_count(n_groups, 'group')}"


# What each field of `Rules` applies to in a query; parameters of metrics have `acts_on`.
_SUBJECT_BY_RULE: Mapping[str, str] = {
    "duplicates": "duplicates",
    "ties": "ties",
    "scores": "ties",
    "groups": "groups",
    "negative": "grades",
    "grades": "grades",
}


_DETAIL_BY_SUBJECT: Mapping[str, Callable[[JudgedRun, int, Metric], str]] = {
    "duplicates": _duplicates_detail,
    "ties": _ties_detail,
    "groups": _groups_detail,
    "lengths": _lengths_detail,
    "grades": _grades_detail,
}


def _format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
