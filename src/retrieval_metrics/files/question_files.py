"""Read questions with their judgments from a table, a JSON file or a BEIR folder, one row per question or judgment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from zipfile import BadZipFile

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.files.encodings import name_file_in_errors
from retrieval_metrics.files.formats import detect_format, find_format_by_name
from retrieval_metrics.files.headers import POSITIONS_OF_QUESTIONS
from retrieval_metrics.files.json_parsing import read_json_file, read_jsonl_objects
from retrieval_metrics.files.judgment_paths import is_path
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.files.saved_format import START_PATTERN, is_saved
from retrieval_metrics.files.tabular_rows import read_table
from retrieval_metrics.files.text_files import read_corpus, read_queries
from retrieval_metrics.inputs.column_detection import (
    DOCUMENT_COLUMNS,
    QUERY_COLUMNS,
    RELEVANT_COLUMNS,
    separator_note,
)
from retrieval_metrics.inputs.foreign_datasets import GOLDEN_KEYS, REFERENCE_TEXTS_KEY
from retrieval_metrics.inputs.input_hints import is_open_file
from retrieval_metrics.inputs.judgment_cells import refuse_separator
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS, Provenance
from retrieval_metrics.inputs.qrels import judgments_by_query
from retrieval_metrics.inputs.question_columns import (
    FILE_COLUMNS,
    QUERY_KEYS,
    SOURCE_COLUMNS,
    require_single_columns,
    use_named_columns,
)
from retrieval_metrics.inputs.question_rows import (
    CONVERSATION_KEY,
    ROWS_KEYS,
    find_answer,
    find_only_rows,
    holds_only_blank_rows,
    holds_question_rows,
    read_question_dataset,
    read_question_table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from os import PathLike

    from retrieval_metrics.files.opening import Limits, Reader
    from retrieval_metrics.inputs.column_detection import Columns
    from retrieval_metrics.inputs.questions import QuestionsT

# The file of the questions in a BEIR folder.
QUERIES_FILE = "queries.jsonl"
# The file of its documents, which are read if they are so few that a ranking could hold them all.
CORPUS_FILE = "corpus.jsonl"
MAX_CORPUS_BYTES = 1_000_000
# The keys of a dataset of LlamaIndex in JSON.
DATASET_KEYS = frozenset({"queries", "relevant_docs"})
# The columns of TREC judgments, and the usual values of the second.
N_TREC_COLUMNS = 4
TREC_ITERATIONS = (b"0", b"Q0")
# The columns of the judgments of a question.
JUDGMENT_KEYS = frozenset([*RELEVANT_COLUMNS, *SOURCE_COLUMNS, REFERENCE_TEXTS_KEY])
# The keys of which one stands in every JSON object with questions.
KEYS_OF_QUESTIONS = (*QUERY_KEYS, "queries", "examples", "paragraphs")
# How messages about rows begin, and how the one about two rows names them.
_ROW_AT_START = lazy_pattern(r"^row (?=\d)")
_TWO_ROWS = lazy_pattern(r" appears in rows (\d+ and \d+); give each row")
TABLE_FORMATS = ("csv", "tsv", "parquet", "arrow")
EXCEL_EXTENSIONS = (".xlsx", ".xlsm")


def read_question_source(
    questions_class: type[QuestionsT],
    source: Any,
    *,
    separator: str | None = None,
    columns: Columns | None = None,
    header: bool = True,
    format: str | None = None,
    split: str = "test",
    limits: Limits | None = None,
) -> QuestionsT:
    """Read questions from a path or from anything that `read_question_dataset` reads; see `read_questions`."""
    if is_open_file(source):
        return _read_open_file(questions_class, source, format, _Layout(separator, columns, has_header=header), limits)
    if not is_path(source):
        if not header:
            raise ValueError("header=False is for CSV, TSV and Excel files; leave it out")
        return read_question_dataset(questions_class, source, separator=separator, columns=columns)
    path = Path(source)
    if path.is_dir():
        refuse_separator(separator)
        if columns or not header:
            raise ValueError(f"{path} is a BEIR folder, whose columns have fixed names; leave columns= and header= out")
        return _read_beir(questions_class, path, split)
    if is_saved(path):
        raise ValueError(f"{path} is a file that this package saved; read it with rm.load({str(path)!r})")
    layout = _Layout(separator, columns, has_header=header)
    _require_positions(layout, str(path))
    with name_file_in_errors(str(path)):
        if format is None and path.suffix.lower() in EXCEL_EXTENSIONS:
            rows, row_numbers = _read_workbook(path, layout, str(path))
            return _read_rows_of_table(questions_class, rows, row_numbers, layout, str(path))
        with open_source(source, limits) as reader:
            return _read_file(questions_class, reader, format, layout)


def _read_open_file(
    questions_class: type[QuestionsT], file: Any, format: str | None, layout: _Layout, limits: Limits | None
) -> QuestionsT:
    """Read an open file, of text or of bytes, as that of a path; its name can show the format."""
    name = str(getattr(file, "name", ""))
    if format is None and Path(name).suffix.lower() in EXCEL_EXTENSIONS:
        # A workbook is not a text, in whatever mode it is opened.
        content = getattr(file, "buffer", file)
        _require_positions(layout, name)
        with name_file_in_errors(name):
            rows, row_numbers = _read_workbook(content, layout, name)
            return _read_rows_of_table(questions_class, rows, row_numbers, layout, name)
    with open_source(file, limits) as reader, name_file_in_errors(reader.name):
        if START_PATTERN.match(reader.beginning()) is not None:
            raise ValueError(f"{reader.name} holds what this package saved; read it with rm.load(path)")
        _require_positions(layout, reader.name)
        return _read_file(questions_class, reader, format, layout)


def _require_positions(layout: _Layout, name: str) -> None:
    if not layout.has_header and not layout.columns:
        raise ValueError(f"header=False needs the positions of the columns of {name}, such as {POSITIONS_OF_QUESTIONS}")


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the user said of the columns and cells of a file.

    Attributes:
        separator: What stands between the ids of a cell; None if the cells show it.
        columns: The columns by role; None if they have their usual names.
        has_header: Whether the first line holds names.
    """

    separator: str | None
    columns: Columns | None
    has_header: bool


def seems_to_hold_questions(path: str | PathLike[str]) -> bool:
    """Return whether a file or folder holds questions with all their judgments in a row, rather than qrels."""
    file = Path(path)
    if file.is_dir() or file.suffix.lower() in EXCEL_EXTENSIONS:
        return True
    if not file.is_file():
        return False
    format_of_name = find_format_by_name(file)
    if format_of_name in {"json", "jsonl"}:
        return _holds_question_objects(file, format_of_name)
    if format_of_name not in TABLE_FORMATS:
        return False
    with open_source(file) as reader, name_file_in_errors(reader.name):
        format_name = find_format_by_name(reader.file_name)
        if format_name in {"parquet", "arrow"}:
            names = read_table(reader, format_name).names
        else:
            separator = "\t" if format_name == "tsv" else ","
            first_line = reader.beginning().split(b"\n", 1)[0].decode(errors="replace")
            names = first_line.split(separator)
    return _are_keys_of_questions({name.strip().strip('"').lower() for name in names})


def _are_keys_of_questions(keys: AbstractSet[str]) -> bool:
    """Return whether columns are those of questions with judgments, rather than those of qrels."""
    if not keys.isdisjoint(JUDGMENT_KEYS) or keys >= GOLDEN_KEYS:
        return True
    has_documents = not keys.isdisjoint([*DOCUMENT_COLUMNS, *FILE_COLUMNS])
    return has_documents and keys.isdisjoint(QUERY_COLUMNS) and not keys.isdisjoint(QUERY_KEYS)


def _holds_question_objects(file: Path, format_name: str) -> bool:
    """Return whether a JSON file begins with a question, or is a dataset of another tool."""
    with open_source(file) as reader:
        start = reader.beginning().decode(errors="replace").lstrip()
        if format_name == "json" and start.startswith("{"):
            keys = (*KEYS_OF_QUESTIONS, *ROWS_KEYS)
            start = start.lower()
            return any(f'"{key}"' in start for key in keys) and _is_dataset(reader)
    first_object = _read_first_object(start.removeprefix("[").lstrip())
    has_text = any(isinstance(first_object.get(key), str) for key in QUERY_KEYS)
    return has_text and _are_keys_of_questions(first_object.keys())


def _is_dataset(reader: Reader) -> bool:
    try:
        content = read_json_file(reader)
    except ValueError:  # not JSON: the reader of judgments raises the error
        return False
    if not isinstance(content, dict):
        return False
    return content.keys() >= DATASET_KEYS or holds_only_blank_rows(content) or holds_question_rows(content)


def _read_first_object(text: str) -> Mapping[str, Any]:
    """Return the first object of a JSON text; an empty one if it is longer than the text, or there is none."""
    try:
        first_object, _end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return first_object if isinstance(first_object, dict) else {}


def _read_file(questions_class: type[QuestionsT], reader: Reader, format: str | None, layout: _Layout) -> QuestionsT:
    detected = None
    if format is None:
        detected = find_format_by_name(reader.file_name) or _find_format_by_header(reader)
    if detected is None or detected == "trec":
        detected = detect_format(reader, format)
    if detected == "tsv" and format is None and _holds_trec_judgments(reader):
        detected = "trec"
    if detected in {"json", "jsonl"}:
        if not layout.has_header:
            raise ValueError(f"{reader.name} is read as {detected}, which has no header; leave header=False out")
        if detected == "jsonl":
            return _read_lines_of_objects(questions_class, reader, layout)
        content: Any = read_json_file(reader)
        if layout.columns and isinstance(content, list):
            content = use_named_columns(content, layout.columns, reader.name)
        elif layout.columns:
            content = use_named_columns(find_only_rows(content, "the JSON object"), layout.columns, reader.name)
        return read_question_dataset(
            questions_class, content, separator=layout.separator, is_file=True, named_columns=layout.columns
        )
    if detected not in TABLE_FORMATS:
        if not reader.beginning().strip():
            raise ValueError(f"{reader.name} is empty")
        raise ValueError(
            f"{reader.name} is read as {detected}, which holds no texts of questions; read its judgments with "
            "read_qrels and the texts with read_queries: EvaluationSet(queries, qrels.as_dict())"
        )
    table = read_table(
        reader,
        detected,
        layout.columns,
        header=layout.has_header,
        example=POSITIONS_OF_QUESTIONS,
        blank_rows=True,  # people leave them between groups of questions, and spreadsheets at the end
    )
    if len(table.names) == 1:
        raise ValueError(f"{reader.name} has only the column {table.names[0]!r}{separator_note(table.names)}")
    require_single_columns(table.names, layout.columns, reader.name)
    rows = table.frame.collect().to_dicts()
    return _read_rows_of_table(questions_class, rows, table.row_numbers, layout, reader.name)


def _read_lines_of_objects(questions_class: type[QuestionsT], reader: Reader, layout: _Layout) -> QuestionsT:
    """Read a JSONL file, about whose rows messages name the lines, because blank lines can stand between them."""
    rows: list[dict[str, Any]] = []
    line_numbers: list[int] = []
    for number, _line, row in read_jsonl_objects(reader):
        rows.append(row)
        line_numbers.append(number)
    if layout.columns:
        rows = use_named_columns(rows, layout.columns, reader.name)
    try:
        return read_question_dataset(
            questions_class,
            rows,
            separator=layout.separator,
            is_file=True,
            row_numbers=line_numbers,
            named_columns=layout.columns,
        )
    except (TypeError, ValueError) as error:
        message = _ROW_AT_START.sub("line ", str(error))
        message = _TWO_ROWS.sub(r" appears in lines \1; give each line", message)
        raise type(error)(message) from error


def _find_format_by_header(reader: Reader) -> str | None:
    """Return the format of a table whose first line names a column of questions; None if it does not."""
    first_line = reader.beginning().split(b"\n", 1)[0].decode(errors="replace")
    for format_name, separator in (("csv", ","), ("tsv", "\t")):
        names = {name.strip().strip('"').lower() for name in first_line.split(separator)}
        if len(names) > 1 and not names.isdisjoint(QUERY_KEYS):
            return format_name
    return None


def _holds_trec_judgments(reader: Reader) -> bool:
    """Return whether a file with tabs begins with a line of TREC judgments, `query 0 document grade`."""
    fields = reader.beginning().split(b"\n", 1)[0].split(b"\t")
    return len(fields) == N_TREC_COLUMNS and fields[1] in TREC_ITERATIONS


def _read_rows_of_table(
    questions_class: type[QuestionsT],
    rows: list[dict[str, Any]],
    row_numbers: Sequence[int] | None,
    layout: _Layout,
    name: str,
) -> QuestionsT:
    if layout.columns:
        rows = use_named_columns(rows, layout.columns, name)
    return read_question_table(
        questions_class,
        rows,
        separator=layout.separator,
        row_numbers=row_numbers,
        named_columns=layout.columns,
    )


class _SheetRow(NamedTuple):
    """The cells of a row of a sheet, and its number there."""

    number: int
    cells: tuple[Any, ...]


def _read_workbook(file: Any, layout: _Layout, name: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the rows of the only sheet of an Excel workbook that is not empty, and their numbers in the sheet.

    Args:
        file: Its path, or the open file.
        layout: What the user said of its columns.
        name: Its name, for messages.
    """
    openpyxl = import_optional("openpyxl", "reading an Excel workbook (or save it as CSV UTF-8, which needs nothing)")
    try:
        workbook = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (BadZipFile, KeyError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise ValueError(
            f"{name} cannot be read as an Excel workbook ({error}); save it again as .xlsx or as CSV UTF-8, or name "
            "its format, as in format='csv'"
        ) from error
    try:
        rows_by_sheet: dict[str, list[_SheetRow]] = {}
        for sheet in workbook.worksheets:
            rows = []
            for number, cells in enumerate(sheet.iter_rows(min_row=1, values_only=True), start=1):
                if any(cell is not None for cell in cells):
                    rows.append(_SheetRow(number, cells))
            if rows:
                rows_by_sheet[sheet.title] = rows
    finally:
        workbook.close()
    if len(rows_by_sheet) != 1:
        _refuse_sheets(list(rows_by_sheet))
    (rows,) = rows_by_sheet.values()
    if layout.has_header:
        names, *rows = rows
        columns = [None if name is None else str(name).strip() for name in names.cells]
        require_single_columns(columns, layout.columns, name)
    else:
        columns = [str(position) for position in range(1, len(rows[0].cells) + 1)]
    table = []
    for row in rows:
        values = {name: value for name, value in zip(columns, row.cells, strict=False) if name is not None}
        table.append(values)
    return table, [row.number for row in rows]


def _refuse_sheets(sheets: list[str]) -> NoReturn:
    if not sheets:
        raise ValueError("the workbook is empty")
    raise ValueError(
        f"the workbook has the sheets {', '.join(map(repr, sheets))}; save the one with the questions as CSV UTF-8"
    )


def _read_beir(questions_class: type[QuestionsT], folder: Path, split: str) -> QuestionsT:
    """Read a BEIR folder: the queries that a split judges, and its judgments."""
    qrels_path = folder / "qrels" / f"{split}.tsv"
    if not qrels_path.is_file():
        splits = sorted(path.stem for path in folder.glob("qrels/*.tsv"))
        if not splits:
            raise ValueError(f"{str(folder)!r} is not a BEIR folder: there are no judgments in qrels/*.tsv")
        raise ValueError(f"{folder} has no qrels/{split}.tsv; it has the splits {', '.join(splits)}")
    texts: Mapping[Any, str] = read_queries(folder / QUERIES_FILE)
    qrels = read_qrels(qrels_path)
    without_text = [query for query in qrels.queries if query not in texts]
    if without_text:
        if len(without_text) == 1:
            raise ValueError(f"the judged query {without_text[0]!r} has no text in {folder / QUERIES_FILE}")
        raise ValueError(
            f"{len(without_text)} judged queries have no text in {folder / QUERIES_FILE}, for example "
            f"{without_text[0]!r}"
        )
    judgments = judgments_by_query(qrels)
    provenance: dict[Any, Provenance] = {}
    answers: dict[Any, Any] = {}
    conversation: dict[Any, Any] = {}
    for query, metadata in _read_metadata(folder / QUERIES_FILE).items():
        if query not in judgments:
            continue
        provenance_fields = {name: metadata[name] for name in PROVENANCE_FIELDS if metadata.get(name) is not None}
        if provenance_fields:
            provenance[query] = Provenance(**provenance_fields)
        answer = find_answer(metadata)
        if answer is not None:
            answers[query] = answer
        if CONVERSATION_KEY in metadata:
            conversation[query] = metadata[CONVERSATION_KEY]
    corpus: Mapping[Any, str] = {}
    corpus_path = folder / CORPUS_FILE
    if corpus_path.is_file() and 0 < corpus_path.stat().st_size <= MAX_CORPUS_BYTES:
        corpus = read_corpus(corpus_path)
    return questions_class(
        {query: texts[query] for query in judgments},
        judgments,
        provenance,
        answers=answers,
        conversation=conversation,
        corpus=corpus,
    )


def _read_metadata(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of the queries that have some."""
    metadata_by_query: dict[str, Mapping[str, Any]] = {}
    with path.open(encoding="utf-8-sig") as file:
        for line in file:
            if not line.strip():
                continue
            row = json.loads(line)
            metadata = row.get("metadata")
            if isinstance(metadata, Mapping):
                metadata_by_query[str(row["_id"])] = metadata
    return metadata_by_query
