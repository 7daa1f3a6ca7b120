"""Read the ratings that Quepid exports: basic CSV, TREC, the CSV of a book with a column per judge, and its JSON."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.exported_labels import ANONYMOUS, AnswerCollector, GivenAnswer, name_export_in_errors
from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.json_parsing import parse_json
from retrieval_metrics.files.opening import open_source

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.datasets.exported_labels import ExportedLabels

QUERY_COLUMNS = ("query", "Query Text")
DOCUMENT_COLUMNS = ("docid", "doc_id", "Doc ID")
RATING_COLUMNS = ("rating", "Rating")
# Quepid writes a blank before these, so that a spreadsheet takes no query for a formula.
FORMULA_STARTS = (" -", " =", " +", " @")
# The numbers of values in a line of TREC judgments, and in one without its rating.
TREC_WIDTH = 4
UNRATED_TREC_WIDTH = 3
# What every TREC line has as its second value.
TREC_ITERATION = "0"


def read_quepid(path: str | PathLike[str], grader: str, relevant_from: float | None) -> ExportedLabels:
    """Read an export of Quepid; see `Labels.from_quepid`."""
    collector = AnswerCollector()
    with name_export_in_errors(path):
        with open_source(path) as reader:
            text = reader.read_text().decode()
        if text.lstrip().startswith("{"):
            _read_book(parse_json(text, str, ()), collector)
        elif _is_table(text):
            _read_table(text, str(path), grader, collector)
        else:
            _read_trec(text, str(path), grader, collector)
        return collector.as_labels(None, relevant_from)


def _is_table(text: str) -> bool:
    header = _read_header(text.lstrip().split("\n", 1)[0])
    return any(name in header for name in QUERY_COLUMNS)


def _read_header(line: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line]), [])]


def _read_table(text: str, name: str, grader: str, collector: AnswerCollector) -> None:
    """Read CSV with a column `rating`, or with one per judge behind `query` and `docid`."""
    reader = csv.reader(StringIO(text, newline=""))
    header = _read_header(",".join(next(reader)))
    query_column = _find_column(header, QUERY_COLUMNS)
    document_column = _find_column(header, DOCUMENT_COLUMNS)
    rating_columns = [column for column, title in enumerate(header) if title in RATING_COLUMNS]
    if rating_columns:
        grader_by_column = {rating_columns[0]: grader}
    else:
        judge_columns = [column for column in range(len(header)) if column not in {query_column, document_column}]
        grader_by_column = _name_judges(header, judge_columns)
    for line_values in reader:
        if not any(line_values):
            continue
        where = format_line_location(name, reader.line_num, ",".join(line_values))
        if len(line_values) > len(header):
            raise ValueError(f"{where}: {len(line_values)} columns where the header has {len(header)}")
        values = line_values + [""] * (len(header) - len(line_values))
        query = _restore_query(values[query_column])
        document = values[document_column].strip() or None
        collector.add_document(query, document)
        for column, judge in grader_by_column.items():
            rating = values[column].strip()
            if rating and document is not None:
                collector.add_answer(GivenAnswer(query, document, _read_rating(rating, where), judge))


def _find_column(header: list[str], names: tuple[str, ...]) -> int:
    for name in names:
        if name in header:
            return header.index(name)
    raise ValueError(
        f"no column named {' or '.join(names)}; it has {', '.join(map(repr, header))}. Export the ratings of a case "
        "as Basic or TREC, or the judgements of a book"
    )


def _name_judges(header: list[str], columns: list[int]) -> dict[int, str]:
    """Return the judge of each column; of several with one name, the later have a number."""
    counts: Counter[str] = Counter()
    judge_by_column = {}
    for column in columns:
        name = header[column] or ANONYMOUS
        counts[name] += 1
        judge_by_column[column] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return judge_by_column


def _restore_query(text: str) -> str:
    if text.startswith(FORMULA_STARTS):
        return text[1:]
    return text


def _read_rating(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{where}: the rating {text!r} is not a number") from None


def _read_trec(text: str, name: str, grader: str, collector: AnswerCollector) -> None:
    """Read TREC judgments, whose queries have the numbers of Quepid instead of texts."""
    for number, line in enumerate(text.splitlines(), start=1):
        values = line.split()
        if not values:
            continue
        where = format_line_location(name, number, line)
        is_trec = len(values) in {TREC_WIDTH, UNRATED_TREC_WIDTH} and values[1] == TREC_ITERATION
        if not is_trec:
            raise ValueError(
                f"{where}: neither CSV with the columns query and docid, nor a TREC line (query 0 document rating), "
                "nor the JSON of a book"
            )
        query = values[0]
        document = values[2]
        collector.add_document(query, document)
        if len(values) == TREC_WIDTH:
            collector.add_answer(GivenAnswer(query, document, _read_rating(values[3], where), grader))


def _read_book(book: Any, collector: AnswerCollector) -> None:
    """Read the JSON of a book, which also says what could not be rated, and why a rating was given."""
    pairs = book.get("query_doc_pairs")
    if not isinstance(pairs, list):
        raise ValueError(f"no 'query_doc_pairs', which the JSON of a book has; it has {', '.join(map(repr, book))}")
    for pair in pairs:
        query = pair["query_text"]
        document = pair["doc_id"]
        collector.add_document(query, document)
        for judgement in pair.get("judgements") or ():
            rating = judgement.get("rating")
            is_unrateable = bool(judgement.get("unrateable"))
            if rating is None and not is_unrateable:  # left for later
                continue
            reason = judgement.get("explanation") or None
            choice = None if is_unrateable else rating
            judge = judgement.get("user_email") or ANONYMOUS
            collector.add_answer(GivenAnswer(query, document, choice, judge, reason=reason))
