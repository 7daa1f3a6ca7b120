"""Read the records of Argilla: responses of people and suggestions of models to a label, rating or ranking question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.exported_labels import (
    AnswerCollector,
    GivenAnswer,
    Place,
    choose_question,
    name_export_in_errors,
    read_entries,
)

if TYPE_CHECKING:
    from retrieval_metrics.datasets.exported_labels import ExportedLabels, ExportOptions, ExportSource
    from retrieval_metrics.datasets.label import Grader

TOOL = "Argilla"
# The ends of the names of columns in flattened records.
RESPONSES = ".responses"
SUGGESTION = ".suggestion"
# The grader of suggestions without an agent.
NAMELESS_MODEL = "suggestion"
DRAFT = "draft"
DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class _Reply:
    """A response of a person or a suggestion of a model.

    Attributes:
        question: The name of the question.
        value: The label, the rating or the ranking.
        grader: The id of the user, or the name of the model.
        kind: `human` or `model`.
        status: `submitted`, `discarded` or `draft`; None if the export does not tell.
    """

    question: str
    value: Any
    grader: Any
    kind: Grader
    status: str | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    """A record, whatever form it came in.

    Attributes:
        name: Its id.
        values: Its fields and its metadata.
        replies: The responses and suggestions.
    """

    name: Any
    values: Mapping[str, Any]
    replies: Sequence[_Reply]


def read_argilla(source: ExportSource, options: ExportOptions) -> ExportedLabels:
    """Read records of Argilla; see `Labels.from_argilla`."""
    with name_export_in_errors(source):
        records = []
        for number, entry in enumerate(read_entries(source, TOOL), start=1):
            records.append(_read_record(entry, number))
        question = choose_question(_list_questions(records), options.question, TOOL)
        ranked_options = _list_ranked_options(records, question)
        collector = AnswerCollector()
        for record in records:
            where = f"record {record.name!r}"
            query = options.find_query(record.values, where)
            replies = _select_replies(record, question)
            if ranked_options:
                documents = _find_documents(record.values, ranked_options, where)
                _collect_rankings(query, documents, replies, options, collector)
            else:
                document = options.find_document(record.values, where)
                _collect_answers(query, document, replies, options, collector)
        return collector.as_labels(options.grades, options.relevant_from)


def _read_record(entry: Any, number: int) -> _Record:
    if isinstance(entry, Mapping):
        if isinstance(entry.get("fields"), Mapping):
            return _read_nested(entry)
        if any(str(name).endswith((RESPONSES, SUGGESTION)) for name in entry):
            return _read_flattened(entry)
    elif all(hasattr(entry, name) for name in ("fields", "metadata", "responses", "suggestions")):
        return _read_object(entry)
    raise ValueError(
        f"entry {number} is not a record of Argilla, with fields, responses and suggestions; pass dataset.records, or "
        "what its to_json or to_list wrote"
    )


def _read_object(record: Any) -> _Record:
    replies = []
    for response in record.responses:
        status = getattr(response.status, "value", response.status)
        replies.append(_Reply(response.question_name, response.value, response.user_id, "human", status))
    for suggestion in record.suggestions:
        replies.append(_Reply(suggestion.question_name, suggestion.value, suggestion.agent, "model"))
    return _Record(record.id, {**record.metadata, **record.fields}, replies)


def _read_nested(entry: Mapping[str, Any]) -> _Record:
    replies = []
    for question, responses in (entry.get("responses") or {}).items():
        for response in responses:
            reply = _Reply(question, response["value"], response.get("user_id"), "human", response.get("status"))
            replies.append(reply)
    for question, suggestion in (entry.get("suggestions") or {}).items():
        replies.append(_Reply(question, suggestion["value"], suggestion.get("agent"), "model"))
    return _Record(entry.get("id"), {**(entry.get("metadata") or {}), **entry["fields"]}, replies)


def _read_flattened(entry: Mapping[str, Any]) -> _Record:
    replies = []
    for name, values in entry.items():
        if name.endswith(RESPONSES) and values is not None:
            question = name.removesuffix(RESPONSES)
            users = entry.get(f"{name}.users") or [None] * len(values)
            statuses = entry.get(f"{name}.status") or [None] * len(values)
            for value, user, status in zip(values, users, statuses, strict=True):
                replies.append(_Reply(question, value, user, "human", status))
        if name.endswith(SUGGESTION) and values is not None:
            replies.append(_Reply(name.removesuffix(SUGGESTION), values, entry.get(f"{name}.agent"), "model"))
    return _Record(entry.get("id"), entry, replies)


def _list_questions(records: Sequence[_Record]) -> list[str]:
    """Return the questions with an answer that can be a grade, in the order of the first."""
    questions: dict[str, None] = {}
    for record in records:
        for reply in record.replies:
            questions[reply.question] = None
    return list(questions)


def _list_ranked_options(records: Sequence[_Record], question: str) -> list[str]:
    """Return the options of a question that ranks them; none if it does not."""
    options: dict[str, None] = {}
    for record in records:
        for reply in record.replies:
            if reply.question == question and _is_ranking(reply.value):
                options.update(dict.fromkeys(option["value"] for option in reply.value))
    return list(options)


def _select_replies(record: _Record, question: str) -> list[_Reply]:
    """Return the finished replies to a question."""
    return [reply for reply in record.replies if reply.question == question and reply.status != DRAFT]


def _is_ranking(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(option, Mapping) for option in value)


def _find_documents(values: Mapping[str, Any], ranked_options: Sequence[str], where: str) -> dict[str, Any]:
    """Return the document that each option of a ranking stands for in a record."""
    document_by_option = {}
    for option in ranked_options:
        document = values.get(f"{option}_id")
        if document is None:
            raise ValueError(
                f"{where} does not say which document its option {option!r} is; give the ID in the metadata, as "
                f"'{option}_id'"
            )
        document_by_option[option] = document
    return document_by_option


def _collect_rankings(
    query: Any,
    documents: Mapping[str, Any],
    replies: Sequence[_Reply],
    options: ExportOptions,
    collector: AnswerCollector,
) -> None:
    for document in documents.values():
        collector.add_document(query, document)
    for reply in replies:
        if reply.status == DISCARDED or reply.value is None:
            continue
        grader = _name_replier(reply, options)
        for option in reply.value:
            rank = option.get("rank")
            if rank is not None:
                collector.add_answer(GivenAnswer(query, documents[option["value"]], Place(rank), grader, reply.kind))


def _collect_answers(
    query: Any,
    document: Any,
    replies: Sequence[_Reply],
    options: ExportOptions,
    collector: AnswerCollector,
) -> None:
    collector.add_document(query, document)
    for reply in replies:
        grader = _name_replier(reply, options)
        if reply.status == DISCARDED:
            collector.add_answer(GivenAnswer(query, document, None, grader, reply.kind, reason=DISCARDED))
        elif reply.value is not None:
            if isinstance(reply.value, (list, tuple)):
                raise ValueError(
                    f"the answer {reply.value!r} to {reply.question!r} for document {document!r} is not a label, "
                    "rating or ranking; choose another question with question=..."
                )
            collector.add_answer(GivenAnswer(query, document, reply.value, grader, reply.kind))


def _name_replier(reply: _Reply, options: ExportOptions) -> str:
    if reply.kind == "model":
        return options.name_grader(reply.grader or NAMELESS_MODEL)
    return options.name_grader(reply.grader)
