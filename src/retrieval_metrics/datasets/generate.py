"""Generate questions with a model: passage by passage, several at a time."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics._internal.validation import forward_arguments, positive_integer, proportion, takes_arguments_of
from retrieval_metrics.datasets.corpus import Corpus, OtherPassageSearch, PassageVectors
from retrieval_metrics.datasets.evaluation_set import EvaluationSet
from retrieval_metrics.datasets.generated import GeneratedQuestions, RejectedQuestion
from retrieval_metrics.datasets.lint import find_repeated_questions
from retrieval_metrics.datasets.lint_report import LintInput
from retrieval_metrics.datasets.llm_client import Failure, LlmClient
from retrieval_metrics.datasets.llm_questions import NOT_CHECKED, CandidateChecks, PassageFormatter, QuestionInterview
from retrieval_metrics.datasets.prompts import (
    COMPARISON,
    DEFAULT_SHARES,
    KINDS,
    MULTI_PASSAGE_KINDS,
    SEVERAL_PASSAGES,
    UNANSWERABLE,
    Candidate,
    QuestionPrompts,
    WantedQuestion,
    apportion,
)
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.retrieval.sync_async import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping


# Generate questions in rounds of writing and checking until there are enough.

MOST_ATTEMPTS = 5
"""The largest number of replies requested for each wanted question."""
MOST_CHECKS = 3
"""How often a question is checked whose check got no usable reply, before it is given up."""
ANSWERABLE, NEEDED, OTHERS, ANSWERS, DUPLICATES = "answerable", "needed", "others", "answers", "duplicates"
CHECKS = (ANSWERABLE, NEEDED, OTHERS, ANSWERS, DUPLICATES)


@dataclass(frozen=True)
class GenerationTarget:
    """The wanted questions.

    Attributes:
        kinds: How many questions of each kind.
        checks: The names of the checks that are made.
    """

    kinds: Mapping[str, int]
    checks: Collection[str]


class QuestionGeneration:
    """One set of questions in the making."""

    def __init__(
        self,
        corpus: Corpus,
        contents: PassageVectors,
        wanted: GenerationTarget,
        interview: QuestionInterview,
        elsewhere: OtherPassageSearch,
    ) -> None:
        """Set the parts, without asking anything yet."""
        self._corpus = corpus
        self._contents = contents
        self._wanted = wanted
        self._interview = interview
        self._elsewhere = elsewhere
        self._checking = CandidateChecks(corpus, interview, elsewhere)
        self._queue = PassageQueue(corpus, contents)
        self._asked: dict[tuple[str, tuple[int, ...]], list[str]] = {}
        self._accepted: list[Candidate] = []
        self._rejected: list[RejectedQuestion] = []
        self._unchecked: list[Candidate] = []
        self._checks: Counter[str] = Counter()

    async def run(self) -> GeneratedQuestions:
        """Write and check until there are enough questions, or no more can be made."""
        stopped = None
        written, most = 0, MOST_ATTEMPTS * sum(self._wanted.kinds.values())
        while stopped is None and ((tasks := self._tasks(most - written)) or self._unchecked):
            written += len(tasks)
            stopped = await self._round(tasks)
        for candidate in self._unchecked:
            self._reject(Failure(NOT_CHECKED, "its check got no usable reply, or was not made"), candidate)
        self._unchecked = []
        if stopped is None and any(self._missing().values()):
            stopped = (
                f"{written:,} were requested, {MOST_ATTEMPTS} for each wanted one, and too few can be used"
                if written >= most
                else f"every passage has been asked about {MOST_PER_PASSAGE} times in every kind that is missing"
            )
        return self._result(stopped)

    def _missing(self) -> dict[str, int]:
        made = Counter(candidate.task.kind for candidate in [*self._accepted, *self._unchecked])
        return {kind: count - made[kind] for kind, count in self._wanted.kinds.items()}

    def _tasks(self, most: int) -> list[WantedQuestion]:
        """Return what to request next: a kind and passages for each missing question."""
        tasks: list[WantedQuestion] = []
        for kind, count in self._missing().items():
            for _ in range(min(count, most - len(tasks))):
                if (places := self._queue.drawn(kind, self._asked)) is None:
                    break
                tasks.append(WantedQuestion(kind, places))
        return tasks

    async def _round(self, tasks: list[WantedQuestion]) -> str | None:
        """Request questions and check them; return why there can be no further round, or None if there can."""
        replies = await self._interview.questions(tasks, self._asked)
        for at, failure in replies.failures.items():
            self._reject(failure, tasks[at])
        written = [replies.parsed[at] for at in sorted(replies.parsed)]
        for candidate in written:
            self._asked.setdefault((candidate.task.kind, candidate.task.places), []).append(candidate.question)
        again, self._unchecked = self._unchecked, []
        await self._check([*again, *written])
        return self._interview.prompter.stop_reason

    async def _check(self, candidates: list[Candidate]) -> None:
        left = self._distinct(candidates)
        for name, check in ((ANSWERABLE, self._checking.answerable), (NEEDED, self._checking.needed)):
            if name in self._wanted.checks and left:
                wrong = await check(left)
                for candidate in left:
                    if candidate.id in wrong:
                        self._failed_check(candidate, wrong[candidate.id])
                left = [candidate for candidate in left if candidate.id not in wrong]
        if OTHERS in self._wanted.checks and left:
            await self._checking.others([candidate for candidate in left if candidate.groups])
        for candidate in left:
            candidate.rank = self._elsewhere.rank(candidate)
        if ANSWERS in self._wanted.checks:
            await self._checking.answers(left)
        else:  # what nobody checked is no reference
            for candidate in left:
                candidate.answer = None
        # Judgments that were added, and the words of the whole set, can make two questions alike that were not before.
        everything = [*self._accepted, *left]
        self._accepted = self._without_repeats(everything, {candidate.id for candidate in everything})

    def _failed_check(self, candidate: Candidate, failure: Failure) -> None:
        """Reject a question, or check it again if the model was not reached."""
        self._checks[candidate.id] += 1
        if failure.reason == NOT_CHECKED and self._checks[candidate.id] < MOST_CHECKS:
            self._unchecked.append(candidate)
        else:
            self._reject(failure, candidate)

    def _distinct(self, candidates: list[Candidate]) -> list[Candidate]:
        """Drop the questions that repeat an earlier one exactly and, if that is checked, nearly."""
        known = {candidate.id for candidate in self._accepted}
        distinct: list[Candidate] = []
        for candidate in candidates:
            if candidate.id in known:
                self._reject(Failure("duplicate question", "the same question is already in the set"), candidate)
            else:
                known.add(candidate.id)
                distinct.append(candidate)
        return self._without_repeats([*self._accepted, *distinct], {candidate.id for candidate in distinct})

    def _without_repeats(self, everything: list[Candidate], among: Collection[str]) -> list[Candidate]:
        """Return those of the named questions that do not nearly repeat an earlier one, if that is checked."""
        found: dict[Any, Any] = {}
        if DUPLICATES in self._wanted.checks and among:
            texts = {candidate.id: candidate.in_context for candidate in everything}
            subject = LintInput(texts, Qrels({candidate.id: candidate.judgments for candidate in everything}))
            for finding in find_repeated_questions(subject, among):
                if "duplicate" in finding.name:
                    # A question that repeats only a dropped one is dropped too; this is rare and harmless.
                    found.setdefault(finding.query, finding)
        for candidate in everything:
            if (repeat := found.get(candidate.id)) is not None:
                self._reject(Failure(repeat.name.replace("_", " "), repeat.message), candidate)
        return [candidate for candidate in everything if candidate.id in among and candidate.id not in found]

    def _reject(self, failure: Failure, what: Candidate | WantedQuestion) -> None:
        task, question = (what.task, what.question) if isinstance(what, Candidate) else (what, None)
        self._rejected.append(
            RejectedQuestion(
                failure.reason, failure.message, task.kind, self._sources(task.places), question, failure.reply
            )
        )

    def _sources(self, places: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._corpus.pieces[at].document for at in places))

    def _result(self, stop_reason: str | None) -> GeneratedQuestions:
        made = self._accepted
        date = datetime.now(tz=UTC).date()
        questions = EvaluationSet(
            {candidate.id: candidate.question for candidate in made},
            {candidate.id: candidate.judgments for candidate in made},
            {
                candidate.id: Provenance(
                    source=self._corpus.pieces[candidate.task.places[0]].document,
                    kind=candidate.task.kind,
                    model=self._interview.prompter.model_name,
                    prompt=f"{candidate.task.kind} {self._interview.prompts.version}",
                    date=date,
                    labels=_labels(candidate),
                )
                for candidate in made
            },
            sources=SourceDocuments.from_documents(self._corpus.sources),
            answers={candidate.id: candidate.answer for candidate in made if candidate.answer is not None},
            conversation={candidate.id: candidate.history for candidate in made if candidate.history},
        )
        clusters = self._contents.clusters
        return GeneratedQuestions(
            questions=questions,
            rejected=self._rejected,
            calls=self._interview.prompter.calls,
            requested=dict(self._wanted.kinds),
            stop_reason=stop_reason,
            documents=(
                len({one for each in made for one in self._sources(each.task.places)}),
                len(self._corpus.documents),
            ),
            clusters=(
                len({int(clusters[at]) for each in made for at in each.task.places}),
                len(set(clusters.tolist())),
            ),
            findings=self._checking.findings,
        )


def _labels(candidate: Candidate) -> dict[str, str | int | float | bool]:
    labels: dict[str, str | int | float | bool] = {} if candidate.rank is None else {"bm25_rank": candidate.rank}
    return labels | {"overlap": round(candidate.overlap, 3)}


MOST_PER_PASSAGE = 3
"""The largest number of questions of one kind that are requested for one passage."""
ALIKE = 0.5
"""Passages that share this many runs of words say the same, and are not needed together."""


class PassageQueue:
    """The passages in the order in which they are asked about; those that were drawn go to the end."""

    def __init__(self, corpus: Corpus, contents: PassageVectors) -> None:
        """Begin with the passages in the order of their contents."""
        self._corpus = corpus
        self._contents = contents
        self._order = deque(contents.order())
        self._uses: Counter[tuple[str, int]] = Counter()

    def drawn(self, kind: str, asked: Container[tuple[str, tuple[int, ...]]]) -> tuple[int, ...] | None:
        """Return the next passage, with a partner if the kind needs one; None if all have been drawn often enough."""
        while (uses := min(self._uses[kind, at] for at in self._order)) < MOST_PER_PASSAGE:
            at = next(one for one in self._order if self._uses[kind, one] == uses)
            self._order.remove(at)
            self._order.append(at)
            self._uses[kind, at] += 1
            if kind not in MULTI_PASSAGE_KINDS:
                return (at,)
            if (partner := self._partner(kind, at, asked)) is not None:
                return at, partner
        return None

    def _partner(self, kind: str, at: int, asked: Container[tuple[str, tuple[int, ...]]]) -> int | None:
        """Return a related passage that says something else, from another document if there is one."""
        passages, pieces = self._corpus.passages, self._corpus.pieces
        alike = passages.find_similar(at, ALIKE)
        others = [
            other
            for other in self._contents.near(at)
            if other not in alike and not passages.copies(other).count(at) and not passages.overlap(at, other)
        ]
        elsewhere = [other for other in others if pieces[other].document != pieces[at].document]
        usable = elsewhere if kind == COMPARISON else elsewhere or others
        left = [other for other in usable if (kind, (at, other)) not in asked]
        return left[0] if left else None


PASSAGE_LENGTH = 2000


async def agenerate_questions(
    corpus: Any,
    model: Any,
    n: int,
    *,
    kinds: str | Collection[str] | Mapping[str, float] | None = None,
    checks: Collection[str] = CHECKS,
    evidence: Literal["quotes", "sentences"] = "quotes",
    retriever: Any = None,
    depth: int = 5,
    most_overlap: float = 0.5,
    passage_length: int = PASSAGE_LENGTH,
    prompts: QuestionPrompts | None = None,
    seed: int = 0,
    show_progress: bool = False,
) -> GeneratedQuestions:
    """Let a model write questions on a corpus, on the running event loop.

    This is the asynchronous twin of `generate_questions`, with the same arguments, result and errors. Cancelling it
    cancels the calls that are under way.
    """
    positive_integer(n, "n")
    positive_integer(depth, "depth")
    proportion(most_overlap, "most_overlap", allow_zero=True, allow_one=True)
    _among(checks, CHECKS, "checks")
    _among([evidence], ("quotes", "sentences"), "evidence")
    shares = apportion(n, DEFAULT_SHARES if kinds is None else kinds, KINDS, "kinds")
    if UNANSWERABLE in shares and ANSWERABLE not in checks:
        raise ValueError(f"{UNANSWERABLE!r} questions need the check {ANSWERABLE!r}: nothing else tells that they are")
    prompter = LlmClient(model)
    read = Corpus.of(corpus, passage_length)
    if COMPARISON in shares and len(read.documents) == 1:
        raise ValueError(f"the corpus is one document, which cannot be compared: leave {COMPARISON!r} out of kinds")
    if len(read.pieces) == 1 and SEVERAL_PASSAGES in shares:
        if kinds is not None:
            raise ValueError(
                f"the corpus is one passage, so no question needs several: leave {SEVERAL_PASSAGES!r} out of kinds, "
                f"or cut it into more passages than with passage_length={passage_length}"
            )
        alone = {kind: share for kind, share in DEFAULT_SHARES.items() if kind != SEVERAL_PASSAGES}
        shares = apportion(n, alone, KINDS, "kinds")
    for kind, count in shares.items():
        if count > MOST_PER_PASSAGE * len(read.pieces):
            raise ValueError(
                f"{count} questions of the kind {kind!r} are too many for a corpus of {len(read.pieces)} passages: at "
                f"most {MOST_PER_PASSAGE} of a kind are made from one; add texts, or use a smaller passage_length than "
                f"{passage_length}"
            )
    prompts = prompts or QuestionPrompts()
    reading = PassageFormatter(read, evidence, most_overlap, prompts.language)
    return await QuestionGeneration(
        read,
        PassageVectors(read.passages.tokens, seed),
        GenerationTarget(shares, checks),
        QuestionInterview(prompter, prompts, reading, show_progress=show_progress),
        OtherPassageSearch(read, retriever, depth=depth, show_progress=show_progress),
    ).run()


@takes_arguments_of(agenerate_questions)
def generate_questions(*args: Any, **options: Any) -> GeneratedQuestions:  # noqa: D417  (those of agenerate_questions)
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
            `Model`, which says also where replies are kept and what may be spent:
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
        replies are usable, or a budget is spent, there are fewer than `n` questions, and `stopped` says why.

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


def _among(names: Collection[str], known: Collection[str], what: str) -> None:
    if isinstance(names, str):
        raise TypeError(f"{what} must be names such as {tuple(known)!r}, got the bare string {names!r}")
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{what} must be among {', '.join(map(repr, known))}, got {unknown[0]!r}")
