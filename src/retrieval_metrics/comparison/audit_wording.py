"""Write the sentences of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.summary_wording import EXCLUDED
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.comparison.audit import Audit, RuleDifference


def audit_notes(audit: Audit) -> list[str]:
    """Return what was compared, what was refused, which rule makes which difference, and what looks suspicious."""
    n_queries = len(audit.queries)
    noun = "query" if n_queries == 1 else "queries"
    notes = [f"{n_queries} {noun}; compared with the {audit.rule_names[0]} rules"]
    for name, n_refused in audit.refused.items():
        if n_refused:
            notes.append(f"{name}: raises an error on {n_refused} of {n_queries} {noun} (excluded from its means)")
    if audit.n_excluded:
        notes.append(f"{numbers.format_count(audit.n_excluded, 'document')}{EXCLUDED}")
    return [*notes, *_difference_notes(audit), *audit.lints]


@dataclass(frozen=True, slots=True)
class _RuleKey:
    """What the differences share that are printed in one sentence, with their metrics listed."""

    rule_set_name: str
    rules: tuple[str, ...]
    meaning: str


def _difference_notes(audit: Audit) -> list[str]:
    """Return a sentence for each rule and the rule sets that have it, with its metrics and the largest difference."""
    differences_by_rule: dict[_RuleKey, list[RuleDifference]] = {}
    for difference in audit.differences:
        key = _RuleKey(difference.rule_name, difference.rules, difference.meaning)
        differences_by_rule.setdefault(key, []).append(difference)
    # Rule sets that differ alike share a sentence.
    names_by_sentence: dict[str, list[str]] = {}
    for key, differences in differences_by_rule.items():
        metrics = ", ".join(f"{difference.metric} in {len(difference.queries)}" for difference in differences)
        largest = max(differences, key=_absolute_difference)
        detail = f" ({largest.detail})" if largest.detail else ""
        sentence = (
            f"{key.meaning} ({metrics} of {len(audit.queries)}); e.g. {largest.metric} of {largest.example!r}: "
            f"{_format_value(largest.value)} vs {_format_value(largest.reference)}{detail}"
        )
        names_by_sentence.setdefault(sentence, []).append(key.rule_set_name)
    return [f"{numbers.join_names(names)}: {sentence}" for sentence, names in names_by_sentence.items()]


def _absolute_difference(difference: RuleDifference) -> float:
    return abs(float(np.nan_to_num(difference.value - difference.reference)))


def _format_value(value: float) -> str:
    return "excluded" if np.isnan(value) else f"{value:.4f}"
