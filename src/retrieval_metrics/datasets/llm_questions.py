"""Interview a model about a passage, read its replies, and check what it proposes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets import lint as single_questions
from retrieval_metrics.datasets.bm25 import COMMON_WORDS, MIN_SURE_SHARE, content_words, detect_language, shortened
from retrieval_metrics.datasets.corpus import sentence_ranges
from retrieval_metrics.datasets.json_replies import BadReplyError, enclose_in_tag, parse_json_reply
from retrieval_metrics.datasets.lint_report import LintInput
from retrieval_metrics.datasets.llm_client import Failure
from retrieval_metrics.datasets.prompts import (
    CONVERSATIONAL,
    EXAMPLES,
    KEYWORDS,
    MULTI_PASSAGE_KINDS,
    OTHER_WORDS,
    PASSAGE_LANGUAGE,
    UNANSWERABLE,
    Candidate,
    Evidence,
    join_evidence,
)
from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.text_normalisation import normalise
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from retrieval_metrics.datasets.corpus import Corpus, OtherPassageSearch
    from retrieval_metrics.datasets.llm_client import KeyT, LlmClient, Parsed, ParsedReplies
    from retrieval_metrics.datasets.prompts import QuestionPrompts, WantedQuestion

    Key = tuple[str, int]
    """The id of a question, and the number of what is asked about it."""


class QuestionInterview:
    """Asks the model, and reads its replies."""

    def __init__(
        self,
        prompter: LlmClient,
        prompts: QuestionPrompts,
        reading: PassageFormatter,
        *,
        show_progress: bool,
    ) -> None:
        """Set what asking needs."""
        self.prompter = prompter
        self.prompts = prompts
        self._reading = reading
        self._show_progress = show_progress

    async def questions(
        self, tasks: Sequence[WantedQuestion], earlier: Mapping[tuple[str, tuple[int, ...]], Sequence[str]]
    ) -> ParsedReplies[int, Candidate]:
        """Let the model write questions."""
        prompts = {at: self._to_write(task, earlier.get((task.kind, task.places), ())) for at, task in enumerate(tasks)}
        return await self._ask(
            prompts,
            lambda at, reply: self._reading.question(tasks[at], reply),
            lambda at: self._reading.fields(tasks[at].kind),
            "writing questions",
        )

    def _to_write(self, task: WantedQuestion, earlier: Sequence[str]) -> str:
        prompt = self.prompts.writing_prompt(
            task.kind, self._reading.shown(task.places), by_number=self._reading.by_number
        )
        if earlier:
            prompt += "\n\nAsk for something else than:\n" + "\n".join(f"- {question}" for question in earlier)
        return prompt

    async def others(
        self, asked: Mapping[KeyT, tuple[str, Evidence, Sequence[int]]]
    ) -> ParsedReplies[KeyT, list[Evidence]]:
        """Ask which passages answer questions as some evidence does."""
        prompts = {
            key: self.prompts.other_questions_prompt(
                question, evidence.text, self._reading.shown(places), by_number=self._reading.by_number
            )
            for key, (question, evidence, places) in asked.items()
        }
        return await self._ask(
            prompts,
            lambda key, reply: self._reading.others(asked[key][2], reply),
            lambda _: self._reading.fields_of_others,
            "looking for other answers",
        )

    async def whether(self, name: str, asked: Mapping[KeyT, Mapping[str, str]], what: str) -> ParsedReplies[KeyT, bool]:
        """Ask what is answered by yes or no."""

        def yes_or_no(key: KeyT, reply: str) -> bool:
            yes: bool = parse_json_reply(reply, {name: bool}, about=asked[key].get("text", ""))[name]
            return yes

        prompts = {key: self.prompts.filled(name, **texts) for key, texts in asked.items()}
        return await self._ask(prompts, yes_or_no, lambda _: {name: bool}, f"checking {what}")

    async def _ask(
        self,
        prompts: Mapping[KeyT, str],
        parse: Callable[[KeyT, str], Parsed],
        fields: Callable[[KeyT], Mapping[str, Any]],
        label: str,
    ) -> ParsedReplies[KeyT, Parsed]:
        return await self.prompter.ask(prompts, parse, fields=fields, label=label, show_progress=self._show_progress)


SHORTEST_QUOTE = 20
FEWEST_WORDS = 8
"""A quote with fewer characters, without white space, and fewer words (in Chinese, letters) occurs by chance."""
LONG_QUOTE = 500
"""Characters; a longer quote may be at most half of its passage."""
MOST_QUOTES = 3
MOST_PLACES = 3
"""A quote in more places than this identifies none of them."""
FEWEST_KEYWORDS, MOST_KEYWORDS = 2, 6
LONGEST_QUESTION = 600  # characters
NEARLY_ALL = 0.9


class PassageFormatter:
    """How passages are shown to the model, and how its replies are read."""

    def __init__(
        self, corpus: Corpus, evidence: Literal["quotes", "sentences"], most_overlap: float, language: str
    ) -> None:
        """Set the corpus, and how the model names the answer."""
        self._corpus = corpus
        self.by_number = evidence == "sentences"
        self._most_overlap = most_overlap
        self._language = language

    def shown(self, places: Sequence[int]) -> str:
        """Return passages for a prompt, each below its document and heading: unchanged, or with numbered sentences."""
        if not self.by_number:
            texts = [self._corpus.pieces[at].text for at in places]
        else:
            texts = ["" for _ in places]
            for number, (which, start, end) in enumerate(self._sentences(places), start=1):
                sentence = self._corpus.pieces[places[which]].text[start:end]
                texts[which] += f"{chr(10) if texts[which] else ''}[{number}] {sentence}"
        return "\n\n".join(
            f"{self._corpus.pieces[at].location}\n{enclose_in_tag('passage', text)}"
            for at, text in zip(places, texts, strict=True)
        )

    def question(self, task: WantedQuestion, reply: str) -> Candidate:
        """Return the question of a reply, with its evidence in the passages."""
        kind, places = task.kind, task.places
        fields = self.fields(kind)
        optional = {"answer": fields.pop("answer")} if "answer" in fields else {}
        parsed = parse_json_reply(reply, fields, optional)
        evidence = [] if kind == UNANSWERABLE else self._answering(kind, parsed, places)
        question = " ".join(parsed["question"].split())
        answer = " ".join(parsed.get("answer", "").split()) or None
        history = self._history(parsed, places, evidence) if kind == CONVERSATIONAL else ()
        overlap = self._overlap(question, places)
        if question in EXAMPLES and not overlap:
            raise BadReplyError("copied example", "that is the question of the example; ask about the passage")
        asked = "\n".join([*(message["content"] for message in history if message["role"] == "user"), question])
        for error in self._wrong_with(kind, asked, evidence, overlap, places):
            raise error
        groups = [[one] for one in evidence]
        return Candidate(task, question, groups, overlap, history, answer)

    def _answering(self, kind: str, parsed: dict[str, Any], places: Sequence[int]) -> list[Evidence]:
        """Return what answers the question of a reply."""
        evidence = self._evidence(parsed[self._named], places)
        if not evidence:
            raise BadReplyError("no quote", "name at least one quote or sentence that answers the question")
        if len(evidence) > MOST_QUOTES * len(places):
            raise BadReplyError("too many quotes", f"name at most {MOST_QUOTES} from a passage, got {len(evidence)}")
        if kind in MULTI_PASSAGE_KINDS and set(places) - {one.passage for one in evidence}:
            raise BadReplyError(
                "not every passage", "the question must need every passage, and every passage must give a part of it"
            )
        return evidence

    def _history(
        self, parsed: dict[str, Any], places: Sequence[int], evidence: Sequence[Evidence]
    ) -> tuple[dict[str, str], ...]:
        """Return the first question and what the passage says to it, which is not yet the answer to the second."""
        first = " ".join(parsed["first"].split())
        told = self._evidence(parsed["said"], places)
        if not told or not first:
            raise BadReplyError("nothing said before", "give the first question, and the sentence that answers it")
        for one in told:
            if any(one.start < other.end and other.start < one.end for other in evidence):
                raise BadReplyError("said before", "other sentences must answer the second question than the first")
        reply = " ".join(" ".join(one.text.split()) for one in told)
        return {"role": "user", "content": first}, {"role": "assistant", "content": reply}

    def others(self, places: Sequence[int], reply: str) -> list[Evidence]:
        """Return the first part that a reply names in each of the other passages."""
        found: dict[int, Evidence] = {}
        for one in self._evidence(parse_json_reply(reply, self.fields_of_others)[self._named], places):
            found.setdefault(one.passage, one)
        return list(found.values())

    def fields(self, kind: str) -> dict[str, Any]:
        """Return the fields of a reply with a question of a kind; the answer may be missing."""
        if kind == UNANSWERABLE:
            return {"question": str}
        before = {"first": str, "said": self.fields_of_others[self._named]} if kind == CONVERSATIONAL else {}
        return {**before, "question": str, **self.fields_of_others, "answer": str}

    @property
    def fields_of_others(self) -> dict[str, Any]:
        """The fields of a reply that only names what answers."""
        return {self._named: list[int] if self.by_number else list[str]}

    @property
    def _named(self) -> str:
        return "sentences" if self.by_number else "quotes"

    def _evidence(self, parts: Sequence[Any], places: Sequence[int]) -> list[Evidence]:
        """Return the parts of the passages that a reply names, in order; adjacent parts are joined."""
        named = self._numbered(parts, places) if self.by_number else self._quoted(parts, places)
        joined: list[tuple[int, int, int]] = []
        for which, start, end in sorted(named):
            text = self._corpus.pieces[places[which]].text
            if joined and joined[-1][0] == which and not text[joined[-1][2] : start].strip():
                joined[-1] = which, joined[-1][1], max(end, joined[-1][2])
            else:
                joined.append((which, start, end))
        return [self._checked(places[which], start, end) for which, start, end in joined]

    def _quoted(self, quotes: Sequence[str], places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        for quote in quotes:
            if _is_short(quote):
                raise BadReplyError(
                    "short quote", f"the quote {shortened(quote)} is too short; copy the whole sentence or clause"
                )
            for which, at in enumerate(places):
                if (place := self._corpus.place_of(quote, at)) is not None:
                    yield which, *place
                    break
            else:
                raise BadReplyError(
                    "quote not found",
                    f"the quote {shortened(quote)} does not stand there; copy it letter for letter, in one piece",
                )

    def _numbered(self, numbers: Sequence[int], places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        sentences = self._sentences(places)
        for number in numbers:
            if not 1 <= number <= len(sentences):
                raise BadReplyError(
                    "no such sentence", f"there is no sentence {number}; they are numbered from 1 to {len(sentences)}"
                )
            yield sentences[number - 1]

    def _sentences(self, places: Sequence[int]) -> list[tuple[int, int, int]]:
        return [
            (which, start, end)
            for which, at in enumerate(places)
            for start, end in sentence_ranges(self._corpus.pieces[at].text)
        ]

    def _checked(self, passage: int, start: int, end: int) -> Evidence:
        piece = self._corpus.pieces[passage]
        text = piece.text[start:end]
        if _is_short(text):
            raise BadReplyError("short quote", f"{shortened(text)} says too little; name a longer sentence or clause")
        if len(text) > LONG_QUOTE and len(text) > len(piece.text) / 2:
            raise BadReplyError("long quote", "the quotes are most of the passage; name only what answers the question")
        spans = list(dict.fromkeys([piece.span(start, end), *self._corpus.places(text)]))
        if len(spans) > MOST_PLACES:
            raise BadReplyError(
                "quote everywhere", f"{shortened(text)} occurs in {len(spans)} places; name what only this passage says"
            )
        return Evidence(passage, text, start, end, tuple(spans))

    def _wanted_language(self, places: Sequence[int]) -> str | None:
        """Return the language that was asked for, if it is one that can be told."""
        if self._language != PASSAGE_LANGUAGE:
            return self._language if self._language in COMMON_WORDS else None
        tokens = self._corpus.passages.tokens
        return (
            detect_language([word for at in places for word in tokens[at]], MIN_SURE_SHARE) or self._language_of_corpus
        )

    @cached_property
    def _language_of_corpus(self) -> str | None:
        """The language of nearly all passages that show one, for those that are mostly code."""
        found = Counter(detect_language(tokens, MIN_SURE_SHARE) for tokens in self._corpus.passages.tokens)
        found.pop(None, None)
        language, number = max(found.items(), key=itemgetter(1), default=(None, 0))
        return language if number >= NEARLY_ALL * found.total() else None

    def _overlap(self, question: str, places: Sequence[int]) -> float:
        telling = set(content_words(words(question)))
        there = {stem for at in places for stem in content_words(self._corpus.passages.tokens[at])}
        return len(telling & there) / max(len(telling), 1)

    def _wrong_with(
        self, kind: str, question: str, evidence: Sequence[Evidence], overlap: float, places: Sequence[int]
    ) -> Iterator[BadReplyError]:
        if len(question) > LONGEST_QUESTION:
            most = f"ask in at most {LONGEST_QUESTION}"
            yield BadReplyError("long question", f"{shortened(question)} has {len(question):,} characters; {most}")
        wanted, found = self._wanted_language(places), detect_language(words(question))
        if wanted is not None and found not in {wanted, None}:
            yield BadReplyError("other language", f"{shortened(question)} is in {found}; write in {wanted}")
        if kind == KEYWORDS:
            few, many = len(words(question)) < FEWEST_KEYWORDS, len(question.split()) > MOST_KEYWORDS
            if few or many or "?" in question:
                yield BadReplyError("not keywords", f"{shortened(question)} must be two to five words and no question")
        if kind == OTHER_WORDS and overlap > self._most_overlap:
            yield BadReplyError(
                "words of the passage",
                f"{overlap:.0%} of the content words of {shortened(question)} are the passage's; use other words",
            )
        if kind == UNANSWERABLE and not overlap:
            yield BadReplyError(
                "off the subject", f"{shortened(question)} is about something else; name what the passage is about"
            )
        subject = LintInput({0: question}, Qrels({0: [Quote(one.text) for one in evidence]}))
        checks = [single_questions.dependent, single_questions.echoes]
        checks += [] if kind == KEYWORDS else [single_questions.short]
        for check in checks:
            for finding in check(subject):
                yield BadReplyError(finding.name.replace("_", " "), finding.message)


def _is_short(quote: str) -> bool:
    return len(normalise(quote)) < SHORTEST_QUOTE and len(words(quote)) < FEWEST_WORDS


# Check generated questions by asking the model again, about texts only and never about its own replies.

LEFT_OUT = "[...]"
FEWEST_WORDS_LEFT = 5
"""A text with fewer words answers nothing, so the model is not asked."""
NOT_CHECKED = "not checked"
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
class CheckResults:
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


class VerifiedClaim(NamedTuple):
    """What the model is asked to confirm or to deny.

    Attributes:
        texts: The texts in the prompt, such as the question and what answers it, or not.
        otherwise: Why the question is rejected if it says otherwise.
        expected: Whether it should confirm it.
    """

    texts: Mapping[str, str]
    otherwise: Failure
    expected: bool


class CandidateChecks:
    """The checks of candidate questions; each returns the failed questions with reasons.

    Attributes:
        findings: What was found besides.
    """

    def __init__(self, corpus: Corpus, interview: QuestionInterview, elsewhere: OtherPassageSearch) -> None:
        """Set what the checks need."""
        self._corpus = corpus
        self._interview = interview
        self._elsewhere = elsewhere
        self.findings = CheckResults()

    async def answerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions not answered by their quotes alone, by id."""
        wrong = await self._unanswerable([one for one in candidates if one.task.kind == UNANSWERABLE])
        told = [one for one in candidates if one.task.kind != UNANSWERABLE]
        why = "the model cannot answer it from its quotes alone: "
        quoted = {
            (one.id, 0): VerifiedClaim(
                {"question": one.in_context, "text": one.quoted},
                Failure("not answerable", f"{why}{one.quoted}"),
                expected=True,
            )
            for one in told
        }
        wrong |= await self._refuted(ANSWERABLE, quoted, "answers")
        otherwise = Failure("wrong history", "what is said before it does not answer the first question")
        first = {
            (one.id, 0): VerifiedClaim(
                {"question": one.history[0]["content"], "text": one.history[1]["content"]}, otherwise, expected=True
            )
            for one in told
            if one.history and one.id not in wrong
        }
        return wrong | await self._refuted(ANSWERABLE, first, "histories")

    async def _unanswerable(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions meant to be unanswerable that a passage answers, or of which this cannot be known."""
        found = await self._alternatives(candidates)
        denied = Failure("not believed", "the model denies that its passage says what it says in as many words")
        claims = {}
        for candidate in candidates:
            (own,) = candidate.task.places
            text = self._corpus.pieces[own].text
            said = max((text[start:end] for start, end in sentence_ranges(text)), key=len)[:LONGEST_CONTROL]
            asked = f'Does the text say this? "{said}"'
            claims[candidate.id, CONTROL] = VerifiedClaim({"question": asked, "text": text}, denied, expected=True)
            for number, at in enumerate(dict.fromkeys([own, *found[candidate.id]])):
                piece = self._corpus.pieces[at]
                answered = Failure("answered", f"the model says that a passage of {piece.document!r} answers it")
                texts = {"question": candidate.question, "text": piece.text}
                claims[candidate.id, number] = VerifiedClaim(texts, answered, expected=False)
        return await self._refuted(ANSWERABLE, claims, "that nothing answers")

    async def needed(self, candidates: Sequence[Candidate]) -> dict[str, Failure]:
        """Return the questions that are answered without their quotes, or understood without their history, by id."""
        rest = Failure("answerable without", "the rest of the passage answers it without the quotes")
        without = {}
        for candidate in candidates:
            for number, text in enumerate(self._without(candidate)):
                fewer = f"it is answered without passage {number + 1} of those it was made from"
                otherwise = Failure("not all needed", fewer) if candidate.task.kind in MULTI_PASSAGE_KINDS else rest
                if len(words(text)) >= FEWEST_WORDS_LEFT:
                    texts = {"question": candidate.in_context, "text": text}
                    without[candidate.id, number] = VerifiedClaim(texts, otherwise, expected=False)
        wrong = await self._refuted(ANSWERABLE, without, "quotes")
        clear = Failure("understood alone", "it can be understood without what was said before it")
        alone = {
            (one.id, 0): VerifiedClaim({"question": one.question}, clear, expected=False)
            for one in candidates
            if one.history and one.id not in wrong
        }
        return wrong | await self._refuted(CLEAR, alone, "follow-ups")

    async def answers(self, candidates: Sequence[Candidate]) -> None:
        """Leave out the reference answers that the quotes do not bear out; what is not checked is left out too."""
        claims: dict[Key, VerifiedClaim] = {}
        otherwise = Failure("unsupported", "the quotes do not bear it out")
        given = {candidate.id: candidate for candidate in candidates if candidate.answer is not None}
        for name, candidate in given.items():
            texts = {"question": candidate.in_context, "answer": candidate.answer or "", "text": candidate.quoted}
            # A number that stands nowhere is an invention, whatever the model says to it.
            known = {*words(candidate.quoted), *words(candidate.in_context)}
            numbers_known = all(one in known for one in words(texts["answer"]) if any(map(str.isdigit, one)))
            if numbers_known and len(texts["answer"]) <= LONGEST_ANSWER:
                claims[name, 0] = VerifiedClaim(texts, otherwise, expected=True)
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
            if (places := self._elsewhere.is_not_from_source(looked_at[candidate.id], candidate, group))
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
            alone[name, group, at] = {"question": by_id[name].in_context, "text": join_evidence([one, *rest])}
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

    async def _refuted(self, name: str, claims: Mapping[Key, VerifiedClaim], what: str) -> dict[str, Failure]:
        """Return the questions of which the model says otherwise than expected or nothing, by id; see `whether`."""
        replies = await self._interview.whether(name, {key: claim.texts for key, claim in claims.items()}, what)
        self.findings.verdicts.update((claims[key].expected, yes) for key, yes in replies.parsed.items())
        unchecked = {
            key[0]: Failure(NOT_CHECKED, f"{failure.reason}: {failure.message}")
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
        if candidate.task.kind in MULTI_PASSAGE_KINDS:
            return ["\n\n".join(pieces[at].text for at in places if at != one) for one in places]
        (place,) = places
        text = pieces[place].text
        for group in reversed(candidate.groups):  # in the order of the passage, so that earlier places stay valid
            text = text[: group[0].start] + LEFT_OUT + text[group[0].end :]
        return [text]
