"""Check generated questions by asking the model again, about texts only and never about its own replies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.datasets.candidate import join_evidence
from retrieval_metrics.datasets.llm_client import Failure
from retrieval_metrics.datasets.llm_questions import OtherAnswersTask
from retrieval_metrics.datasets.question_kinds import MULTI_PASSAGE_KINDS, UNANSWERABLE
from retrieval_metrics.datasets.text_cutting import sentence_ranges
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.datasets.candidate import Candidate, Evidence
    from retrieval_metrics.datasets.corpus import Corpus
    from retrieval_metrics.datasets.llm_questions import QuestionInterview
    from retrieval_metrics.datasets.passage_search import OtherPassageSearch


# Takes the place of the quotes that are removed from a passage.
LEFT_OUT = "[...]"

# A text with fewer words answers nothing, so the model is not asked.
MIN_WORDS_LEFT = 5

NOT_CHECKED = "not checked"

# The questions to the model about texts: each is the name of a prompt, and of the field of its reply.
ANSWERABLE = "answerable"
SUPPORTED = "supported"
CLEAR = "clear"

# The number of the control claim, which the model must confirm because the passage says it in these words.
CONTROL = -1

# A reference answer with more characters is left out, because a short one was asked for.
MAX_ANSWER_LENGTH = 1_000

# How many characters of a sentence a control claim quotes, by which a model is found out that denies everything.
MAX_CONTROL_LENGTH = 300

# From so many verdicts on, the same answer to everything shows that the model does not check anything.
MIN_VERDICTS = 10


class ClaimKey(NamedTuple):
    """The id of a question, and the number of a claim about it."""

    candidate_id: str
    number: int


class GroupKey(NamedTuple):
    """The id of a question, and the number of a group of its evidence."""

    candidate_id: str
    group: int


class OtherAnswerKey(NamedTuple):
    """The id of a question, the number of a group of its evidence, and that of another answer to it."""

    candidate_id: str
    group: int
    number: int


class CheckVerdict(NamedTuple):
    """Whether the model was expected to say yes, and whether it did."""

    expected: bool
    answer: bool


@dataclass(slots=True)
class CheckResults:
    """The results of the checks.

    Attributes:
        n_unknown: How often it is unknown which other passages answer, because the call failed.
        n_other_answers: How many other passages also answer a question.
        n_refused: How many passages the model named as answers but rejected when asked about them alone.
        n_unsupported: How many reference answers were left out, because the quotes do not bear them out.
        verdicts: How often each answer was given where each was expected.
    """

    n_unknown: int = 0
    n_other_answers: int = 0
    n_refused: int = 0
    n_unsupported: int = 0
    verdicts: Counter[CheckVerdict] = field(default_factory=Counter)

    def count_contradicted(self, *, answer: bool) -> int:
        """Return how often a model that always gives one answer gave it where the opposite was expected.

        Return 0 for a model that also gives the other answer, and if there are too few such verdicts.
        """
        n_contradicted = self.verdicts[CheckVerdict(not answer, answer)]
        n_same = self.verdicts[CheckVerdict(answer, answer)] + n_contradicted
        if n_contradicted >= MIN_VERDICTS and n_same == self.verdicts.total():
            return n_contradicted
        return 0


class VerifiedClaim(NamedTuple):
    """A claim about texts that the model is asked to confirm or to deny.

    Attributes:
        texts: The texts in the prompt, such as the question and what answers it, or not.
        failure: Why the question is rejected if the model says otherwise.
        expected: Whether it should confirm it.
    """

    texts: Mapping[str, str]
    failure: Failure
    expected: bool


class CandidateChecks:
    """The checks of candidate questions; each returns the failed questions with reasons.

    Attributes:
        results: The counts of the checks so far.
    """

    def __init__(self, corpus: Corpus, interview: QuestionInterview, search: OtherPassageSearch) -> None:
        """Set the corpus, the model to ask, and the search for other passages."""
        self._corpus = corpus
        self._interview = interview
        self._search = search
        self.results = CheckResults()

    async def check_answerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions not answered by their quotes alone, by id."""
        unanswerable = [candidate for candidate in candidates if candidate.task.kind == UNANSWERABLE]
        answerable = [candidate for candidate in candidates if candidate.task.kind != UNANSWERABLE]
        failures = await self._check_unanswerable(unanswerable)
        claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate in answerable:
            message = f"the model cannot answer it from its quotes alone: {candidate.quoted}"
            texts = {"question": candidate.in_context, "text": candidate.quoted}
            failure = Failure("not answerable", message)
            claims[ClaimKey(candidate.id, 0)] = VerifiedClaim(texts, failure, expected=True)
        failures |= await self._find_refuted(ANSWERABLE, claims, "answers")
        wrong_history = Failure("wrong earlier turn", "the earlier turn does not answer the first question")
        history_claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate in answerable:
            if candidate.conversation and candidate.id not in failures:
                first_question = candidate.conversation[0]["content"]
                first_answer = candidate.conversation[1]["content"]
                texts = {"question": first_question, "text": first_answer}
                history_claims[ClaimKey(candidate.id, 0)] = VerifiedClaim(texts, wrong_history, expected=True)
        return failures | await self._find_refuted(ANSWERABLE, history_claims, "histories")

    async def _check_unanswerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions meant to be unanswerable that a passage answers, or that could not be checked, by id."""
        other_passages = await self._find_other_passages(candidates)
        not_believed = Failure(
            "control question failed", "the model denies that a passage contains one of its own sentences"
        )
        claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate in candidates:
            own_passage = candidate.task.passages[0]
            own_text = self._corpus.passages[own_passage].text
            control_question = f'Does the text say this? "{_longest_sentence(own_text)[:MAX_CONTROL_LENGTH]}"'
            control_texts = {"question": control_question, "text": own_text}
            claims[ClaimKey(candidate.id, CONTROL)] = VerifiedClaim(control_texts, not_believed, expected=True)
            for number, passage in enumerate(dict.fromkeys([own_passage, *other_passages[candidate.id]])):
                answering_text = self._corpus.passages[passage].text
                document = self._corpus.passages[passage].document
                answered = Failure("answered", f"the model says that a passage of {document!r} answers it")
                texts = {"question": candidate.question, "text": answering_text}
                claims[ClaimKey(candidate.id, number)] = VerifiedClaim(texts, answered, expected=False)
        return await self._find_refuted(ANSWERABLE, claims, "that nothing answers")

    async def check_needed(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions that are answered without their quotes, or understood without their history, by id."""
        claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate in candidates:
            for number, text in enumerate(self._remove_evidence(candidate)):
                if len(words(text)) >= MIN_WORDS_LEFT:
                    texts = {"question": candidate.in_context, "text": text}
                    failure = _unneeded_evidence_failure(candidate, number)
                    claims[ClaimKey(candidate.id, number)] = VerifiedClaim(texts, failure, expected=False)
        failures = await self._find_refuted(ANSWERABLE, claims, "quotes")
        clear = Failure("self-contained follow-up", "it can be understood without the earlier turn")
        clear_claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate in candidates:
            if candidate.conversation and candidate.id not in failures:
                texts = {"question": candidate.question}
                clear_claims[ClaimKey(candidate.id, 0)] = VerifiedClaim(texts, clear, expected=False)
        return failures | await self._find_refuted(CLEAR, clear_claims, "follow-ups")

    async def check_answers(self, candidates: Sequence[Candidate]) -> None:
        """Remove the reference answers that the quotes do not support, and those that could not be checked."""
        unsupported = Failure("unsupported", "the quotes do not support it")
        with_answer = {candidate.id: candidate for candidate in candidates if candidate.answer is not None}
        claims: dict[ClaimKey, VerifiedClaim] = {}
        for candidate_id, candidate in with_answer.items():
            answer = candidate.answer or ""
            if len(answer) <= MAX_ANSWER_LENGTH and not _has_invented_number(candidate, answer):
                texts = {"question": candidate.in_context, "answer": answer, "text": candidate.quoted}
                claims[ClaimKey(candidate_id, 0)] = VerifiedClaim(texts, unsupported, expected=True)
        failures = await self._find_refuted(SUPPORTED, claims, "reference answers")
        for candidate_id, candidate in with_answer.items():
            if ClaimKey(candidate_id, 0) not in claims or candidate_id in failures:
                candidate.answer = None
                self.results.n_unsupported += 1

    async def add_other_answers(self, candidates: Sequence[Candidate]) -> None:
        """Add to each question the other passages that answer it: those that the model names, and confirms alone."""
        candidate_by_id = {candidate.id: candidate for candidate in candidates}
        named_answers = await self._find_named_answers(candidates)
        texts: dict[OtherAnswerKey, dict[str, str]] = {}
        for key, evidence in named_answers.items():
            candidate = candidate_by_id[key.candidate_id]
            evidence_of_groups = [evidence]
            for number, group in enumerate(candidate.groups):
                if number != key.group:
                    evidence_of_groups.append(group[0])
            texts[key] = {"question": candidate.in_context, "text": join_evidence(evidence_of_groups)}
        replies = await self._interview.ask_yes_or_no(ANSWERABLE, texts, "other answers")
        self.results.n_unknown += len(replies.failures)
        for key, is_answer in replies.parsed.items():
            self.results.verdicts[CheckVerdict(expected=True, answer=is_answer)] += 1
            if is_answer:
                self.results.n_other_answers += 1
                candidate_by_id[key.candidate_id].groups[key.group].append(named_answers[key])
            else:
                self.results.n_refused += 1

    async def _find_named_answers(self, candidates: Sequence[Candidate]) -> dict[OtherAnswerKey, Evidence]:
        """Return what the model names in other passages as an answer to a group of a question."""
        other_passages = await self._find_other_passages(candidates)
        tasks: dict[GroupKey, OtherAnswersTask] = {}
        for candidate in candidates:
            for number, group in enumerate(candidate.groups):
                passages = self._search.leave_out_known(other_passages[candidate.id], candidate, group)
                if passages:
                    task = OtherAnswersTask(candidate.in_context, group[0], passages)
                    tasks[GroupKey(candidate.id, number)] = task
        replies = await self._interview.find_other_answers(tasks)
        self.results.n_unknown += len(replies.failures)
        named_answers: dict[OtherAnswerKey, Evidence] = {}
        for group_key, answers in replies.parsed.items():
            for number, evidence in enumerate(answers):
                named_answers[OtherAnswerKey(group_key.candidate_id, group_key.group, number)] = evidence
        return named_answers

    async def _find_other_passages(self, candidates: Sequence[Candidate]) -> dict[str, list[int]]:
        """Return the passages that could also answer each question, by id; failed calls are counted."""
        search_result = await self._search.find_passages(candidates)
        self.results.n_unknown += search_result.n_failed
        return search_result.by_candidate

    async def _find_refuted(
        self, prompt_name: str, claims: Mapping[ClaimKey, VerifiedClaim], subject: str
    ) -> dict[str, Failure]:
        """Return the questions about which the model contradicts a claim or gives no usable reply, by id."""
        texts = {key: claim.texts for key, claim in claims.items()}
        replies = await self._interview.ask_yes_or_no(prompt_name, texts, subject)
        failures: dict[str, Failure] = {}
        for key, failure in replies.failures.items():
            failures[key.candidate_id] = Failure(NOT_CHECKED, f"{failure.reason}: {failure.message}")
        for key, answer in replies.parsed.items():
            claim = claims[key]
            self.results.verdicts[CheckVerdict(claim.expected, answer)] += 1
            if answer is not claim.expected:
                failures[key.candidate_id] = claim.failure
        return failures

    def _remove_evidence(self, candidate: Candidate) -> list[str]:
        """Return the texts that must not answer a question.

        That is its passage without the quotes or, if it needs several passages, all of these but one, for each.
        """
        if candidate.task.kind == UNANSWERABLE:
            return []
        positions = candidate.task.passages
        passages = self._corpus.passages
        if candidate.task.kind in MULTI_PASSAGE_KINDS:
            texts = []
            for left_out in positions:
                remaining = [passages[position].text for position in positions if position != left_out]
                texts.append("\n\n".join(remaining))
            return texts
        text = passages[positions[0]].text
        for group in reversed(candidate.groups):  # from the end, so that the offsets of earlier evidence stay valid
            text = text[: group[0].start] + LEFT_OUT + text[group[0].end :]
        return [text]


def _unneeded_evidence_failure(candidate: Candidate, number: int) -> Failure:
    """Return the failure of a question that can be answered without its quotes, or without one of its passages."""
    if candidate.task.kind in MULTI_PASSAGE_KINDS:
        message = f"it can be answered without passage {number + 1} of those it was made from"
        return Failure("passage not needed", message)
    return Failure("answerable without its quotes", "the rest of the passage answers it")


def _longest_sentence(text: str) -> str:
    return max((text[start:end] for start, end in sentence_ranges(text)), key=len)


def _has_invented_number(candidate: Candidate, answer: str) -> bool:
    """Return whether an answer has a number that neither the quotes nor the question has."""
    known_words = {*words(candidate.quoted), *words(candidate.in_context)}
    for word in words(answer):
        if word not in known_words and any(map(str.isdigit, word)):
            return True
    return False
