"""The findings of a lint, and their severity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Relevant

Severity = Literal["error", "warning", "note"]

MEANING: Mapping[str, tuple[Severity, str]] = {
    "no_relevant": ("error", "documents are judged and none is relevant, so the question leaves every mean"),
    "short_quote": ("error", "a quote is so short that comparing refuses it"),
    "unknown_document": ("error", "a judged document is not in the corpus, so nothing can find it"),
    "unknown_source": ("error", "the source of a span is not in the corpus"),
    "missing_quote": ("error", "a quote is not in the corpus"),
    "moved_span": ("error", "a span no longer holds the text it held"),
    "impossible_group": ("error", "none of several alternatives is in the corpus"),
    "contradicting_judgments": ("error", "the same question is judged differently elsewhere"),
    "duplicate_question": ("warning", "another question has the same words"),
    "near_duplicate_question": ("warning", "another question has almost the same words"),
    "dependent_question": ("warning", "the question cannot be understood without the passage it was made of"),
    "short_question": ("warning", "the question has too few words to say what is wanted"),
    "ambiguous_quote": ("warning", "a quote occurs in several places"),
    "uncovered_span": ("warning", "the passages leave out a part of a span"),
    "leaked_id": ("warning", "the question names the id of a document that is relevant to it"),
    "cut_quote": ("warning", "a quote is in its source, but no passage holds all of it"),
    "unjudged_duplicate": ("warning", "a copy of a relevant passage is not judged"),
    "possible_answer": ("warning", "a passage that shares much of a relevant one is not judged"),
    "echo": ("warning", "the question repeats the words of its answer"),
    "unanswered": ("warning", "nothing relevant is found"),
    "unanswerable": ("note", "nothing is judged, so nothing is meant to answer the question"),
    "unjudged_at_top": ("note", "a document that every run ranks among the first three is not judged"),
    "cut_span": ("note", "a span begins or ends within a word"),
    "easy": ("note", "something relevant comes first whatever retrieves"),
    "few_sources": ("note", "the questions come from few documents"),
    "too_few_questions": ("note", "the wanted difference needs more questions"),
}
"""The severity and meaning of each finding: errors make numbers wrong, warnings make them doubtful."""


@dataclass(frozen=True, slots=True)
class Change:
    """A repair of one judgment, or of a whole question.

    Attributes:
        done: What it does, as a sentence.
        judgment: The judgment to replace; None if the question is removed.
        by: The replacements; empty if the judgment is removed, several if they are alternatives.
    """

    done: str
    judgment: Relevant | None = None
    by: tuple[Relevant, ...] = ()


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A possible problem of a question, or of the whole set.

    Attributes:
        name: The name of the finding, such as `missing_quote`.
        query: The id of the question; None if it concerns the whole set.
        message: A sentence that says what was found, and where.
        evidence: The evidence, by name: the other question, the passages, the numbers.
        change: The repair that `Lint.repaired` makes; None if a person must decide.
    """

    name: str
    query: QueryId | None
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    change: Change | None = None

    @property
    def severity(self) -> Severity:
        """`error`, `warning` or `note`."""
        return MEANING[self.name][0]
