"""What a change means: the text of a failure, and what an update may store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.gates import (
    BASELINE,
    NOW,
    Verdict,
    best_path,
    best_paths,
    better_queries,
    compare_with_baseline,
    drop_p_value,
    regression_gate,
    worse_queries,
    write_baseline,
)
from pytest_retrieval_metrics.settings import ALL_METRICS
from retrieval_metrics import Metric
from retrieval_metrics.integration_api.text import numbers, save_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from pytest_retrieval_metrics.gates import Baseline
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Difference, Explanation, Finding, QueryId

HINT = "the baseline was not replaced; --retrieval-accept-worse={} accepts this"
STAYS = (
    "the baseline was not replaced: nothing is stored below its floor, or where the retriever failed or found nothing"
)


def check_approval(
    evaluation: Evaluation, verdicts: Sequence[Verdict], metrics: Iterable[str], accepted: AbstractSet[str]
) -> tuple[list[Verdict], str]:
    """Return the verdicts before a baseline is written, and why it may not be; an empty text if it may.

    A loss is accepted in these metrics.
    """
    failed, found = evaluation.counts["failed"], list(verdicts)
    if failed:
        figures = f"the retriever failed for {failed} of {numbers.format_query_count(evaluation.counts['queries'])}"
        found.insert(0, Verdict(metric=next(iter(metrics)), outcome="not_stored", figures=figures))
    never = {"below_floor", "above_ceiling", "not_checked", "not_measured", "not_stored"}
    lost = dict.fromkeys(one.metric for one in found if one.outcome == "worse")
    stays = never & {one.outcome for one in found}
    if stays or not accepted >= set(lost):
        left = STAYS if stays else HINT.format(",".join(lost))
        return [one for one in found if one.outcome in {*never, "worse", "passed"}], left
    compared_to = {verdict.metric: verdict for verdict in found if verdict.difference is not None}
    return [
        replace(
            compared_to.get(metric, Verdict(metric=metric, outcome="stored")), outcome="stored", said="", fails_at=inf
        )
        for metric in metrics
    ], ""


def read_accepted_losses(metrics: Iterable[str], called: Collection[str], settings: Settings) -> set[str]:
    """Return the metrics of a check, which is called so, in which a loss is accepted."""
    names = set(settings.accept_worse)
    if ALL_METRICS in names or not names.isdisjoint(called):
        return set(metrics)
    for name in settings.accept_worse:
        with suppress(ValueError):  # the name of another check
            names.add(str(Metric.parse(name)))
    return names & set(metrics)


def store_baseline(
    baseline: Baseline,
    evaluation: Evaluation,
    comparison: Comparison | None,
    found: Sequence[Verdict],
    labels: Mapping[str, str | int],
    *,
    show: int,
) -> list[str]:
    """Write a baseline that the verdicts found let pass, and return lines on what it replaces."""
    if baseline.known is None:
        forget_best(baseline.path)
    else:
        keep_best(evaluation, baseline, found)
    written = write_baseline(baseline.path, evaluation, labels)
    if baseline.known is None:
        return [f"{baseline.where}: new"]
    if comparison is None:
        return [f"{baseline.where}: replaced; nothing of it could be compared"]
    return _changes(baseline.where, comparison, show) if written else []


def _changes(where: str, comparison: Comparison, show: int) -> list[str]:
    """Return lines on how a new baseline differs from the one it replaces: old and new means, and changed queries."""
    lines = [where, *(f"  {note}" for note in comparison.notes)]
    texts = get_query_texts(comparison.evaluations[NOW])
    before, now = (comparison.evaluations[name] for name in (comparison.baseline or "", NOW))
    for each in comparison.differences:
        means = numbers.change(before.means[each.metric], now.means[each.metric])
        lines.append(
            f"  {each.metric} {means} (p {numbers.p_value(drop_p_value(each))}): {len(worse_queries(each))} lost, "
            f"{len(better_queries(each))} won of {numbers.format_query_count(each.n)}"
        )
    moved = next((each for each in comparison.differences if not each.identical), None)
    if moved is not None:
        values = now.per_query[moved.metric]
        for how, found in (("lost", worse_queries(moved)), ("won", better_queries(moved))):
            blocks = (
                [f"    {how} {named(query, texts)}: {numbers.change(values[query] - change, values[query])}"]
                for query, change in found[:show]
            )
            lines += fit_blocks(blocks, len(found), how, None)
    return lines


def compare_with_best(evaluation: Evaluation, baseline: Baseline, settings: Settings, alpha: float) -> list[Verdict]:
    """Return the verdict of each metric against its own best approved baseline, so that small drops add up."""
    verdicts = []
    for metric in map(str, evaluation.metrics):
        best = baseline.best.get(kept := best_path(baseline.path, metric))
        if best is None:
            continue
        try:
            comparison = compare_with_baseline(evaluation, best, alpha)
        except ValueError:  # no question is the same
            continue
        found = regression_gate(evaluation, comparison, kept.name, settings)
        verdicts += [one for one in found if one.metric == metric]
    return verdicts


def select_worse_than_best(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return what is said of the metrics that are worse than in their best approved baselines."""
    return [
        replace(one, figures=f"than the best approved baseline: {one.figures}", difference=None)
        for one in verdicts
        if one.outcome == "worse"
    ]


def keep_best(evaluation: Evaluation, baseline: Baseline, found: Sequence[Verdict]) -> None:
    """Keep the best approved baseline of each metric before another one replaces it."""
    # It stays as it is unless the new one is significantly better in this metric, or worse (which was accepted), or
    # cannot be compared with it; then the new one is the best. The last verdicts are those against the best.
    of_metric = {one.metric: one for one in found if one.difference is not None}
    accepted = {one.metric for one in found if one.outcome == "worse"}
    for metric in map(str, evaluation.metrics):
        kept, one = best_path(baseline.path, metric), of_metric.get(metric)
        difference = None if one is None or one.outcome == "not_compared" else one.difference
        if difference is None or metric in accepted or (difference.significant and difference.gain > 0):
            kept.unlink(missing_ok=True)
        elif kept not in baseline.best and not difference.identical:
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_text(kept, baseline.path.read_text(encoding="utf-8"))
    _without_empty(kept.parent)


def forget_best(path: Path) -> None:
    """Remove the best approved baselines, and their folder if it is empty."""
    for kept in best_paths(path):
        kept.unlink()
    _without_empty(best_path(path, "").parent)


def _without_empty(folder: Path) -> None:
    for one in (folder, folder.parent):
        if one.is_dir() and not any(one.iterdir()):
            one.rmdir()


LINES = 20
"""The number of lines of a failure, unless more queries are asked for than usual."""
DEFAULT_N_LINES = 5
"""The number of queries that are shown if nothing else is said."""
DOCUMENTS = 4
"""The number of relevant documents that are shown for a query."""


def format_failure(
    evaluation: Evaluation,
    failed: Sequence[Verdict],
    comparison: Comparison | None,
    show: int,
    notes: Sequence[str] = (),
) -> str:
    """Return the whole text of a failure; its first line has a metric, the numbers and the verdict."""
    # It has at most `LINES` lines, unless more queries are asked for than `USUAL`. A query is told of once, for the
    # first metric in which it failed.
    heads = [[verdict.line, *([f"  {verdict.said}"] if verdict.said else [])] for verdict in failed]
    room = LINES - len(notes) - sum(map(len, heads)) if show <= DEFAULT_N_LINES else None
    if room is not None and room < LINES // 2:  # the queries say more than the intervals of further metrics
        heads[1:] = [[verdict.line] for verdict in failed[1:]]
        room = max(LINES - len(notes) - sum(map(len, heads)), 2)
    worse = {verdict.metric for verdict in failed if verdict.outcome == "worse"}
    lines, told = [], set[bool]()  # what must come back, and what must not, are told of apart
    for verdict, head in zip(failed, heads, strict=True):
        lines += head
        rises, found = Metric.parse(verdict.metric).definition.higher_is_better, list[str]()
        if rises in told or not show:
            continue
        if verdict.difference is not None and comparison is not None:
            blocks, more = _lost(comparison, verdict.difference, show), len(worse_queries(verdict.difference))
            found = fit_blocks(blocks, more, "that got worse", room)
        elif verdict.outcome in {"below_floor", "above_ceiling"} and verdict.metric not in worse:
            found = (_worst if rises else _leaks)(evaluation, verdict.metric, show, room)
        if found:
            lines += found
            told.add(rises)
            room = None if room is None else max(room - len(found), 2)
    return "\n".join([*lines, *notes])


def fit_blocks(blocks: Iterable[Sequence[str]], n: int, what: str, room: int | None) -> list[str]:
    """Return the blocks that fit into so many lines, and a line on how many of all are left out."""
    lines: list[str] = []
    shown = 0
    for block in blocks:
        last = shown + 1 == n
        if room is not None and len(lines) + len(block) + (not last) > room:
            break
        lines += block
        shown += 1
    return lines if shown == n else [*lines, f"  and {n - shown} more {what}" if shown else f"  {n} queries {what}"]


def named(query: QueryId, texts: Mapping[QueryId, str]) -> str:
    """Return a query with its text, if that differs from its id."""
    text = texts.get(query, "")
    return str(query) if text in {"", query} else f"{query} ({text})"


def get_query_texts(evaluation: Evaluation) -> Mapping[QueryId, str]:
    """Return the texts of the questions, if they are known."""
    return evaluation.scores.require_origin("shown").judged.qrels.texts


def _lost(comparison: Comparison, difference: Difference, show: int) -> Iterator[list[str]]:
    """Yield the lines of each query that lost most: where its relevant documents were and are."""
    now = comparison.evaluations[NOW]
    values, texts = now.per_query[difference.metric], get_query_texts(now)
    for query, change in worse_queries(difference)[:show]:
        head = f"  {named(query, texts)}: {numbers.change(values[query] - change, values[query])}"
        if not difference.higher_is_better:
            yield [head, *_came_back(now.explain(query, difference.metric), difference.metric)]
            continue
        findings = comparison.evaluations[BASELINE].explain(query, difference.metric).findings
        before = {str(finding.document): finding.rank for finding in findings}
        yield [head, *_documents(now, query, difference.metric, before)]


def _worst(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    worst, texts = evaluation.worst(metric, show), get_query_texts(evaluation)
    low = [each for each in worst if each.values[metric] < evaluation.means[metric]]
    blocks = (
        [
            f"  {named(each.query, texts)}: {numbers.value(each.values[metric])}",
            *_documents(evaluation, each.query, metric, None),
        ]
        for each in low
    )
    lines = fit_blocks(blocks, len(low), "below the mean", None if room is None else room - 1)
    return [*lines, f"  all queries: {worst.summary}"]


def _leaks(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    """Return the queries that miss a ceiling, the worst first, with what came back and must not."""
    worst, texts = evaluation.worst(metric, show), get_query_texts(evaluation)
    blocks = (
        [f"  {named(each.query, texts)}: {numbers.value(each.values[metric])}", *_came_back(each, metric)]
        for each in worst
    )
    return fit_blocks(blocks, worst.n_imperfect or 0, "like these", room)


def _came_back(explained: Explanation, metric: str) -> Iterator[str]:
    """Yield a line for each document that must not come back; for a question without an answer, for each document."""
    grade = float(dict(Metric.parse(metric).parameters).get("grade", 0))
    leaked = [one for one in explained.forbidden if (one.grade or 0) <= grade]
    for one in (found := leaked or explained.results)[:DOCUMENTS]:
        where = explained.standing_note(one) if leaked else "but there is no answer"
        yield f"      {one.label} at rank {one.rank}, {where}"
    if len(found) > DOCUMENTS:
        yield f"      and {len(found) - DOCUMENTS} more"


def _documents(
    evaluation: Evaluation, query: QueryId, metric: str, before: Mapping[str, int | None] | None
) -> Iterator[str]:
    """Yield a line for each relevant document, and one for all alternatives of a group."""
    groups: dict[tuple[int, ...], list[Finding]] = {}
    for finding in evaluation.explain(query, metric).findings:
        groups.setdefault(finding.groups or (-len(groups) - 1,), []).append(finding)
    was_at = {} if before is None else before
    for found in islice(groups.values(), DOCUMENTS):
        one = min(found, key=lambda each: (each.rank or inf, was_at.get(str(each.document)) or inf))
        ranks = [rank for each in found if (rank := was_at.get(str(each.document))) is not None]
        was = "" if before is None else f"was at rank {min(ranks)}; " if ranks else "was not retrieved; "
        place = "" if one.rank is None else f"rank {one.rank}, "
        yield f"      {one.label} (grade {one.grade:g}): {was}now {place}{one.detail}"
    if len(groups) > DOCUMENTS:
        yield f"      and {len(groups) - DOCUMENTS} more relevant"
