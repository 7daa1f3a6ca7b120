"""Read questions and their judgments from the rows of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time
from functools import partial
from itertools import chain
from math import isfinite
from numbers import Real
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from retrieval_metrics.inputs.column_detection import (
    DOCUMENT_COLUMNS,
    GRADE_COLUMNS,
    IGNORED_COLUMNS,
    QUERY_COLUMNS,
    QUERY_ID_COLUMNS,
    RELEVANT_COLUMNS,
)
from retrieval_metrics.inputs.foreign_datasets import REFERENCE_TEXTS_KEY, drop_missing, find_rows, translate_row
from retrieval_metrics.inputs.ignored_grades import refuse_grades_beside_lists
from retrieval_metrics.inputs.input_hints import RETRIEVING_METHODS, missing_texts_message
from retrieval_metrics.inputs.json_codec import add_forbidden, decode_judgments
from retrieval_metrics.inputs.judgment_cells import (
    FORBIDDEN_COLUMN,
    read_cells,
    refuse_separator,
    require_valid_ids_in_rows,
)
from retrieval_metrics.inputs.judgment_rows import (
    find_document_column,
    gather_judgment_rows,
    holds_judgment_rows,
    is_object,
    number_rows,
    read_document_objects,
    refuse_flags,
    require_number_grades,
)
from retrieval_metrics.inputs.own_tables import refuse_own_table
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS, LabelValue, Provenance
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.question_columns import (
    ANSWER_KEYS,
    ANSWERS_KEY,
    ID_KEYS,
    QUERY_KEYS,
    require_single_columns,
    use_named_columns,
    use_usual_names,
)
from retrieval_metrics.inputs.questions import Questions, QuestionsT
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.column_detection import Columns
    from retrieval_metrics.inputs.items import Judgments

    class HasQueries(Protocol):
        """A dataset of LlamaIndex: texts and relevant ids by query id."""

        @property
        def queries(self) -> Mapping[str, str]:
            """The text of each query."""

        @property
        def relevant_docs(self) -> Mapping[str, list[str]]:
            """The relevant ids of each query."""

    # Questions, rows or pairs, a table, a mapping of texts to judgments, a dataset of LlamaIndex, or a path.
    QuestionDataset: TypeAlias = Questions | Mapping[str, object] | Iterable[object] | HasQueries | PathLike[str]


CONVERSATION_KEY = "conversation"
# The usual names of a missing column that a message lists, beside the first.
MAX_SHOWN_NAMES = 4
# The keys under which files hold the list of their rows. They are no queries where nothing beside them holds judgments.
ROWS_KEYS = frozenset(
    [
        *("cases", "test_cases", "tests", "data", "dataset", "questions", "queries", "examples"),
        *("rows", "items", "samples", "results"),
    ]
)
# The keys beside them that describe the file.
DESCRIPTION_KEYS = frozenset({"metadata", "meta", "info", "config"})
# The columns of a table that are no labels.
KNOWN_COLUMNS = frozenset(
    [
        *ID_KEYS,
        *QUERY_KEYS,
        *QUERY_COLUMNS,
        *RELEVANT_COLUMNS,
        *ANSWER_KEYS,
        *PROVENANCE_FIELDS,
        *DOCUMENT_COLUMNS,
        *GRADE_COLUMNS,
        *IGNORED_COLUMNS,
        CONVERSATION_KEY,
        FORBIDDEN_COLUMN,
        REFERENCE_TEXTS_KEY,
    ]
)


def read_question_dataset(
    questions_class: type[QuestionsT],
    dataset: QuestionDataset,
    *,
    separator: str | None = None,
    columns: Columns | None = None,
    is_file: bool = False,
    row_numbers: Sequence[int] | None = None,
    named_columns: Columns | None = None,
) -> QuestionsT:
    """Read a dataset in any shape of `EvaluationSet.from_dataset` except a path.

    Args:
        questions_class: The class of the questions to return.
        dataset: Questions, rows, a mapping of query texts to judgments, or an object with `queries` and
            `relevant_docs`.
        separator: What separates the ids in a cell of text; see `read_cells`.
        columns: The columns that the user named; see `use_named_columns`.
        is_file: Whether it was read from a file, in which judgments can be text.
        row_numbers: The number of each row of a list, for messages; None to count from 1.
        named_columns: The columns that the user named, of rows that have been renamed.

    Raises:
        TypeError: If it is anything else.
        ValueError: If it is empty, a query appears twice, or a query has no judgments; or if `columns` name columns of
            something without rows.
    """
    _refuse_qrels(dataset)
    _require_single_columns_and_rows(dataset, columns)
    if columns:
        return _read_named_columns(questions_class, dataset, columns, separator)
    if isinstance(dataset, questions_class):
        refuse_separator(separator)
        return dataset
    if isinstance(dataset, Questions):
        refuse_separator(separator)
        return questions_class(**{field.name: getattr(dataset, field.name) for field in fields(Questions)})

    queries = _get_mapping(dataset, "queries")
    relevant = _get_mapping(dataset, "relevant_docs")
    if queries is not None and relevant is not None:
        refuse_separator(separator)
        questions = _make_questions(questions_class, queries, relevant, {})
        return replace(questions, corpus=_get_mapping(dataset, "corpus") or {})
    if queries is not None and all(isinstance(text, str) for text in queries.values()):
        raise ValueError("a dataset with 'queries' needs their judgments under 'relevant_docs', which is missing")
    read_rows = partial(_read_rows, questions_class, separator=separator, is_table=is_file, named_columns=named_columns)
    rows = find_rows(dataset)
    if rows is not None:
        if _is_table(dataset):
            return read_question_table(questions_class, rows, separator=separator)
        return read_rows(rows, row_numbers=row_numbers)
    if isinstance(dataset, Mapping):
        rows = _find_rows_in_mapping(dataset)
        if rows is not None:
            row_numbers = [number for number, row in enumerate(rows, start=1) if not _is_blank_row(row)]
            rows = [row for row in rows if not _is_blank_row(row)]
            return read_rows(rows, row_numbers=row_numbers)
        refuse_separator(separator)
        _require_judgments(dataset)
        return _make_questions(questions_class, {text: text for text in dataset}, dataset, {})
    if any(callable(getattr(dataset, name, None)) for name in RETRIEVING_METHODS):  # some of them are iterable
        raise TypeError(
            f"a dataset of questions was expected, got {type(dataset).__name__}, which is a retriever: "
            "check the order of the arguments"
        )
    if isinstance(dataset, Iterable) and not isinstance(dataset, (str, bytes)):
        return read_rows(dataset, row_numbers=row_numbers)
    hint = ""
    if isinstance(dataset, str):
        hint = "; if it is a path, the file does not exist; if it is JSON, parse it with json.loads"
    raise TypeError(
        "a dataset is a list of (query, relevant) pairs, a list of {'query': ..., 'relevant': ...} rows, or an "
        f"object with queries and relevant_docs; got {type(dataset).__name__}{hint}"
    )


def _require_single_columns_and_rows(dataset: QuestionDataset, columns: Columns | None) -> None:
    """Raise if a table has a column twice or holds no questions, or a mapping holds no rows under the key for them."""
    if isinstance(dataset, Mapping):
        _require_rows(dataset)
    elif not isinstance(dataset, Questions):
        names = _find_column_names(dataset)
        refuse_own_table(names, columns)
        require_single_columns(names, columns, f"the {type(dataset).__name__}")


def _find_column_names(dataset: QuestionDataset) -> list[Any]:
    """Return the names of the columns of a table, as often as they stand there; none if it is no table.

    The rows of a pandas or Arrow table hold only one of the columns with the same name.
    """
    for attribute in ("column_names", "columns"):
        names = getattr(dataset, attribute, None)
        if isinstance(names, Iterable) and not isinstance(names, (str, bytes)):
            return list(names)
    return []


def _read_named_columns(
    questions_class: type[QuestionsT], dataset: QuestionDataset, columns: Columns, separator: str | None
) -> QuestionsT:
    """Read the rows of a dataset whose columns the user named."""
    name = f"the {type(dataset).__name__}"
    rows = find_rows(dataset)
    if rows is None and isinstance(dataset, Mapping):
        rows = find_only_rows(dataset, name)
    if rows is None:
        if isinstance(dataset, (Questions, str, bytes)) or not isinstance(dataset, Iterable):
            raise ValueError(f"columns= names the columns of rows, but {name} has none")
        rows = dataset
    named_rows = use_named_columns(rows, columns, name)
    if _is_table(dataset):
        return read_question_table(questions_class, named_rows, separator=separator, named_columns=columns)
    return read_question_dataset(questions_class, named_rows, separator=separator, named_columns=columns)


def _is_table(dataset: object) -> bool:
    """Return whether a dataset is a table, in which an empty cell of judgments says that nothing is relevant."""
    return hasattr(dataset, "columns") or hasattr(dataset, "column_names")


def _refuse_qrels(dataset: QuestionDataset) -> None:
    """Raise if judgments alone are passed as a dataset; they can be iterated, which yields the ids of their queries."""
    if isinstance(dataset, Qrels):
        raise TypeError(missing_texts_message(dataset))


def read_question_table(
    questions_class: type[QuestionsT],
    rows: Iterable[Mapping[str, Any]],
    *,
    separator: str | None = None,
    row_numbers: Sequence[int] | None = None,
    named_columns: Columns | None = None,
) -> QuestionsT:
    """Read the rows of a table, in which an empty cell of judgments says that nothing is relevant.

    Args:
        questions_class: The class of the questions to return.
        rows: The rows; those without a value are left out.
        separator: What separates the ids in a cell; see `read_cells`.
        row_numbers: The number of each row, for messages; None to count from 1.
        named_columns: The columns that the user named, by role; the rows have their usual names.
    """
    table_rows = list(rows)
    refuse_own_table(chain.from_iterable(table_rows), named_columns)
    present_rows: list[dict[str, Any]] = []
    present_numbers: list[int] = []
    columns: dict[str, None] = {}
    for number, row in number_rows(use_usual_names(table_rows, row_numbers), row_numbers):
        present = {name: value for name, value in drop_missing(row).items() if not _is_empty_cell(value)}
        if not present:
            continue
        if len(present) > 1 and all(name == value for name, value in present.items()):
            raise ValueError(f"row {number} repeats the header, as where files were joined; remove it")
        columns.update(dict.fromkeys(present))
        present_rows.append(present)
        present_numbers.append(number)
    judgment_columns = [column for column in columns if column in RELEVANT_COLUMNS]
    if judgment_columns:
        for present in present_rows:
            if present.keys().isdisjoint(judgment_columns):
                present[judgment_columns[0]] = []
    if holds_judgment_rows(present_rows):
        document_column = next(filter(None, map(find_document_column, present_rows)))
        for row in present_rows:
            if find_document_column(row) is None:
                row[document_column] = None
    return _read_rows(
        questions_class,
        present_rows,
        separator,
        is_table=True,
        with_labels=True,
        row_numbers=present_numbers,
        named_columns=named_columns,
    )


def _with_labels(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with the columns that have no meaning here as labels of its question."""
    labels = {}
    for column, value in row.items():
        is_named = isinstance(column, str) and column.strip().lower() not in KNOWN_COLUMNS
        label = _as_label(value)
        if is_named and label is not None:
            labels[column] = label
    row_labels = row.get("labels")
    if isinstance(row_labels, Mapping):
        labels.update(row_labels)
    return {**row, "labels": labels} if labels else dict(row)


def _as_label(value: Any) -> LabelValue | None:
    """Return the label that the value of a cell gives; None if it gives none.

    A date becomes text such as `2026-05-31`, and so does midnight, which spreadsheets give for a date without a time.
    """
    if isinstance(value, LabelValue):
        return value
    from decimal import Decimal  # imported here, because evaluating ids does not need it

    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        text = value.isoformat(sep=" ")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, (date, time)):
        return value.isoformat()
    return None


def _is_empty_cell(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _find_rows_in_mapping(dataset: Mapping[Any, Any]) -> list[Any] | None:
    """Return the rows of a mapping that is a row, holds a list of rows, or maps ids to rows; else None."""
    if _has_question_text(dataset):
        return [dataset]
    rows_by_key = _find_lists_of_objects(dataset)
    judged_keys = _find_judged_keys(rows_by_key)
    if len(judged_keys) > 1:
        raise ValueError(
            f"the dataset has several lists of questions, {', '.join(map(repr, judged_keys))}; pass one of them, such "
            f"as dataset[{judged_keys[0]!r}], or both in one list"
        )
    if judged_keys:
        return rows_by_key[judged_keys[0]]
    lists_of_questions: list[list[Any]] = []
    for rows in rows_by_key.values():
        if all(_is_blank_row(row) or _has_question_text(row) for row in rows):
            lists_of_questions.append(rows)
    if len(lists_of_questions) == 1:
        return lists_of_questions[0]
    values = list(dataset.values())
    if not values or not all(map(_has_question_text, values)):
        return None
    return [{"id": query, **row} for query, row in dataset.items()]


def _find_judged_keys(rows_by_key: Mapping[Any, list[Any]]) -> list[Any]:
    """Return the keys of the lists in which every row that is not blank is a question with judgments."""
    judged_keys = []
    for key, rows in rows_by_key.items():
        if all(_is_blank_row(row) or _is_judged_question(row) for row in rows):
            judged_keys.append(key)
    return judged_keys


def _find_lists_of_objects(dataset: Mapping[Any, Any]) -> dict[Any, list[Any]]:
    """Return the lists of rows in a mapping, some of which can be blank.

    Lists of grades by document and of quotes are judgments.
    """
    rows_by_key: dict[Any, list[Any]] = {}
    for key, value in dataset.items():
        if not isinstance(value, list) or all(map(_is_blank_row, value)):
            continue
        if all(_is_blank_row(row) or is_object(row) for row in value):
            rows_by_key[key] = value
    return rows_by_key


def _is_blank_row(row: Any) -> bool:
    """Return whether a row of JSON is null or has no values, like an empty line of a table."""
    return row is None or (isinstance(row, Mapping) and not row)


def find_rows_key(dataset: Mapping[Any, Any]) -> Any:
    """Return the key under which a mapping holds the list of its rows, or nothing in its place; None if it has none.

    Such a key is a query like any other if there are judgments beside it, but not beside other such keys if all are
    empty.
    """
    if _has_question_text(dataset):  # a row, with columns of any name
        return None
    rows_keys = []
    for key, value in dataset.items():
        usual_key = key.strip().lower() if isinstance(key, str) else key
        if usual_key in ROWS_KEYS and (_is_blank_row(value) or isinstance(value, list)):
            rows_keys.append(key)
        elif usual_key not in DESCRIPTION_KEYS and isinstance(value, Collection) and not isinstance(value, str):
            return None
    if len(rows_keys) == 1 or (rows_keys and all(_are_blank(dataset[key]) for key in rows_keys)):
        return rows_keys[0]
    return None


def holds_only_blank_rows(dataset: Mapping[Any, Any]) -> bool:
    """Return whether a mapping has a key for its rows, but no row that is not blank."""
    key = find_rows_key(dataset)
    return key is not None and _are_blank(dataset[key])


def _are_blank(rows: Sequence[Any] | None) -> bool:
    """Return whether there is no row that is not blank; null stands for no rows."""
    return all(map(_is_blank_row, rows or ()))


def _require_rows(dataset: Mapping[Any, Any]) -> None:
    """Raise if a mapping holds no rows, or no objects, under the key for them.

    Raises:
        TypeError: If a row is a list, a text or a number.
        ValueError: If there are no rows.
    """
    key = find_rows_key(dataset)
    if key is None:
        return
    if _are_blank(dataset[key]):
        raise ValueError(f"the dataset is empty: {key!r} holds no rows")
    for number, row in enumerate(dataset[key], start=1):
        if isinstance(row, (list, tuple, str, Real)):
            raise TypeError(
                f"{key!r} must hold rows such as {{'query': 'why?', 'relevant': ['d1']}}, but row {number} is "
                f"{shortened(row)}"
            )


def find_only_rows(dataset: Mapping[Any, Any], name: str) -> list[Any]:
    """Return the rows of a mapping whose columns the user named: those of its only list of rows.

    Args:
        dataset: The mapping.
        name: What it is, for messages.

    Raises:
        TypeError: If a row is a list, a text or a number.
        ValueError: If it has several such lists, or none, or an empty one.
    """
    _require_rows(dataset)
    rows = _find_rows_in_mapping(dataset)
    if rows is not None:
        return rows
    rows_by_key = _find_lists_of_objects(dataset)
    if len(rows_by_key) != 1:
        if not rows_by_key:
            raise ValueError(f"columns= names the columns of rows, but {name} has none")
        raise ValueError(
            f"columns= names the columns of rows, but {name} has several lists of them, "
            f"{', '.join(map(repr, rows_by_key))}; pass one of the lists"
        )
    (rows,) = rows_by_key.values()
    return rows


def _require_judgments(dataset: Mapping[Any, Any]) -> None:
    """Raise if a mapping that should hold the judgments of queries by their texts holds a list of rows."""
    for key, rows in _find_lists_of_objects(dataset).items():
        first_row = next(row for row in rows if not _is_blank_row(row))
        if find_document_column(first_row) is not None:
            continue  # documents of the query, about which judging says more
        raise ValueError(
            f"{key!r} holds {numbers.format_count(len(rows), 'row')} with the keys {', '.join(map(repr, first_row))}, "
            f"none of which is known as the text of a question ({', '.join(QUERY_KEYS)}); name them with "
            "columns={'query': ..., 'relevant': ...}"
        )


def holds_question_rows(dataset: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a row, holds a list of rows, or several, or maps ids to rows."""
    if _find_judged_keys(_find_lists_of_objects(dataset)):
        return True
    return find_rows(dataset) is not None or _find_rows_in_mapping(dataset) is not None


def _is_judged_question(row: Any) -> bool:
    """Return whether a row holds the text of a question and its judgments."""
    return _has_question_text(row) and any(column in row for column in RELEVANT_COLUMNS)


def _has_question_text(row: Any) -> bool:
    """Return whether something is a row with the text of a question."""
    return isinstance(row, Mapping) and any(isinstance(row.get(key), str) for key in QUERY_KEYS)


def _get_mapping(dataset: Any, name: str) -> Mapping[Any, Any] | None:
    """Return the mapping under a key or an attribute of a dataset; None if it has none of that name."""
    mapping = dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)
    return mapping if isinstance(mapping, Mapping) else None


def _read_rows(
    questions_class: type[QuestionsT],
    rows: Iterable[Any],
    separator: str | None,
    *,
    is_table: bool,
    with_labels: bool = False,
    row_numbers: Sequence[int] | None = None,
    named_columns: Columns | None = None,
) -> QuestionsT:
    raw_rows = use_usual_names(rows, row_numbers)
    refuse_own_table(chain.from_iterable(row for row in raw_rows if isinstance(row, Mapping)), named_columns)
    refuse_flags(raw_rows, row_numbers)
    refuse_grades_beside_lists(raw_rows, [number for number, _row in number_rows(raw_rows, row_numbers)], named_columns)
    translated_rows = read_cells(
        list(map(translate_row, raw_rows)), separator, is_table=is_table, row_numbers=row_numbers
    )
    for (number, row), translated_row in zip(number_rows(raw_rows, row_numbers), translated_rows, strict=True):
        if isinstance(row, Mapping):
            _require_agreeing_judgments(row, number)
            _require_agreeing_document(row, translated_row, number, raw_rows)
    if is_table:
        require_valid_ids_in_rows(translated_rows, row_numbers)
    gathered = gather_judgment_rows(
        translated_rows,
        _find_id_of_row,
        QUERY_KEYS,
        row_numbers,
        has_named_grade="grade" in (named_columns or {}),
    )
    queries: dict[QueryId, str] = {}
    qrels: dict[QueryId, Judgments] = {}
    provenance_by_query: dict[QueryId, Provenance] = {}
    answers: dict[QueryId, str] = {}
    conversation: dict[QueryId, Any] = {}
    row_by_query: dict[QueryId, int] = {}
    for number, row in number_rows(gathered.rows, gathered.row_numbers):
        question = _read_row(row, number)
        query = question.query
        if query in row_by_query:
            raise ValueError(
                f"query {query!r} appears in rows {row_by_query[query]} and {number}; give each row its own "
                "'id', or merge their judgments"
            )
        row_by_query[query] = number
        queries[query] = question.text
        qrels[query] = question.relevant
        if with_labels:
            row = _with_labels(row)  # noqa: PLW2901  (the same row, with the columns of the user's own)
        provenance = _read_provenance(row, number)
        if provenance is not None:
            provenance_by_query[query] = provenance
        if isinstance(row, Mapping):
            answer = find_answer(row)
            if answer is not None:
                answers[query] = answer
            if row.get(CONVERSATION_KEY) is not None:
                conversation[query] = row[CONVERSATION_KEY]
    questions = _make_questions(questions_class, queries, qrels, provenance_by_query)
    return replace(questions, answers=answers, conversation=conversation)


def _require_agreeing_judgments(row: Mapping[str, Any], number: int) -> None:
    """Raise if two columns of a row hold different judgments, only those of one of which would count."""
    judgment_columns = [column for column in RELEVANT_COLUMNS if column in row]
    if len(judgment_columns) < 2:
        return
    present = drop_missing({column: row[column] for column in judgment_columns})
    filled = {column: value for column, value in present.items() if not _is_empty_cell(value)}
    first_column = next(iter(filled), judgment_columns[0])
    for column, judgments in filled.items():
        if judgments != filled[first_column]:
            values = f"{shortened(filled[first_column])} and {shortened(judgments)}"
            raise ValueError(
                f"row {number} has different judgments in {first_column!r} and {column!r}: {values}; name the column "
                "that counts: columns={'relevant': ...}"
            )


def _require_agreeing_document(
    row: Mapping[str, Any], translated_row: Mapping[str, Any], number: int, rows: Sequence[Any]
) -> None:
    """Raise if a row has a document beside the column of all relevant ones that is not among them.

    Only that column would count. Beside quotes and the like, the document says where they are from.

    Args:
        row: The row as it was given.
        translated_row: The row with lists where its cells hold several ids.
        number: The number of the row.
        rows: All rows as they were given, which show whether the column holds numbers that may be grades.
    """
    relevant_column = next((column for column in RELEVANT_COLUMNS if column in row), None)
    document_column = find_document_column(row)
    if relevant_column is None or document_column is None or row[relevant_column] == row[document_column]:
        return
    document_ids = _list_judged_ids(translated_row.get(document_column))
    judged_ids = _list_judged_ids(translated_row.get(relevant_column))
    if document_ids is None or judged_ids is None or set(document_ids) <= set(judged_ids):
        return
    choices = f"columns={{'relevant': {relevant_column!r}}}"
    if _holds_numbers(relevant_column, rows):
        # The document alone would be relevant in every row, also with the grade 0.
        grades = f"columns={{'document': {document_column!r}, 'grade': {relevant_column!r}}}"
        choices += f", or, if these are grades, {grades}"
    else:
        choices += f" or columns={{'document': {document_column!r}}}"
    values = f"{shortened(row[relevant_column])} and {shortened(row[document_column])}"
    raise ValueError(
        f"row {number} has different judgments in {relevant_column!r} and {document_column!r}: {values}; name the "
        f"column that counts: {choices}"
    )


def _list_judged_ids(judgments: Any) -> list[str] | None:
    """Return the ids in judgments as text; None if they hold anything else, such as quotes."""
    if judgments is None:
        return []
    if isinstance(judgments, (str, int)):
        return [str(judgments)]
    if not isinstance(judgments, (Mapping, list, tuple, set, frozenset)):
        return None
    if isinstance(judgments, Mapping) and not all(isinstance(grade, Real) for grade in judgments.values()):
        return None
    ids: list[str] = []
    for judged in judgments:
        nested_ids = _list_judged_ids(judged)
        if nested_ids is None:
            return None
        ids += nested_ids
    return ids


def _holds_numbers(column: str, rows: Iterable[Any]) -> bool:
    """Return whether all cells of a column that are not empty hold a number each."""
    numbers_in_cells = []
    for row in rows:
        judged_ids = _list_judged_ids(row.get(column)) if isinstance(row, Mapping) else None
        if judged_ids is None or len(judged_ids) > 1:
            return False
        numbers_in_cells += [judged_id for judged_id in judged_ids if judged_id.strip()]
    return bool(numbers_in_cells) and all(map(_is_number, numbers_in_cells))


def _is_number(judged_id: str) -> bool:
    """Return whether an id could be a grade."""
    try:
        return isfinite(float(judged_id))
    except ValueError:
        return False


def _make_questions(
    questions_class: type[QuestionsT],
    queries: Mapping[Any, Any],
    qrels: Mapping[Any, Any],
    provenance: Mapping[QueryId, Provenance],
) -> QuestionsT:
    """Return questions, if every query has a text and judgments."""
    if not queries:
        raise ValueError("the dataset is empty: it has no queries")
    for query, text in queries.items():
        if not isinstance(text, str):
            raise TypeError(f"the text of query {query!r} must be a str, got {text!r}")
    without_text = [query for query in qrels if query not in queries]
    if without_text:
        raise ValueError(
            f"there are judgments for {len(without_text)} queries without a text, for example {without_text[0]!r}"
        )
    without_judgments = [query for query in queries if query not in qrels]
    if without_judgments:
        raise ValueError(
            f"there are no judgments for {len(without_judgments)} of {len(queries)} queries, for example "
            f"{without_judgments[0]!r}; leave these queries out, or give an empty list if nothing is relevant"
        )
    for query, judgments in qrels.items():
        require_number_grades(judgments, f"query {query!r}")
    return questions_class(dict(queries), dict(qrels), provenance)


@dataclass(frozen=True, slots=True)
class _QuestionRow:
    """The id, the text and the judgments of a question."""

    query: QueryId
    text: str
    relevant: Judgments


def _read_row(row: Any, number: int) -> _QuestionRow:
    if isinstance(row, Mapping):
        text = _require_value(row, QUERY_KEYS, number, "query")
        relevant = _require_value(row, RELEVANT_COLUMNS, number, "relevant")
        if relevant is None:  # null in JSON, like an empty cell
            relevant = []
        if isinstance(relevant, list):  # from JSON, it can hold objects for quotes, texts and spans
            relevant = decode_judgments(read_document_objects(relevant, number), f"row {number}")
        if row.get("forbidden") is None:
            require_number_grades(relevant, f"row {number}")
        else:
            relevant = add_forbidden(relevant, row["forbidden"], f"row {number}")
        return _QuestionRow(_find_id(row, text), text, relevant)
    if isinstance(row, Sequence) and not isinstance(row, (str, bytes)) and len(row) == 2:
        return _QuestionRow(row[0], row[0], row[1])
    raise TypeError(
        f"row {number} must be a (query, relevant) pair or a {{'query': ..., 'relevant': ...}} mapping, got {row!r}"
    )


def _find_id_of_row(row: Mapping[str, Any], number: int) -> QueryId:
    return _find_id(row, _require_value(row, QUERY_KEYS, number, "query"))


def _find_id(row: Mapping[str, Any], text: str) -> QueryId:
    """Return the id of a question, which is its text where the row has none."""
    for key in ID_KEYS:
        query: Any = row.get(key)
        if isinstance(query, float):
            raise TypeError(
                f"the {key!r} of the question {text!r} is {query!r}, as pandas writes whole numbers where one is "
                "missing; fill it in, or read IDs as text: pandas.read_csv(path, dtype=str)"
            )
        if query is not None:
            return query  # type: ignore[no-any-return]  # checked where the questions are used
    return text


def find_answer(row: Mapping[str, Any]) -> str | None:
    """Return the reference answer of a row, the first of several; None if no key for answers holds a text or number."""
    answers = row.get(ANSWERS_KEY)
    if isinstance(answers, list) and answers and isinstance(answers[0], str):
        return answers[0]
    for key in ANSWER_KEYS:
        answer = row.get(key)
        if isinstance(answer, str) and answer.strip():
            return answer
        if isinstance(answer, Real) and not isinstance(answer, bool) and isfinite(answer):
            return f"{answer:.15g}"  # spreadsheets store a whole number as 12.0
    return None


def _read_provenance(row: Any, number: int) -> Provenance | None:
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


def _require_value(row: Mapping[str, Any], keys: Sequence[str], number: int, role: str) -> Any:
    """Return the value under the first of several keys that a row has; raise if it has none of them."""
    for key in keys:
        if key in row:
            return row[key]
    if role == "query" and _holds_judgment(row):
        raise ValueError(
            f"row {number} is a judgment without the text of its question, {dict(row)!r}: read_qrels reads such rows"
        )
    others = ", ".join(keys[1 : 1 + MAX_SHOWN_NAMES])
    if len(keys) > 1 + MAX_SHOWN_NAMES:
        others += ", ..."
    raise ValueError(
        f"row {number} has no {role!r} (nor {others}); it has {', '.join(map(repr, row)) or 'nothing'}; "
        f"to use one of these columns, pass columns={{{role!r}: ...}} to read_questions"
    )


def _holds_judgment(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds the id of a query and a document."""
    names = {str(name).strip().lower() for name in row}
    return not names.isdisjoint(QUERY_ID_COLUMNS) and not names.isdisjoint(DOCUMENT_COLUMNS)
