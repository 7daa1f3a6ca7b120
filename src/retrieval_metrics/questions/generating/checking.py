"""Check generated questions by asking the model again, about texts only and never about its own replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.models.json_reply import json_reply
from retrieval_metrics.questions.generating.corpus import sentence_places
from retrieval_metrics.questions.generating.kinds import OF_SEVERAL, UNANSWERABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.models.prompter import Failure, Prompter, Replies
    from retrieval_metrics.questions.generating.candidate import Candidate, Evidence
    from retrieval_metrics.questions.generating.corpus import Corpus
    from retrieval_metrics.questions.generating.elsewhere import Elsewhere
    from retrieval_metrics.questions.generating.prompts import QuestionPrompts
    from retrieval_metrics.questions.generating.replies import Reading

LEFT_OUT = "[...]"
FEWEST_WORDS_LEFT = 5
"""A text with fewer words answers nothing, so the model is not asked."""
UNCHECKED = "not checked"
CONTROL = -1
LONGEST_CONTROL = 300
"""Characters of a sentence that a passage holds, about which a model is asked to see whether it denies everything."""
ANSWERABLE, SUPPORTED, CLEAR = "answerable", "supported", "clear"
"""The fields of replies that say yes or no."""


class Checking:
    """The checks of candidate questions; each returns the failed questions with reasons.

    Attributes:
        unseen: How often it is unknown which other passages answer, because the call failed.
        found: How many other passages also answer a question.
        refused: How many passages the model named as answers but rejected when asked about them alone.
        unsupported: How many reference answers were left out, because the quotes do not bear them out.
    """

    def __init__(
        self,
        corpus: Corpus,
        reading: Reading,
        prompter: Prompter,
        prompts: QuestionPrompts,
        elsewhere: Elsewhere,
        *,
        show_progress: bool,
    ) -> None:
        """Set what the checks need.

        Args:
            corpus: The passages.
            reading: Parses the replies.
            prompter: The model.
            prompts: The prompts.
            elsewhere: Finds other passages that could answer.
            show_progress: Whether progress bars are shown.
        """
        self._corpus = corpus
        self._reading = reading
        self._prompter = prompter
        self._prompts = prompts
        self._elsewhere = elsewhere
        self._show_progress = show_progress
        self.unseen = 0
        self.found = 0
        self.refused = 0
        self.unsupported = 0

    async def answerable(self, candidates: Sequence[Candidate]) -> dict[str, tuple[str, str]]:
        """Return the questions not answered by their quotes alone, by id, each with a reason and a message.

        An unanswerable question fails if a passage does answer it; the first one of a conversation counts too.
        """
        texts = {candidate.id: _joined(group[0] for group in candidate.groups) for candidate in candidates}
        wrong = await self._answered([one for one in candidates if one.kind == UNANSWERABLE])
        told = [one for one in candidates if one.kind != UNANSWERABLE]
        replies = await self._ask_whether(told, {(one.id, 0): texts[one.id] for one in told}, "answers")
        wrong |= _unchecked(replies.failures)
        for (name, _), yes in replies.parsed.items():
            if not yes:
                wrong[name] = "not answerable", f"the model cannot answer it from its quotes alone: {texts[name]}"
        first = {
            one.id: self._prompts.to_answer(*(message["content"] for message in one.history))
            for one in told
            if one.history and one.id not in wrong
        }
        answered = await self._say_whether(
            {(name, 0): prompt for name, prompt in first.items()}, ANSWERABLE, "histories"
        )
        wrong |= _unchecked(answered.failures)
        for (name, _), yes in answered.parsed.items():
            if not yes:
                wrong[name] = "wrong history", "what is said before it does not answer the first question"
        return wrong

    async def _answered(self, candidates: Sequence[Candidate]) -> dict[str, tuple[str, str]]:
        """Return the questions meant to be unanswerable that a passage answers, or of which this cannot be known.

        The model is asked about each passage alone: the one that the question was made from, and those that BM25 and
        the retriever find for it. A model that denies what a passage says in as many words is not believed.
        """
        found = await self._alternatives(candidates)
        prompts: dict[tuple[str, int], str] = {}
        places: dict[tuple[str, int], int] = {}
        for candidate in candidates:
            (own,) = candidate.places
            text = self._corpus.pieces[own].text
            said = max((text[start:end] for start, end in sentence_places(text)), key=len)[:LONGEST_CONTROL]
            prompts[candidate.id, CONTROL] = self._prompts.to_answer(f'Does the text say this? "{said}"', text)
            for number, at in enumerate(dict.fromkeys([own, *found[candidate.id]])):
                places[candidate.id, number] = at
                prompts[candidate.id, number] = self._prompts.to_answer(
                    candidate.question, self._corpus.pieces[at].text
                )
        replies = await self._say_whether(prompts, ANSWERABLE, "that nothing answers")
        wrong = _unchecked(replies.failures)
        for (name, number), yes in replies.parsed.items():
            if number == CONTROL and not yes:
                wrong[name] = "not believed", "the model denies that its passage says what it says in as many words"
            elif number != CONTROL and yes:
                piece = self._corpus.pieces[places[name, number]]
                wrong[name] = "answered", f"the model says that a passage of {piece.document!r} answers it"
        return wrong

    async def needed(self, candidates: Sequence[Candidate]) -> dict[str, tuple[str, str]]:
        """Return the questions that are answered without their quotes, or understood without their history."""
        without = {
            (candidate.id, number): text
            for candidate in candidates
            for number, text in enumerate(self._without(candidate))
            if len(words(text)) >= FEWEST_WORDS_LEFT
        }
        replies = await self._ask_whether(candidates, without, "quotes")
        wrong = _unchecked(replies.failures)
        kinds = {candidate.id: candidate.kind for candidate in candidates}
        for (name, number), yes in replies.parsed.items():
            if yes and kinds[name] in OF_SEVERAL:
                wrong[name] = "not all needed", f"it is answered without passage {number + 1} of those it was made from"
            elif yes:
                wrong[name] = "answerable without", "the rest of the passage answers it without the quotes"
        alone = {
            (one.id, 0): self._prompts.to_understand(one.question)
            for one in candidates
            if one.history and one.id not in wrong
        }
        understood = await self._say_whether(alone, CLEAR, "follow-ups")
        wrong |= _unchecked(understood.failures)
        for (name, _), yes in understood.parsed.items():
            if yes:
                wrong[name] = "understood alone", "it can be understood without what was said before it"
        return wrong

    async def answers(self, candidates: Sequence[Candidate]) -> None:
        """Leave out the reference answers that the quotes do not bear out; what is not checked is left out too."""
        prompts, given = {}, [candidate for candidate in candidates if candidate.answer is not None]
        for candidate in given:
            text = _joined(group[0] for group in candidate.groups)
            # A number that stands nowhere is an invention, whatever the model says to it.
            known = {*words(text), *words(candidate.in_context)}
            if all(one in known for one in words(candidate.answer or "") if any(map(str.isdigit, one))):
                prompts[candidate.id, 0] = self._prompts.to_support(candidate.in_context, candidate.answer or "", text)
        replies = await self._say_whether(prompts, SUPPORTED, "reference answers")
        for candidate in given:
            if not replies.parsed.get((candidate.id, 0), False):
                candidate.answer = None
                self.unsupported += 1

    async def others(self, candidates: Sequence[Candidate]) -> None:
        """Add to each question the other passages that answer it."""
        looked_at = await self._alternatives(candidates)
        prompts, asked = {}, {}
        for candidate in candidates:
            for number, group in enumerate(candidate.groups):
                places = self._elsewhere.not_its_own(looked_at[candidate.id], candidate, group)
                if not places:
                    continue
                asked[candidate.id, number] = places
                prompts[candidate.id, number] = self._prompts.to_find_others(
                    candidate.in_context,
                    group[0].text,
                    self._reading.shown(places),
                    by_number=self._reading.by_number,
                )
        replies = await self._prompter.ask(
            prompts,
            lambda key, said: self._reading.others(asked[key], said),
            fields=self._reading.fields_of_others,
            label="looking for other answers",
            show_progress=self._show_progress,
        )
        self.unseen += len(replies.failures)
        await self._add(candidates, replies.parsed)

    async def _alternatives(self, candidates: Sequence[Candidate]) -> dict[str, list[int]]:
        """Return the passages that could also answer each question, by id; failed calls are counted."""
        found, failed = await self._elsewhere.found(candidates)
        self.unseen += failed
        return found

    async def _add(self, candidates: Sequence[Candidate], found: Mapping[tuple[str, int], list[Evidence]]) -> None:
        """Add the passages that the model named and confirms when asked about each alone."""
        by_id = {candidate.id: candidate for candidate in candidates}
        named = {(name, group, at): one for (name, group), ones in found.items() for at, one in enumerate(ones)}
        texts = {}
        for (name, group, at), one in named.items():
            rest = [own[0] for number, own in enumerate(by_id[name].groups) if number != group]
            texts[name, group, at] = _joined([one, *rest])
        replies = await self._ask_whether(candidates, texts, "other answers")
        self.unseen += len(replies.failures)
        for (name, group, at), yes in replies.parsed.items():
            if yes:
                by_id[name].groups[group].append(named[name, group, at])
                self.found += 1
            else:
                self.refused += 1

    async def _ask_whether(
        self, candidates: Sequence[Candidate], texts: Mapping[Any, str], what: str
    ) -> Replies[Any, bool]:
        """Ask whether texts answer questions; the keys begin with the id of the question."""
        questions = {candidate.id: candidate.in_context for candidate in candidates}
        prompts = {key: self._prompts.to_answer(questions[key[0]], text) for key, text in texts.items()}
        return await self._say_whether(prompts, ANSWERABLE, what)

    async def _say_whether(self, prompts: Mapping[Any, str], field: str, what: str) -> Replies[Any, bool]:
        def yes_or_no(_: Any, reply: str) -> bool:
            yes: bool = json_reply(reply, {field: bool})[field]
            return yes

        return await self._prompter.ask(
            prompts, yes_or_no, fields={field: bool}, label=f"checking {what}", show_progress=self._show_progress
        )

    def _without(self, candidate: Candidate) -> list[str]:
        """Return the texts that must not answer: the rest of the passage or, for several, all but one."""
        pieces = self._corpus.pieces
        if candidate.kind == UNANSWERABLE:
            return []
        if candidate.kind in OF_SEVERAL:
            return ["\n\n".join(pieces[at].text for at in candidate.places if at != one) for one in candidate.places]
        (place,) = candidate.places
        text = pieces[place].text
        for group in reversed(candidate.groups):  # in the order of the passage, so that earlier places stay valid
            text = text[: group[0].start] + LEFT_OUT + text[group[0].end :]
        return [text]


def _unchecked(failures: Mapping[Any, Failure]) -> dict[str, tuple[str, str]]:
    return {key[0]: (UNCHECKED, f"{failure.reason}: {failure.message}") for key, failure in failures.items()}


def _joined(evidence: Any) -> str:
    return "\n\n".join(one.text for one in evidence)
