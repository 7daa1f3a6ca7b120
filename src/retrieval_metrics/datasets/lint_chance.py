"""Find runs that are not better than their own rankings assigned to other questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.evaluation.chance import find_chance_if_not_better
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.datasets.lint_input import LintInput

RECIPROCAL_RANK = Metric("mrr")


def find_runs_that_ignore_queries(subject: LintInput) -> Iterator[LintFinding]:
    """Yield each run whose rankings score as much for other questions: popular documents answer everything."""
    for name, scores in subject.scores(RECIPROCAL_RANK).items():
        chance = find_chance_if_not_better(scores, RECIPROCAL_RANK)
        if chance is None:
            continue
        evidence = {"run": name, "mean": chance.mean, "chance_mean": chance.chance_mean, "p": chance.p}
        yield LintFinding("ignores_query", None, wording.format_ignores_query(name, chance), evidence)
