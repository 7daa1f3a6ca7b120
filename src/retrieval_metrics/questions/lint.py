"""Find problems in an evaluation set, without a model."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval_metrics.argument_names import argument
from retrieval_metrics.checks import proportion
from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.inputs.conversations import texts_in_context
from retrieval_metrics.inputs.named_runs import named_runs
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.matching.matching import Matching
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.watching import watched
from retrieval_metrics.questions.linting import difficulty, questions_alone, repeated_questions, searching, whole_set
from retrieval_metrics.questions.linting.judgments import JudgmentChecks, short_quotes, without_relevant
from retrieval_metrics.questions.linting.languages import COMMON_WORDS, unknown_language
from retrieval_metrics.questions.linting.passages import Passages
from retrieval_metrics.questions.linting.result import Lint
from retrieval_metrics.questions.linting.subject import Subject
from retrieval_metrics.questions.linting.unjudged_documents import FEWEST_RUNS_TO_AGREE, Unjudged, at_top
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from retrieval_metrics.inputs.questions import Questions, QuestionsT
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.questions.linting.findings import LintFinding


MOST_UNANSWERED, MANY = 0.25, 10
"""If BM25 finds nothing for more than this share of the questions, and for so many, that says something about BM25."""


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
    subject = Subject(
        texts_in_context(questions.queries, questions.history),
        as_qrels(questions),
        None if corpus is None else Passages.of(corpus),
    )
    bench = _Bench(questions, subject, {} if runs is None else named_runs(runs, subject.relevant, "judged"))
    found: list[LintFinding] = []
    steps = bench.steps(wanted, difference)
    doing, less = f"checking {numbers.queries(len(subject.queries))}", "a sample of the questions takes less"
    with watched("linting", len(steps), doing, less, show_progress=show_progress) as advance:
        for done, step in enumerate(steps, start=1):
            found.extend(step())
            advance(done)
    return Lint(questions, found, bench.unchecked())


class _Bench:
    """Runs the checks that the given data allow."""

    def __init__(self, questions: Questions, subject: Subject, runs: dict[str, Any]) -> None:
        self._questions = questions
        self._subject = subject
        self._runs = runs
        self._too_small = False
        self._other_words: tuple[int, int] | None = None

    def steps(self, metric: Metric, difference: float) -> list[Callable[[], Iterable[LintFinding]]]:
        """Return the checks, each as a function."""
        subject, passages = self._subject, self._subject.passages
        steps: list[Callable[[], Iterable[LintFinding]]] = [
            lambda: questions_alone.dependent(subject),
            lambda: questions_alone.short(subject),
            lambda: repeated_questions.repeated(subject),
            lambda: without_relevant(subject),
            lambda: short_quotes(subject),
            lambda: questions_alone.leaked(subject),
            lambda: difficulty.echoes(subject),
            self._difficulty,
            lambda: whole_set.few_sources(subject, self._sources()),
            lambda: whole_set.too_few_questions(subject, self._values(metric), str(metric), difference),
        ]
        if not subject.qrels.has_pieces:
            steps.append(lambda: at_top(subject, self._runs))
        if passages is not None:
            steps += [JudgmentChecks(subject, passages).findings, Unjudged(subject, passages).findings]
        return steps

    def unchecked(self) -> list[str]:
        """Return what could not be checked."""
        passages = self._subject.passages
        said = []
        foreign = [query for query, tokens in self._subject.words.items() if unknown_language(tokens)]
        if foreign:
            known = f"{', '.join(list(COMMON_WORDS)[:-1])} and {list(COMMON_WORDS)[-1]}"
            said.append(
                f"whether {len(foreign):,} of {len(self._subject.queries):,} questions make sense without their "
                f"passage, such as {foreign[0]!r}, because their language seems to be none of {known}"
            )
        if passages is None:
            said.append(
                "whether ids, quotes and spans are in the corpus, and what else answers, which needs "
                + argument("corpus")
            )
        elif not passages.items:
            said.append("the texts of the passages, because the corpus has only ids; pass texts by id")
        if not self._runs and passages is None:
            said.append(f"how hard the questions are, which needs {argument('runs')} or {argument('corpus')}")
        elif not self._runs and passages is not None and passages.items:
            if not searching.can_search():
                said.append(
                    f"how hard the questions are, which needs {argument('runs')} or: "
                    "pip install 'retrieval-metrics[questions]'"
                )
            elif self._too_small:
                said.append(f"how hard the questions are, which needs at least {searching.FEWEST_PASSAGES} passages")
        if self._other_words is not None:
            said.append(
                f"which questions have no answer, because BM25 hardly finds what is relevant to "
                f"{self._other_words[0]:,} of {self._other_words[1]:,}: they use other words, so pass "
                f"{argument('runs')} of a retriever that matches meanings"
            )
        if self._subject.qrels.has_pieces or len(self._runs) < FEWEST_RUNS_TO_AGREE:
            needs = "judgments by id and " if self._subject.qrels.has_pieces else ""
            said.append(
                f"whether documents that retrievers agree on are relevant too, which needs {needs}at least two "
                f"{argument('runs')}"
            )
        return said

    def _difficulty(self) -> Iterator[LintFinding]:
        passages = self._subject.passages
        if self._runs:
            judged = self._judged.items()
            ranks = {name: score(run, difficulty.RECIPROCAL_RANK, STANDARD).values for name, run in judged}
            yield from difficulty.hard_and_easy(self._subject, ranks)
        elif passages is not None and passages.items and searching.can_search():
            search = searching.Search(self._subject, passages)
            self._too_small = not search.is_telling
            if search.is_telling:
                yield from self._believed(list(search.findings()))

    def _believed(self, found: list[LintFinding]) -> list[LintFinding]:
        """Return what BM25 finds, but not which questions have no answer if these are too many to be believed."""
        unanswered = sum(finding.name == "unanswered" for finding in found)
        judged = sum(bool(relevant) for relevant in self._subject.relevant.values())
        if unanswered < MANY or unanswered <= MOST_UNANSWERED * judged:
            return found
        self._other_words = unanswered, judged
        return [finding for finding in found if finding.name != "unanswered"]

    def _values(self, metric: Metric) -> dict[str, Any]:
        return {name: score(judged, metric, STANDARD).values for name, judged in self._judged.items()}

    @cached_property
    def _judged(self) -> dict[str, JudgedRun]:
        passages, qrels = self._subject.passages, self._subject.qrels
        match: Any = "id"
        if qrels.has_pieces:
            match = Matching(sources=None if passages is None else passages.sources, shortest_quote=1)
        return {name: judge(qrels, run, match, STANDARD.ties) for name, run in self._runs.items()}

    def _sources(self) -> dict[Any, str]:
        known = self._questions.provenance
        return {query: made.source for query, made in known.items() if made.source is not None}
