"""Apply the repairs of an evaluation set that are safe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.merge_and_split import select_queries
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Relevant
    from retrieval_metrics.inputs.questions import QuestionsT


@dataclass(frozen=True, slots=True)
class LintFix:
    """A repair of one judgment, or of a whole question.

    Attributes:
        description: What it does, as a sentence.
        judgment: The judgment to replace; None if the question is removed.
        replacements: What replaces it; empty if the judgment is removed, several if they are alternatives.
    """

    description: str
    judgment: Relevant | None = None
    replacements: tuple[Relevant, ...] = ()


def apply_fixes(questions: QuestionsT, fixes_by_query: Mapping[QueryId, Sequence[LintFix]]) -> QuestionsT:
    """Return a new set with fixes applied to some of its questions; its `changes` say what was done."""
    qrels = judgments_by_query(questions.qrels)
    groups = as_qrels(questions).groups()
    queries = set(qrels)
    changes = list(questions.changes)
    for query, fixes in fixes_by_query.items():
        removal = _find_removal(fixes)
        if removal is not None:
            queries.discard(query)
            changes.append(f"{query!r}: {removal.description}")
            continue
        changes += [f"{query!r}: {fix.description}" for fix in fixes]
        qrels[query] = _fix_judgments(groups[query], fixes)
    return replace(select_queries(replace(questions, qrels=qrels), queries), changes=tuple(changes))


def _find_removal(fixes: Sequence[LintFix]) -> LintFix | None:
    """Return the fix that removes a question, which makes its other fixes needless; None if there is none."""
    for fix in fixes:
        if fix.judgment is None:
            return fix
    return None


def _fix_judgments(groups: Sequence[Mapping[Any, float]], fixes: Sequence[LintFix]) -> Any:
    """Return the judgments of a question with the fixes made: grades, or groups if there are alternatives."""
    for fix in fixes:
        groups = [_fix_group(group, fix) for group in groups]
    groups = [group for group in groups if group]
    grades: dict[Any, float] = {}
    for group in groups:
        grades.update(group)
    is_flat = len(grades) == len(groups) and all(len(group) == 1 for group in groups)
    return grades if is_flat else groups


def _fix_group(group: Mapping[Any, float], fix: LintFix) -> dict[Any, float]:
    fixed_group: dict[Any, float] = {}
    for judged, grade in group.items():
        replacements = fix.replacements if judged == fix.judgment else (judged,)
        for replacement in replacements:
            fixed_group[replacement] = max(grade, fixed_group.get(replacement, grade))
    return fixed_group
