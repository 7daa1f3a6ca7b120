"""Questions with their judgments, provenance and conversations, read from any dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date as calendar_date
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.inputs.items import Text

if TYPE_CHECKING:
    from typing import Self

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.documents import SourceDocuments
    from retrieval_metrics.inputs.items import Judgments, QrelsMapping, QueryTexts


ID_KEYS = ("id", "query_id", "_id")
QUERY_KEYS = ("query", "question", "user_input", "text")
RELEVANT_KEYS = ("relevant", "relevant_docs", "expected_ids", "reference_context_ids", "qrels")
ANSWER_KEYS = ("answer", "reference", "reference_answer", "expected_response")
CONVERSATION_KEY = "conversation"


@dataclass(frozen=True, slots=True)
class Questions:
    """The data of an evaluation set: the questions, their judgments and answers, and where they come from.

    Attributes:
        queries: The text of each query, by query id.
        qrels: The judgments of each query, by query id, in any shape that `evaluate` takes.
        provenance: Where each question comes from, by query id, as far as it is known.
        changes: The changes since it was read, one sentence each.
        sources: The texts that spans refer to, or their digests; None if they were not kept.
        answers: The reference answer of each query, by query id, as far as it is known.
        conversation: What was said before a query, by query id: messages such as `{"role": "user", "content": "..."}`.
    """

    queries: QueryTexts
    qrels: QrelsMapping
    provenance: Mapping[QueryId, Provenance] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    sources: SourceDocuments | None = field(default=None, compare=False, repr=False)
    answers: Mapping[Any, str] = field(default_factory=dict)
    conversation: Mapping[Any, Sequence[Message]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if odd := [(query, text) for query, text in self.queries.items() if not isinstance(text, str)]:
            raise TypeError(f"the text of query {odd[0][0]!r} must be a str, got {odd[0][1]!r}")
        if not (self.answers or self.conversation):
            return

        known: Mapping[Any, str] = self.queries
        for what, given in (("an answer", self.answers), ("something said before", self.conversation)):
            if stray := [query for query in given if query not in known]:
                raise ValueError(f"there is {what} for a query without a text, {stray[0]!r}")
        for query, answer in self.answers.items():
            if not isinstance(answer, str):
                raise TypeError(f"the answer to query {query!r} must be a str, got {answer!r}")
        histories = {query: messages_of(before, f"query {query!r}") for query, before in self.conversation.items()}
        object.__setattr__(self, "conversation", {query: before for query, before in histories.items() if before})

    @classmethod
    def from_dataset(cls, dataset: Any) -> Self:
        """Read a dataset in any shape of `EvaluationSet.of` except a path."""
        if isinstance(dataset, cls):
            return dataset
        if isinstance(dataset, Questions):
            return cls(*(getattr(dataset, each.name) for each in fields(Questions)))

        queries, relevant = _part(dataset, "queries"), _part(dataset, "relevant_docs")
        if isinstance(queries, Mapping) and isinstance(relevant, Mapping):
            return cls._checked(queries, relevant, {})
        if (rows := rows_of(dataset)) is not None:
            return cls._of_rows(rows)
        if isinstance(dataset, Mapping):
            return cls._checked({text: text for text in dataset}, dataset, {})
        if any(callable(getattr(dataset, name, None)) for name in _RETRIEVING):  # some of them are iterable
            raise TypeError(
                f"a dataset of questions was expected, got {type(dataset).__name__}, which retrieves: are two "
                "arguments exchanged?"
            )
        if isinstance(dataset, Iterable) and not isinstance(dataset, (str, bytes)):
            return cls._of_rows(dataset)
        text = python_or_cli_text(": a path that is not there, or JSON, which json.loads(text) reads")
        raise TypeError(
            "a dataset is a list of (query, relevant) pairs, a list of {'query': ..., 'relevant': ...} rows, or an "
            f"object with queries and relevant_docs; got {type(dataset).__name__}"
            + (text if isinstance(dataset, str) else "")
        )

    @classmethod
    def _of_rows(cls, rows: Iterable[Any]) -> Self:

        queries: dict[QueryId, str] = {}
        qrels: dict[QueryId, Judgments] = {}
        provenance: dict[QueryId, Provenance] = {}
        answers: dict[QueryId, str] = {}
        conversation: dict[QueryId, Any] = {}
        row_of: dict[QueryId, int] = {}
        for number, row in enumerate(map(plain_row, rows), start=1):
            query_id, text, relevant = _row(row, number)
            if query_id in row_of:
                raise ValueError(
                    f"query {query_id!r} appears in rows {row_of[query_id]} and {number}; give each row its own "
                    "'id', or merge their judgments"
                )
            row_of[query_id] = number
            queries[query_id], qrels[query_id] = text, relevant
            if (made := _provenance(row, number)) is not None:
                provenance[query_id] = made
            if isinstance(row, Mapping):
                if (answer := _answer(row)) is not None:
                    answers[query_id] = answer
                if row.get(CONVERSATION_KEY) is not None:
                    conversation[query_id] = row[CONVERSATION_KEY]
        return replace(cls._checked(queries, qrels, provenance), answers=answers, conversation=conversation)

    @classmethod
    def _checked(
        cls, queries: Mapping[Any, Any], qrels: Mapping[Any, Any], provenance: Mapping[QueryId, Provenance]
    ) -> Self:
        if not queries:
            raise ValueError("the dataset is empty: there is no query to ask")
        for query_id, text in queries.items():
            if not isinstance(text, str):
                raise TypeError(f"the text of query {query_id!r} must be a str, got {text!r}")
        if stray := [query_id for query_id in qrels if query_id not in queries]:
            raise ValueError(f"there are judgments for {len(stray)} queries without a text, for example {stray[0]!r}")
        if bare := [query_id for query_id in queries if query_id not in qrels]:
            raise ValueError(
                f"there are no judgments for {len(bare)} of {len(queries)} queries, for example {bare[0]!r}; leave "
                "these queries out, or give an empty list if nothing is relevant"
            )
        return cls(dict(queries), dict(qrels), provenance)

    def provenance_values(self, name: str) -> dict[QueryId, Any]:
        """Return one attribute of the provenance of the questions, by query id, for the questions that have it."""
        of_query = {query: value for query, made in self.provenance.items() if (value := made.get(name)) is not None}
        if not of_query:
            known = {entry for made in self.provenance.values() for entry in (*made.as_dict(), *made.labels)} - {
                "labels"
            }
            raise ValueError(f"no question has a {name!r}; known are: {', '.join(sorted(known)) or 'none'}")
        return of_query

    def __len__(self) -> int:
        return len(self.queries)


QuestionsT = TypeVar("QuestionsT", bound=Questions)


def _part(dataset: Any, name: str) -> Any:
    return dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)


def _row(row: Any, number: int) -> tuple[QueryId, str, Judgments]:
    if isinstance(row, Mapping):
        text = _first(row, QUERY_KEYS, number, "query")
        query_id = next((row[key] for key in ID_KEYS if row.get(key) is not None), text)
        relevant = _first(row, RELEVANT_KEYS, number, "relevant")
        if isinstance(relevant, list):  # from JSON, it can hold objects for quotes, texts and spans
            from retrieval_metrics.inputs.json_codec import decode_judgments  # noqa: PLC0415  (only rows need it)

            relevant = decode_judgments(relevant, f"row {number}")
        if row.get("forbidden") is not None:
            from retrieval_metrics.inputs.json_codec import add_forbidden  # noqa: PLC0415  (as above)

            relevant = add_forbidden(relevant, row["forbidden"], f"row {number}")
        return query_id, text, relevant
    if isinstance(row, Sequence) and not isinstance(row, (str, bytes)) and len(row) == 2:
        return row[0], row[0], row[1]
    raise TypeError(
        f"row {number} must be a (query, relevant) pair or a {{'query': ..., 'relevant': ...}} mapping, got {row!r}"
    )


def _answer(row: Mapping[str, Any]) -> str | None:
    """Return the reference answer of a row; None if it has none, or something else under its name."""
    answers = (row.get(key) for key in ANSWER_KEYS)
    return next((one for one in answers if isinstance(one, str) and one.strip()), None)


def _provenance(row: Any, number: int) -> Provenance | None:
    """Return where the question of a row comes from, or None if it is unknown."""
    if not isinstance(row, Mapping):
        return None

    entries = {name: row[name] for name in PROVENANCE_FIELDS if row.get(name) is not None}
    if not entries:
        return None
    try:
        return Provenance(**entries)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {number}: {error}") from error


def _first(row: Mapping[str, Any], keys: Sequence[str], number: int, what: str) -> Any:
    for key in keys:
        if key in row:
            return row[key]
    raise ValueError(
        f"row {number} has no {what!r} (nor {', '.join(keys[1:])}); it has {', '.join(map(repr, row)) or 'nothing'}"
    )


def question_texts(questions: QueryTexts | Questions) -> Mapping[Any, str]:
    """Return the query texts by query id."""
    texts: Mapping[Any, Any] | Any = questions.queries if isinstance(questions, Questions) else questions
    if not isinstance(texts, Mapping):
        raise TypeError(
            f"questions must map query ids to texts, or be an EvaluationSet, got {type(texts).__name__}; "
            "EvaluationSet.of(...) reads pairs and rows"
        )
    for query, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"the text of query {query!r} must be a str, got {text!r}")
    return texts


def choose_query_texts(queries: QueryTexts | Questions | None, known: QueryTexts) -> Mapping[Any, str]:
    """Return the query texts that a caller gave, or those that came with the judgments if none were given."""
    texts = known if queries is None else question_texts(queries)
    return {query: text for query, text in texts.items() if text != query}


Label = str | int | float | bool
_RETRIEVING = ("invoke", "retrieve", "run")  # what retrievers and pipelines of frameworks are called by

_TEXTS = ("source", "kind", "author", "model", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a question comes from; every attribute is optional.

    Attributes:
        source: The document that the question was made from. Questions about one document depend on each other.
        kind: The kind of question, in your own words, such as `factual` or `multi-hop`.
        author: Who wrote or checked it.
        model: The model that wrote it.
        prompt: The prompt that the model was given, or its version.
        date: When it was made: a date, or a text such as `2026-05-31`.
        labels: Labels of your own, such as `{"team": "billing"}`.

    Raises:
        TypeError: If an entry has another type.
        ValueError: If a text is not a date, or a label has the name of another attribute.

    Example:
        >>> made = Provenance(source="handbook.md", model="a model", prompt="v3", date="2026-05-31")
        >>> made.date.year
        2026
        >>> made.as_dict()
        {'source': 'handbook.md', 'model': 'a model', 'prompt': 'v3', 'date': '2026-05-31'}
    """

    source: str | None = None
    kind: str | None = None
    author: str | None = None
    model: str | None = None
    prompt: str | None = None
    date: calendar_date | None = None
    labels: Mapping[str, Label] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise TypeError(f"the {name} of a question must be a str, got {value!r} ({type(value).__name__})")
        object.__setattr__(self, "date", _date(self.date))
        if not isinstance(self.labels, Mapping):
            raise TypeError(f"the labels of a question must map names to values, got {self.labels!r}")
        for name, value in self.labels.items():
            if not isinstance(name, str) or not isinstance(value, Label):
                raise TypeError(
                    "a label of a question has a str as its name, and text, a number, True or False as its value, "
                    f"got {name!r}: {value!r}"
                )
            if name in PROVENANCE_FIELDS:
                raise ValueError(f"a label cannot be called {name!r}, because every question has a {name}")
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))

    def get(self, name: str) -> Label | calendar_date | None:
        """Return an attribute or a label by name; None if it is unknown."""
        if name in PROVENANCE_FIELDS and name != "labels":
            found: Label | calendar_date | None = getattr(self, name)
            return found
        return self.labels.get(name)

    def as_dict(self) -> dict[str, Any]:
        """Return what is known as plain values for JSON; `Provenance(**entries)` reads them."""
        known = {name: getattr(self, name) for name in PROVENANCE_FIELDS}
        if self.date is not None:
            known["date"] = self.date.isoformat()
        known["labels"] = dict(self.labels) or None
        return {name: value for name, value in known.items() if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return _provenance_provenance, (self.as_dict(),)  # read-only mappings cannot be pickled


PROVENANCE_FIELDS = tuple(each.name for each in fields(Provenance))
"""The names of everything that can be known of a question."""


def _provenance_provenance(entries: Mapping[str, Any]) -> Provenance:
    return Provenance(**entries)


def _date(value: Any) -> calendar_date | None:
    if isinstance(value, str):
        try:
            return calendar_date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"the date of a question must be written as 2026-05-31, got {value!r}") from None
    if value is None or isinstance(value, calendar_date):
        return value
    raise TypeError(f"the date of a question must be a date or a text such as '2026-05-31', got {value!r}")


# What was said before a question, as the messages of a conversation.

Message = Mapping[str, str]
"""One message: who said it, as `role`, and what, as `content`."""

ROLES = ("user", "assistant")
_KEYS = {"role", "content"}


def messages_of(said: Any, where: str) -> tuple[dict[str, str], ...]:
    """Return the messages of a conversation, checked.

    Example:
        >>> messages_of([{"role": "user", "content": "Who may open the vault?"}], "query 'q1'")
        ({'role': 'user', 'content': 'Who may open the vault?'},)
    """
    if not isinstance(said, (list, tuple)):
        raise TypeError(f"what was said before {where} must be a list of messages, got {said!r}")
    for message in said:
        if not isinstance(message, Mapping) or not all(isinstance(part, str) for part in message.values()):
            raise TypeError(
                f"what was said before {where} must be messages such as {{'role': 'user', 'content': '...'}}, got "
                f"{message!r}"
            )
        if message.keys() != _KEYS or message["role"] not in ROLES:
            raise ValueError(
                f"a message before {where} has a role, {' or '.join(map(repr, ROLES))}, and a content; got "
                f"{dict(message)!r}"
            )
    return tuple({"role": message["role"], "content": message["content"]} for message in said)


def prepend_conversation(said: Any, question: str) -> str:
    """Return a question with what was said before it, one message a line."""
    return "\n".join([*(message["content"] for message in said), question])


def texts_with_conversation(texts: Mapping[Any, str], conversation: Mapping[Any, Any]) -> Mapping[Any, str]:
    """Return query texts by query id, each with what was said before it."""
    return {query: prepend_conversation(conversation.get(query, ()), text) for query, text in texts.items()}


# Read the datasets of other tools, which are recognised by their shape; none of the tools is imported.

TEXT_KEY = "reference_contexts"
"""The names of the relevant texts in datasets of Ragas and LlamaIndex."""
QUERY_ID_KEY = "query_id"
"""The name of the id of a question in the metadata of an example of LangSmith, whose own ids must be UUIDs."""


def rows_of(dataset: Any) -> Iterable[Any] | None:
    """Return the rows of a table or of a dataset that holds a list of examples; None if it is neither."""
    if isinstance(dataset, Mapping) and dataset and all(hasattr(part, "column_names") for part in dataset.values()):
        raise ValueError(f"the dataset has the splits {', '.join(map(repr, dataset))}; choose one of them")
    examples = dataset.get("examples") if isinstance(dataset, Mapping) else getattr(dataset, "examples", None)
    if isinstance(examples, (list, tuple)):  # LlamaIndex's LabelledRagDataset, or its JSON
        return [_labelled(example, number) for number, example in enumerate(examples, start=1)]
    if hasattr(dataset, "to_dicts") and hasattr(dataset, "columns"):  # polars
        return map(_known, dataset.to_dicts())
    if hasattr(dataset, "to_pylist") and hasattr(dataset, "column_names"):  # Arrow
        return map(_known, dataset.to_pylist())
    if hasattr(dataset, "to_dict") and hasattr(dataset, "columns") and hasattr(dataset, "iloc"):  # pandas
        return map(_known, dataset.to_dict("records"))
    return None


def plain_row(row: Any) -> Any:
    """Return a row of another tool with the names used here; other rows are returned unchanged."""
    if hasattr(row, "eval_sample"):  # a row of Ragas's Testset
        sample = plain_row(row.eval_sample)
        kind = getattr(row, "synthesizer_name", None)
        return {**sample, "kind": kind} if isinstance(kind, str) and isinstance(sample, Mapping) else sample
    inputs, outputs = _entry(row, "inputs"), _entry(row, "outputs")
    if isinstance(inputs, Mapping) and isinstance(outputs, Mapping):  # an example of LangSmith
        return _of_langsmith(row, inputs, outputs)
    if not isinstance(row, (Mapping, list, tuple, str)) and hasattr(row, "user_input"):  # Ragas's SingleTurnSample
        names = ("user_input", "reference_context_ids", TEXT_KEY, "reference")
        row = {name: getattr(row, name, None) for name in names}
        return _with_texts(_known(row))
    return _with_texts(row) if isinstance(row, Mapping) else row


def _with_texts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row whose only judgments are reference texts with these texts as its judgments."""
    texts = row.get(TEXT_KEY)
    if row.get("reference_context_ids") is not None or "relevant" in row or not isinstance(texts, (list, tuple)):
        return row
    return {**{name: value for name, value in row.items() if name != TEXT_KEY}, "relevant": [*map(Text, texts)]}


def _labelled(example: Any, number: int) -> dict[str, Any]:
    """Return a LlamaIndex example as a row; its judgments are its reference texts."""
    texts = _entry(example, TEXT_KEY)
    if not texts:
        raise ValueError(f"example {number} has no {TEXT_KEY}, so nothing is known to be relevant to its question")
    row: dict[str, Any] = {"query": _entry(example, "query"), "relevant": [*map(Text, texts)]}
    row["reference_answer"] = _entry(example, "reference_answer")
    maker = _entry(example, "query_by")
    if maker is not None and (model := _entry(maker, "model_name")):
        row["model"] = model
    return row


def _of_langsmith(example: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a LangSmith example as a row: the question from its inputs, the judgments from its outputs."""
    asked: Mapping[str, Any] = inputs
    if len(inputs) == 1 and isinstance(next(iter(inputs.values())), str):
        asked = {"query": next(iter(inputs.values()))}
    row: dict[str, Any] = {**outputs, **asked}  # should both have a name, the question is what was put in
    if len(outputs) == 1 and not isinstance(next(iter(outputs.values())), str):
        row["relevant"] = next(iter(outputs.values()))
    name, metadata = _entry(example, "id"), _entry(example, "metadata")
    if name is not None:
        row["id"] = str(name)
    if isinstance(metadata, Mapping):
        row.update({entry: metadata[entry] for entry in PROVENANCE_FIELDS if metadata.get(entry) is not None})
        if isinstance(kept := metadata.get(QUERY_ID_KEY), (str, int)):
            row["id"] = kept
    return row


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without missing values, and with lists in place of arrays."""
    known = {}
    for name, value in row.items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        if plain is None or plain != plain:  # noqa: PLR0124  (NaN, which pandas puts where nothing is)
            continue
        known[name] = plain
    return known


def _entry(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
