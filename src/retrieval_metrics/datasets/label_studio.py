"""Read the JSON export of Label Studio: choices or ratings of one document, or lists sorted into buckets or ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.exported_labels import (
    AnswerCollector,
    GivenAnswer,
    Place,
    choose_question,
    name_export_in_errors,
    read_date,
    read_entries,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.datasets.exported_labels import ExportedLabels, ExportOptions, ExportSource
    from retrieval_metrics.datasets.label import Grader

TOOL = "Label Studio"
RANKER = "ranker"
# The types of results that can be grades; each stands under its own name in the value of a result.
GRADED_TYPES = ("choices", "rating", "number", RANKER)
# The bucket of a ranker that holds what nobody moved.
UNSORTED_BUCKET = "_"
SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class _Annotation:
    """The answers of a person or a model to a task.

    Attributes:
        grader: The name of the grader.
        kind: `human` or `model`.
        results: The answers, as the export holds them.
        is_skipped: Whether a person skipped the task.
        date: The date, if it is known.
    """

    grader: str
    kind: Grader
    results: Sequence[Any]
    is_skipped: bool
    date: str | None


def read_label_studio(source: ExportSource, options: ExportOptions) -> ExportedLabels:
    """Read an export of Label Studio; see `Labels.from_label_studio`."""
    with name_export_in_errors(source):
        tasks = read_entries(source, TOOL)
        _require_tasks(tasks)
        question = choose_question(_list_questions(tasks, options), options.question, TOOL)
        collector = AnswerCollector()
        for task in tasks:
            _read_task(task, question, options, collector)
        return collector.as_labels(options.grades, options.relevant_from)


def _require_tasks(tasks: Sequence[Any]) -> None:
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, Mapping) or not isinstance(task.get("data"), Mapping):
            raise ValueError(
                f"entry {number} of the export has no 'data', as tasks have in the JSON export of Label Studio; "
                "JSON-MIN and CSV do not show which answers are grades: export as JSON"
            )


def _list_questions(tasks: Sequence[Mapping[str, Any]], options: ExportOptions) -> list[str]:
    """Return the names of the controls whose answers can be grades."""
    names: dict[str, None] = {}
    for task in tasks:
        for annotation in _iterate_annotations(task, options):
            for result in annotation.results:
                if result.get("type") in GRADED_TYPES:
                    names[result["from_name"]] = None
    return list(names)


def _iterate_annotations(task: Mapping[str, Any], options: ExportOptions) -> Iterator[_Annotation]:
    for annotation in task.get("annotations") or ():
        yield _Annotation(
            grader=_name_annotator(annotation.get("completed_by"), options),
            kind="human",
            results=annotation.get("result") or (),
            is_skipped=bool(annotation.get("was_cancelled")),
            date=read_date(annotation.get("updated_at")) or read_date(annotation.get("created_at")),
        )
    for prediction in task.get("predictions") or ():
        if not isinstance(prediction, Mapping):  # an export without predictions may list their ids
            continue
        yield _Annotation(
            grader=options.name_grader(prediction.get("model_version") or "prediction"),
            kind="model",
            results=prediction.get("result") or (),
            is_skipped=False,
            date=read_date(prediction.get("created_at")),
        )


def _name_annotator(annotator: Any, options: ExportOptions) -> str:
    """Return the name of an annotator, of whom an export holds the number, or an object with the address."""
    if not isinstance(annotator, Mapping):
        return options.name_grader(annotator, "annotator ")
    number = annotator.get("id")
    if options.graders is not None and number in options.graders:
        return options.graders[number]
    return options.name_grader(annotator.get("email") or number)


def _read_task(
    task: Mapping[str, Any],
    question: str,
    options: ExportOptions,
    collector: AnswerCollector,
) -> None:
    data = task["data"]
    where = f"the data of task {task.get('id')!r}"
    query = options.find_query(data, where)
    document = None  # of a task that shows a list
    listed_documents = []
    if options.document is None:
        listed_documents = _list_documents(data)
    for listed_document in listed_documents:
        collector.add_document(query, listed_document)
    if not listed_documents:
        document = options.find_document(data, where)
        collector.add_document(query, document)
    for annotation in _iterate_annotations(task, options):
        if annotation.is_skipped:
            if document is not None:
                skipped = GivenAnswer(query, document, None, annotation.grader, reason=SKIPPED, date=annotation.date)
                collector.add_answer(skipped)
            continue
        for result in annotation.results:
            if result.get("from_name") != question:
                continue
            value = result["value"][result["type"]]
            if result["type"] == RANKER:
                choice_by_document = _read_ranker(value)
            elif document is None:
                raise ValueError(
                    f"task {task.get('id')!r} shows a list of documents, and {question!r} is one answer for all of "
                    "them; choose a ranker with question=..., or the key of the document with document=..."
                )
            else:
                choice_by_document = {document: _read_choice(value, f"task {task.get('id')!r}")}
            for graded_document, choice in choice_by_document.items():
                answer = GivenAnswer(
                    query, graded_document, choice, annotation.grader, annotation.kind, date=annotation.date
                )
                collector.add_answer(answer)


def _list_documents(data: Mapping[str, Any]) -> list[Any]:
    """Return the ids of the list that a task shows; none if it shows no list."""
    documents = []
    for value in data.values():
        if isinstance(value, list):
            for item in value:
                if isinstance(item, Mapping) and item.get("id") is not None:
                    documents.append(item["id"])
    return documents


def _read_ranker(value: Any) -> dict[Any, Any]:
    """Return the bucket of each document, or its place if there are no buckets."""
    choice_by_document: dict[Any, Any] = {}
    if isinstance(value, Mapping):
        for bucket, documents in value.items():
            if bucket != UNSORTED_BUCKET:
                choice_by_document.update(dict.fromkeys(documents, bucket))
        return choice_by_document
    for rank, document in enumerate(value, start=1):
        choice_by_document[document] = Place(rank)
    return choice_by_document


def _read_choice(value: Any, where: str) -> Any:
    if not isinstance(value, list):
        return value
    if len(value) != 1:
        raise ValueError(f"{where}: {len(value)} choices, {', '.join(map(repr, value))}, where a grade is one choice")
    return value[0]
