"""Write the HTML report: a page of all checks, and a page of each check with its queries."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_retrieval_metrics.baseline_gates import NOW
from pytest_retrieval_metrics.change_wording import get_query_texts
from pytest_retrieval_metrics.check_records import format_title, has_failed, load_saved
from pytest_retrieval_metrics.file_names import make_file_name
from pytest_retrieval_metrics.summary_wording import (
    format_headline,
    format_notes,
    format_outcomes,
    list_failure_lines,
    make_query_tables,
    make_table,
)
from retrieval_metrics import Evaluation
from retrieval_metrics.integration_api.text import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_retrieval_metrics.check_records import CheckRecord

# The extension of the folder with the pages of single checks.
FOLDER_ENDING = ".checks"


def write_pages(path: Path, records: Sequence[CheckRecord]) -> None:
    """Write the page of all checks to a path, and those of single checks into a folder beside it."""
    folder = path.with_suffix(FOLDER_ENDING)
    if folder.is_dir():
        # Pages of an earlier run would stay for checks that did not run now.
        for old_page in folder.glob("*.html"):
            old_page.unlink()
    html_parts = [page.paragraph(f"{format_headline(records)}.", lead=True)]
    for record in records:
        link = _write_check_page(folder, record)
        if has_failed(record):
            html_parts.append(page.section(format_title(record), *_failure_parts(record, link)))
        else:
            heading = f"{format_title(record)}: {format_outcomes(record)}"
            html_parts.append(page.folded(heading, *_query_tables(record), link))
    html_parts.append(page.section("All checks", page.table(make_table(records))))
    html_parts += [page.paragraph(note) for note in format_notes(records)]
    page.write(path, "Retrieval quality", html_parts)


def _write_check_page(folder: Path, record: CheckRecord) -> str:
    """Write the page of a check, and return the link to it; nothing if there is no evaluation."""
    try:
        result = load_saved(record["comparison"] or record["evaluation"])
    except ValueError as error:
        # A metric that a test defined in a worker of xdist is unknown in this process.
        return page.paragraph(f"Its queries cannot be shown: {error}")
    if result is None:
        return ""
    if isinstance(result, Evaluation):
        evaluation = result
    else:
        evaluation = result.evaluations[NOW]
    if evaluation is result and evaluation.scores.origin is None:
        return ""
    module, _, test = record["test"].partition("::")
    module_name = module.replace("/", ".").removesuffix(".py")
    name = make_file_name(f"{module_name}.{test}", record["name"], ".html")
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[Any, str] = {query: text for query, text in get_query_texts(evaluation).items() if text != query}
    result.report(folder / name, title=format_title(record), queries=texts)
    link = f'<a href="{escape(quote(f"{folder.name}/{name}"))}">'
    if not record["comparison"]:
        return f"<p>{link}All queries</a></p>"
    note = "That page uses a two-sided test, so its p is twice the one-sided p of the check."
    return f"<p>{link}All queries, before and after</a>. {note}</p>"


def _failure_parts(record: CheckRecord, link: str) -> list[str]:
    """Return the HTML of a failed check: the lines of its metrics, or the reason why it was not measured."""
    lines = list_failure_lines(record)
    if not lines:
        return [page.paragraph(record["failure"]), link, *_query_tables(record), ""]
    full_text = page.folded("Outcomes of the relevant documents", f"<pre>{escape(record['failure'])}</pre>")
    return [page.sentences(lines), link, *_query_tables(record), full_text]


def _query_tables(record: CheckRecord) -> list[str]:
    return [page.table(table) for table in make_query_tables(record)]
