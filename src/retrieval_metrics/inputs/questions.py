"""Query texts with their judgments, read from any common shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import Self

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.conversations import Message
    from retrieval_metrics.inputs.documents import Sources
    from retrieval_metrics.inputs.provenance import Provenance
    from retrieval_metrics.inputs.shapes import Judgments, QrelsMapping, QueryTexts

ID_KEYS = ("id", "query_id", "_id")
QUERY_KEYS = ("query", "question", "user_input", "text")
RELEVANT_KEYS = ("relevant", "relevant_docs", "expected_ids", "reference_context_ids", "qrels")
ANSWER_KEYS = ("answer", "reference", "reference_answer", "expected_response")
HISTORY_KEY = "history"


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
        history: What was said before a query, by query id: messages such as `{"role": "user", "content": "..."}`.
    """

    queries: QueryTexts
    qrels: QrelsMapping
    provenance: Mapping[QueryId, Provenance] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    sources: Sources | None = field(default=None, compare=False, repr=False)
    answers: Mapping[Any, str] = field(default_factory=dict)
    history: Mapping[Any, Sequence[Message]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if odd := [(query, text) for query, text in self.queries.items() if not isinstance(text, str)]:
            raise TypeError(f"the text of query {odd[0][0]!r} must be a str, got {odd[0][1]!r}")
        if not (self.answers or self.history):
            return
        from retrieval_metrics.inputs.conversations import messages_of  # noqa: PLC0415  (few sets have either)

        known: Mapping[Any, str] = self.queries
        for what, given in (("an answer", self.answers), ("something said before", self.history)):
            if stray := [query for query in given if query not in known]:
                raise ValueError(f"there is {what} for a query without a text, {stray[0]!r}")
        for query, answer in self.answers.items():
            if not isinstance(answer, str):
                raise TypeError(f"the answer to query {query!r} must be a str, got {answer!r}")
        histories = {query: messages_of(before, f"query {query!r}") for query, before in self.history.items()}
        object.__setattr__(self, "history", {query: before for query, before in histories.items() if before})

    @classmethod
    def of(cls, dataset: Any) -> Self:
        """Read a dataset in any shape of `EvaluationSet.of` except a path.

        Args:
            dataset: Pairs, rows, a frame, a mapping, or a dataset of another tool.

        Raises:
            TypeError: If the dataset or one of its rows has another shape.
            ValueError: If it is empty, a row is incomplete, a query appears twice, or judgments have no query.
        """
        if isinstance(dataset, cls):
            return dataset
        if isinstance(dataset, Questions):
            return cls(*(getattr(dataset, each.name) for each in fields(Questions)))
        from retrieval_metrics.inputs.datasets import rows_of  # noqa: PLC0415  (only who reads a dataset needs it)

        queries, relevant = _part(dataset, "queries"), _part(dataset, "relevant_docs")
        if isinstance(queries, Mapping) and isinstance(relevant, Mapping):
            return cls._checked(queries, relevant, {})
        if (rows := rows_of(dataset)) is not None:
            return cls._of_rows(rows)
        if isinstance(dataset, Mapping):
            return cls._checked({text: text for text in dataset}, dataset, {})
        if isinstance(dataset, Iterable) and not isinstance(dataset, (str, bytes)):
            return cls._of_rows(dataset)
        raise TypeError(
            "a dataset is a list of (query, relevant) pairs, a list of {'query': ..., 'relevant': ...} rows, or an "
            f"object with queries and relevant_docs; got {type(dataset).__name__}"
        )

    @classmethod
    def _of_rows(cls, rows: Iterable[Any]) -> Self:
        from retrieval_metrics.inputs.datasets import plain_row  # noqa: PLC0415  (as above)

        queries: dict[QueryId, str] = {}
        qrels: dict[QueryId, Judgments] = {}
        provenance: dict[QueryId, Provenance] = {}
        answers: dict[QueryId, str] = {}
        history: dict[QueryId, Any] = {}
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
                if row.get(HISTORY_KEY) is not None:
                    history[query_id] = row[HISTORY_KEY]
        return replace(cls._checked(queries, qrels, provenance), answers=answers, history=history)

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

    def labels(self, name: str) -> dict[QueryId, Any]:
        """Return one attribute of the provenance of the questions, by query id, for the questions that have it.

        `evaluation.by(questions.labels("kind"))` returns a table with a row for each kind of question.

        Args:
            name: `source`, `kind`, `person`, `model`, `prompt`, `date`, or a label of your own.

        Raises:
            ValueError: If no question has it; the message says which names are known.
        """
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
            from retrieval_metrics.inputs.entries import judgments_of  # noqa: PLC0415  (only rows need it)

            relevant = judgments_of(relevant, f"row {number}")
        return query_id, text, relevant
    if isinstance(row, Sequence) and not isinstance(row, (str, bytes)) and len(row) == 2:  # noqa: PLR2004  (a pair)
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
    from retrieval_metrics.inputs.provenance import ENTRIES, Provenance  # noqa: PLC0415  (only rows that say it need it)

    entries = {name: row[name] for name in ENTRIES if row.get(name) is not None}
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
    """Return the query texts by query id.

    Raises:
        TypeError: If it is neither a mapping of ids to texts nor an evaluation set.
    """
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


def texts_to_show(queries: QueryTexts | Questions | None, known: QueryTexts) -> Mapping[Any, str]:
    """Return the query texts that a caller gave, or those that came with the judgments if none were given.

    A text that is the id of its query is left out, because the id is shown beside it.

    Raises:
        TypeError: If they are neither a mapping of ids to texts nor an evaluation set.
    """
    texts = known if queries is None else question_texts(queries)
    return {query: text for query, text in texts.items() if text != query}
