"""Results as text, JSON, CSV, Markdown and HTML, for a terminal or a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from importlib.util import find_spec
from math import isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.presentation import tables

if TYPE_CHECKING:
    from pathlib import Path

    from retrieval_metrics.evaluation.evaluation import Evaluation


def write(result: Evaluation, kind: str, path: Path | None, *, per_query: bool) -> None:
    """Write a result in a format, to a file or to stdout."""
    if kind == "text" and path is None and sys.stdout.isatty() and find_spec("rich") is not None:
        _print_in_colour(result, per_query=per_query)
        return
    text = FORMATS[kind](result, per_query) + "\n"
    if path is None:
        sys.stdout.write(text)
    else:
        path.write_text(text, encoding="utf-8")


def complain(text: str) -> None:
    """Report a failure on stderr, in red on a terminal."""
    sys.stdout.flush()
    if sys.stderr.isatty() and find_spec("rich") is not None:
        from rich.console import Console  # noqa: PLC0415  (an extra: imported where it is used)

        Console(stderr=True).print(f"FAILED: {text}", style="bold red", markup=False, highlight=False)
    else:
        sys.stderr.write(f"FAILED: {text}\n")


def _text(result: Evaluation, per_query: bool) -> str:  # noqa: FBT001  (one of FORMATS)
    return f"{tables.text(*_query_table(result))}\n\n{result}" if per_query else str(result)


def _markdown(result: Evaluation, per_query: bool) -> str:  # noqa: FBT001  (as above)
    means = result.to_markdown()
    return f"{means}\n\n{tables.markdown(*_query_table(result))}" if per_query else means


def _html(result: Evaluation, per_query: bool) -> str:  # noqa: FBT001  (as above)
    parts = [result._repr_html_()]
    if per_query:
        parts.append(tables.html(*_query_table(result)))
    return page(*parts)


def page(*parts: str) -> str:
    """Return parts of HTML as one page."""
    head = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Retrieval metrics</title></head><body>'
    return "\n".join([head, *parts, "</body></html>"])


def _csv(result: Evaluation, per_query: bool) -> str:  # noqa: FBT001  (as above)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    if per_query:
        writer.writerow(["query", *map(str, result.metrics)])
        values = result.values.tolist()
        writer.writerows([query, *map(_or_empty, row)] for query, row in zip(result.queries, values, strict=True))
    else:
        writer.writerow(["metric", "mean", "n"])
        writer.writerows([name, _or_empty(mean), result.n[name]] for name, mean in result.means.items())
    return file.getvalue().removesuffix("\n")


def _json(result: Evaluation, per_query: bool) -> str:  # noqa: FBT001  (as above)
    content: dict[str, Any] = {
        "semantics": result.rules.name,
        "metrics": {name: {"mean": _or_null(mean), "n": result.n[name]} for name, mean in result.means.items()},
        "counts": dict(result.counts),
    }
    if per_query:
        content["per_query"] = {
            name: {str(query): _or_null(value) for query, value in values.items()}
            for name, values in result.per_query.items()
        }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


FORMATS = {"text": _text, "json": _json, "csv": _csv, "markdown": _markdown, "html": _html}


def _query_table(result: Evaluation) -> tuple[list[str], list[list[str]]]:
    rows = [
        [str(query), *("-" if isnan(value) else f"{value:.4f}" for value in row)]
        for query, row in zip(result.queries, result.values.tolist(), strict=True)
    ]
    return ["query", *map(str, result.metrics)], rows


def _or_null(value: float) -> float | None:
    return None if isnan(value) else value


def _or_empty(value: float) -> float | str:
    return "" if isnan(value) else value


def _print_in_colour(result: Evaluation, *, per_query: bool) -> None:
    from rich.console import Console  # noqa: PLC0415  (an extra: imported where it is used)
    from rich.text import Text  # noqa: PLC0415  (as above)

    console = Console(highlight=False)
    if per_query:
        header, *lines = tables.text(*_query_table(result)).splitlines()
        console.print(Text(header, style="bold"), *map(Text, lines), "", sep="\n")
    header, *lines = str(result).splitlines()
    console.print(Text(header, style="bold"))
    for number, line in enumerate(lines):
        is_note = number >= len(result.metrics)
        name, gap, rest = line.partition("  ")
        console.print(Text(line, style="dim") if is_note else Text.assemble((name, "cyan"), gap, rest))
