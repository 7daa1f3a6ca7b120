"""Parse the replies of the model, and accept only what is in the passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.normalised import normalised
from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.models.enclosed import enclosed
from retrieval_metrics.models.json_reply import BadReplyError, json_reply
from retrieval_metrics.questions.generating.candidate import Candidate, Evidence
from retrieval_metrics.questions.generating.corpus import sentence_places
from retrieval_metrics.questions.generating.kinds import (
    CONVERSATIONAL,
    KEYWORDS,
    OF_SEVERAL,
    OTHER_WORDS,
    UNANSWERABLE,
)
from retrieval_metrics.questions.generating.prompts import EXAMPLES, OF_PASSAGE
from retrieval_metrics.questions.linting import single_questions
from retrieval_metrics.questions.linting.subject import Subject
from retrieval_metrics.questions.words.languages import COMMON_WORDS, SURE, language_or_script
from retrieval_metrics.questions.words.wording import content_words, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from retrieval_metrics.questions.generating.candidate import WantedQuestion
    from retrieval_metrics.questions.generating.corpus import Corpus

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


class Reading:
    """How passages are shown to the model, and how its replies are read."""

    def __init__(
        self, corpus: Corpus, evidence: Literal["quotes", "sentences"], most_overlap: float, language: str
    ) -> None:
        """Set the corpus, and how the model names the answer.

        Args:
            corpus: The passages.
            evidence: `quotes` if it copies the words, `sentences` if it names the numbers of sentences.
            most_overlap: The largest share of its content words that an `other_words` question takes from its passage.
            language: The language of the questions, in the words of the prompt.
        """
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
            f"{self._corpus.pieces[at].whereabouts}\n{enclosed('passage', text)}"
            for at, text in zip(places, texts, strict=True)
        )

    def question(self, task: WantedQuestion, reply: str) -> Candidate:
        """Return the question of a reply, with its evidence in the passages.

        Raises:
            BadReplyError: If the reply cannot be used; the message tells the model why.
        """
        kind, places = task.kind, task.places
        fields = self.fields(kind)
        optional = {"answer": fields.pop("answer")} if "answer" in fields else {}
        parsed = json_reply(reply, fields, optional)
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
        if kind in OF_SEVERAL and set(places) - {one.passage for one in evidence}:
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
        """Return the first part that a reply names in each of the other passages.

        Raises:
            BadReplyError: If it is not in the passage.
        """
        found: dict[int, Evidence] = {}
        for one in self._evidence(json_reply(reply, self.fields_of_others)[self._named], places):
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
            for start, end in sentence_places(self._corpus.pieces[at].text)
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
        if self._language != OF_PASSAGE:
            return self._language if self._language in COMMON_WORDS else None
        return language_or_script([word for at in places for word in self._corpus.passages.tokens[at]], SURE)

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
        wanted, found = self._wanted_language(places), language_or_script(words(question))
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
        subject = Subject({0: question}, Qrels({0: [Quote(one.text) for one in evidence]}))
        checks = [single_questions.dependent, single_questions.echoes]
        checks += [] if kind == KEYWORDS else [single_questions.short]
        for check in checks:
            for finding in check(subject):
                yield BadReplyError(finding.name.replace("_", " "), finding.message)


def _is_short(quote: str) -> bool:
    return len(normalised(quote)) < SHORTEST_QUOTE and len(words(quote)) < FEWEST_WORDS
