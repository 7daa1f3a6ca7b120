"""Show passages to a model, and read the questions and the evidence in its replies."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets.candidate import Candidate, Evidence
from retrieval_metrics.datasets.content_words import content_words
from retrieval_metrics.datasets.json_replies import BadReplyError, parse_json_reply
from retrieval_metrics.datasets.lint_input import LintInput
from retrieval_metrics.datasets.lint_questions import find_dependent_questions, find_echoes, find_short_questions
from retrieval_metrics.datasets.prompt_tags import enclose_in_tag
from retrieval_metrics.datasets.prompts import EXAMPLES, PASSAGE_LANGUAGE
from retrieval_metrics.datasets.question_kinds import (
    CONVERSATIONAL,
    KEYWORDS,
    MULTI_PASSAGE_KINDS,
    OTHER_WORDS,
    UNANSWERABLE,
)
from retrieval_metrics.datasets.question_language import COMMON_WORDS, MIN_SURE_SHARE, detect_language
from retrieval_metrics.datasets.text_cutting import quote_beginning, sentence_ranges
from retrieval_metrics.inputs.pieces import Quote
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.text_normalisation import normalise
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from retrieval_metrics.datasets.candidate import WantedQuestion
    from retrieval_metrics.datasets.corpus import Corpus


# A quote is too short, because it occurs by chance, if it has fewer characters than this, without white space,
# and also fewer words (in Chinese, letters) than the next.
MIN_QUOTE_LENGTH = 20
MIN_QUOTE_WORDS = 8

# A quote with more characters than this may be at most half of its passage.
MAX_QUOTE_LENGTH = 500

# How many quotes a model may name from each passage.
MAX_QUOTES = 3

# A quote that occurs in more places than this does not identify its passage.
MAX_PLACES = 3

# How many words a `keywords` question has.
MIN_KEYWORDS = 2
MAX_KEYWORDS = 6

# The largest number of characters of a question.
MAX_QUESTION_LENGTH = 600

# The corpus has a language if at least this part of the passages whose language is clear are in it.
MIN_SHARE_OF_CORPUS_LANGUAGE = 0.9


class _ShownPart(NamedTuple):
    """A part of one of the passages that a model is shown.

    Attributes:
        number: Which of the shown passages, from 0.
        start: Where the part begins in it.
        end: Where it ends.
    """

    number: int
    start: int
    end: int


class PassageFormatter:
    """Formats passages for a prompt, and reads questions and evidence in the replies."""

    def __init__(
        self, corpus: Corpus, evidence: Literal["quotes", "sentences"], max_overlap: float, language: str
    ) -> None:
        """Set how passages are shown and questions checked.

        Args:
            corpus: The passages.
            evidence: How the model names the answer: as quotes, or by the numbers of sentences.
            max_overlap: The largest overlap of an `other_words` question with its passage.
            language: The language to write in, or `PASSAGE_LANGUAGE`.
        """
        self._corpus = corpus
        self.by_number = evidence == "sentences"
        self._evidence_field = evidence
        self._max_overlap = max_overlap
        self._language = language

    def format_passages(self, passages: Sequence[int]) -> str:
        """Return passages for a prompt, each below its document and heading: unchanged, or with numbered sentences."""
        texts = self._number_sentences(passages) if self.by_number else self._texts(passages)
        blocks = []
        for passage, text in zip(passages, texts, strict=True):
            blocks.append(f"{self._corpus.passages[passage].location}\n{enclose_in_tag('passage', text)}")
        return "\n\n".join(blocks)

    def _texts(self, passages: Sequence[int]) -> list[str]:
        return [self._corpus.passages[passage].text for passage in passages]

    def _number_sentences(self, passages: Sequence[int]) -> list[str]:
        """Return the sentences of each passage, one a line, numbered through all passages."""
        texts = self._texts(passages)
        lines_of_passages: list[list[str]] = [[] for _ in passages]
        for sentence_number, part in enumerate(self._sentences(passages), start=1):
            sentence = texts[part.number][part.start : part.end]
            lines_of_passages[part.number].append(f"[{sentence_number}] {sentence}")
        return ["\n".join(lines) for lines in lines_of_passages]

    def _sentences(self, passages: Sequence[int]) -> list[_ShownPart]:
        sentences: list[_ShownPart] = []
        for number, text in enumerate(self._texts(passages)):
            sentences += [_ShownPart(number, start, end) for start, end in sentence_ranges(text)]
        return sentences

    def read_question(self, task: WantedQuestion, reply: str) -> Candidate:
        """Return the question of a reply, with its evidence in the passages."""
        fields = self.reply_fields(task.kind)
        optional_fields = {"answer": fields.pop("answer")} if "answer" in fields else {}
        parsed = parse_json_reply(reply, fields, optional_fields)
        evidence: list[Evidence] = []
        if task.kind != UNANSWERABLE:
            evidence = self._read_answering_evidence(task, parsed)
        question = _on_one_line(parsed["question"])
        conversation: tuple[dict[str, str], ...] = ()
        if task.kind == CONVERSATIONAL:
            conversation = self._read_conversation(parsed, task.passages, evidence)
        overlap = self._measure_overlap(question, task.passages)
        if question in EXAMPLES and not overlap:
            raise BadReplyError("copied example", "that is the question of the example; ask about the passage")
        user_messages = [message["content"] for message in conversation if message["role"] == "user"]
        self._require_usable(task, "\n".join([*user_messages, question]), evidence, overlap)
        return Candidate(
            task,
            question,
            groups=[[quoted_part] for quoted_part in evidence],
            overlap=overlap,
            conversation=conversation,
            answer=_on_one_line(parsed.get("answer", "")) or None,
        )

    def _read_answering_evidence(self, task: WantedQuestion, parsed: dict[str, Any]) -> list[Evidence]:
        """Return the parts of the passages that answer the question of a reply."""
        evidence = self._read_evidence(parsed[self._evidence_field], task.passages)
        if not evidence:
            raise BadReplyError("no quote", "name at least one quote or sentence that answers the question")
        if len(evidence) > MAX_QUOTES * len(task.passages):
            raise BadReplyError("too many quotes", f"name at most {MAX_QUOTES} from a passage, got {len(evidence)}")
        if task.kind in MULTI_PASSAGE_KINDS and set(task.passages) - {quoted_part.passage for quoted_part in evidence}:
            raise BadReplyError(
                "passage not quoted", "the question must need every passage, so quote a part of each that answers it"
            )
        return evidence

    def _read_conversation(
        self, parsed: dict[str, Any], passages: Sequence[int], evidence: Sequence[Evidence]
    ) -> tuple[dict[str, str], ...]:
        """Return the first question of a follow-up and its answer, which must not also answer the follow-up."""
        first_question = _on_one_line(parsed["first"])
        first_answer = self._read_evidence(parsed["said"], passages)
        if not first_answer or not first_question:
            raise BadReplyError("no earlier turn", "give the first question, and the sentence that answers it")
        for first_part in first_answer:
            if any(first_part.start < part.end and part.start < first_part.end for part in evidence):
                raise BadReplyError(
                    "already answered", "answer the second question with other sentences than the first"
                )
        answer = " ".join(_on_one_line(first_part.text) for first_part in first_answer)
        return {"role": "user", "content": first_question}, {"role": "assistant", "content": answer}

    def read_other_answers(self, passages: Sequence[int], reply: str) -> list[Evidence]:
        """Return the first part that a reply names in each of the other passages."""
        parsed = parse_json_reply(reply, self.evidence_fields)
        first_by_passage: dict[int, Evidence] = {}
        for evidence in self._read_evidence(parsed[self._evidence_field], passages):
            first_by_passage.setdefault(evidence.passage, evidence)
        return list(first_by_passage.values())

    def reply_fields(self, kind: str) -> dict[str, Any]:
        """Return the fields of a reply with a question of a kind; the answer may be missing."""
        if kind == UNANSWERABLE:
            return {"question": str}
        fields = {"question": str, **self.evidence_fields, "answer": str}
        if kind == CONVERSATIONAL:
            return {"first": str, "said": self.evidence_fields[self._evidence_field], **fields}
        return fields

    @property
    def evidence_fields(self) -> dict[str, Any]:
        """The fields of a reply that only names what answers."""
        return {self._evidence_field: list[int] if self.by_number else list[str]}

    def _read_evidence(self, named_parts: Sequence[Any], passages: Sequence[int]) -> list[Evidence]:
        """Return the parts of the passages that a reply names, in order; adjacent parts are joined."""
        if self.by_number:
            parts = sorted(self._find_sentences(named_parts, passages))
        else:
            parts = sorted(self._find_quotes(named_parts, passages))
        joined_parts: list[_ShownPart] = []
        for part in parts:
            last = joined_parts[-1] if joined_parts else None
            if last is not None and self._are_adjacent(last, part, passages):
                joined_parts[-1] = last._replace(end=max(part.end, last.end))
            else:
                joined_parts.append(part)
        return [self._check_evidence(passages[part.number], part.start, part.end) for part in joined_parts]

    def _are_adjacent(self, left: _ShownPart, right: _ShownPart, passages: Sequence[int]) -> bool:
        """Return whether nothing but white space is between two parts."""
        text = self._corpus.passages[passages[left.number]].text
        return left.number == right.number and not text[left.end : right.start].strip()

    def _find_quotes(self, quotes: Sequence[str], passages: Sequence[int]) -> Iterator[_ShownPart]:
        for quote in quotes:
            if _is_short(quote):
                raise BadReplyError(
                    "short quote", f"the quote {quote_beginning(quote)} is too short; copy the whole sentence or clause"
                )
            part = self._find_quote(quote, passages)
            if part is None:
                raise BadReplyError(
                    "quote not found",
                    f"the quote {quote_beginning(quote)} is not in the passage; copy it letter for letter, "
                    "in one piece",
                )
            yield part

    def _find_quote(self, quote: str, passages: Sequence[int]) -> _ShownPart | None:
        for number, passage in enumerate(passages):
            quote_range = self._corpus.find_in_passage(quote, passage)
            if quote_range is not None:
                return _ShownPart(number, *quote_range)
        return None

    def _find_sentences(self, sentence_numbers: Sequence[int], passages: Sequence[int]) -> Iterator[_ShownPart]:
        sentences = self._sentences(passages)
        for number in sentence_numbers:
            if not 1 <= number <= len(sentences):
                raise BadReplyError(
                    "no such sentence", f"there is no sentence {number}; they are numbered from 1 to {len(sentences)}"
                )
            yield sentences[number - 1]

    def _check_evidence(self, passage: int, start: int, end: int) -> Evidence:
        """Return a part of a passage as evidence, unless it is too short, too long or in too many places."""
        corpus_passage = self._corpus.passages[passage]
        text = corpus_passage.text[start:end]
        if _is_short(text):
            raise BadReplyError(
                "short quote", f"{quote_beginning(text)} says too little; name a longer sentence or clause"
            )
        if len(text) > MAX_QUOTE_LENGTH and len(text) > len(corpus_passage.text) / 2:
            raise BadReplyError(
                "long quote", "the quotes make up most of the passage; name only what answers the question"
            )
        spans = list(dict.fromkeys([corpus_passage.span(start, end), *self._corpus.find_spans(text)]))
        if len(spans) > MAX_PLACES:
            raise BadReplyError(
                "quote too common",
                f"{quote_beginning(text)} occurs in {len(spans)} places; name what only this passage says",
            )
        return Evidence(passage, text, start, end, tuple(spans))

    def _find_wanted_language(self, passages: Sequence[int]) -> str | None:
        """Return the language that a question must have; None if it is unknown or cannot be detected."""
        if self._language != PASSAGE_LANGUAGE:
            return self._language if self._language in COMMON_WORDS else None
        tokens: list[str] = []
        for passage in passages:
            tokens += self._corpus.index.tokens[passage]
        return detect_language(tokens, MIN_SURE_SHARE) or self._language_of_corpus

    @cached_property
    def _language_of_corpus(self) -> str | None:
        """The language of nearly all passages whose language is clear, for passages that are mostly code."""
        languages = Counter(detect_language(tokens, MIN_SURE_SHARE) for tokens in self._corpus.index.tokens)
        languages.pop(None, None)
        if not languages:
            return None
        language, n_passages = languages.most_common(1)[0]
        return language if n_passages >= MIN_SHARE_OF_CORPUS_LANGUAGE * languages.total() else None

    def _measure_overlap(self, question: str, passages: Sequence[int]) -> float:
        """Return the share of the content words of a question that are in the passages."""
        stems = set(content_words(words(question)))
        stems_of_passages: set[str] = set()
        for passage in passages:
            stems_of_passages.update(content_words(self._corpus.index.tokens[passage]))
        return len(stems & stems_of_passages) / max(len(stems), 1)

    def _require_usable(
        self, task: WantedQuestion, question: str, evidence: Sequence[Evidence], overlap: float
    ) -> None:
        """Refuse a question that is too long, in another language, not of its kind, or that the lint would report."""
        shown_question = quote_beginning(question)
        if len(question) > MAX_QUESTION_LENGTH:
            raise BadReplyError(
                "long question",
                f"{shown_question} has {len(question):,} characters; ask in at most {MAX_QUESTION_LENGTH}",
            )
        wanted_language = self._find_wanted_language(task.passages)
        language = detect_language(words(question))
        if wanted_language is not None and language is not None and language != wanted_language:
            raise BadReplyError("wrong language", f"{shown_question} is in {language}; write in {wanted_language}")
        self._require_kind(task.kind, question, overlap)
        subject = LintInput({0: question}, Qrels({0: [Quote(quoted_part.text) for quoted_part in evidence]}))
        checks = [find_dependent_questions, find_echoes]
        if task.kind != KEYWORDS:
            checks.append(find_short_questions)
        for check in checks:
            for finding in check(subject):
                raise BadReplyError(finding.name.replace("_", " "), finding.message)

    def _require_kind(self, kind: str, question: str, overlap: float) -> None:
        """Refuse a question that is not of the kind that was asked for."""
        shown_question = quote_beginning(question)
        if kind == KEYWORDS:
            has_few = len(words(question)) < MIN_KEYWORDS
            has_many = len(question.split()) > MAX_KEYWORDS
            if has_few or has_many or "?" in question:
                raise BadReplyError("not keywords", f"{shown_question} must be two to five words, not a question")
        if kind == OTHER_WORDS and overlap > self._max_overlap:
            raise BadReplyError(
                "too close to the passage",
                f"{overlap:.0%} of the content words of {shown_question} are the passage's; use other words",
            )
        if kind == UNANSWERABLE and not overlap:
            raise BadReplyError(
                "off topic", f"{shown_question} is about something else; name what the passage is about"
            )


def _is_short(quote: str) -> bool:
    return len(normalise(quote)) < MIN_QUOTE_LENGTH and len(words(quote)) < MIN_QUOTE_WORDS


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
