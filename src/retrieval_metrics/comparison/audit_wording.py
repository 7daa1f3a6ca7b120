"""The sentences of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.comparison.audit import Audit, RuleDifference


def audit_notes(audit: Audit) -> list[str]:
    """Return what was compared, what was refused, which rule makes which difference, and what looks suspicious."""
    n_queries = len(audit.queries)
    noun = "query" if n_queries == 1 else "queries"
    notes = [f"{n_queries} {noun}; compared with {audit.rule_names[0]}"]
    for name, n_refused in audit.refused.items():
        if n_refused:
            notes.append(f"{name}: raises an error for {n_refused} of {n_queries}, which its means leave out")
    return [*notes, *_difference_notes(audit), *audit.lints]


def _difference_notes(audit: Audit) -> list[str]:
    """Return a sentence for each rule of each rule set, all its metrics together."""
    differences_by_rule: dict[tuple[str, tuple[str, ...], str], list[RuleDifference]] = {}
    for difference in audit.differences:
        key = (difference.rule_name, difference.rules, difference.meaning)
        differences_by_rule.setdefault(key, []).append(difference)
    notes = []
    for (rule_set_name, _, meaning), differences in differences_by_rule.items():
        metrics = ", ".join(f"{difference.metric} in {len(difference.queries)}" for difference in differences)
        shown = max(differences, key=_size_of_difference)
        detail = f": {shown.detail}" if shown.detail else ""
        notes.append(
            f"{rule_set_name}: {meaning} ({metrics} of {len(audit.queries)}); {shown.metric} of query "
            f"{shown.example!r} is {_format_value(shown.value)} instead of {_format_value(shown.reference)}{detail}"
        )
    return notes


def _size_of_difference(difference: RuleDifference) -> float:
    return abs(float(np.nan_to_num(difference.value - difference.reference)))


def _format_value(value: float) -> str:
    return "left out" if np.isnan(value) else f"{value:.4f}"
