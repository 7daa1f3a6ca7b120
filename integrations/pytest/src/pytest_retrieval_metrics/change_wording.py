"""Write the text of a failure, and of a baseline that was replaced, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.baseline_gates import BASELINE, NOW, better_queries, drop_p_value, worse_queries
from pytest_retrieval_metrics.gate_wording import share_causes
from retrieval_metrics import Metric
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_retrieval_metrics.baseline_gates import QueryChange
    from pytest_retrieval_metrics.verdicts import Verdict
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Difference, Explanation, Finding, QueryId

# The number of lines of a failure, unless more queries are asked for than by default.
MAX_LINES = 20

# The number of lines for queries that a failure has at least, however long the lines of metrics and the notes are.
MIN_QUERY_LINES = 2

# The number of queries that are shown by default.
DEFAULT_N_QUERIES = 5

# The number of relevant documents that are shown for a query.
MAX_DOCUMENTS = 4


def format_failure(
    evaluation: Evaluation,
    failed: Sequence[Verdict],
    comparison: Comparison | None,
    show: int,
    notes: Sequence[str] = (),
) -> str:
    """Return the whole text of a failure; its first line has a metric, the numbers and the verdict.

    It has at most `MAX_LINES` lines, unless more queries are asked for than by default. Queries are shown for the first
    failed metric alone, and for the first in which lower is better.
    """
    first_lines = share_causes([verdict.line for verdict in failed])
    heads = [_format_head(line, verdict.details) for line, verdict in zip(first_lines, failed, strict=True)]
    room = None
    if show <= DEFAULT_N_QUERIES:
        room = MAX_LINES - len(notes) - sum(map(len, heads))
        if room < MAX_LINES // 2:
            # The queries say more than the intervals of further metrics.
            heads[1:] = [_format_head(line, "") for line in first_lines[1:]]
            room = max(MAX_LINES - len(notes) - sum(map(len, heads)), MIN_QUERY_LINES)
    failed_queries = _FailedQueries(evaluation, failed, comparison, show)
    lines: list[str] = []
    shown_directions: set[bool] = set()  # the values of `higher_is_better` for which queries are shown
    for verdict, head in zip(failed, heads, strict=True):
        lines += head
        higher_is_better = _is_higher_better(verdict.metric)
        if higher_is_better in shown_directions or not show:
            continue
        query_lines = failed_queries.format(verdict, room)
        if query_lines:
            lines += query_lines
            shown_directions.add(higher_is_better)
            if room is not None:
                room = max(room - len(query_lines), MIN_QUERY_LINES)
    return "\n".join([*lines, *notes])


@dataclass(frozen=True, slots=True)
class _FailedQueries:
    """The queries behind the failed verdicts of a test.

    Attributes:
        evaluation: What was evaluated.
        failed: The verdicts.
        comparison: The comparison with the baseline; None without one.
        show: How many queries are shown for a verdict.
    """

    evaluation: Evaluation
    failed: Sequence[Verdict]
    comparison: Comparison | None
    show: int

    def format(self, verdict: Verdict, room: int | None) -> list[str]:
        """Return the lines of the queries that made a verdict fail: those that lost most, or the worst ones."""
        if verdict.difference is not None and self.comparison is not None:
            blocks = _loss_blocks(self.comparison, verdict.difference, self.show)
            return fit_blocks(blocks, len(worse_queries(verdict.difference)), "that got worse", room)
        if verdict.outcome not in {"below_floor", "above_ceiling"} or self._is_also_worse(verdict.metric):
            return []
        if verdict.queries:
            return _format_below_own_floor(self.evaluation, verdict, self.show, room)
        if _is_higher_better(verdict.metric):
            return _format_lowest(self.evaluation, verdict.metric, self.show, room)
        return _format_leaks(self.evaluation, verdict.metric, self.show, room)

    def _is_also_worse(self, metric: str) -> bool:
        """Return whether a metric also failed the comparison with the baseline, which shows its queries."""
        return any(verdict.metric == metric and verdict.outcome == "worse" for verdict in self.failed)


def _is_higher_better(metric: str) -> bool:
    return Metric.parse(metric).definition.higher_is_better


def _format_head(line: str, details: str) -> list[str]:
    """Return the line of a verdict, and one with its details if it has some; nothing if another line has both."""
    if not line:
        return []
    return [line, f"  {details}"] if details else [line]


def format_baseline_changes(shown_path: str, comparison: Comparison, show: int) -> list[str]:
    """Return lines on how a new baseline differs from the one it replaces: old and new means, and changed queries."""
    lines = [shown_path, *(f"  {note}" for note in comparison.notes)]
    texts = get_query_texts(comparison.evaluations[NOW])
    before = comparison.evaluations[comparison.baseline or ""]
    now = comparison.evaluations[NOW]
    for difference in comparison.differences:
        means = numbers.format_change(before.means[difference.metric], now.means[difference.metric])
        lines.append(
            f"  {difference.metric} {means} (p {numbers.format_p_value(drop_p_value(difference))}): "
            f"{len(worse_queries(difference))} worse, {len(better_queries(difference))} better of "
            f"{numbers.format_query_count(difference.n)}"
        )
    changed = [difference for difference in comparison.differences if not difference.identical]
    if changed:
        values = now.per_query[changed[0].metric]
        lines += _format_query_changes("worse", worse_queries(changed[0]), values, texts, show)
        lines += _format_query_changes("better", better_queries(changed[0]), values, texts, show)
    return lines


def _format_query_changes(
    direction: str,
    changes: Sequence[QueryChange],
    values: Mapping[QueryId, float],
    texts: Mapping[QueryId, str],
    show: int,
) -> list[str]:
    blocks = []
    for query, change in changes[:show]:
        value_change = numbers.format_change(values[query] - change, values[query])
        blocks.append([f"    {direction} {format_query(query, texts)}: {value_change}"])
    return fit_blocks(blocks, len(changes), direction, None)


def fit_blocks(blocks: Iterable[Sequence[str]], n: int, description: str, room: int | None) -> list[str]:
    """Return the lines of the blocks that fit, and a line on how many are left out.

    Args:
        blocks: The lines of each query.
        n: How many blocks there are in all, of which `blocks` may be the first.
        description: What the queries have in common, for the last line.
        room: How many lines there may be; None for any number.
    """
    lines: list[str] = []
    n_shown = 0
    for block in blocks:
        n_lines = len(lines) + len(block)
        if n_shown + 1 != n:
            n_lines += 1  # for the line on those that are left out
        if room is not None and n_lines > room:
            break
        lines += block
        n_shown += 1
    if n_shown == n:
        return lines
    if n_shown:
        return [*lines, f"  and {n - n_shown} more {description}"]
    return [f"  {n} queries {description}"]


def format_query(query: QueryId, texts: Mapping[QueryId, str]) -> str:
    """Return a query with its text, if that differs from its id."""
    text = texts.get(query, "")
    return str(query) if text in {"", query} else f"{query} ({text})"


def get_query_texts(evaluation: Evaluation) -> Mapping[QueryId, str]:
    """Return the texts of the questions, if they are known."""
    texts: Mapping[Any, str] = evaluation.scores.query_texts
    return texts


def _loss_blocks(comparison: Comparison, difference: Difference, show: int) -> Iterator[list[str]]:
    """Yield the lines of each query that lost most, with the old and new ranks of its relevant documents."""
    now = comparison.evaluations[NOW]
    values = now.per_query[difference.metric]
    texts = get_query_texts(now)
    is_explained = _can_explain(now, difference.metric) and _can_explain(
        comparison.evaluations[BASELINE], difference.metric
    )
    for query, change in worse_queries(difference)[:show]:
        head = f"  {format_query(query, texts)}: {numbers.format_change(values[query] - change, values[query])}"
        if not is_explained:
            yield [head]
            continue
        if not difference.higher_is_better:
            yield [head, *_leaked_lines(now.explain(query, difference.metric), difference.metric)]
            continue
        findings = comparison.evaluations[BASELINE].explain(query, difference.metric).findings
        ranks_before = {str(finding.document): finding.rank for finding in findings}
        yield [head, *_relevant_lines(now, query, difference.metric, ranks_before)]


def _can_explain(evaluation: Evaluation, metric: str) -> bool:
    """Return whether the rankings behind the values of a metric are known."""
    return evaluation.scores.origin is not None and not Metric.parse(metric).definition.is_given


def _format_worst_values(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    """Return the lines of the queries that are worse than the mean, the worst first, with their values alone."""
    mean = evaluation.means[metric]
    sign = Metric.parse(metric).definition.sign
    texts = get_query_texts(evaluation)
    values = evaluation.per_query[metric]
    worse = [query for query, value in values.items() if sign * value < sign * mean]
    worse.sort(key=lambda query: sign * values[query])
    blocks = [[f"  {format_query(query, texts)}: {numbers.format_value(values[query])}"] for query in worse[:show]]
    return fit_blocks(blocks, len(worse), "worse than the mean", room)


def _format_lowest(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    """Return the lines of the queries below the mean, the worst first, with the ranks of their relevant documents."""
    if not _can_explain(evaluation, metric):
        return _format_worst_values(evaluation, metric, show, room)
    worst = evaluation.worst(metric, show)
    if not worst.n:  # the verdict says that the metric is undefined
        return []
    mean = evaluation.means[metric]
    below_mean = [explained.query for explained in worst if explained.values[metric] < mean]
    # `worst` has only the queries that are shown; the line on the others counts all.
    n_below_mean = sum(value < mean for value in evaluation.per_query[metric].values())
    blocks = _value_blocks(evaluation, metric, below_mean)
    lines = fit_blocks(blocks, n_below_mean, "below the mean", None if room is None else room - 1)
    return [*lines, f"  all queries: {worst.summary}"]


def _format_below_own_floor(evaluation: Evaluation, verdict: Verdict, show: int, room: int | None) -> list[str]:
    """Return the lines of the queries that miss floors of their own, the worst first; undefined values come last."""
    values = evaluation.per_query[verdict.metric]
    queries = sorted(verdict.queries, key=lambda query: (isnan(values[query]), values[query]))
    blocks = _value_blocks(evaluation, verdict.metric, queries[:show])
    return fit_blocks(blocks, len(queries), "below their floors", room)


def _value_blocks(evaluation: Evaluation, metric: str, queries: Iterable[QueryId]) -> Iterator[list[str]]:
    """Yield for each query a line with its value, and if rankings are known one for each relevant document."""
    texts = get_query_texts(evaluation)
    values = evaluation.per_query[metric]
    is_explained = _can_explain(evaluation, metric)
    for query in queries:
        value = values[query]
        value_text = "undefined" if isnan(value) else numbers.format_value(value)
        lines = [f"  {format_query(query, texts)}: {value_text}"]
        if is_explained:
            lines += _relevant_lines(evaluation, query, metric, None)
        yield lines


def _format_leaks(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    """Return the lines of the queries with the highest values, with the documents that must not be retrieved."""
    if not _can_explain(evaluation, metric):
        return _format_worst_values(evaluation, metric, show, room)
    worst = evaluation.worst(metric, show)
    texts = get_query_texts(evaluation)
    blocks = (
        [
            f"  {format_query(explained.query, texts)}: {numbers.format_value(explained.values[metric])}",
            *_leaked_lines(explained, metric),
        ]
        for explained in worst
    )
    return fit_blocks(blocks, worst.n_imperfect or 0, "like these", room)


def _leaked_lines(explanation: Explanation, metric: str) -> Iterator[str]:
    """Yield a line for each forbidden document that was retrieved; without one, for each document.

    A question without forbidden documents counts here because it has no answer, so no document should be retrieved.
    """
    max_grade = float(dict(Metric.parse(metric).parameters).get("grade", 0))
    leaked = [forbidden for forbidden in explanation.forbidden if (forbidden.grade or 0) <= max_grade]
    documents = leaked or explanation.results
    for document in documents[:MAX_DOCUMENTS]:
        note = explanation.standing_note(document) if leaked else "for an unanswerable question"
        yield f"      {document.label} at rank {document.rank}, {note}"
    if len(documents) > MAX_DOCUMENTS:
        yield f"      and {len(documents) - MAX_DOCUMENTS} more"


def _relevant_lines(
    evaluation: Evaluation, query: QueryId, metric: str, ranks_before: Mapping[str, int | None] | None
) -> Iterator[str]:
    """Yield a line for each relevant document, and one for all alternatives of a group."""
    groups: dict[tuple[int, ...], list[Finding]] = {}
    for finding in evaluation.explain(query, metric).findings:
        key = finding.groups
        if not key:
            key = (-len(groups) - 1,)  # a document in no group stands alone; the numbers of groups are not negative
        groups.setdefault(key, []).append(finding)
    for alternatives in islice(groups.values(), MAX_DOCUMENTS):
        finding = _best_ranked(alternatives, ranks_before or {})
        place = _format_place(finding)
        if ranks_before is not None:
            place = _format_rank_before(alternatives, ranks_before) + _format_place_now(finding, place)
        yield f"      {finding.label} (grade {finding.grade:g}): {place}"
    if len(groups) > MAX_DOCUMENTS:
        yield f"      and {len(groups) - MAX_DOCUMENTS} more relevant"


def _format_place(finding: Finding) -> str:
    """Return the rank of a document, with its outcome if that is more than found."""
    if finding.rank is None:
        return finding.detail
    if finding.kind == "found":
        return f"at rank {finding.rank}"
    return f"at rank {finding.rank}, {finding.detail}"


def _format_place_now(finding: Finding, place: str) -> str:
    """Return the place of a document in distinction from its place before."""
    if finding.kind == "empty_ranking":
        return "this query now has no results"
    if finding.kind == "retriever_error":
        return place
    return f"now {place}"


def _best_ranked(alternatives: Sequence[Finding], ranks_before: Mapping[str, int | None]) -> Finding:
    """Return the document with the best rank now; if none has a rank, the one with the best rank before."""

    def rank_now_and_before(finding: Finding) -> tuple[float, float]:
        return finding.rank or inf, ranks_before.get(str(finding.document)) or inf

    return min(alternatives, key=rank_now_and_before)


def _format_rank_before(alternatives: Sequence[Finding], ranks_before: Mapping[str, int | None]) -> str:
    ranks = []
    for finding in alternatives:
        rank = ranks_before.get(str(finding.document))
        if rank is not None:
            ranks.append(rank)
    return f"was at rank {min(ranks)}; " if ranks else "was not retrieved; "
