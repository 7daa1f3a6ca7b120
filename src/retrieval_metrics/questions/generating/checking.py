"""Check generated questions by asking the model again, about texts only and never about its own replies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.models.prompter import Failure
from retrieval_metrics.questions.generating.candidate import joined
from retrieval_metrics.questions.generating.corpus import sentence_places
from retrieval_metrics.questions.generating.kinds import OF_SEVERAL, UNANSWERABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.questions.generating.candidate import Candidate
    from retrieval_metrics.questions.generating.corpus import Corpus
    from retrieval_metrics.questions.generating.elsewhere import Elsewhere
    from retrieval_metrics.questions.generating.interview import Interview

    Key = tuple[str, int]
    """The id of a question, and the number of what is asked about it."""

LEFT_OUT = "[...]"
FEWEST_WORDS_LEFT = 5
"""A text with fewer words answers nothing, so the model is not asked."""
UNCHECKED = "not checked"
ANSWERABLE, SUPPORTED, CLEAR = "answerable", "supported", "clear"
"""What the model is asked about texts: the names of prompts, and of the fields of replies."""
CONTROL = -1
LONGEST_ANSWER = 1_000
"""Characters; a longer answer is not the short one that is asked for, and is left out."""
LONGEST_CONTROL = 300
"""Characters of a sentence that a passage holds, about which a model is asked to see whether it denies everything."""
FEWEST_VERDICTS = 10
"""So many verdicts that are all alike, where both were to be expected, say something about the model."""


@dataclass(slots=True)
class Findings:
    """What the checks have found.

    Attributes:
        unseen: How often it is unknown which other passages answer, because the call failed.
        others: How many other passages also answer a question.
        refused: How many passages the model named as answers but rejected when asked about them alone.
        unsupported: How many reference answers were left out, because the quotes do not bear them out.
        verdicts: How often yes or no was expected of the model, and what it said.
    """

    unseen: int = 0
    others: int = 0
    refused: int = 0
    unsupported: int = 0
    verdicts: Counter[tuple[bool, bool]] = field(default_factory=Counter)

    @property
    def of_the_model(self) -> str | None:
        """What to say of a model that says yes to everything, or no; None of any other."""
        for said, word, does in ((True, "yes", "confirm"), (False, "no", "deny")):
            against, alike = self.verdicts[not said, said], self.verdicts[said, said] + self.verdicts[not said, said]
            if against >= FEWEST_VERDICTS and alike == self.verdicts.total():
                return (
                    f"the model said {word} to all {alike:,} questions of the checks, also to the {against:,} where "
                    f"the opposite was expected: it seems to {does} whatever it is asked, so its checks say nothing"
                )
        return None


class Claim(NamedTuple):
    """What the model is asked to confirm or to deny.

    Attributes:
        texts: The texts in the prompt, such as the question and what answers it, or not.
        otherwise: Why the question is rejected if it says otherwise.
        expected: Whether it should confirm it.
    """

    texts: Mapping[str, str]
    otherwise: Failure
    expected: bool


class Checking:
    """The checks of candidate questions; each returns the failed questions with reasons.

    Attributes:
        findings: What was found besides.
    """

    def __init__(self, corpus: Corpus, interview: Interview, elsewhere: Elsewhere) -> None:
        """Set what the checks need.

        Args:
            corpus: The passages.
            interview: Asks the model.
            elsewhere: Finds other passages that could answer.
        """
        self._corpus = corpus
        self._interview = interview
        self._elsewhere = elsewhere
        self.findings = Findings()

    async def answerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions not answered by their quotes alone, by id.

        An unanswerable question fails if a passage does answer it; the first one of a conversation counts too.
        """
        wrong = await self._unanswerable([one for one in candidates if one.task.kind == UNANSWERABLE])
        told = [one for one in candidates if one.task.kind != UNANSWERABLE]
        why = "the model cannot answer it from its quotes alone: "
        quoted = {
            (one.id, 0): Claim(
                {"question": one.in_context, "text": one.quoted},
                Failure("not answerable", f"{why}{one.quoted}"),
                expected=True,
            )
            for one in told
        }
        wrong |= await self._refuted(ANSWERABLE, quoted, "answers")
        otherwise = Failure("wrong history", "what is said before it does not answer the first question")
        first = {
            (one.id, 0): Claim(
                {"question": one.history[0]["content"], "text": one.history[1]["content"]}, otherwise, expected=True
            )
            for one in told
            if one.history and one.id not in wrong
        }
        return wrong | await self._refuted(ANSWERABLE, first, "histories")

    async def _unanswerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions meant to be unanswerable that a passage answers, or of which this cannot be known.

        The model is asked about each passage alone: the one that the question was made from, and those that BM25 and
        the retriever find for it. A model that denies what a passage says in as many words is not believed.
        """
        found = await self._alternatives(candidates)
        denied = Failure("not believed", "the model denies that its passage says what it says in as many words")
        claims = {}
        for candidate in candidates:
            (own,) = candidate.task.places
            text = self._corpus.pieces[own].text
            said = max((text[start:end] for start, end in sentence_places(text)), key=len)[:LONGEST_CONTROL]
            asked = f'Does the text say this? "{said}"'
            claims[candidate.id, CONTROL] = Claim({"question": asked, "text": text}, denied, expected=True)
            for number, at in enumerate(dict.fromkeys([own, *found[candidate.id]])):
                piece = self._corpus.pieces[at]
                answered = Failure("answered", f"the model says that a passage of {piece.document!r} answers it")
                texts = {"question": candidate.question, "text": piece.text}
                claims[candidate.id, number] = Claim(texts, answered, expected=False)
        return await self._refuted(ANSWERABLE, claims, "that nothing answers")

    async def needed(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions that are answered without their quotes, or understood without their history, by id."""
        rest = Failure("answerable without", "the rest of the passage answers it without the quotes")
        without = {}
        for candidate in candidates:
            for number, text in enumerate(self._without(candidate)):
                fewer = f"it is answered without passage {number + 1} of those it was made from"
                otherwise = Failure("not all needed", fewer) if candidate.task.kind in OF_SEVERAL else rest
                if len(words(text)) >= FEWEST_WORDS_LEFT:
                    texts = {"question": candidate.in_context, "text": text}
                    without[candidate.id, number] = Claim(texts, otherwise, expected=False)
        wrong = await self._refuted(ANSWERABLE, without, "quotes")
        clear = Failure("understood alone", "it can be understood without what was said before it")
        alone = {
            (one.id, 0): Claim({"question": one.question}, clear, expected=False)
            for one in candidates
            if one.history and one.id not in wrong
        }
        return wrong | await self._refuted(CLEAR, alone, "follow-ups")

    async def answers(self, candidates: Sequence[Candidate]) -> None:
        """Leave out the reference answers that the quotes do not bear out; what is not checked is left out too."""
        claims: dict[Key, Claim] = {}
        otherwise = Failure("unsupported", "the quotes do not bear it out")
        given = {candidate.id: candidate for candidate in candidates if candidate.answer is not None}
        for name, candidate in given.items():
            texts = {"question": candidate.in_context, "answer": candidate.answer or "", "text": candidate.quoted}
            # A number that stands nowhere is an invention, whatever the model says to it.
            known = {*words(candidate.quoted), *words(candidate.in_context)}
            numbers_known = all(one in known for one in words(texts["answer"]) if any(map(str.isdigit, one)))
            if numbers_known and len(texts["answer"]) <= LONGEST_ANSWER:
                claims[name, 0] = Claim(texts, otherwise, expected=True)
        wrong = await self._refuted(SUPPORTED, claims, "reference answers")
        for name, candidate in given.items():
            if (name, 0) not in claims or name in wrong:
                candidate.answer = None
                self.findings.unsupported += 1

    async def others(self, candidates: Sequence[Candidate]) -> None:
        """Add to each question the other passages that answer it: those that the model names, and confirms alone."""
        looked_at = await self._alternatives(candidates)
        asked = {
            (candidate.id, number): (candidate.in_context, group[0], places)
            for candidate in candidates
            for number, group in enumerate(candidate.groups)
            if (places := self._elsewhere.not_its_own(looked_at[candidate.id], candidate, group))
        }
        replies = await self._interview.others(asked)
        self.findings.unseen += len(replies.failures)
        by_id = {candidate.id: candidate for candidate in candidates}
        named = {
            (name, group, at): one for (name, group), ones in replies.parsed.items() for at, one in enumerate(ones)
        }
        alone = {}
        for (name, group, at), one in named.items():
            rest = [own[0] for number, own in enumerate(by_id[name].groups) if number != group]
            alone[name, group, at] = {"question": by_id[name].in_context, "text": joined([one, *rest])}
        confirmed = await self._interview.whether(ANSWERABLE, alone, "other answers")
        self.findings.verdicts.update((True, yes) for yes in confirmed.parsed.values())
        self.findings.unseen += len(confirmed.failures)
        for (name, group, at), yes in confirmed.parsed.items():
            if yes:
                by_id[name].groups[group].append(named[name, group, at])
        self.findings.others += sum(confirmed.parsed.values())
        self.findings.refused += len(confirmed.parsed) - sum(confirmed.parsed.values())

    async def _alternatives(self, candidates: Sequence[Candidate]) -> dict[str, list[int]]:
        """Return the passages that could also answer each question, by id; failed calls are counted."""
        found, failed = await self._elsewhere.found(candidates)
        self.findings.unseen += failed
        return found

    async def _refuted(self, name: str, claims: Mapping[Key, Claim], what: str) -> dict[str, Failure]:
        """Return the questions of which the model says otherwise than expected or nothing, by id; see `whether`."""
        replies = await self._interview.whether(name, {key: claim.texts for key, claim in claims.items()}, what)
        self.findings.verdicts.update((claims[key].expected, yes) for key, yes in replies.parsed.items())
        unchecked = {
            key[0]: Failure(UNCHECKED, f"{failure.reason}: {failure.message}")
            for key, failure in replies.failures.items()
        }
        return unchecked | {
            key[0]: claims[key].otherwise for key, yes in replies.parsed.items() if yes is not claims[key].expected
        }

    def _without(self, candidate: Candidate) -> list[str]:
        """Return the texts that must not answer: the rest of the passage or, for several, all but one."""
        pieces, places = self._corpus.pieces, candidate.task.places
        if candidate.task.kind == UNANSWERABLE:
            return []
        if candidate.task.kind in OF_SEVERAL:
            return ["\n\n".join(pieces[at].text for at in places if at != one) for one in places]
        (place,) = places
        text = pieces[place].text
        for group in reversed(candidate.groups):  # in the order of the passage, so that earlier places stay valid
            text = text[: group[0].start] + LEFT_OUT + text[group[0].end :]
        return [text]
