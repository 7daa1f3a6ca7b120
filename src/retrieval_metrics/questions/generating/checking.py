"""Check generated questions by asking the model again, about texts only and never about its own replies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.models.prompter import Failure
from retrieval_metrics.questions.generating.candidate import joined
from retrieval_metrics.questions.generating.corpus import sentence_places
from retrieval_metrics.questions.generating.kinds import OF_SEVERAL, UNANSWERABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.models.prompter import Replies
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
CONTROL = -1
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
        told = {(one.id, 0): one for one in candidates if one.task.kind != UNANSWERABLE}
        by_quotes = await self._interview.answered(
            {key: (one.in_context, one.quoted) for key, one in told.items()}, "answers"
        )
        wrong |= self._otherwise(
            by_quotes,
            lambda _: True,
            lambda key: Failure(
                "not answerable", f"the model cannot answer it from its quotes alone: {told[key].quoted}"
            ),
        )
        first = {
            key: (one.history[0]["content"], one.history[1]["content"])
            for key, one in told.items()
            if one.history and one.id not in wrong
        }
        by_history = await self._interview.answered(first, "histories")
        failure = Failure("wrong history", "what is said before it does not answer the first question")
        return wrong | self._otherwise(by_history, lambda _: True, lambda _: failure)

    async def _unanswerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions meant to be unanswerable that a passage answers, or of which this cannot be known.

        The model is asked about each passage alone: the one that the question was made from, and those that BM25 and
        the retriever find for it. A model that denies what a passage says in as many words is not believed.
        """
        found = await self._alternatives(candidates)
        asked: dict[Key, tuple[str, str]] = {}
        documents: dict[Key, str] = {}
        for candidate in candidates:
            (own,) = candidate.task.places
            text = self._corpus.pieces[own].text
            said = max((text[start:end] for start, end in sentence_places(text)), key=len)[:LONGEST_CONTROL]
            asked[candidate.id, CONTROL] = f'Does the text say this? "{said}"', text
            for number, at in enumerate(dict.fromkeys([own, *found[candidate.id]])):
                documents[candidate.id, number] = self._corpus.pieces[at].document
                asked[candidate.id, number] = candidate.question, self._corpus.pieces[at].text
        denied = Failure("not believed", "the model denies that its passage says what it says in as many words")
        return self._otherwise(
            await self._interview.answered(asked, "that nothing answers"),
            lambda key: key[1] == CONTROL,
            lambda key: (
                denied
                if key[1] == CONTROL
                else Failure("answered", f"the model says that a passage of {documents[key]!r} answers it")
            ),
        )

    async def needed(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions that are answered without their quotes, or understood without their history, by id."""
        of_several = {one.id for one in candidates if one.task.kind in OF_SEVERAL}
        without = {
            (candidate.id, number): (candidate.in_context, text)
            for candidate in candidates
            for number, text in enumerate(self._without(candidate))
            if len(words(text)) >= FEWEST_WORDS_LEFT
        }

        def failure(key: Key) -> Failure:
            if key[0] in of_several:
                message = f"it is answered without passage {key[1] + 1} of those it was made from"
                return Failure("not all needed", message)
            return Failure("answerable without", "the rest of the passage answers it without the quotes")

        wrong = self._otherwise(await self._interview.answered(without, "quotes"), lambda _: False, failure)
        alone = {(one.id, 0): one.question for one in candidates if one.history and one.id not in wrong}
        clear = Failure("understood alone", "it can be understood without what was said before it")
        return wrong | self._otherwise(await self._interview.understood(alone), lambda _: False, lambda _: clear)

    async def answers(self, candidates: Sequence[Candidate]) -> None:
        """Leave out the reference answers that the quotes do not bear out; what is not checked is left out too."""
        asked, given = {}, [candidate for candidate in candidates if candidate.answer is not None]
        for candidate in given:
            # A number that stands nowhere is an invention, whatever the model says to it.
            known = {*words(candidate.quoted), *words(candidate.in_context)}
            if all(one in known for one in words(candidate.answer or "") if any(map(str.isdigit, one))):
                asked[candidate.id, 0] = candidate.in_context, candidate.answer or "", candidate.quoted
        replies = await self._interview.supported(asked)
        self._count(replies, lambda _: True)
        for candidate in given:
            if not replies.parsed.get((candidate.id, 0), False):
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
            alone[name, group, at] = by_id[name].in_context, joined([one, *rest])
        confirmed = await self._interview.answered(alone, "other answers")
        self._count(confirmed, lambda _: True)
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

    def _otherwise(
        self, replies: Replies[Key, bool], expected: Callable[[Key], bool], why: Callable[[Key], Failure]
    ) -> dict[str, Failure]:
        """Return the questions of which the model said otherwise than expected or nothing, by id."""
        self._count(replies, expected)
        wrong = {
            key[0]: Failure(UNCHECKED, f"{failure.reason}: {failure.message}")
            for key, failure in replies.failures.items()
        }
        return wrong | {key[0]: why(key) for key, yes in replies.parsed.items() if yes is not expected(key)}

    def _count(self, replies: Replies[Any, bool], expected: Callable[[Any], bool]) -> None:
        self.findings.verdicts.update((expected(key), yes) for key, yes in replies.parsed.items())

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
