"""Generate questions in rounds of writing and checking until there are enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.documents import Sources
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.questions import Provenance
from retrieval_metrics.models.prompter import Failure
from retrieval_metrics.questions.evaluation_set import EvaluationSet
from retrieval_metrics.questions.generating.candidate import Candidate, WantedQuestion
from retrieval_metrics.questions.generating.checking import UNCHECKED, Checking
from retrieval_metrics.questions.generating.generated import GeneratedQuestions, RejectedQuestion
from retrieval_metrics.questions.generating.kinds import difficulty_of
from retrieval_metrics.questions.generating.passage_queue import MOST_PER_PASSAGE, PassageQueue
from retrieval_metrics.questions.linting.repeated_questions import repeated
from retrieval_metrics.questions.linting.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from retrieval_metrics.questions.generating.contents import Contents
    from retrieval_metrics.questions.generating.corpus import Corpus
    from retrieval_metrics.questions.generating.elsewhere import Elsewhere
    from retrieval_metrics.questions.generating.interview import Interview

MOST_ATTEMPTS = 5
"""The largest number of replies requested for each wanted question."""
MOST_CHECKS = 3
"""How often a question is checked whose check got no usable reply, before it is given up."""
ANSWERABLE, NEEDED, OTHERS, ANSWERS, DUPLICATES = "answerable", "needed", "others", "answers", "duplicates"
CHECKS = (ANSWERABLE, NEEDED, OTHERS, ANSWERS, DUPLICATES)


@dataclass(frozen=True)
class Wanted:
    """The wanted questions.

    Attributes:
        kinds: How many questions of each kind.
        difficulties: How many of each difficulty; None if any will do.
        checks: The names of the checks that are made.
        personas: Descriptions of the persons who ask, by name.
    """

    kinds: Mapping[str, int]
    difficulties: Mapping[str, int] | None
    checks: Collection[str]
    personas: Mapping[str, str]


class Generation:
    """One set of questions in the making."""

    def __init__(
        self,
        corpus: Corpus,
        contents: Contents,
        wanted: Wanted,
        interview: Interview,
        elsewhere: Elsewhere,
    ) -> None:
        """Set the parts, without asking anything yet."""
        self._corpus = corpus
        self._contents = contents
        self._wanted = wanted
        self._interview = interview
        self._elsewhere = elsewhere
        self._checking = Checking(corpus, interview, elsewhere)
        self._queue = PassageQueue(corpus, contents)
        self._asked: dict[tuple[str, tuple[int, ...]], list[str]] = {}
        self._personas = cycle(wanted.personas or [None])
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
            self._reject(Failure(UNCHECKED, "its check got no usable reply, or was not made"), candidate)
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
        room = self._room([*self._accepted, *self._unchecked])
        for kind, count in self._missing().items():
            for _ in range(min(count, most - len(tasks))):
                if (places := self._queue.drawn(kind, self._asked)) is None:
                    break
                difficulty = max(room, key=lambda name: room[name]) if room else None
                room.subtract([difficulty] if difficulty else [])
                tasks.append(WantedQuestion(kind, places, next(self._personas), difficulty))
        return tasks

    def _room(self, made: Iterable[Candidate]) -> Counter[str]:
        """Return how many questions of each difficulty are still wanted; nothing if any will do."""
        room = Counter(self._wanted.difficulties or {})
        room.subtract(difficulty_of(candidate.overlap) for candidate in made if room)
        return room

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
        return self._interview.prompter.stopped

    async def _check(self, candidates: list[Candidate]) -> None:
        left = self._of_wanted_difficulty(self._distinct(candidates))
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
        if failure.reason == UNCHECKED and self._checks[candidate.id] < MOST_CHECKS:
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
            subject = Subject(texts, Qrels({candidate.id: candidate.judgments for candidate in everything}))
            for finding in repeated(subject, among):
                if "duplicate" in finding.name:
                    # A question that repeats only a dropped one is dropped too; this is rare and harmless.
                    found.setdefault(finding.query, finding)
        for candidate in everything:
            if (repeat := found.get(candidate.id)) is not None:
                self._reject(Failure(repeat.name.replace("_", " "), repeat.message), candidate)
        return [candidate for candidate in everything if candidate.id in among and candidate.id not in found]

    def _of_wanted_difficulty(self, candidates: list[Candidate]) -> list[Candidate]:
        if self._wanted.difficulties is None:
            return candidates
        room, kept = self._room(self._accepted), []
        for candidate in candidates:
            difficulty = difficulty_of(candidate.overlap)
            if room[difficulty] > 0:
                room[difficulty] -= 1
                kept.append(candidate)
            else:
                self._reject(Failure("unwanted difficulty", f"it is {difficulty}; there are enough"), candidate)
        return kept

    def _reject(self, failure: Failure, what: Candidate | WantedQuestion) -> None:
        task, question = (what.task, what.question) if isinstance(what, Candidate) else (what, None)
        self._rejected.append(
            RejectedQuestion(
                failure.reason, failure.message, task.kind, self._sources(task.places), question, failure.reply
            )
        )

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
                    source=self._corpus.pieces[candidate.task.places[0]].document,
                    kind=candidate.task.kind,
                    model=self._interview.prompter.model_name,
                    prompt=f"{candidate.task.kind} {self._interview.prompts.version}",
                    date=date,
                    labels=_labels(candidate),
                )
                for candidate in made
            },
            sources=Sources.of(self._corpus.sources),
            answers={candidate.id: candidate.answer for candidate in made if candidate.answer is not None},
            history={candidate.id: candidate.history for candidate in made if candidate.history},
        )
        clusters = self._contents.clusters
        return GeneratedQuestions(
            questions=questions,
            rejected=self._rejected,
            calls=self._interview.prompter.calls,
            wanted=dict(self._wanted.kinds),
            stopped=stopped,
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
    labels: dict[str, str | int | float | bool] = {"difficulty": difficulty_of(candidate.overlap)}
    if candidate.rank is not None:
        labels["bm25_rank"] = candidate.rank
    labels["overlap"] = round(candidate.overlap, 3)
    return labels if candidate.task.persona is None else labels | {"persona": candidate.task.persona}
