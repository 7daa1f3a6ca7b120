"""Compute fingerprints of questions, judgments, rankings and rules, by which evaluations are compared."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from retrieval_metrics.files.saved_records import encode_record
from retrieval_metrics.inputs.fingerprints import (
    fingerprint,
    judgments_fingerprint,
    question_fingerprint,
    ranking_fingerprint,
)
from retrieval_metrics.matching.matching_options import Matching

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.metrics.base.rules import Rules


# Fields of `Rules` that change no number.
NAME_FIELDS = {"name", "metrics"}
# The options of `Matching` that are described if they differ from the defaults.
MATCHING_OPTIONS = ("deduplicate", "min_quote_length", "min_common_words", "min_coverage", "min_overlap")


def question_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the text of each query whose text is known."""
    if scores.origin is None:
        return {} if scores.findings is None else dict(scores.findings.question_fingerprints)
    texts = scores.origin.judged.qrels.texts
    return {query: question_fingerprint(text) for query, text in texts.items()}


def judgments_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the judgments of each query; none if the scores came without them."""
    if scores.origin is None:
        return {} if scores.findings is None else dict(scores.findings.judgments_fingerprints)
    return fingerprint_judgments(scores.origin.judged.qrels)


def fingerprint_judgments(qrels: Qrels) -> dict[QueryId, str]:
    """Return the fingerprint of the judgments of each query."""
    return {query: judgments_fingerprint(judgments) for query, judgments in qrels.as_dict().items()}


def rankings_fingerprint(scores: Scores) -> str | None:
    """Return the fingerprint of the rankings of all queries, in any order; None if the scores came without them."""
    if scores.origin is None:
        return None
    run = scores.origin.run
    entries = [[str(query), ranking_fingerprint(run.get(query, []))] for query in scores.queries]
    return fingerprint(sorted(entries))


def evaluation_set_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of all questions with their judgments, or of their ids if no more is known."""
    text_by_query = question_fingerprints(scores)
    judgments_by_query = judgments_fingerprints(scores)
    entries = [[str(query), text_by_query.get(query), judgments_by_query.get(query)] for query in scores.queries]
    return fingerprint(sorted(entries))


def describe_rule_differences(rules: Rules, other: Rules) -> list[str]:
    """Return in words how two rule sets differ, apart from their names."""
    differences = []
    for field in fields(rules):
        value = getattr(rules, field.name)
        other_value = getattr(other, field.name)
        if field.name in NAME_FIELDS or value == other_value:
            continue
        if isinstance(value, str):
            differences.append(f"{field.name}={value!r} vs {other_value!r}")
        else:
            differences.append(f"metric {field.name} differ")
    return differences


def rules_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of the rules, ignoring their names, and of what ids are compared with."""
    rules = {}
    for field in fields(scores.rules):
        if field.name not in NAME_FIELDS:
            rules[field.name] = encode_record(getattr(scores.rules, field.name), "the rules")
    return fingerprint([rules, describe_match(scores)])


def describe_match(scores: Scores) -> str | None:
    """Return in words what ids are compared with; None if the scores came without it."""
    if scores.origin is None:
        return None if scores.findings is None else scores.findings.match
    match = scores.origin.match
    if isinstance(match, Matching):
        return _describe_options(match)
    if isinstance(match, str):
        return match
    return getattr(match, "__qualname__", type(match).__name__)


def _describe_options(matching: Matching) -> str:
    defaults = Matching()
    # The option of an integration has one meaning, whether its values came as ids or, where some lack one, in items.
    descriptions = ["id" if matching.option else str(matching)]
    for name in MATCHING_OPTIONS:
        value = getattr(matching, name)
        if value != getattr(defaults, name):
            descriptions.append(f"{name}={value!r}")
    return ", ".join(descriptions)
