"""Find problems in an evaluation set, without a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import proportion
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import texts_in_context
from retrieval_metrics.inputs.run import named_runs
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.progress import watched
from retrieval_metrics.questions.linting import (
    difficulty,
    judged_quotes,
    judged_spans,
    judgments,
    repeated_questions,
    single_questions,
    unjudged_documents,
    whole_set,
)
from retrieval_metrics.questions.linting.result import Lint
from retrieval_metrics.questions.linting.subject import Subject
from retrieval_metrics.questions.words.passages import Passages
from retrieval_metrics.scoring.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.inputs.questions import QuestionsT
    from retrieval_metrics.questions.linting.findings import LintFinding

    Check = Callable[[Subject], Iterable[LintFinding | str]]

CHECKS: tuple[Check, ...] = (
    single_questions.dependent,
    single_questions.unknown_languages,
    single_questions.short,
    single_questions.leaked,
    single_questions.echoes,
    repeated_questions.repeated,
    judgments.without_relevant,
    judgments.unknown_documents,
    judgments.impossible_groups,
    judged_quotes.short_quotes,
    judged_quotes.quotes_in_corpus,
    judged_spans.spans_in_corpus,
    unjudged_documents.resembling,
    difficulty.hard_and_easy,
    unjudged_documents.at_top,
    whole_set.few_sources,
)
"""A check yields what it finds in its subject, and as text what it could not check and what that needs; MEANING says
what each finding means."""


def lint(
    questions: QuestionsT,
    corpus: Any = None,
    runs: Any = None,
    *,
    metric: str | Metric = "ndcg@10",
    difference: float = 0.05,
    show_progress: bool = False,
) -> Lint[QuestionsT]:
    """Find problems in an evaluation set; `EvaluationSet.lint` documents the arguments."""
    wanted = Metric.parse(metric) if isinstance(metric, str) else metric
    proportion(difference, "difference", one=True)
    truth = as_qrels(questions)
    subject = Subject(
        texts_in_context(questions.queries, questions.history),
        truth,
        None if corpus is None else Passages.of(corpus),
        {} if runs is None else named_runs(runs, truth.queries, "judged"),
        {query: made.source for query, made in questions.provenance.items() if made.source is not None},
    )
    checks: list[Check] = [*CHECKS, partial(whole_set.too_few_questions, metric=wanted, difference=difference)]
    doing, less = f"checking {numbers.queries(len(subject.queries))}", "a sample of the questions takes less"
    found: list[LintFinding | str] = []
    with watched("linting", len(checks), doing, less, show_progress=show_progress) as advance:
        for done, check in enumerate(checks, start=1):
            found += check(subject)
            advance(done)
    return Lint(
        questions,
        [one for one in found if not isinstance(one, str)],
        [one for one in found if isinstance(one, str)],
    )
