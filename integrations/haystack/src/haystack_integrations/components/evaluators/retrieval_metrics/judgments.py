"""Convert the expected documents of a question to judgments of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from haystack_integrations.components.evaluators.retrieval_metrics.documents import (
    SOURCE_KEY,
    START_KEY,
    describe_document,
)
from haystack_integrations.components.evaluators.retrieval_metrics.match_fields import get_match_value
from retrieval_metrics import Quote, Span
from retrieval_metrics.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack import Document

# What a judgment names: a document by its id or another value, a quote, or a place in a document.
Judged: TypeAlias = DocumentId | Quote | Span


@dataclass(frozen=True, slots=True)
class _GroupKey:
    """What the documents of one group have in common: a value of the group field, or the document itself."""

    group_value: DocumentId | None
    judged: Judged | None


@dataclass(frozen=True, slots=True)
class JudgmentReader:
    """Reads expected documents as judgments.

    Attributes:
        match_field: The field by which documents are compared, or `quote` or `span`.
        group_field: The field whose value alternatives have in common; None if every document is needed.
        source_texts: The texts of whole documents by id, for `span`.
    """

    match_field: str
    group_field: str | None
    source_texts: Mapping[str, str]

    def read_groups(self, expected: Sequence[Document]) -> list[dict[Judged, float]]:
        """Return the groups of a question, each a mapping of its documents to their grades."""
        _require_all_or_no_grades(expected)
        groups: dict[_GroupKey, dict[Judged, float]] = {}
        for document in expected:
            judged = self._read_judged(document)
            group = groups.setdefault(self._make_group_key(document, judged), {})
            grade = 1.0 if document.score is None else document.score
            group[judged] = max(grade, group.get(judged, grade))
        return list(groups.values())

    def _make_group_key(self, document: Document, judged: Judged) -> _GroupKey:
        if self.group_field is not None:
            group_value = get_match_value(document, self.group_field)
            if group_value is not None:
                return _GroupKey(group_value, judged=None)
        return _GroupKey(None, judged=judged)

    def _read_judged(self, document: Document) -> Judged:
        if self.match_field == "span":
            return _find_span(document, self.source_texts)
        field = "content" if self.match_field == "quote" else self.match_field
        value = get_match_value(document, field)
        if value is None:
            raise ValueError(
                f"{describe_document(document)}, is expected but has no {self.match_field}, which documents are "
                "compared by; choose another document_comparison_field"
            )
        if self.match_field == "quote":
            return Quote(str(value))
        return value


def _require_all_or_no_grades(expected: Sequence[Document]) -> None:
    without_grade = [document for document in expected if document.score is None]
    if without_grade and len(without_grade) < len(expected):
        raise ValueError(
            "either all or none of a question's ground_truth_documents must have a score, its grade; "
            f"{describe_document(without_grade[0])} has none"
        )


def _find_span(document: Document, source_texts: Mapping[str, str]) -> Span:
    """Return the place of an expected document in its source.

    It is the recorded offset if the text is there, or else the only place where the text occurs.
    """
    source = str(document.meta.get(SOURCE_KEY))
    text = document.content
    if source not in source_texts or not text:
        raise ValueError(
            f"{describe_document(document)}, is expected but its {SOURCE_KEY} {source!r} is not among the documents"
        )
    source_text = source_texts[source]
    recorded_start = document.meta.get(START_KEY)
    if isinstance(recorded_start, int) and source_text.startswith(text, recorded_start):
        start = recorded_start
    else:
        start = source_text.find(text)
    problem = ""
    if start < 0:
        problem = f"is not in document {source!r}"
    elif start != recorded_start and source_text.find(text, start + 1) >= 0:
        problem = f"occurs several times in document {source!r}, never at its split_idx_start"
    if problem:
        raise ValueError(f"{describe_document(document)}, is expected, but its content {problem}")
    return Span(source, start, start + len(text))
