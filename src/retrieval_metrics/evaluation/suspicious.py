"""Warn of what is suspicious in what was retrieved: numbers of such data are right, and may not be what was meant."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

from retrieval_metrics.checks import RetrievalWarning, argument, in_python
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.results.counts import NOTHING_FOUND, OTHER_IDS, failed_queries
from retrieval_metrics.results.scores import said_of_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.places import Doubt
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric

_DOUBTS: Mapping[Doubt, str] = {
    "no offsets": "without offsets",
    "unchecked": "with offsets that a framework recorded and nothing confirms",
    "wrong length": "with offsets that do not fit their text",
    "not in the source": "whose text is not in their source",
    "another source": "of a run in which no source is a judged one, as after two splitters",
}


def warn_of_run(scores: Scores, stacklevel: int) -> None:
    """Warn of what makes the scores of a run doubtful: what is missing, unplaced, hidden, or of another id.

    Args:
        scores: The scores.
        stacklevel: Which caller the warnings name, as in `warnings.warn`.
    """
    origin = scores.needed_origin("warned of")
    judged, run = origin.judged, origin.run
    counts, rules = scores.counts, scores.rules
    if counts["missing"]:
        first = judged.qrels.queries[int((judged.n_retrieved == 0).argmax())]
        treatment = "they score 0" if rules.missing == "zero" else "those not in the run are left out"
        warnings.warn(
            f"nothing was retrieved for {counts['missing']} of {counts['queries']} judged queries, for example "
            f"{first!r}; {treatment}{_said_of_failures(failed_queries(judged, run))}",
            RetrievalWarning,
            stacklevel=stacklevel,
        )
    warn_of_unplaced(judged, stacklevel=stacklevel + 1)
    if scores.clusters is not None and not scores.clusters.by_source:
        for said in said_of_few(scores.clusters):
            warnings.warn(said, RetrievalWarning, stacklevel=stacklevel)
    if hidden := hidden_calls(scores.metrics, run):
        warnings.warn(hidden, RetrievalWarning, stacklevel=stacklevel)
    # Without results, and with those that are unplaced, the reason was said above.
    if judged.is_empty and judged.n_retrieved.any() and not judged.unplaced:
        hint = (
            "do the items have the texts, sources and offsets that the judgments need?"
            if judged.qrels.has_pieces
            else OTHER_IDS
        )
        warnings.warn(
            f"{NOTHING_FOUND}; {hint} The qrels have, for example, {judged.qrels.documents[:3]!r}",
            RetrievalWarning,
            stacklevel=stacklevel,
        )


def _said_of_failures(errors: Mapping[QueryId, Exception]) -> str:
    if not errors:
        return ""
    query, error = next(iter(errors.items()))
    return f"; the retriever failed for {len(errors)} of them, for example {query!r}: {type(error).__name__}: {error}"


def warn_of_unplaced(judged: JudgedRun, stacklevel: int) -> None:
    """Warn if spans could not be looked for in some items: how many, why, and what to pass.

    Args:
        judged: The judged run.
        stacklevel: Which caller the warning names, as in `warnings.warn`; 2 is the caller of this function.
    """
    if judged.doubtful:
        warnings.warn(
            f'{len(judged.doubtful)} spans cut words of their sources as they stand, but would not if "\\r\\n" and '
            f'"\\n" were of one length; for example {judged.doubtful[0]!r}. Pass the texts that they were written '
            f"against as {argument('documents')}, or put a Quote beside each span, which settles it",
            RetrievalWarning,
            stacklevel=stacklevel,
        )
    if not judged.unplaced:
        return
    numbers = Counter(one.doubt for one in judged.unplaced)
    reasons = ", ".join(f"{numbers[doubt]} {said}" for doubt, said in _DOUBTS.items() if numbers[doubt])
    first = judged.unplaced[0]
    what = in_python("the texts by source or the documents of the framework", "what they were cut from")
    advice = f"pass {argument('documents')}, {what}, and they are found by their texts"
    if numbers["not in the source"] == len(judged.unplaced):
        advice = "look at how their texts were changed, or judge by Quote"
    nothing = ", nor is anything else judged, so every metric is 0" if judged.is_empty else ""
    warnings.warn(
        f"the place of {len(judged.unplaced)} retrieved items is unknown, so no span was found in them{nothing}: "
        f"{reasons}; for "
        f"example {first.document!r} for query {first.query!r} ({first.doubt}). To place them, {advice}",
        RetrievalWarning,
        stacklevel=stacklevel,
    )


def hidden_calls(metrics: Iterable[Metric], run: object) -> str:
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
