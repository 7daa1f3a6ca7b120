"""Generate questions in rounds of writing and checking until there are enough."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.documents import Sources
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.questions.evaluation_set import EvaluationSet
from retrieval_metrics.questions.generating.checking import UNCHECKED
from retrieval_metrics.questions.generating.generated import GeneratedQuestions, RejectedQuestion
from retrieval_metrics.questions.generating.kinds import SEVERAL_PASSAGES, difficulty_of
from retrieval_metrics.questions.linting.repeated_questions import repeated
from retrieval_metrics.questions.linting.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from retrieval_metrics.models.prompter import Prompter
    from retrieval_metrics.questions.generating.candidate import Candidate
    from retrieval_metrics.questions.generating.checking import Checking
    from retrieval_metrics.questions.generating.contents import Contents
    from retrieval_metrics.questions.generating.corpus import Corpus
    from retrieval_metrics.questions.generating.prompts import QuestionPrompts
    from retrieval_metrics.questions.generating.replies import Reading

    Task = tuple[str, tuple[int, ...]]

MOST_PER_PASSAGE = 3
"""The largest number of questions of one kind that are requested for one passage."""
MOST_ATTEMPTS = 5
"""The largest number of replies requested for each wanted question."""
MOST_CHECKS = 3
"""How often a question is checked whose check got no usable reply, before it is given up."""
ALIKE = 0.5
"""Passages that share this many runs of words say the same, and are not needed together."""
ANSWERABLE, NEEDED, OTHERS, DUPLICATES = "answerable", "needed", "others", "duplicates"
CHECKS = (ANSWERABLE, NEEDED, OTHERS, DUPLICATES)


@dataclass(frozen=True)
class Wanted:
    """The wanted questions.

    Attributes:
        kinds: How many questions of each kind.
        difficulties: How many of each difficulty; None if any will do.
        checks: The names of the checks that are made.
    """

    kinds: Mapping[str, int]
    difficulties: Mapping[str, int] | None
    checks: Collection[str]


class Generation:
    """One set of questions in the making."""

    def __init__(
        self,
        *,
        corpus: Corpus,
        contents: Contents,
        wanted: Wanted,
        reading: Reading,
        checking: Checking,
        prompter: Prompter,
        prompts: QuestionPrompts,
        show_progress: bool,
    ) -> None:
        """Set the parts, without asking anything yet."""
        self._corpus = corpus
        self._contents = contents
        self._wanted = wanted
        self._reading = reading
        self._checking = checking
        self._prompter = prompter
        self._prompts = prompts
        self._show_progress = show_progress
        self._queue = deque(contents.order())
        self._uses: Counter[tuple[str, int]] = Counter()
        self._asked: dict[Task, list[str]] = {}
        self._accepted: list[Candidate] = []
        self._rejected: list[RejectedQuestion] = []
        self._unchecked: list[Candidate] = []
        self._checks: Counter[str] = Counter()

    async def run(self) -> GeneratedQuestions:
        """Write and check until there are enough questions, or no more can be made.

        Raises:
            Exception: The error of a model that never replies.
        """
        stopped = None
        written, most = 0, MOST_ATTEMPTS * sum(self._wanted.kinds.values())
        while stopped is None and ((tasks := self._tasks(most - written)) or self._unchecked):
            written += len(tasks)
            stopped = await self._round(tasks)
        for candidate in self._unchecked:
            self._reject_candidate(candidate, UNCHECKED, "the model gave no usable reply when it was checked")
        self._unchecked = []
        if stopped is None and any(self._missing().values()):
            stopped = (
                f"{written:,} were requested, {MOST_ATTEMPTS} for each wanted one, and too few can be used"
                if written >= most
                else f"every passage has been asked about {MOST_PER_PASSAGE} times in every kind that is missing"
            )
        return self._result(stopped)

    def _missing(self) -> dict[str, int]:
        made = Counter(candidate.kind for candidate in [*self._accepted, *self._unchecked])
        return {kind: count - made[kind] for kind, count in self._wanted.kinds.items()}

    def _tasks(self, most: int) -> list[Task]:
        """Return what to request next: a kind and passages for each missing question."""
        tasks: list[Task] = []
        for kind, count in self._missing().items():
            for _ in range(min(count, most - len(tasks))):
                if (places := self._drawn(kind)) is None:
                    break
                tasks.append((kind, places))
        return tasks

    def _drawn(self, kind: str) -> tuple[int, ...] | None:
        """Return the next passage, with a partner if the kind needs one; used passages go to the end of the queue."""
        while (uses := min(self._uses[kind, at] for at in self._queue)) < MOST_PER_PASSAGE:
            at = next(one for one in self._queue if self._uses[kind, one] == uses)
            self._queue.remove(at)
            self._queue.append(at)
            self._uses[kind, at] += 1
            if kind != SEVERAL_PASSAGES:
                return (at,)
            if (partner := self._partner(at)) is not None:
                return at, partner
        return None

    def _partner(self, at: int) -> int | None:
        """Return a related passage that says something else, from another document if there is one."""
        passages, pieces = self._corpus.passages, self._corpus.pieces
        alike = passages.alike(at, ALIKE)
        others = [
            other
            for other in self._contents.near(at)
            if other not in alike and not passages.copies(other).count(at) and not passages.overlap(at, other)
        ]
        elsewhere = [other for other in others if pieces[other].document != pieces[at].document]
        left = [other for other in elsewhere or others if (SEVERAL_PASSAGES, (at, other)) not in self._asked]
        return left[0] if left else None

    async def _round(self, tasks: list[Task]) -> str | None:
        """Request questions and check them; return why there can be no further round, or None if there can."""
        keys = dict(enumerate(tasks))
        replies = await self._prompter.ask(
            {key: self._prompt(*task) for key, task in keys.items()},
            lambda key, reply: self._reading.question(*keys[key], reply),
            fields=self._reading.fields,
            label="writing questions",
            show_progress=self._show_progress,
        )
        for key, task in keys.items():
            self._asked.setdefault(task, [])
            if (failure := replies.failures.get(key)) is not None:
                self._reject(failure.reason, failure.message, task, reply=failure.reply)
        for key, candidate in replies.parsed.items():
            self._asked[keys[key]].append(candidate.question)
        again, self._unchecked = self._unchecked, []
        await self._check([*again, *replies.parsed.values()])
        return self._prompter.stopped

    def _prompt(self, kind: str, places: tuple[int, ...]) -> str:
        prompt = self._prompts.to_write(kind, self._reading.shown(places), by_number=self._reading.by_number)
        if asked := self._asked.get((kind, places)):
            prompt += "\n\nAsk for something else than:\n" + "\n".join(f"- {question}" for question in asked)
        return prompt

    async def _check(self, candidates: list[Candidate]) -> None:
        left = self._distinct(candidates)
        for candidate in left:
            candidate.rank = self._checking.rank(candidate)
        left = self._of_wanted_difficulty(left)
        for name, check in ((ANSWERABLE, self._checking.answerable), (NEEDED, self._checking.needed)):
            if name in self._wanted.checks and left:
                wrong = await check(left)
                for candidate in left:
                    if candidate.id in wrong:
                        self._failed_check(candidate, *wrong[candidate.id])
                left = [candidate for candidate in left if candidate.id not in wrong]
        if OTHERS in self._wanted.checks and left:
            await self._checking.others(left)
            for candidate in left:
                candidate.rank = self._checking.rank(candidate)
            left = self._of_wanted_difficulty(left)
        self._accepted += left

    def _failed_check(self, candidate: Candidate, reason: str, message: str) -> None:
        """Reject a question, or check it again if the model was not reached."""
        self._checks[candidate.id] += 1
        if reason == UNCHECKED and self._checks[candidate.id] < MOST_CHECKS:
            self._unchecked.append(candidate)
        else:
            self._reject_candidate(candidate, reason, message)

    def _distinct(self, candidates: list[Candidate]) -> list[Candidate]:
        """Drop the questions that repeat an earlier one exactly and, if that is checked, nearly."""
        known = {candidate.id for candidate in self._accepted}
        distinct: list[Candidate] = []
        for candidate in candidates:
            if candidate.id in known:
                self._reject_candidate(candidate, "duplicate question", "the same question is already in the set")
            else:
                known.add(candidate.id)
                distinct.append(candidate)
        if DUPLICATES not in self._wanted.checks or not distinct:
            return distinct
        everything = [*self._accepted, *distinct]
        texts = {candidate.id: candidate.question for candidate in everything}
        subject = Subject(texts, Qrels({candidate.id: candidate.judgments for candidate in everything}), None)
        found: dict[Any, Any] = {}
        for finding in repeated(subject, {candidate.id for candidate in distinct}):
            if "duplicate" in finding.name:
                # A question that repeats only a dropped one is dropped too; this is rare and harmless.
                found.setdefault(finding.query, finding)
        for candidate in distinct:
            if (repeat := found.get(candidate.id)) is not None:
                self._reject_candidate(candidate, repeat.name.replace("_", " "), repeat.message)
        return [candidate for candidate in distinct if candidate.id not in found]

    def _of_wanted_difficulty(self, candidates: list[Candidate]) -> list[Candidate]:
        if self._wanted.difficulties is None:
            return candidates
        room = Counter(self._wanted.difficulties)
        room.subtract(difficulty_of(candidate.rank) for candidate in self._accepted)
        kept = []
        for candidate in candidates:
            difficulty = difficulty_of(candidate.rank)
            if room[difficulty] > 0:
                room[difficulty] -= 1
                kept.append(candidate)
            else:
                self._reject_candidate(candidate, "unwanted difficulty", f"it is {difficulty}; there are enough")
        return kept

    def _reject_candidate(self, candidate: Candidate, reason: str, message: str) -> None:
        self._reject(reason, message, (candidate.kind, candidate.places), question=candidate.question)

    def _reject(
        self, reason: str, message: str, task: Task, *, question: str | None = None, reply: str | None = None
    ) -> None:
        kind, places = task
        self._rejected.append(RejectedQuestion(reason, message, kind, self._sources(places), question, reply))

    def _sources(self, places: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._corpus.pieces[at].document for at in places))

    def _result(self, stopped: str | None) -> GeneratedQuestions:
        made = self._accepted
        date = datetime.now(tz=UTC).date()
        questions = EvaluationSet(
            {candidate.id: candidate.question for candidate in made},
            {candidate.id: candidate.judgments for candidate in made},
            {
                candidate.id: Provenance(
                    source=self._corpus.pieces[candidate.places[0]].document,
                    kind=candidate.kind,
                    model=self._prompter.model_name,
                    prompt=f"{candidate.kind} {self._prompts.version}",
                    date=date,
                    labels=_labels(candidate),
                )
                for candidate in made
            },
            sources=Sources.of(self._corpus.sources),
        )
        clusters = self._contents.clusters
        return GeneratedQuestions(
            questions,
            self._rejected,
            self._prompter.calls,
            wanted=dict(self._wanted.kinds),
            stopped=stopped,
            documents=(len({one for each in made for one in self._sources(each.places)}), len(self._corpus.documents)),
            clusters=(len({int(clusters[at]) for each in made for at in each.places}), len(set(clusters.tolist()))),
            others=(self._checking.found, self._checking.refused, self._checking.unseen),
        )


def _labels(candidate: Candidate) -> dict[str, str | int | float | bool]:
    rank: dict[str, str | int | float | bool] = {} if candidate.rank is None else {"bm25_rank": candidate.rank}
    return {"difficulty": difficulty_of(candidate.rank), **rank, "overlap": round(candidate.overlap, 3)}
