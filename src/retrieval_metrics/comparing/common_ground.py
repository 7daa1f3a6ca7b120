"""The queries and metrics that several evaluations share, and how they differ besides their rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import in_python
from retrieval_metrics.inputs.entries import judgments_fingerprint
from retrieval_metrics.keeping.document import differing_rules, match_said
from retrieval_metrics.presentation.numbers import queries as queries_said
from retrieval_metrics.results.counts import count, counts_of_given
from retrieval_metrics.scoring.definition import divides_by_largest_grade
from retrieval_metrics.scoring.metric import refuse_other_facts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric


def common_ground(
    scores: Mapping[str, Scores], metrics: tuple[Metric, ...] | None = None
) -> tuple[dict[str, Scores], tuple[Metric, ...], tuple[str, ...]]:
    """Return the scores on the queries that are the same in all evaluations, their common metrics, and what differs.

    Two queries are the same if their ids, their texts (if known) and their judgments are.

    Args:
        scores: The evaluations, by name.
        metrics: The metrics to compare; None takes all that they have in common.

    Raises:
        ValueError: If they were made under different rules, or have no query or no metric in common; the message says
            why.
    """
    (first_name, first), *others = scores.items()
    said: list[str] = []
    kept = list(_judged_queries(first))
    for name, other in others:
        _require_same_rules(first_name, first, name, other)
        if _same_truth(first, other):
            continue
        ours, theirs = set(_judged_queries(first)), set(_judged_queries(other))
        reworded, rejudged = _reworded(first, other), _rejudged(first, other)
        both, n = f"in {first_name!r} and {name!r}", len(ours & theirs)
        said += _said({f"only in {first_name!r}": ours - theirs}, len(ours))
        said += _said({f"only in {name!r}": theirs - ours}, len(theirs))
        said += _said({f"worded differently {both}": reworded, f"judged differently {both}": rejudged - reworded}, n)
        same = theirs - reworded - rejudged
        kept = [query for query in kept if query in same]
    if not kept:
        raise ValueError(
            f"there is no query that is the same in {', '.join(map(repr, scores))}: {' '.join(said)} Evaluate the "
            "saved rankings again with the current questions"
            + in_python(": evaluate(questions, rm.load(path).scores.origin.run)")
        )
    common, of_metrics = _common_metrics(scores, metrics)
    if said:
        said.append(f"Compared on {queries_said(len(kept))} that are the same in all.")
    return {name: _of(one, kept) for name, one in scores.items()}, common, (*said, *of_metrics)


def _judged_queries(scores: Scores) -> Sequence[QueryId]:
    """Return the judged queries, including those that the rules leave out because they are missing from the run."""
    return scores.queries if scores.origin is None else scores.origin.judged.qrels.queries


def _same_truth(one: Scores, other: Scores) -> bool:
    if one.origin is None or other.origin is None:
        return False
    return one.origin.judged.qrels is other.origin.judged.qrels


def _reworded(one: Scores, other: Scores) -> set[QueryId]:
    """Return the queries whose texts are known in both and differ."""
    ours, theirs = _texts(one), _texts(other)
    return {query for query in ours.keys() & theirs.keys() if ours[query] != theirs[query]}


def _texts(scores: Scores) -> Mapping[QueryId, str]:
    return {} if scores.origin is None else scores.origin.judged.qrels.texts


def _rejudged(one: Scores, other: Scores) -> set[QueryId]:
    """Return the queries whose judgments are known in both and differ."""
    if one.origin is None or other.origin is None:
        return set()
    ours, theirs = one.origin.judged.qrels, other.origin.judged.qrels
    if ours.same_columns(theirs):
        return set()
    found = set()
    for at, query in enumerate(ours.queries):
        if query in theirs.place:
            left, right = ours.judgments(at), theirs.judgments(theirs.place[query])
            # Equal values are equal judgments; unequal ones can be, as groups in another order are.
            if left != right and judgments_fingerprint(left) != judgments_fingerprint(right):
                found.add(query)
    return found


def _said(found: Mapping[str, Collection[QueryId]], of: int) -> list[str]:
    return [
        f"{len(which):,} of {queries_said(of)} {what}, such as {min(which, key=str)!r}."
        for what, which in found.items()
        if which
    ]


def _require_same_rules(one_name: str, one: Scores, other_name: str, other: Scores) -> None:
    differing = differing_rules(one.rules, other.rules)
    ours, theirs = match_said(one), match_said(other)
    if ours is not None and theirs is not None and ours != theirs:
        differing.append(f"match is {ours} and {theirs}")
    if differing:
        names = f" ({one.rules.name} and {other.rules.name})" if one.rules.name != other.rules.name else ""
        raise ValueError(
            f"evaluations under different rules cannot be compared: in {one_name!r} and {other_name!r}{names} "
            f"{'; '.join(differing)}. Evaluate the rankings of one again under the rules of the other"
        )


def _common_metrics(
    scores: Mapping[str, Scores], wanted: tuple[Metric, ...] | None
) -> tuple[tuple[Metric, ...], list[str]]:
    first = next(iter(scores.values()))
    said = []
    every = dict.fromkeys(metric for one in scores.values() for metric in one.metrics)
    for one in scores.values():
        refuse_other_facts(first.metrics, one.metrics)
    scales = {one.scale for one in scores.values()} - {None}
    common = []
    for metric in every if wanted is None else wanted:
        lacking = [name for name, one in scores.items() if metric not in one.metrics]
        if lacking:
            said.append(f"{metric} was not computed in {', '.join(map(repr, lacking))}.")
        elif len(scales) > 1 and divides_by_largest_grade(metric):
            said.append(f"{metric} divides by the largest grade, which differs, so it is left out.")
        else:
            common.append(metric)
    if not common:
        raise ValueError(f"the evaluations have no metric in common: {' '.join(said)}")
    return tuple(sorted(common, key=first.metrics.index)) if wanted is None else tuple(
        first.metrics[first.metrics.index(metric)] for metric in common
    ), said


def _of(scores: Scores, queries: list[QueryId]) -> Scores:
    """Return the scores of those of the queries that were scored."""
    wanted = set(queries)
    rows = np.array([at for at, query in enumerate(scores.queries) if query in wanted], dtype=np.int64)
    if len(rows) == len(scores.queries):
        return scores
    counts = scores.counts
    if scores.origin is None:
        if all(metric.definition.given for metric in scores.metrics):
            counts = counts_of_given(scores.values[rows])
    else:
        among = scores.positions[rows]
        counts = count(scores.origin.judged, scores.origin.run, scores.rules, kept=among, among=among)
    return scores.of(rows, counts)
