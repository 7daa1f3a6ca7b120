"""Write results as text, JSON, CSV or Markdown, to a terminal or a file."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import textwrap
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from math import isnan
from numbers import Number
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.atomic_write import STANDARD_OUTPUT, save_text
from retrieval_metrics.reports.display_text import escaped, format_one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

    from retrieval_metrics.reports.tables import Table

# The width to which sentences are wrapped if there is no terminal.
WIDTH = 120


# The keys of the data of a result that hold sentences.
SENTENCE_KEYS = {"notes", "skipped", "summary"}


# What a spreadsheet takes for the beginning of a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class CommandOutput(NamedTuple):
    """A result, in the forms from which all formats are made.

    Attributes:
        tables: The tables for people.
        data: The data for programs, which `plain` converts for JSON.
        records: The rows for spreadsheets; NaN becomes an empty cell.
        columns: The columns, if they are not the keys of the first record.
        lines: The lines that trec_eval prints; empty for results that it does not have.
    """

    tables: Sequence[Table]
    data: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    columns: Sequence[str] = ()
    lines: str = ""


def prints_text(arguments: argparse.Namespace) -> bool:
    """Return whether the output is text on stdout."""
    return arguments.output is None and arguments.format in {None, "text"}


def finish(result: CommandOutput, arguments: argparse.Namespace, failures: Sequence[str] = ()) -> bool:
    """Write a result, and report the reasons why the command fails, as its last step.

    Returns:
        Whether the command succeeds, which it does if there are no such reasons.
    """
    from retrieval_metrics.cli.option_names import translate

    _write(_with_option_names(result, arguments), arguments.format, arguments.output)
    for failure in failures:
        _report_failure(translate(failure, arguments))
    return not failures


def _with_option_names(result: CommandOutput, arguments: argparse.Namespace) -> CommandOutput:
    """Return a result whose sentences name the options of the command."""
    from retrieval_metrics.cli.option_names import translate

    tables = []
    for table in result.tables:
        notes = [translate(note, arguments) for note in table.notes]
        tables.append(table._replace(notes=notes, title=translate(table.title, arguments)))
    data = dict(result.data)
    for name in SENTENCE_KEYS & data.keys():
        data[name] = [translate(sentence, arguments) for sentence in data[name]]
    return result._replace(tables=tables, data=data)


def _write(result: CommandOutput, format_name: str | None, path: str | None) -> None:
    """Write a result in a format, or in that of the file's extension, to a file or to stdout."""
    if format_name is None:
        format_name = "text" if path is None else EXTENSIONS.get(Path(path).suffix.lower(), "text")
    to_terminal = path in {None, STANDARD_OUTPUT} and sys.stdout.isatty()
    if format_name == "text" and to_terminal and find_spec("rich") is not None:
        _print_tables(result.tables)
        return
    text = FORMATS[format_name](result) + "\n"
    if path is not None and path != STANDARD_OUTPUT:
        save_text(path, text)
        return
    with for_reader(sys.stdout):
        sys.stdout.write(escaped(text) if to_terminal else text)


@contextmanager
def for_reader(stream: Any) -> Iterator[None]:
    """Flush stdout or stderr after a block that writes to it; ignore a reader that stops early, as `head` does."""
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        discard(stream)


def say(text: str) -> None:
    """Write a line of this program to stderr."""
    with for_reader(sys.stderr):
        sys.stderr.write(f"retrieval-metrics: {format_one_line(text)}\n")


def discard(stream: Any) -> None:
    """Discard what was not yet written to a stream, because Python would try again when it exits."""
    with suppress(OSError, ValueError):  # tests replace stdout by something that is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def page(result: CommandOutput) -> str:
    """Return a result as one page of HTML."""
    head = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Retrieval metrics</title></head><body>'
    return "\n".join([head, *(table.html() for table in result.tables), "</body></html>"])


def _format_text(result: CommandOutput) -> str:
    return "\n\n".join(table._replace(notes=_wrap_notes(table.notes)).text() for table in result.tables)


def _wrap_notes(notes: Iterable[str]) -> list[str]:
    """Return sentences wrapped to lines, with continuation lines indented."""
    lines: list[str] = []
    for note in notes:
        indent = note[: len(note) - len(note.lstrip())] + "  "
        lines += textwrap.wrap(note, WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [note]
    return lines


def _format_csv(result: CommandOutput) -> str:
    file = io.StringIO()
    rows = ([_guard_formula(cell) for cell in row] for row in _csv_rows(result))
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().removesuffix("\n")


def _format_raw_csv(result: CommandOutput) -> str:
    """Return CSV with ids as they are, for programs."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(_csv_rows(result))
    return file.getvalue().removesuffix("\n")


def _guard_formula(cell: Any) -> Any:
    """Return a text that a spreadsheet would run as a formula with an apostrophe in front, which makes it text."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell


def _csv_rows(result: CommandOutput) -> Iterator[list[Any]]:
    columns = result.columns or list(next(iter(result.records), ()))
    yield list(columns)
    for record in result.records:
        yield [_csv_cell(record[column]) for column in columns]


def _csv_cell(value: Any) -> Any:
    return "" if value is None or _is_nan(value) else value


def fields(record: object, *names: str) -> dict[str, Any]:
    """Return attributes of a record by name, for the data or the records of a result."""
    return {name: getattr(record, name) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: an interval is a list, NaN is null, and a metric or a quote is its text."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (str, Number, NoneType)):
        return None if _is_nan(value) else value
    return str(value)


def _format_json(result: CommandOutput) -> str:
    return json.dumps(plain(result.data), ensure_ascii=False, indent=1, allow_nan=False)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def _format_markdown(result: CommandOutput) -> str:
    return "\n\n".join(table.markdown() for table in result.tables)


# The formats of results, each with the function that formats a result.
FORMATS: Mapping[str, Callable[[CommandOutput], str]] = {
    "text": _format_text,
    "json": _format_json,
    "csv": _format_csv,
    "raw_csv": _format_raw_csv,
    "markdown": _format_markdown,
    "trec_eval": lambda result: result.lines,
}
# The format of a file by its extension; with any other extension it is text.
EXTENSIONS = {".csv": "csv", ".json": "json", ".md": "markdown"}


def _report_failure(text: str) -> None:
    """Report a failure on stderr, in red on a terminal."""
    text = escaped(f"FAILED: {text}")
    with for_reader(sys.stderr):
        if sys.stderr.isatty() and find_spec("rich") is not None:
            _make_console(stderr=True).print(text, style="bold red", markup=False, highlight=False)
        else:
            sys.stderr.write(f"{text}\n")


def _make_console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    # With NO_COLOR, rich would still write bold and dim.
    colours = None if os.environ.get("NO_COLOR") else "auto"
    return Console(stderr=stderr, highlight=False, color_system=colours)  # type: ignore[arg-type]  # a literal of its own


def _print_tables(tables: Sequence[Table]) -> None:
    from rich.text import Text

    console = _make_console()
    for number, table in enumerate(tables):
        if number > 0:
            console.print()
        lines = table._replace(notes=(), title="").text().splitlines() if table.header else []
        if table.title:
            console.print(Text(escaped(table.title), style="bold"))
        if max(map(len, lines), default=0) > console.width:
            console.print(table._replace(notes=(), title="").rich())  # folds cells, and rows stay rows
        elif lines:
            console.print(Text(lines[0], style="bold"))
            for line in lines[1:]:
                name, gap, values = line.partition("  ")
                console.print(Text.assemble((name, "cyan"), gap, values))
        for note in table.notes:
            console.print(Text(escaped(note), style="dim"))
