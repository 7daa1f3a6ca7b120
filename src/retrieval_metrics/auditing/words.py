"""Rules in words, and what they apply to in a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.auditing.attribution import Switch
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.metric import Metric

_WORDS: Mapping[str, str] = {
    "repeats=ignore": "a repeated document earns nothing",
    "repeats=count": "a repeated document counts again",
    "repeats=error": "a ranking with a repeated document is refused",
    "ties=docid": "equal scores are ordered by document id",
    "ties=input": "equal scores stay in the order given",
    "ties=expected": "the value is the mean over all orders of equal scores",
    "groups=credit": "one document of a group suffices",
    "groups=flatten": "every document of a group is needed",
    "negative=nonrelevant": "a negative grade counts as judged not relevant",
    "negative=unjudged": "a negative grade counts as unjudged",
    "grades=real": "any grade is allowed",
    "grades=integer": "a grade that is not a whole number is refused",
    "scores=double": "scores are compared as they are",
    "scores=single": "scores are compared in 32 bits, so those that differ after seven digits are equal",
    "missing=zero": "a query that is not in the run has retrieved nothing",
    "missing=skip": "a query that is not in the run is left out",
    "empty=zero": "a query with nothing retrieved scores 0, by the formula",
    "empty=undefined": "a query with nothing retrieved is left out of the mean",
    "empty=error": "a query with nothing retrieved is refused",
    "no_relevant=undefined": "a query without a relevant document is left out of the mean",
    "no_relevant=zero": "a query without a relevant document scores 0",
    "no_relevant=match": "a query without a relevant document scores 1 if nothing was retrieved, else 0",
    "no_relevant=error": "a query without a relevant document is refused",
}


def words(switch: Switch, metric: Metric) -> str:
    """Return a rule as a sentence; a rule without a sentence is returned as written."""
    if switch.is_parameter:
        return metric.definition.parameters[switch.rule].words.get(str(switch.value), str(switch))
    return _WORDS[str(switch)]


def detail(switch: Switch, judged: JudgedRun, query: int, metric: Metric) -> str:
    """Return what a rule applies to in a query; an empty string if there is nothing to show."""
    acts_on = (
        metric.definition.parameters[switch.rule].acts_on if switch.is_parameter else _ACTS_ON.get(switch.rule, "")
    )
    return _DETAILS[acts_on](judged, query, metric) if acts_on else ""


def _repeated(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001  (they share one signature)
    again = judged.repeats.document[judged.repeats.query == query]
    hits = again[again >= 0]
    if not len(hits):
        return f"{len(again)} of its places hold repeated documents" if len(again) else ""
    relevant = hits[judged.qrels.document_grade[hits] > 0]
    document = int((relevant if len(relevant) else hits)[0])
    times = int((hits == document).sum()) + 1
    return f"document {judged.qrels.documents[document]!r} is retrieved {_times(times)}"


def _tied(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    items = judged.items
    here = np.flatnonzero((items.query == query) & (items.tied > 1))
    if not len(here):
        return ""
    at = int(here[np.argmax(items.grade[here])])
    others = int(items.tied[at]) - 1
    return (
        f"document {judged.qrels.documents[int(items.document[at])]!r} has the same score as {_count(others, 'other')}"
    )


def _lengths(judged: JudgedRun, query: int, metric: Metric) -> str:
    relevant = int(judged.n_relevant()[query])
    retrieved = int(judged.n_retrieved[query])
    cut = "" if metric.k is None else f", k is {metric.k}"
    return f"{retrieved} retrieved, {relevant} relevant{cut}"


def _grades(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    start, end = judged.qrels.bounds[query], judged.qrels.bounds[query + 1]
    grades = sorted(judged.qrels.document_grade[start:end].tolist(), reverse=True)
    return f"its grades are {', '.join(f'{grade:g}' for grade in grades[:5])}{', ...' if len(grades) > 5 else ''}"  # noqa: PLR2004  (five are enough to see)


def _groups(judged: JudgedRun, query: int, metric: Metric) -> str:  # noqa: ARG001
    start, end = judged.qrels.bounds[query], judged.qrels.bounds[query + 1]
    return f"{_count(end - start, 'document')} in {_count(int((judged.qrels.group_query == query).sum()), 'group')}"


_ACTS_ON: Mapping[str, str] = {
    "repeats": "repeats",
    "ties": "ties",
    "scores": "ties",
    "groups": "groups",
    "negative": "grades",
    "grades": "grades",
}
"""What each field of `Rules` applies to in a query; parameters of metrics have `acts_on`."""

_DETAILS: Mapping[str, Callable[[JudgedRun, int, Metric], str]] = {
    "repeats": _repeated,
    "ties": _tied,
    "groups": _groups,
    "lengths": _lengths,
    "grades": _grades,
}


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"  # noqa: PLR2004  (English)


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
