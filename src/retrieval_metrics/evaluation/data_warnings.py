"""What speaks against the data of an evaluation, and the cure: judgments and run meet here, whatever door they came by.

Numbers of such data are right, and may not be what was meant. `evaluate` warns of each doubt, a comparison begins with
what concerns a whole system, and where no system meets a judgment nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import argument_order_hint, format_argument, python_or_cli_text
from retrieval_metrics.evaluation.counts import (
    ID_MISMATCH_HINT,
    NOTHING_JUDGED_FOUND,
    expects_results,
    find_failed_queries,
)
from retrieval_metrics.evaluation.summary import few_clusters_notes
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.inputs.score_checks import is_increasing
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.matching.judged_columns import UnlocatedReason
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric

DoubtKind: TypeAlias = Literal[
    "swapped_arguments",
    "no_common_ids",
    "distances",
    "empty_rankings",
    "line_endings",
    "unlocated",
    "few_clusters",
    "cutoff_within_one_call",
]
OF_THE_WHOLE: tuple[DoubtKind, ...] = ("swapped_arguments", "no_common_ids", "distances")
"""What concerns every number of a system, so that its conclusions and its report begin with it."""


class DataWarning(NamedTuple):
    """Something that speaks against the data of an evaluation.

    Attributes:
        kind: What it is.
        message: What was seen, and what to write instead.
        is_blocking: Whether nothing may be decided on such data.
    """

    kind: DoubtKind
    message: str
    is_blocking: bool = False


def find_data_warnings(scores: Scores) -> list[DataWarning]:
    """Return what speaks against the data, the gravest first; nothing of scores that came without their run."""
    if scores.origin is None:
        return []
    judged, run = scores.origin.judged, scores.origin.run
    found = [DataWarning("swapped_arguments", _exchanged(judged, run)), _other_ids(scores.origin)]
    found += [DataWarning("distances", distances_note(judged, run)), _missing(scores)]
    found += find_location_warnings(judged)
    if scores.clusters is not None and not scores.clusters.by_source:
        found += [DataWarning("few_clusters", said) for said in few_clusters_notes(scores.clusters.count)]
    found.append(DataWarning("cutoff_within_one_call", find_hidden_calls(scores.metrics, run)))
    return [one for one in found if one.message]


def system_wide_warnings(scores: Mapping[str, Scores]) -> list[str]:
    """Return what speaks against the whole data of single systems, a sentence each."""
    return [
        f"{name}{': ' if name else ''}{one.message.removesuffix('?')}{'?' if one.message.endswith('?') else '.'}"
        for name, each in scores.items()
        for one in find_data_warnings(each)
        if one.kind in OF_THE_WHOLE or one.is_blocking
    ]


def require_judged_documents(scores: Mapping[str, Scores]) -> None:
    """Raise if no system retrieved a judged document for any query: what is 0 everywhere decides nothing.

    Raises:
        ValueError: If so; it says why, and what to write.
    """
    said = {name: [one.message for one in find_data_warnings(each) if one.is_blocking] for name, each in scores.items()}
    if said and all(said.values()):
        name, (first, *_) = next(iter(said.items()))
        raise ValueError(f"nothing can be decided on this data. In {name!r}: {first}")


# Judgments and run that were exchanged.

CHANCE = 1e-3
"""Scores that rise in all rankings are no accident if they would in fewer orders than this share of all."""
FEW_GRADES, MANY_GRADES = 5, 20
"""Judgments have few different grades, runs many different scores."""
MOSTLY, DIFFERENT = 0.9, 0.7
LOOKED_AT = 1000
"""The number of rankings that are looked at."""


def _exchanged(judged: JudgedRun, run: Mapping[Any, Any]) -> str:
    """Return that the judgments look like a run and the run like judgments; empty if one of them does not."""
    qrels = judged.qrels
    grades = qrels.document_grade
    fractional = grades % 1 != 0
    if not fractional.any() or not qrels.is_flat or fractional.sum() < MOSTLY * len(grades):
        return ""
    if not judged.n_retrieved.any():  # which says nothing of the run
        return ""
    of_queries = np.split(-grades, qrels.bounds[1:-1])
    apart = sum(len(np.unique(each)) for each in of_queries) >= DIFFERENT * len(grades)  # grades tie, scores seldom do
    fall, surely = (
        apart and is_increasing(of_queries, chance) for chance in (np.inf, CHANCE)
    )  # as scores in rank order do
    if not fall or (not surely and len(np.unique(grades)) < min(DIFFERENT * len(grades), MANY_GRADES)):
        return ""
    longer = bool(judged.n_retrieved.sum() < len(grades))
    rankings = [scores for each in islice(_scored(run), LOOKED_AT) if (scores := list(each))]
    if not rankings:
        if not longer or not surely:
            return ""
        what = "fall in the order given, and its lists are longer than those of the run"
    elif not _like_grades(rankings, shorter=longer):
        return ""
    else:
        largest = max(map(max, rankings))
        what = f"are fractions, as scores are, and the scores of the run are whole, such as {largest:g}"
    at = int(fractional.argmax())
    first = f"{grades[at]:g} of {qrels.documents[at]!r} for query {qrels.queries[int(qrels.document_query[at])]!r}"
    return f"judgments and run seem to be exchanged: grades such as {first} {what}; {argument_order_hint()}"


def _like_grades(rankings: list[list[float]], *, shorter: bool) -> bool:
    """Return whether scores are few whole numbers, with 0 among them or not in the order of a run."""
    seen = {float(score) for each in rankings for score in each}
    if len(seen) > FEW_GRADES or not all(map(float.is_integer, seen)):
        return False
    ranks = len(seen) > 1 and all(len(set(each)) == len(each) for each in rankings)  # turned into scores
    falling = ([-score for score in each] for each in rankings)
    return 0.0 in seen or not (ranks or is_increasing(falling, CHANCE if shorter else np.inf))


def _scored(run: Mapping[Any, Any]) -> Iterator[Iterable[float]]:
    """Yield the scores of each ranking that has some, in the order given."""
    if not isinstance(run, Run):
        yield from (ranking.values() for ranking in run.values() if isinstance(ranking, Mapping))
        return
    for batch in run.batches():
        if batch.scores is not None:
            yield from (part.tolist() for part in np.split(batch.scores, batch.bounds[1:-1]))


# Distances that were taken for scores.


def distances_note(judged: JudgedRun | None, run: Mapping[Any, Any]) -> str:
    """Return that the scores seem to be distances, from which the order given and the judgments speak; or nothing."""
    if not is_increasing(islice(_scored(run), LOOKED_AT), CHANCE):
        return ""
    if judged is not None:
        # Scores that were sorted upwards, as by argsort, rise too: then what is relevant is nearer to the top by score.
        relevant = judged.ranks.grade > 0
        query, rank = judged.ranks.query[relevant], judged.ranks.rank[relevant]
        if len(query) and (1 / rank).sum() >= (1 / (judged.n_retrieved[query] + 1 - rank)).sum():
            return ""
    return (
        "the scores of the run rise in the order given in every ranking, and the largest counts as the best: if they "
        "are distances, "
        + python_or_cli_text("pass {id: -distance}, or a list of ids, best first", "write -distance as the score")
    )


# Ids that never meet.

SHOWN = 3
"""The number of ids that are shown of each side."""
ITEMS_LOOKED_AT = 20
CUTS = [("/", 2), ("\\", 2), *((mark, 0) for mark in "#_-:@")]
"""Of a path the last part, of the id of a chunk the first, is often the id of a document."""


def _other_ids(origin: Origin) -> DataWarning:
    judged = origin.judged
    # What is unplaced has its own reason, and where nothing is relevant nothing has to be found.
    meets = not judged.is_empty or judged.unlocated or not judged.n_retrieved.any()
    if meets or not (judged.qrels.document_grade > 0).any():
        return DataWarning("no_common_ids", "")
    if judged.qrels.has_pieces:
        said = "do the items have the texts, sources and offsets that the judgments need? The qrels have, for example, "
        said += f"{judged.qrels.documents[:SHOWN]!r}"
    else:
        from retrieval_metrics.matching.ranking_order import as_matching  # noqa: PLC0415  (only where nothing was found)

        key = as_matching(origin.match).key
        compared = (key(item) if isinstance(item, Retrieved) else item for item in _items(origin))
        sides = [dict.fromkeys(judged.qrels.documents), dict.fromkeys(one for one in compared if one is not None)]
        ours, theirs = (numbers.join_names([*map(repr, ids)] or ["none"], SHOWN) for ids in sides)
        said = f"the judgments have {ours}, the run {theirs}; {_cure(origin, *sides)}"
    return DataWarning("no_common_ids", f"{NOTHING_JUDGED_FOUND}; {said}", is_blocking=True)


def _items(origin: Origin) -> Iterator[Any]:
    """Yield the first items of the first rankings, as they were given."""
    rankings = origin.run.rankings() if isinstance(origin.run, Run) else origin.run.items()
    judged = (ranking for query, ranking in rankings if query in origin.judged.qrels.place)
    for ranking in islice(judged, LOOKED_AT // ITEMS_LOOKED_AT):
        yield from islice(ranking, ITEMS_LOOKED_AT)


def _cure(origin: Origin, ids: Mapping[Any, None], seen: Mapping[Any, None]) -> str:
    """Return what to write so that the ids meet, if something of the items is a judged id; else a question."""
    if (other := next((one for one in seen if one in ids), None)) is not None:
        return f"{other!r} is judged, but for another query: do the query ids of both mean the same questions?"
    plain = {one.strip().casefold(): one for one in ids if isinstance(one, str)}
    nearly, names = "", {one.rpartition("/")[2]: one for one in ids if isinstance(one, str) and "/" in one}
    for item in _items(origin):
        for value, written, attribute in _values(item):
            if value in ids:
                return f"what was retrieved has the judged id {value!r}: pass {format_argument('match', written)}"
            if nearly or not isinstance(value, str):
                continue
            if (same := plain.get(value.strip().casefold())) is not None:
                nearly = f"{value!r} and {same!r} differ only in case or blanks"
            elif (path := names.get(value)) is not None:
                cure = python_or_cli_text("write name.rpartition('/')[2] for each judged id", "cut off the rest")
                by = "" if written == "id" else f", and pass {format_argument('match', written)}"
                nearly = f"{value!r} is the last part of the judged id {path!r}: {cure}{by}"
            elif cut := next((cut for cut in CUTS if value.rpartition(cut[0])[cut[1]] in ids), None):
                code = f"{attribute}.rpartition({cut[0]!r})[{cut[1]}]"
                cure = f"pass match=lambda {code}" if isinstance(item, Retrieved) else f"write {code} for each id"
                cure = python_or_cli_text(cure, "cut off the rest")
                nearly = f"a part of {value!r} is a judged id: {cure}"
    return nearly or ID_MISMATCH_HINT


def _values(item: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield what could be an id of an item, what to match by, and how Python reads it."""
    if not isinstance(item, Retrieved):
        yield item, "id", "id"
        return
    yield item.id, "id", "item: item.id"
    yield item.source, "source", "item: item.source"
    for name, value in (item.metadata or {}).items():
        if isinstance(value, (str, int)):
            yield value, f"metadata:{name}", f"item: item.metadata[{name!r}]"


# What is missing, unplaced or hidden.


def _missing(scores: Scores) -> DataWarning:
    counts, rules = scores.counts, scores.rules
    if not counts["missing"]:
        return DataWarning("empty_rankings", "")
    origin = scores.require_origin("warned of")
    judged, failed = origin.judged, find_failed_queries(origin.judged, origin.run)
    wanting = expects_results(judged, origin.run)
    first = judged.qrels.queries[int((wanting & (judged.n_retrieved == 0)).argmax())]
    treatment = "they score 0" if rules.missing == "zero" else "those not in the run are left out"
    of = f"{wanting.sum()}{'' if wanting.all() else ' answerable'}"  # where nothing is relevant, silence is right
    said = f"nothing was retrieved for {counts['missing']} of {of} judged queries, for example {first!r}; {treatment}"
    for query, error in islice(failed.items(), 1):
        said += (
            f"; the retriever failed for {len(failed)} of them, for example {query!r}: {type(error).__name__}: {error}"
        )
    return DataWarning("empty_rankings", said, is_blocking=not judged.n_retrieved.any())


_DOUBTS: Mapping[UnlocatedReason, str] = {
    "no offsets": "without offsets",
    "unchecked": "with offsets that a framework recorded and nothing confirms",
    "wrong length": "with offsets that do not fit their text",
    "not in the source": "whose text is not in their source",
    "another source": "of a run in which no source is a judged one, as after two splitters",
}


def find_location_warnings(judged: JudgedRun) -> list[DataWarning]:
    """Return that spans could not be looked for in some items: how many, why, and what to pass."""
    found = []
    if judged.line_ending_spans:
        said = (
            f'{len(judged.line_ending_spans)} spans cut words of their sources as they stand, but would not if "\\r\\n" and '
            f'"\\n" were of one length; for example {judged.line_ending_spans[0]!r}. Pass the texts that they were written '
            f"against, {format_argument('documents')}, or put a quote beside each span, which settles it"
        )
        found.append(DataWarning("line_endings", said))
    if not judged.unlocated:
        return found
    counted = Counter(one.reason for one in judged.unlocated)
    reasons = ", ".join(f"{counted[doubt]} {said}" for doubt, said in _DOUBTS.items() if counted[doubt])
    first = judged.unlocated[0]
    texts = python_or_cli_text("the texts by source or the documents of the framework", "what they were cut from")
    advice = f"pass {format_argument('documents')}, {texts}, and they are found by their texts"
    if counted["not in the source"] == len(judged.unlocated):
        advice = "look at how their texts were changed, or judge by Quote"
    nothing = ", nor is anything else judged, so every metric is 0" if judged.is_empty else ""
    said = (
        f"the place of {len(judged.unlocated)} retrieved items is unknown, so no span was found in them{nothing}: "
        f"{reasons}; for example {first.document!r} for query {first.query!r} ({first.reason}). To place them, {advice}"
    )
    return [*found, DataWarning("unlocated", said, is_blocking=bool(nothing))]


def find_hidden_calls(metrics: Iterable[Metric], run: object) -> str:
    """Return a sentence if one call fills a cut-off, so that the later ones cannot show in a metric; else nothing."""
    calls = run.calls if isinstance(run, RetrievedRun) else {}
    for k, metric in [(one.k, one) for one in metrics if isinstance(one.k, int)]:
        filled = [query for query, found in calls.items() if len(found) > k and found[0] == found[k - 1] != found[-1]]
        if filled:
            return (
                f"for {len(filled)} of {len(calls)} queries, for example {filled[0]!r}, one call alone fills the first "
                f"{k}, so {metric} sees nothing of the later calls; evaluate {metric.name}@ncalls, such as "
                f"{metric.name}@3calls, or the interleaved view"
            )
    return ""
