"""What is said about evaluations: every function takes finished records or numbers, and returns text."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.numbers import format_count, format_query_count, join_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.chance import Chance
    from retrieval_metrics.evaluation.judged_results import Result
    from retrieval_metrics.evaluation.outcome_facts import OutcomeFacts
    from retrieval_metrics.evaluation.outcomes import Outcome
    from retrieval_metrics.statistics import Interval


# Explanations: what became of what a query needs, and what came back instead.

OUTCOME_LABELS: Mapping[Outcome, str] = {
    "lost_tie": "lost a tie",
    "behind_duplicates": "behind repeats",
    "behind_same_document": "behind chunks of one document",
    "below_cutoff": "beyond the cut-off",
    "over_budget": "beyond the budget",
    "id_granularity": "another granularity",
    "not_retrieved": "never retrieved",
    "empty_ranking": "nothing retrieved",
    "retriever_error": "the retriever failed",
    "found": "found",
    "alternative_found": "not needed",
    "cutoff_full": "no room",
}

NO_RELEVANT_DOCUMENT = "no document is relevant to this query"
NOTHING_MISSING = "nothing missing, ranked low"


def format_outcome(facts: OutcomeFacts) -> str:
    """Return what became of one relevant document, with its numbers."""
    match facts.kind:
        case "found":
            return "found"
        case "alternative_found":
            return "not needed: an alternative was found"
        case "cutoff_full":
            limit = facts.k if facts.budget is None else facts.budget.in_words
            return f"no room: the first {limit} are as relevant"
        case "lost_tie":
            return f"lost a tie: {facts.n_tied} documents have its score, from rank {facts.first_tied_rank} on"
        case "behind_duplicates":
            return f"behind {format_count(facts.n_duplicates_above, 'repeated document')}"
        case "behind_same_document":
            return _format_sibling_chunks(facts)
        case "below_cutoff":
            return f"beyond the cut-off {facts.k}"
        case "over_budget":
            return _format_over_budget(facts)
        case "id_granularity":
            return f"its id occurs nowhere in the run, but {facts.related_id!r} does, at rank {facts.related_id_rank}"
        case "not_retrieved":
            return f"never retrieved; the ranking has {format_count(facts.n_retrieved, 'document')}"
        case "empty_ranking":
            return "nothing was retrieved for this query"
        case "retriever_error":
            return f"the retriever failed: {type(facts.error).__name__}: {facts.error}"


def _format_sibling_chunks(facts: OutcomeFacts) -> str:
    text = f"behind {format_count(facts.n_sibling_chunks, 'further chunk')} of {facts.sibling_document}"
    if facts.n_other_sibling_chunks:
        text += f" and {facts.n_other_sibling_chunks} of other documents"
    return text


def _format_over_budget(facts: OutcomeFacts) -> str:
    budget = facts.budget
    assert budget is not None  # noqa: S101  (nothing is over a budget without one)
    if budget.unit == "calls":
        return f"beyond the first {budget.in_words}: call {facts.item_lengths[-1]} found it"
    return f"does not fit into the first {budget.in_words}: it ends at {sum(facts.item_lengths):,}"


def format_partial_match(ranks: Sequence[int]) -> str:
    """Return which results hold a part of what no result holds whole."""
    named = join_names([str(rank) for rank in ranks])
    if len(ranks) == 1:
        return f"not retrieved whole: rank {named} holds a part of it"
    return f"not retrieved whole: ranks {named} hold a part of it"


def format_standing(leaked: Result, first_relevant_below: Result | None) -> str:
    """Return above which relevant result something forbidden stands, and where it comes from, if that is known."""
    standing = "above nothing relevant"
    if first_relevant_below is not None:
        standing = f"above {first_relevant_below.label} at rank {first_relevant_below.rank}"
    if leaked.source in {None, leaked.label}:
        return standing
    return f"from {leaked.source}, {standing}"


def format_forbidden(leaked: Result, standing: str) -> str:
    """Return what came back and must not, with where it stands."""
    return f"must not come back: {leaked.label} at rank {leaked.rank}, {standing}"


def format_call(place: tuple[int, int] | None) -> str:
    """Return which call of an agent found a result, and its rank there."""
    if place is None:
        return "no call"
    call, rank = place
    return f"call {call}, rank {rank}"


def format_query_value(value: float) -> str:
    """Return the value of a metric for one query."""
    return "undefined" if isnan(value) else numbers.format_value(value)


def format_with_text(label: str, text: str | None, length: int) -> str:
    """Return the label of a document with its text, shortened; a label in quotation marks is a text already."""
    if text and not label.startswith("\u201c"):
        label = f"{label}: {text}"
    return shorten(label, length)


def format_outcome_counts(counts: Mapping[Outcome, int]) -> str:
    """Return how often each outcome occurs: `2 never retrieved, 1 lost a tie`."""
    return ", ".join(f"{count} {OUTCOME_LABELS[kind]}" for kind, count in counts.items())


def format_failures(failures: Mapping[Outcome, int], n_needed: int, unit: str) -> str:
    """Return the failures of all queries: `12 of 17 failures: never retrieved; 5: beyond the cut-off`."""
    n_failures = sum(failures.values())
    if not n_failures:
        return f"no failures: {format_count(n_needed, f'needed {unit}')} found"
    parts = [f"{count:,}: {OUTCOME_LABELS[kind]}" for kind, count in failures.items()]
    (most_frequent, count), *_ = failures.items()
    parts[0] = f"{count:,} of {format_count(n_failures, 'failure')}: {OUTCOME_LABELS[most_frequent]}"
    return "; ".join(parts)


def format_imperfect(metric: str, n_imperfect: int, n_queries: int) -> str:
    """Return how many queries do not have the best value of a metric in which lower is better."""
    return f"{metric} is not at its best in {n_imperfect:,} of {format_query_count(n_queries)}"


def format_missing(n_missing: int, n_needed: int, unit: str, n_queries: int) -> str:
    """Return how much of what all queries need is missing."""
    return f"over {format_query_count(n_queries)}, {n_missing:,} of {n_needed:,} needed {unit}s are missing"


def format_all_perfect(metric: str) -> str:
    """Return that no query can be worse than another."""
    return f"every query has the best possible {metric}"


# Stages: which step of a retriever lost what is needed.

# By fate; the step follows those that end with "by".
LOSS_LABELS: Mapping[str, str] = {
    "cutoff_full": "no room",
    "not_retrieved": "never retrieved",
    "dropped": "dropped by",
    "below_cutoff": "ranked low by",
}

NO_STAGES = (
    "the run does not tell the steps of its retriever; let the function that is asked return what it held after each, "
    "{'bm25': found, 'reranked': reranked}, or write rm.RetrievedRun(run, stages={'bm25': run_a, 'reranked': run})"
)


def format_loss(column: str) -> str:
    """Return a column of losses as it is printed.

    Example:
        >>> format_loss("dropped:fused"), format_loss("not_retrieved")
        ('dropped by fused', 'never retrieved')
    """
    fate, _, stage = column.partition(":")
    label = LOSS_LABELS.get(fate, fate)
    return f"{label} {stage}" if stage else label


def format_losses(losses: Mapping[str, int]) -> str:
    """Return how much each step lost, the largest loss first."""
    return f"by step: {'; '.join(f'{count:,} {format_loss(column)}' for column, count in losses.items())}"


def format_stage_flow(found_share: float) -> str:
    """Return the title of the picture of what each step leaves."""
    return f"{100 * found_share:.1f} % of what is needed is found; what each step leaves of it, and loses"


def format_sources(first_stages: Sequence[str]) -> str:
    """Return which steps retrieve."""
    return f"sources, which lose nothing: {', '.join(first_stages)}"


# The rule by which sources are found where the inputs of steps are not recorded.
ASSUMED_SOURCES = (
    "the sources are assumed: the first step, and each whose missing documents come back later from an earlier step; "
    "losses(metric, sources=[...]) overrides this"
)


def format_chance(chance: Chance) -> str:
    """Return whether a mean is better than that of the same rankings dealt to other queries."""
    mean = f"{chance.metric} {numbers.format_value(chance.mean)}"
    dealt = f"{numbers.format_value(chance.chance_mean)}, that of the same rankings dealt to other queries at random"
    figures = f"p {numbers.format_p_value(chance.p)}, {numbers.format_query_count(chance.n)}"
    if chance.is_better:
        return f"{mean} is better than {dealt} ({figures})"
    return f"{mean} is not better than {dealt} ({figures}); the system may ignore the query"


def format_ceiling(metric: str) -> str:
    """Return what the column of ceilings holds."""
    return f"{metric} at most: with what the step holds in the best order"


def format_unreached(stages: Sequence[str]) -> str:
    """Return which steps no question reached."""
    return f"no question reached {', '.join(stages)}"


# Reports: what a page says of its numbers, and what it leaves out.

# What the columns of every report mean.
COLUMN_MEANINGS = {
    "mean": "the mean of the metric over all queries for which it is defined.",
    "n": "how many queries that is.",
    "found": "how much of what a query needs is among its first results.",
}


def format_metric_mean(
    metric: str, mean: float, interval: Interval, n_queries: int, value_counts: Mapping[str, int] | None
) -> str:
    """Return the mean of a metric, with the numbers of queries at 0 and of perfect ones where 0 is a failure."""
    text = f"{metric} is {numbers.format_mean(mean, interval)} over {format_query_count(n_queries)}"
    if value_counts is None:
        return f"{text}."
    perfect = f" and {value_counts['perfect']:,} perfect" if "perfect" in value_counts else ""
    return f"{text}, of which {value_counts['0']:,} are 0{perfect}."


def format_system_value(system: str, value: float | None) -> str:
    """Return the value of a query, after the name of its system if there are several."""
    text = "-" if value is None else numbers.format_value(value)
    return f"{system} {text}" if system else text


def format_unjudged(unjudged_shares: Mapping[str, float], k: int, *, is_condensed: bool) -> str:
    """Return how many of the first `k` results of each system are unjudged, and what became of these."""
    results = f"the first {format_count(k, 'result')}"
    if list(unjudged_shares) == [""]:
        text = f"{100 * unjudged_shares['']:.0f} % of {results}"
    else:
        shares = [f"{100 * share:.0f} % of {system}" for system, share in unjudged_shares.items()]
        text = f"Of {results}, {join_names(shares)}"
    treated = "were taken out of the rankings" if is_condensed else "count as not relevant"
    return f"{text} are unjudged; they {treated}."


def format_missing_details(n_detailed: int, n_queries: int) -> str:
    """Return for how many queries a page holds only the values; nothing if for none."""
    if n_detailed == n_queries:
        return ""
    return (
        f"What was needed and what came back is here for {format_query_count(n_detailed)}: those with the lowest "
        "values, or that moved most. Of the others, only the values."
    )


def format_left_out_queries(n_shown: int, n_queries: int) -> str:
    """Return how many queries a page holds, if it cannot hold all."""
    return f"This page holds {n_shown:,} of {n_queries:,} queries: those with the lowest values, or that moved most."


def format_shortened_texts(length: int) -> str:
    """Return from which length on the texts of a page are shortened."""
    return f"Texts of more than {length:,} characters are shortened, around the needed words if there are any."
