"""What is said about evaluations: every function takes finished records or numbers, and returns text."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics._internal.redaction import show_error
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


# Explanations: the outcome of each relevant document of a query, and the results.

OUTCOME_LABELS: Mapping[Outcome, str] = {
    "lost_tie": "lost to a tie-break",
    "behind_duplicates": "behind duplicates",
    "behind_same_document": "behind extra chunks",
    "below_cutoff": "below cutoff",
    "over_budget": "over budget",
    "id_granularity": "retrieved under a related ID",
    "dropped": "dropped by a stage",
    "not_retrieved": "not retrieved",
    "empty_ranking": "due to an empty ranking",
    "retriever_error": "due to a retriever error",
    "found": "found",
    "alternative_found": "alternative found",
    "cutoff_full": "cutoff full",
}

# With what a sentence ends.
SENTENCE_ENDS = (".", "!", "?", "…")

NO_RELEVANT_DOCUMENT = "no document is relevant to this query"
NOTHING_MISSING = "all found, ranked low"
NO_RESULT = "no results"
NOT_IN_ANY_STAGE = "not retrieved by any stage"


def format_outcome(facts: OutcomeFacts) -> str:
    """Return the outcome of one relevant document, with its numbers."""
    match facts.kind:
        case "found" | "alternative_found":
            return OUTCOME_LABELS[facts.kind]
        case "cutoff_full":
            return _format_full_cutoff(facts)
        case "lost_tie":
            return _format_lost_tie(facts)
        case "behind_duplicates":
            return f"behind {format_count(facts.n_duplicates_above, 'duplicate')}"
        case "behind_same_document":
            return _format_sibling_chunks(facts)
        case "below_cutoff":
            return f"below cutoff {facts.k}"
        case "over_budget":
            return _format_over_budget(facts)
        case "id_granularity":
            return f"ID not in the run, but {facts.related_id!r} is, at rank {facts.related_id_rank}"
        case "dropped":
            return f"dropped by {facts.stage}"
        case "not_retrieved":
            return _format_not_retrieved(facts.n_retrieved)
        case "empty_ranking":
            return "no results for this query"
        case "retriever_error":
            return f"the retriever failed: {show_error(facts.error or RuntimeError())}"


def _format_lost_tie(facts: OutcomeFacts) -> str:
    tied_documents = format_count(facts.n_tied - 1, "other document")
    last_tied_rank = facts.first_tied_rank + facts.n_tied - 1
    return f"lost to a tie-break: tied with {tied_documents} at ranks {facts.first_tied_rank} to {last_tied_rank}"


def _format_not_retrieved(n_retrieved: int) -> str:
    if n_retrieved == 1:
        return "not retrieved (only 1 result)"
    return f"not among the {n_retrieved:,} retrieved"


def _format_full_cutoff(facts: OutcomeFacts) -> str:
    if facts.budget is not None:
        return f"cutoff full: the results in the first {facts.budget.in_words} are at least as relevant"
    if facts.k == 1:
        return "cutoff full: the top result is at least as relevant"
    return f"cutoff full: the top {facts.k} are at least as relevant"


def _format_sibling_chunks(facts: OutcomeFacts) -> str:
    text = f"behind {format_count(facts.n_sibling_chunks, 'extra chunk')} of {facts.sibling_document}"
    if facts.n_other_sibling_chunks:
        text += f" and {facts.n_other_sibling_chunks} of other documents"
    return text


def _format_over_budget(facts: OutcomeFacts) -> str:
    budget = facts.budget
    assert budget is not None  # noqa: S101  (nothing is over a budget without one)
    if budget.unit == "calls":
        limit = "the first call" if budget.size == 1 else f"the first {budget.in_words}"
        return f"found by call {facts.item_lengths[-1]}, beyond {limit}"
    return f"exceeds the budget of {budget.in_words}: ends at {sum(facts.item_lengths):,}"


def format_partial_match(ranks: Sequence[int]) -> str:
    """Return which results contain a part of what no result contains whole."""
    named = join_names([str(rank) for rank in ranks])
    if len(ranks) == 1:
        return f"partly retrieved: rank {named} contains part of it"
    return f"partly retrieved: ranks {named} contain part of it"


def format_standing(leaked: Result, first_relevant_below: Result | None) -> str:
    """Return above which relevant result a forbidden document ranks, and its source, if known."""
    standing = "with no relevant result below it"
    if first_relevant_below is not None:
        standing = f"above {first_relevant_below.label} at rank {first_relevant_below.rank}"
    if leaked.source in {None, leaked.label}:
        return standing
    return f"from {leaked.source}, {standing}"


def format_forbidden(leaked: Result, standing: str) -> str:
    """Return which forbidden document was retrieved, with where it stands."""
    return f"forbidden document retrieved: {leaked.label} at rank {leaked.rank}, {standing}"


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
    """Return how often each outcome occurs: `2 not retrieved, 1 lost to a tie-break`."""
    return ", ".join([f"{count:,} {OUTCOME_LABELS[kind]}" for kind, count in counts.items()])


def format_found(n_found: int, n_relevant: int, n_cutoff_full: int) -> str:
    """Return how many of the relevant documents of a query were found: `1/2 (cutoff full: 1)`."""
    text = f"{n_found:,}/{n_relevant:,}"
    if n_cutoff_full:
        text += f" ({OUTCOME_LABELS['cutoff_full']}: {n_cutoff_full:,})"
    return text


def format_failures(failures: Mapping[Outcome, int], n_relevant: int, n_found: int, unit: str, n_queries: int) -> str:
    """Return the failures of all queries: `4 of 20 relevant documents missing across 10 queries: 3 not retrieved, ...`.

    Documents for which the cutoff has no room are neither found nor missing; they are counted apart.
    """
    if not n_relevant:
        return f"no query has a relevant {unit}"
    n_missing = sum(failures.values())
    relevant = format_count(n_relevant, f"relevant {unit}")
    cutoff_full = ""
    n_cutoff_full = n_relevant - n_found - n_missing
    if n_cutoff_full:
        more = "more " if n_missing else ""
        cutoff_full = f"{n_cutoff_full:,} {more}not credited ({OUTCOME_LABELS['cutoff_full']})"
    if n_missing:
        text = f"{n_missing:,} of {relevant} missing across {format_query_count(n_queries)}"
        text += f": {format_outcome_counts(failures)}"
        return f"{text}; {cutoff_full}" if cutoff_full else text
    if cutoff_full:
        return f"{n_found:,} of {relevant} found, {cutoff_full}"
    if n_relevant == 1:
        return f"the only relevant {unit} was found"
    return f"all {relevant} found"


def format_queries_without_hit(failures: Mapping[Outcome, int], unit: str, n_queries: int) -> str:
    """Return for how many queries nothing relevant was found, of a metric for which one relevant document suffices."""
    n_missing = sum(failures.values())
    queries = format_query_count(n_queries)
    if n_missing:
        return f"no relevant {unit} found for {n_missing:,} of {queries}: {format_outcome_counts(failures)}"
    if n_queries == 1:
        return f"a relevant {unit} was found"
    return f"a relevant {unit} was found for each of {queries}"


def format_imperfect(metric: str, n_imperfect: int, n_queries: int) -> str:
    """Return how many queries do not have the best value of a metric in which lower is better."""
    if not n_queries:
        return format_all_undefined(metric)
    return f"{metric} is above its best possible value on {n_imperfect:,} of {format_query_count(n_queries)}"


def format_all_undefined(metric: str) -> str:
    """Return that no query has a value."""
    return f"{metric} is undefined for every query"


def format_all_perfect(metric: str) -> str:
    """Return that no query can be worse than another."""
    return f"{metric} has its best possible value on every query"


# Stages: which stage of a retriever lost relevant documents.

# By fate, as printed.
LOSS_LABELS: Mapping[str, str] = {
    "cutoff_full": OUTCOME_LABELS["cutoff_full"],
    "not_retrieved": OUTCOME_LABELS["not_retrieved"],
    "retriever_error": OUTCOME_LABELS["retriever_error"],
    "dropped": "dropped",
    "below_cutoff": OUTCOME_LABELS["below_cutoff"],
}
# What a stage did to the documents of a fate.
_LOSSES_BY_STAGE: Mapping[str, str] = {"dropped": "dropped by", "below_cutoff": "ranked below cutoff by"}

NO_STAGES = (
    "the run has no stages. Return one ranking per stage from the retriever, {'bm25': found, 'reranked': reranked}, "
    "or pass rm.RetrievedRun(run, stages={'bm25': run_a, 'reranked': run})"
)


def format_loss(column: str) -> str:
    """Return a column of losses as it is printed.

    Example:
        >>> format_loss("dropped:fused"), format_loss("not_retrieved")
        ('dropped by fused', 'not retrieved')
    """
    fate, _, stage = column.partition(":")
    return f"{_LOSSES_BY_STAGE[fate]} {stage}" if stage else LOSS_LABELS.get(fate, fate)


def format_losses(losses: Mapping[str, int]) -> str:
    """Return how many relevant documents each stage lost, the largest loss first."""
    return f"by stage: {', '.join(f'{count:,} {format_loss(column)}' for column, count in losses.items())}"


def format_stage_flow(found_share: float, unit: str, *, one_suffices: bool) -> str:
    """Return the title of the picture of what remains after each stage."""
    found = f"{100 * found_share:.1f}%"
    if one_suffices:
        return f"a relevant {unit} found for {found} of queries; share remaining and lost after each stage"
    return f"{found} of relevant {unit}s found; share remaining and lost after each stage"


# What is said of sources where the inputs of stages are not recorded.
ASSUMED_SOURCES = "inferred; losses(metric, sources=[...]) sets them"


def format_sources(first_stages: Sequence[str], *, is_assumed: bool = False) -> str:
    """Return which stages retrieve, and by which rule that was found if it is assumed."""
    note = f"first-stage retrievers (no losses attributed to them): {', '.join(first_stages)}"
    return f"{note} ({ASSUMED_SOURCES})" if is_assumed else note


def format_chance(chance: Chance) -> str:
    """Return whether a mean is better than that of the same rankings assigned to the queries at random."""
    mean = f"{chance.metric} {numbers.format_value(chance.mean)}"
    p_value = numbers.format_p_value(chance.p)
    equals = "" if p_value.startswith("<") else "= "
    chance_level = (
        f"chance ({numbers.format_value(chance.chance_mean)} with the same rankings assigned to the queries at random; "
        f"p {equals}{p_value}, {numbers.format_query_count(chance.n)})"
    )
    if chance.is_better:
        return f"{mean} is better than {chance_level}"
    return f"{mean} is not significantly better than {chance_level}; the system may be ignoring the query"


def format_ceiling_head(metric: str) -> str:
    """Return the head of the column of ceilings."""
    return f"{metric} ceiling"


CEILING_MEANING = "ceiling: the value if the stage's documents were in the best order"


def format_unreached(stages: Sequence[str]) -> str:
    """Return which stages no query reached."""
    return f"no query reached {join_names(list(stages))}"


# Reports: what a page says of its numbers, and what it leaves out.

# What the columns of every report mean.
COLUMN_MEANINGS = {
    "mean": "the mean of the metric over all queries on which it is defined.",
    "n": "the number of queries on which the metric is defined.",
    "found": "relevant documents within the cutoff.",
}


def format_metric_mean(
    metric: str, mean: float, interval: Interval, n_queries: int, value_counts: Mapping[str, int] | None
) -> str:
    """Return the mean of a metric, with the numbers of queries at 0 and of perfect ones where 0 is a failure."""
    if not n_queries:
        return f"{format_all_undefined(metric)}."
    text = f"{metric}: mean {numbers.format_value(mean)}"
    interval_text = numbers.format_interval(interval)
    if interval_text != "-":
        text += f", 95% CI {interval_text}"
    text += f", n = {n_queries:,}"
    if value_counts is None:
        return f"{text}."
    perfect = f", {value_counts['perfect']:,} perfect" if "perfect" in value_counts else ""
    return f"{text}; {format_query_count(value_counts['0'])} at 0{perfect}."


def format_system_value(system: str, value: float | None) -> str:
    """Return the value of a query, after the name of its system if there are several."""
    text = "-" if value is None else numbers.format_value(value)
    return f"{system} {text}" if system else text


def format_missed(system: str, n_needed: int, missed_counts: Mapping[str, int]) -> str:
    """Return how much of what a query needs a system found, and how often the rest has which outcome."""
    prefix = f"{system}: " if system else ""
    if not n_needed:
        return f"{prefix}no relevant document"
    n_found = n_needed - sum(missed_counts.values())
    found = f"{prefix}{n_found} of {n_needed} found"
    if not missed_counts:
        return found
    reasons = [f"{count} {label}" for label, count in missed_counts.items()]
    return f"{found}: {', '.join(reasons)}"


def format_system_outcome(system: str, outcome: str, rank: int | None) -> str:
    """Return what became of a relevant document in a system, after its name if there are several."""
    text = f"{system}: {outcome}" if system else outcome
    return f"{text} (rank {rank})" if rank else text


def format_needed(grade: float | None, label: str, outcomes: Sequence[str]) -> str:
    """Return a relevant document of a query with what became of it in each system."""
    # The text of a document is often a sentence, with its own full stop.
    end = "" if label.rstrip("”").endswith(SENTENCE_ENDS) else ";"
    return f"Relevant, grade {grade}: {label}{end} {'; '.join(outcomes)}"


def format_results_heading(system: str) -> str:
    """Return the words above the results of a query, with the name of the system if there are several."""
    return f"Results of {system}:" if system else "Results:"


def format_no_results(system: str) -> str:
    """Return that a system retrieved nothing for a query."""
    return f"{format_results_heading(system)} none."


def format_unjudged(unjudged_shares: Mapping[str, float], k: int, *, is_condensed: bool) -> str:
    """Return how many of the first `k` results of each system are unjudged, and how these are treated."""
    results = "top result" if k == 1 else f"top {k:,} results"
    if list(unjudged_shares) == [""]:
        text = f"{100 * unjudged_shares['']:.0f}% of the {results} are unjudged"
        if k == 1:
            text = f"the {results} is unjudged in {100 * unjudged_shares['']:.0f}% of queries"
    else:
        shares = [f"{100 * share:.0f}% for {system}" for system, share in unjudged_shares.items()]
        text = f"Unjudged among the {results}: {join_names(shares)}"
    if is_condensed:
        return f"{text[0].upper()}{text[1:]}; they were removed from the rankings (condensed lists)."
    return f"{text[0].upper()}{text[1:]}; unjudged documents count as not relevant."


def format_missing_details(n_detailed: int, n_queries: int) -> str:
    """Return for how many queries a page holds only the values; nothing if for none."""
    if n_detailed == n_queries:
        return ""
    return (
        f"Judged documents and rankings are included for {format_query_count(n_detailed)} (lowest values or largest "
        "changes); for the others, values only."
    )


def format_left_out_queries(n_shown: int, n_queries: int) -> str:
    """Return how many queries a page holds, if it cannot hold all."""
    return f"This page shows {n_shown:,} of {n_queries:,} queries: those with the lowest values or the largest changes."


def format_shortened_texts(length: int) -> str:
    """Return from which length on the texts of a page are shortened."""
    return f"Texts over {length:,} characters are shortened around the relevant words, if any."
