"""Find what is wrong with an evaluation set: its questions, their judgments, and the set as a whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import proportion
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.lint_chance import find_runs_that_ignore_queries
from retrieval_metrics.datasets.lint_input import LintInput
from retrieval_metrics.datasets.lint_judgments import (
    find_forbidden_judgments,
    find_impossible_groups,
    find_queries_without_text,
    find_questions_without_relevant,
    find_shared_file_names,
    find_unknown_documents,
)
from retrieval_metrics.datasets.lint_questions import (
    find_dependent_questions,
    find_echoes,
    find_leaked_ids,
    find_short_questions,
    find_unknown_languages,
)
from retrieval_metrics.datasets.lint_quotes import find_short_quotes, find_wrong_quotes
from retrieval_metrics.datasets.lint_report import Lint
from retrieval_metrics.datasets.lint_size import find_few_sources, find_too_few_questions
from retrieval_metrics.datasets.lint_spans import find_wrong_spans
from retrieval_metrics.datasets.repeated_questions import find_repeated_questions
from retrieval_metrics.datasets.retrievability import find_hard_and_easy
from retrieval_metrics.datasets.similar_passages import find_similar_passages
from retrieval_metrics.datasets.unjudged_documents import find_unjudged_at_top
from retrieval_metrics.evaluation.unused_exclusion import warn_about_unused_exclusion
from retrieval_metrics.inputs.conversations import texts_with_conversation
from retrieval_metrics.inputs.exclusion import as_exclusion, remove_excluded
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import name_runs
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from retrieval_metrics.datasets.corpus_index import CorpusSource
    from retrieval_metrics.datasets.lint_report import LintFinding
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.questions import QuestionsT
    from retrieval_metrics.inputs.run import Run

    Check = Callable[[LintInput], Iterable[LintFinding | str]]


# Each check yields its findings, and a text for what it cannot check: what that is, and what it needs.
CHECKS: tuple[Check, ...] = (
    find_dependent_questions,
    find_unknown_languages,
    find_short_questions,
    find_leaked_ids,
    find_echoes,
    find_repeated_questions,
    find_queries_without_text,
    find_forbidden_judgments,
    find_questions_without_relevant,
    find_unknown_documents,
    find_shared_file_names,
    find_impossible_groups,
    find_short_quotes,
    find_wrong_quotes,
    find_wrong_spans,
    find_similar_passages,
    find_hard_and_easy,
    find_unjudged_at_top,
    find_runs_that_ignore_queries,
    find_few_sources,
)


def lint(
    questions: QuestionsT,
    corpus: CorpusSource | None = None,
    runs: RunMapping | Run | Mapping[str, RunMapping | Run] | None = None,
    *,
    metric: str | Metric = "ndcg@10",
    difference: float = 0.05,
    match: str | Key = "id",
    exclude: Exclude | None = None,
    show_progress: bool = False,
) -> Lint[QuestionsT]:
    """Find problems in an evaluation set; `EvaluationSet.lint` documents the arguments."""
    planned_metric = Metric.parse(metric) if isinstance(metric, str) else metric
    proportion(difference, "difference", allow_one=True)
    qrels = as_qrels(questions)
    source_by_query = {
        query: provenance.source for query, provenance in questions.provenance.items() if provenance.source is not None
    }
    passages = None
    if corpus is not None:
        passages = CorpusIndex.from_corpus(corpus)
        if match != "id":
            passages.name_items(get_match_key(match))
    kept_runs: dict[str, Any] = {}
    n_excluded = 0
    exclusion = as_exclusion(exclude)
    for name, run in {} if runs is None else name_runs(runs, qrels.queries, "judged").items():
        excluded_run = remove_excluded(run, qrels, exclusion, get_match_key(match))
        warn_about_unused_exclusion(exclusion, excluded_run, qrels, match)
        kept_runs[name] = excluded_run.run
        n_excluded += excluded_run.total
    subject = LintInput(
        texts_with_conversation(questions.queries, questions.conversation),
        qrels,
        passages,
        kept_runs,
        source_by_query,
        match,
    )
    checks: list[Check] = [
        *CHECKS,
        partial(find_too_few_questions, metric=planned_metric, difference=difference),
    ]
    label = f"checking {numbers.format_query_count(len(subject.queries))}"
    findings: list[LintFinding] = []
    skipped: list[str] = []
    with track_steps(
        "linting", len(checks), label, "a sample of the questions takes less", show_progress=show_progress
    ) as advance:
        for n_done, check in enumerate(checks, start=1):
            for finding_or_skipped in check(subject):
                if isinstance(finding_or_skipped, str):
                    skipped.append(finding_or_skipped)
                else:
                    findings.append(finding_or_skipped)
            advance(n_done)
    return Lint(questions, findings, skipped, n_excluded)
