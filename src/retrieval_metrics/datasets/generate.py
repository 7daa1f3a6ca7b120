"""Let a model write questions on a corpus, and check them, until there are enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.datasets.candidate import Candidate
from retrieval_metrics.datasets.candidate_checks import NOT_CHECKED, CandidateChecks
from retrieval_metrics.datasets.corpus import Corpus
from retrieval_metrics.datasets.evaluation_set import EvaluationSet
from retrieval_metrics.datasets.generated import GeneratedQuestions, RejectedQuestion
from retrieval_metrics.datasets.lint_input import LintInput
from retrieval_metrics.datasets.llm_client import Failure, LlmClient
from retrieval_metrics.datasets.llm_questions import QuestionInterview
from retrieval_metrics.datasets.passage_formatter import PassageFormatter
from retrieval_metrics.datasets.passage_queue import MAX_PER_PASSAGE, PassageQueue
from retrieval_metrics.datasets.passage_search import OtherPassageSearch
from retrieval_metrics.datasets.passage_vectors import PassageVectors
from retrieval_metrics.datasets.prompts import QuestionPrompts
from retrieval_metrics.datasets.question_kinds import (
    COMPARISON,
    DEFAULT_SHARES,
    KINDS,
    SEVERAL_PASSAGES,
    UNANSWERABLE,
    apportion,
)
from retrieval_metrics.datasets.repeated_questions import find_repeated_questions
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.retrieval.event_loop import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.candidate import WantedQuestion
    from retrieval_metrics.datasets.corpus_index import CorpusSource
    from retrieval_metrics.datasets.lint_report import LintFinding
    from retrieval_metrics.inputs.hosts import LanguageModel
    from retrieval_metrics.retrieval.retrieve import Retriever


# The largest number of replies requested for each wanted question.
MAX_ATTEMPTS = 5

# How often a question is checked before it is given up, if no check gets a usable reply.
MAX_CHECKS = 3

# Texts with more characters are cut into passages.
PASSAGE_LENGTH = 2000

# The names of the checks, in the order in which they are made.
ANSWERABLE = "answerable"
NEEDED = "needed"
OTHERS = "others"
ANSWERS = "answers"
DUPLICATES = "duplicates"
CHECKS = (ANSWERABLE, NEEDED, OTHERS, ANSWERS, DUPLICATES)


@dataclass(frozen=True)
class GenerationTarget:
    """What is to be generated.

    Attributes:
        n_by_kind: How many questions of each kind.
        checks: The names of the checks that are made.
    """

    n_by_kind: Mapping[str, int]
    checks: Collection[str]


class QuestionGeneration:
    """Generates one set of questions, in rounds of writing and checking."""

    def __init__(
        self,
        corpus: Corpus,
        vectors: PassageVectors,
        target: GenerationTarget,
        interview: QuestionInterview,
        search: OtherPassageSearch,
    ) -> None:
        """Set the parts, without asking anything yet."""
        self._corpus = corpus
        self._vectors = vectors
        self._target = target
        self._interview = interview
        self._search = search
        self._checks = CandidateChecks(corpus, interview, search)
        self._queue = PassageQueue(corpus, vectors)
        self._questions_by_task: dict[WantedQuestion, list[str]] = {}
        self._accepted: list[Candidate] = []
        self._rejected: list[RejectedQuestion] = []
        self._unchecked: list[Candidate] = []
        self._n_checks: Counter[str] = Counter()

    async def run(self) -> GeneratedQuestions:
        """Write and check until there are enough questions, or no more can be made."""
        stop_reason = None
        n_written = 0
        max_written = MAX_ATTEMPTS * sum(self._target.n_by_kind.values())
        while stop_reason is None:
            tasks = self._choose_tasks(max_written - n_written)
            if not tasks and not self._unchecked:
                break
            n_written += len(tasks)
            stop_reason = await self._run_round(tasks)
        for candidate in self._unchecked:
            self._reject(Failure(NOT_CHECKED, "its check got no usable reply, or was not made"), candidate)
        self._unchecked = []
        if stop_reason is None and any(self._count_missing().values()):
            if n_written >= max_written:
                stop_reason = (
                    f"{n_written:,} were written, {MAX_ATTEMPTS} for each requested one, and too few are usable"
                )
            else:
                stop_reason = (
                    f"every passage was tried {MAX_PER_PASSAGE} times for each kind that is still short of questions"
                )
        return self._make_result(stop_reason)

    def _count_missing(self) -> dict[str, int]:
        n_made = Counter(candidate.task.kind for candidate in [*self._accepted, *self._unchecked])
        return {kind: n_wanted - n_made[kind] for kind, n_wanted in self._target.n_by_kind.items()}

    def _choose_tasks(self, max_tasks: int) -> list[WantedQuestion]:
        """Return what to request next: a kind and passages for each missing question."""
        tasks: list[WantedQuestion] = []
        for kind, n_missing in self._count_missing().items():
            for _ in range(min(n_missing, max_tasks - len(tasks))):
                task = self._queue.draw(kind, self._questions_by_task)
                if task is None:
                    break
                tasks.append(task)
        return tasks

    async def _run_round(self, tasks: list[WantedQuestion]) -> str | None:
        """Request questions and check them; return why there can be no further round, or None if there can."""
        replies = await self._interview.write_questions(tasks, self._questions_by_task)
        for number, failure in replies.failures.items():
            self._reject(failure, tasks[number])
        written = [replies.parsed[number] for number in sorted(replies.parsed)]
        for candidate in written:
            self._questions_by_task.setdefault(candidate.task, []).append(candidate.question)
        candidates = [*self._unchecked, *written]
        self._unchecked = []
        await self._check(candidates)
        return self._interview.client.stop_reason

    async def _check(self, candidates: list[Candidate]) -> None:
        """Make the wanted checks, and accept the questions that pass."""
        checks = self._target.checks
        passing = self._leave_out_repeats_of_accepted(candidates)
        if ANSWERABLE in checks and passing:
            passing = self._leave_out_failed(passing, await self._checks.check_answerable(passing))
        if NEEDED in checks and passing:
            passing = self._leave_out_failed(passing, await self._checks.check_needed(passing))
        if OTHERS in checks and passing:
            await self._checks.add_other_answers([candidate for candidate in passing if candidate.groups])
        for candidate in passing:
            candidate.rank = self._search.rank(candidate)
        if ANSWERS in checks:
            await self._checks.check_answers(passing)
        else:  # an answer that was not checked cannot serve as a reference
            for candidate in passing:
                candidate.answer = None
        # All are compared again: the checks may have added judgments that two questions now share.
        remaining = [*self._accepted, *passing]
        self._accepted = self._leave_out_repeats(remaining, {candidate.id for candidate in remaining})

    def _leave_out_failed(self, candidates: list[Candidate], failures: Mapping[str, Failure]) -> list[Candidate]:
        """Reject the questions that failed a check, or check them again if the model was not reached."""
        passing = []
        for candidate in candidates:
            failure = failures.get(candidate.id)
            if failure is None:
                passing.append(candidate)
                continue
            self._n_checks[candidate.id] += 1
            if failure.reason == NOT_CHECKED and self._n_checks[candidate.id] < MAX_CHECKS:
                self._unchecked.append(candidate)
            else:
                self._reject(failure, candidate)
        return passing

    def _leave_out_repeats_of_accepted(self, candidates: list[Candidate]) -> list[Candidate]:
        """Drop the questions that repeat an earlier one exactly and, if that is checked, nearly."""
        earlier_ids = {candidate.id for candidate in self._accepted}
        distinct: list[Candidate] = []
        for candidate in candidates:
            if candidate.id in earlier_ids:
                self._reject(Failure("duplicate question", "the same question is already in the set"), candidate)
            else:
                earlier_ids.add(candidate.id)
                distinct.append(candidate)
        return self._leave_out_repeats([*self._accepted, *distinct], {candidate.id for candidate in distinct})

    def _leave_out_repeats(self, candidates: list[Candidate], checked_ids: Collection[str]) -> list[Candidate]:
        """Return those of the named questions that do not nearly repeat an earlier one, if that is checked."""
        repeats: dict[Any, LintFinding] = {}
        if DUPLICATES in self._target.checks and checked_ids:
            repeats = _find_repeats(candidates, checked_ids)
        distinct = []
        for candidate in candidates:
            repeat = repeats.get(candidate.id)
            if repeat is not None:
                self._reject(Failure(repeat.name.replace("_", " "), repeat.message), candidate)
            elif candidate.id in checked_ids:
                distinct.append(candidate)
        return distinct

    def _reject(self, failure: Failure, rejected: Candidate | WantedQuestion) -> None:
        """Note why a candidate, or a wanted question that has no candidate, is not in the set."""
        question: str | None = None
        if isinstance(rejected, Candidate):
            task = rejected.task
            question = rejected.question
        else:
            task = rejected
        sources = self._list_documents(task.passages)
        self._rejected.append(
            RejectedQuestion(failure.reason, failure.message, task.kind, sources, question, failure.reply)
        )

    def _list_documents(self, passages: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._corpus.passages[passage].document for passage in passages))

    def _make_result(self, stop_reason: str | None) -> GeneratedQuestions:
        used_passages: set[int] = set()
        for candidate in self._accepted:
            used_passages.update(candidate.task.passages)
        clusters = self._vectors.clusters
        used_clusters = {int(clusters[passage]) for passage in used_passages}
        return GeneratedQuestions(
            questions=self._make_evaluation_set(),
            rejected=self._rejected,
            calls=self._interview.client.calls,
            requested=dict(self._target.n_by_kind),
            stop_reason=stop_reason,
            documents=(len(self._list_documents(used_passages)), len(self._corpus.documents)),
            clusters=(len(used_clusters), len(set(clusters.tolist()))),
            findings=self._checks.results,
        )

    def _make_evaluation_set(self) -> EvaluationSet:
        accepted = self._accepted
        date = datetime.now(tz=UTC).date()
        provenance: dict[QueryId, Provenance] = {}
        for candidate in accepted:
            provenance[candidate.id] = Provenance(
                source=self._corpus.passages[candidate.task.passages[0]].document,
                kind=candidate.task.kind,
                model=self._interview.client.model_name,
                prompt=f"{candidate.task.kind} {self._interview.prompts.version}",
                date=date,
                labels=_make_labels(candidate),
            )
        return EvaluationSet(
            {candidate.id: candidate.question for candidate in accepted},
            {candidate.id: candidate.judgments for candidate in accepted},
            provenance,
            sources=SourceDocuments.from_documents(self._corpus.sources),
            answers={candidate.id: candidate.answer for candidate in accepted if candidate.answer is not None},
            conversation={candidate.id: candidate.conversation for candidate in accepted if candidate.conversation},
        )


def _find_repeats(candidates: list[Candidate], checked_ids: Collection[str]) -> dict[Any, LintFinding]:
    """Return the first finding that says which earlier question is repeated, by the id of the later one."""
    texts = {candidate.id: candidate.in_context for candidate in candidates}
    qrels = Qrels({candidate.id: candidate.judgments for candidate in candidates})
    repeats: dict[Any, LintFinding] = {}
    for finding in find_repeated_questions(LintInput(texts, qrels), checked_ids):
        if "duplicate" in finding.name:
            # A question that repeats only a dropped one is dropped too; this is rare and harmless.
            repeats.setdefault(finding.query, finding)
    return repeats


def _make_labels(candidate: Candidate) -> dict[str, str | int | float | bool]:
    labels: dict[str, str | int | float | bool] = {}
    if candidate.rank is not None:
        labels["bm25_rank"] = candidate.rank
    labels["overlap"] = round(candidate.overlap, 3)
    return labels


async def agenerate_questions(
    corpus: CorpusSource,
    model: LanguageModel,
    n: int,
    *,
    kinds: str | Collection[str] | Mapping[str, float] | None = None,
    checks: Collection[str] = CHECKS,
    evidence: Literal["quotes", "sentences"] = "quotes",
    retriever: Retriever | None = None,
    depth: int = 5,
    most_overlap: float = 0.5,
    passage_length: int = PASSAGE_LENGTH,
    prompts: QuestionPrompts | None = None,
    seed: int = 0,
    show_progress: bool = False,
) -> GeneratedQuestions:
    """Let a model write questions on a corpus, on the running event loop.

    This is the asynchronous version of `generate_questions`, with the same arguments, result and errors. Cancelling it
    cancels the calls that are under way.
    """
    positive_integer(n, "n")
    positive_integer(depth, "depth")
    proportion(most_overlap, "most_overlap", allow_zero=True, allow_one=True)
    _require_known_names(checks, CHECKS, "checks")
    _require_known_names([evidence], ("quotes", "sentences"), "evidence")
    n_by_kind = apportion(n, DEFAULT_SHARES if kinds is None else kinds, KINDS, "kinds")
    if UNANSWERABLE in n_by_kind and ANSWERABLE not in checks:
        raise ValueError(f"{UNANSWERABLE!r} questions need the check {ANSWERABLE!r}: nothing else shows that they are")
    client = LlmClient(model)
    texts = Corpus.from_texts(corpus, passage_length)
    if kinds is None and SEVERAL_PASSAGES in n_by_kind and len(texts.passages) == 1:
        shares_for_one_passage = {kind: share for kind, share in DEFAULT_SHARES.items() if kind != SEVERAL_PASSAGES}
        n_by_kind = apportion(n, shares_for_one_passage, KINDS, "kinds")
    _require_large_enough_corpus(texts, n_by_kind, passage_length)
    prompts = prompts or QuestionPrompts()
    formatter = PassageFormatter(texts, evidence, most_overlap, prompts.language)
    generation = QuestionGeneration(
        texts,
        PassageVectors(texts.index.tokens, seed),
        GenerationTarget(n_by_kind, checks),
        QuestionInterview(client, prompts, formatter, show_progress=show_progress),
        OtherPassageSearch(texts, retriever, depth=depth, show_progress=show_progress),
    )
    return await generation.run()


@takes_arguments_of(agenerate_questions)
def generate_questions(*args: Any, **options: Any) -> GeneratedQuestions:
    r"""Let a model write questions on a corpus, and keep those whose quoted answers are in the corpus.

    The model writes a question on a passage and quotes the words that answer it. The quote must be in the passage,
    compared as a `Quote` is; its exact words are taken from the passage. If it is not, the model is told what was wrong
    and asked once more before the question is rejected. Judgments are groups, all of which are needed. Each holds a
    `Quote` and the `Span` where it is, of which one suffices, because a chunk boundary can cut a quote but not a span.

    Passages are chosen so that even a few questions are spread over clusters of content. The result depends only on the
    seed and the replies: with a cache, the same call returns the same questions without asking the model again, and an
    interrupted call continues where it stopped.

    Args:
        corpus: Texts by id, a list of `Retrieved`, documents or nodes of an installed host, a folder of text files, or
            a file that `read_corpus` reads. Spans have the source of a `Retrieved` with a source and offsets, or else
            the id of the text. Texts longer than `passage_length` are cut, only for the prompts.
        model: A function from a prompt to a reply, synchronous or not, a chat model or LLM of an installed host, or a
            `Model`, which also sets the cache of replies and the budget:
            `rm.Model(ask, "qwen3:8b", cache="replies.jsonl", budget=500)`.
        n: The number of questions.
        kinds: The kinds of questions, as a name, names in equal shares, or a mapping of names to shares: `one_passage`;
            `other_words`, a question that avoids the words of its passage; `several_passages`, all of which are needed
            to answer; `keywords`, a few words for a search box. None takes 4 : 3 : 2 : 1 of these. Only if asked for:
            `comparison`, which needs passages of two documents; `conversational`, a follow-up that is understood only
            after what was said before it; `unanswerable`, which no passage answers, so nothing is judged for it.
        checks: The checks. All but the last ask the model again, only about texts. `answerable`: the quotes alone
            answer the question; an unanswerable one is answered by none of the passages that BM25 and the retriever
            find.
            `needed`: the rest of the passage does not answer it, nor do all passages but one; a follow-up is not
            understood alone. `others`: which other passages answer, among those that BM25 and the retriever find; these
            are judged too. `answers`: the quotes bear out the reference answer; without this check there is none.
            `duplicates`: nearly identical questions are dropped, without a model.
        evidence: How the model names the answer: with copied `quotes`, or with the numbers of `sentences`, for models
            that copy badly.
        retriever: Any retriever that `retrieve` takes, for the check `others`.
        depth: How many passages BM25 and the retriever each find for that check.
        most_overlap: The largest share of its content words that an `other_words` question may take from its passage.
        passage_length: The length in characters above which texts are cut; at least 200.
        prompts: Your own prompts; None takes those of this package.
        seed: Seed of the choice of passages.
        show_progress: Show progress bars on stderr, if rich is installed.

    Returns:
        The questions, the rejected ones with reasons, and the calls. `print` shows how they are distributed. If too few
        replies are usable, or a budget is spent, there are fewer than `n` questions, and `stop_reason` says why.

    Raises:
        TypeError: If the corpus or the model has another type, or the first reply is not a text.
        ValueError: If the corpus is empty, has an id twice, or is too small for `n` questions; if an option has an
            unknown value; if unanswerable questions are wanted without the check `answerable`, or a comparison of one
            document.
        OSError: If a file cannot be read or written.
        ImportError: If bm25s is not installed: `pip install 'retrieval-metrics[questions]'`.
        Exception: The error of a model that never replied.

    Example:
        >>> import json
        >>> import retrieval_metrics as rm
        >>> def model(prompt):  # stands for a real one
        ...     return json.dumps(
        ...         {"question": "Who opens the vault at night?", "quotes": ["opened at night by the duty officer"]}
        ...     )
        >>> corpus = {"rules": "The vault may be opened at night by the duty officer, who signs for it."}
        >>> made = rm.generate_questions(corpus, model, 1, kinds="one_passage", checks=())
        >>> (query,) = made.questions.queries
        >>> made.questions.queries[query]
        'Who opens the vault at night?'
        >>> made.questions.qrels[query]
        [[Quote(text='opened at night by the duty officer'), Span(source='rules', start=17, end=52)]]
    """
    return run_until_complete(forward_arguments("generate_questions", agenerate_questions, args, options))


def _require_known_names(names: Collection[str], known_names: Collection[str], argument: str) -> None:
    if isinstance(names, str):
        raise TypeError(f"{argument} must be names such as {tuple(known_names)!r}, got the bare string {names!r}")
    for name in names:
        if name not in known_names:
            raise ValueError(f"{argument} must be among {', '.join(map(repr, known_names))}, got {name!r}")


def _require_large_enough_corpus(texts: Corpus, n_by_kind: Mapping[str, int], passage_length: int) -> None:
    """Raise if a corpus has too few documents or passages for so many questions of each kind."""
    if COMPARISON in n_by_kind and len(texts.documents) == 1:
        raise ValueError(f"the corpus is one document, which cannot be compared: leave {COMPARISON!r} out of kinds")
    if SEVERAL_PASSAGES in n_by_kind and len(texts.passages) == 1:
        raise ValueError(
            f"the corpus is one passage, so no question needs several: leave {SEVERAL_PASSAGES!r} out of kinds, "
            f"or cut it into more passages than with passage_length={passage_length}"
        )
    for kind, n_wanted in n_by_kind.items():
        if n_wanted > MAX_PER_PASSAGE * len(texts.passages):
            raise ValueError(
                f"{n_wanted} questions of the kind {kind!r} are too many for a corpus of {len(texts.passages)} "
                f"passages: at most {MAX_PER_PASSAGE} of a kind are made from one; add texts, or use a smaller "
                f"passage_length than {passage_length}"
            )
