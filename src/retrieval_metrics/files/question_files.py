"""Read questions with their judgments from a table, a JSON file or a BEIR folder, one row per question or judgment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.encodings import name_file_in_errors
from retrieval_metrics.files.formats import detect_format, find_format_by_name
from retrieval_metrics.files.json_parsing import read_json_file, read_jsonl_objects
from retrieval_metrics.files.opening import STANDARD_INPUT, open_source
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.files.saved_format import is_saved
from retrieval_metrics.files.tabular_rows import read_table
from retrieval_metrics.files.text_files import read_queries
from retrieval_metrics.inputs.column_detection import RELEVANT_COLUMNS, separator_note
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS, Provenance
from retrieval_metrics.inputs.qrels import judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY, read_question_dataset, read_question_table

if TYPE_CHECKING:
    from retrieval_metrics.files.opening import Limits, Reader
    from retrieval_metrics.inputs.questions import QuestionsT

# The file of the questions in a BEIR folder.
QUERIES_FILE = "queries.jsonl"
TABLE_FORMATS = ("csv", "tsv", "parquet", "arrow")
EXCEL_EXTENSIONS = (".xlsx", ".xlsm")


def read_question_source(
    questions_class: type[QuestionsT],
    source: Any,
    *,
    separator: str | None = None,
    format: str | None = None,
    split: str = "test",
    limits: Limits | None = None,
) -> QuestionsT:
    """Read questions from a path or from anything that `read_question_dataset` reads; see `read_questions`."""
    is_path = isinstance(source, PathLike) or (isinstance(source, str) and (exists(source) or source == STANDARD_INPUT))
    if not is_path:
        return read_question_dataset(questions_class, source, separator=separator)
    path = Path(source)
    if path.is_dir():
        return _read_beir(questions_class, path, split)
    if is_saved(path):
        raise ValueError(f"{path} is a file that this package saved; read it with rm.load({str(path)!r})")
    with name_file_in_errors(str(path)):
        if format is None and path.suffix.lower() in EXCEL_EXTENSIONS:
            return read_question_table(questions_class, _read_workbook(path), separator=separator)
        with open_source(source, limits) as reader:
            return _read_file(questions_class, reader, format, separator)


def seems_to_hold_questions(path: str | PathLike[str]) -> bool:
    """Return whether a file or folder holds questions with all their judgments in a row, rather than qrels."""
    file = Path(path)
    if file.is_dir() or file.suffix.lower() in EXCEL_EXTENSIONS:
        return True
    if not file.is_file() or find_format_by_name(file) not in TABLE_FORMATS:
        return False
    with open_source(file) as reader, name_file_in_errors(reader.name):
        format_name = find_format_by_name(reader.file_name)
        if format_name in {"parquet", "arrow"}:
            names = read_table(reader, format_name).names
        else:
            separator = "\t" if format_name == "tsv" else ","
            first_line = reader.beginning().split(b"\n", 1)[0].decode(errors="replace")
            names = first_line.split(separator)
    return any(name.strip().strip('"').lower() in RELEVANT_COLUMNS for name in names)


def _read_file(
    questions_class: type[QuestionsT], reader: Reader, format: str | None, separator: str | None
) -> QuestionsT:
    detected = find_format_by_name(reader.file_name) if format is None else None
    if detected is None or detected == "trec":
        detected = detect_format(reader, format)
    if detected == "json":
        content = read_json_file(reader)
        return read_question_dataset(questions_class, content, separator=separator, is_file=True)
    if detected == "jsonl":
        rows = [row for _number, _line, row in read_jsonl_objects(reader)]
        return read_question_dataset(questions_class, rows, separator=separator, is_file=True)
    if detected not in TABLE_FORMATS:
        raise ValueError(
            f"{reader.name} is read as {detected}, which holds no texts of questions; read its judgments with "
            "read_qrels and the texts with read_queries: EvaluationSet(queries, qrels.as_dict())"
        )
    table = read_table(reader, detected)
    if len(table.names) == 1:
        raise ValueError(f"{reader.name} has only the column {table.names[0]!r}{separator_note(table.names)}")
    return read_question_table(questions_class, table.frame.collect().to_dicts(), separator=separator)


def _read_workbook(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the only sheet of an Excel workbook that is not empty."""
    openpyxl = import_optional("openpyxl", "reading an Excel workbook (or save it as CSV UTF-8, which needs nothing)")
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows_by_sheet: dict[str, list[tuple[Any, ...]]] = {}
        for sheet in workbook.worksheets:
            rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            if rows:
                rows_by_sheet[sheet.title] = rows
    finally:
        workbook.close()
    if len(rows_by_sheet) != 1:
        _refuse_sheets(list(rows_by_sheet))
    ((names, *rows),) = rows_by_sheet.values()
    columns = [None if name is None else str(name).strip() for name in names]
    table = []
    for row in rows:
        values = {name: value for name, value in zip(columns, row, strict=False) if name is not None}
        table.append(values)
    return table


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
            raise ValueError(f"{folder} is not a BEIR folder: there are no judgments in qrels/*.tsv")
        raise ValueError(f"{folder} has no qrels/{split}.tsv; it has the splits {', '.join(splits)}")
    texts: Mapping[Any, str] = read_queries(folder / QUERIES_FILE)
    qrels = read_qrels(qrels_path)
    without_text = [query for query in qrels.queries if query not in texts]
    if without_text:
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
        if "answer" in metadata:
            answers[query] = metadata["answer"]
        if CONVERSATION_KEY in metadata:
            conversation[query] = metadata[CONVERSATION_KEY]
    return questions_class(
        {query: texts[query] for query in judgments},
        judgments,
        provenance,
        answers=answers,
        conversation=conversation,
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
