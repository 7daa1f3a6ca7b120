"""The data of an evaluation set: questions with their judgments, answers, provenance and conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics.inputs.bare_values import require_no_bare_value
from retrieval_metrics.inputs.conversations import read_messages
from retrieval_metrics.inputs.kept_judgments import copy_qrels

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.conversations import Message
    from retrieval_metrics.inputs.documents import SourceDocuments
    from retrieval_metrics.inputs.items import QrelsMapping, QueryTexts
    from retrieval_metrics.inputs.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Questions:
    """The data of an evaluation set: the questions, their judgments and answers, and where they come from.

    Mappings and lists are copied, so that later changes of the caller's do not reach it. `sources` and `corpus` are
    not, because they can be large.

    Attributes:
        queries: The text of each query, by query id.
        qrels: The judgments of each query, by query id, in any shape that `evaluate` takes.
        provenance: Where each question comes from, by query id, as far as it is known.
        changes: The changes since it was read, one sentence each.
        sources: The texts that spans refer to, or their digests; None if they were not kept.
        answers: The reference answer of each query, by query id, as far as it is known.
        conversation: The conversation before a query, by query id: messages such as
            `{"role": "user", "content": "..."}`.
        corpus: The texts of all documents, by id, if the dataset holds them; they are not saved.
    """

    queries: QueryTexts
    qrels: QrelsMapping
    provenance: Mapping[QueryId, Provenance] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    sources: SourceDocuments | None = field(default=None, compare=False, repr=False)
    answers: Mapping[Any, str] = field(default_factory=dict)
    conversation: Mapping[Any, Sequence[Message]] = field(default_factory=dict)
    corpus: Mapping[Any, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("queries", "provenance", "answers"):
            object.__setattr__(self, name, dict(getattr(self, name)))
        object.__setattr__(self, "qrels", copy_qrels(self.qrels))
        object.__setattr__(self, "conversation", self._read_conversations())
        for query, text in self.queries.items():
            if not isinstance(text, str):
                raise TypeError(f"the text of query {query!r} must be a str, got {text!r}")
        if isinstance(self.qrels, Mapping):  # judgments in columns were read before
            for query, judgments in self.qrels.items():
                require_no_bare_value(judgments, f"query {query!r}")
        self._require_texts(self.answers, "an answer")
        self._require_texts(self.conversation, "a conversation")
        for query, answer in self.answers.items():
            if not isinstance(answer, str):
                raise TypeError(f"the answer to query {query!r} must be a str, got {answer!r}")

    def _read_conversations(self) -> Mapping[Any, Sequence[Message]]:
        """Return the messages before each query that has some."""
        messages_by_query = {}
        for query, messages in self.conversation.items():
            messages_read = read_messages(messages, f"query {query!r}")
            if messages_read:
                messages_by_query[query] = messages_read
        return messages_by_query

    def _require_texts(self, value_by_query: Mapping[Any, Any], value_name: str) -> None:
        """Raise if there is a value for a query that is not among the questions."""
        texts: Mapping[Any, str] = self.queries
        for query in value_by_query:
            if query not in texts:
                raise ValueError(f"there is {value_name} for a query without a text, {query!r}")

    def provenance_values(self, name: str) -> dict[QueryId, Any]:
        """Return one attribute of the provenance of the questions, by query id, for the questions that have it."""
        value_by_query = {}
        for query, provenance in self.provenance.items():
            value = provenance.get(name)
            if value is not None:
                value_by_query[query] = value
        if not value_by_query:
            names: set[str] = set()
            for provenance in self.provenance.values():
                names.update(provenance.as_dict(), provenance.labels)
            known_names = ", ".join(sorted(names - {"labels"})) or "none"
            raise ValueError(f"no question has a {name!r}; the known names are: {known_names}")
        return value_by_query

    def __len__(self) -> int:
        return len(self.queries)


QuestionsT = TypeVar("QuestionsT", bound=Questions)


def question_texts(questions: QueryTexts | Questions) -> Mapping[Any, str]:
    """Return the query texts by query id."""
    texts: Mapping[Any, Any] | Any = questions.queries if isinstance(questions, Questions) else questions
    if not isinstance(texts, Mapping):
        # Imported here because only an error needs it.
        from retrieval_metrics.inputs.input_hints import missing_texts_message
        from retrieval_metrics.inputs.qrels import Qrels

        if isinstance(texts, Qrels):
            raise TypeError(missing_texts_message(texts))
        raise TypeError(
            f"questions must map query IDs to texts, or be an EvaluationSet, got {type(texts).__name__}; "
            "EvaluationSet.from_dataset(...) reads pairs and rows"
        )
    for query, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"the text of query {query!r} must be a str, got {text!r}")
    return texts


def choose_query_texts(queries: QueryTexts | Questions | None, texts_of_qrels: QueryTexts) -> Mapping[Any, str]:
    """Return the query texts that a caller gave, or those that came with the judgments if the caller gave none.

    A text that equals its query id is left out, because the id says the same.
    """
    texts = texts_of_qrels if queries is None else question_texts(queries)
    return {query: text for query, text in texts.items() if text != query}
