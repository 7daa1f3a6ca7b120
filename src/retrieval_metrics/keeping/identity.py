"""Identify evaluations by fingerprints: what two evaluations have in common, and what differs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.entries import (
    fingerprint,
    judgments_fingerprint,
    question_fingerprint,
    ranking_fingerprint,
)
from retrieval_metrics.judging.ranking_order import Matching
from retrieval_metrics.keeping.records import of_record

if TYPE_CHECKING:
    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.rules import Rules

NAMES = {"name", "metrics"}
"""Fields of `Rules` that change no number."""


def question_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the text of each query whose text is known."""
    if scores.origin is None:
        return {}
    texts = scores.origin.judged.qrels.texts
    return {query: question_fingerprint(text) for query, text in texts.items()}


def judgments_fingerprints(scores: Scores) -> dict[QueryId, str]:
    """Return the fingerprint of the judgments of each query; none if the scores came without them."""
    if scores.origin is None:
        return {}
    qrels = scores.origin.judged.qrels
    return {query: judgments_fingerprint(judgments) for query, judgments in qrels.as_dict().items()}


def rankings_fingerprint(scores: Scores) -> str | None:
    """Return the fingerprint of the rankings of all queries; None if the scores came without them."""
    if scores.origin is None:
        return None
    run = scores.origin.run
    return fingerprint([ranking_fingerprint(run.get(query, [])) for query in scores.queries])


def questions_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of all questions with their judgments, or of their ids if no more is known."""
    texts, judged = question_fingerprints(scores), judgments_fingerprints(scores)
    return fingerprint(sorted([str(query), texts.get(query), judged.get(query)] for query in scores.queries))


def differing_rules(one: Rules, other: Rules) -> list[str]:
    """Return in words how two rule sets differ, apart from their names."""
    both = {field.name: (getattr(one, field.name), getattr(other, field.name)) for field in fields(one)}
    return [
        f"{name} is {ours!r} and {theirs!r}" if isinstance(ours, str) else f"the {name} of metrics differ"
        for name, (ours, theirs) in both.items()
        if name not in NAMES and ours != theirs
    ]


def rules_fingerprint(scores: Scores) -> str:
    """Return the fingerprint of the rules, and of what ids are compared with; names do not matter."""
    rules = {
        field.name: of_record(getattr(scores.rules, field.name), "the rules")
        for field in fields(scores.rules)
        if field.name not in NAMES
    }
    return fingerprint([rules, match_said(scores)])


def match_said(scores: Scores) -> str | None:
    """Return in words what ids are compared with; None if the scores came without it."""
    if scores.origin is None:
        return None
    match = scores.origin.match
    if not isinstance(match, Matching):
        return match if isinstance(match, str) else getattr(match, "__qualname__", type(match).__name__)
    usual = Matching()
    options = ("collapse", "shortest_quote", "text_run", "share", "overlap")
    changed = (name for name in options if getattr(match, name) != getattr(usual, name))
    return ", ".join([str(match), *(f"{name}={getattr(match, name)!r}" for name in changed)])
