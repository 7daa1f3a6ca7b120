"""The HTML report: a page of all checks, failures first, and one page per check with all its queries."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_retrieval_metrics.carrying import taken
from pytest_retrieval_metrics.failure import texts_of
from pytest_retrieval_metrics.gates import NOW
from pytest_retrieval_metrics.naming import file_name
from pytest_retrieval_metrics.records import failed, telling_queries, title
from pytest_retrieval_metrics.summary import headline, notes, table
from retrieval_metrics import Evaluation
from retrieval_metrics.adapting.printing import page

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval_metrics.summary import Records

SHOWN = 10
"""The number of queries per metric in the page and the summary of all checks; the page of a check has all."""
FOLDER = ".checks"
"""The extension of the folder with the pages of single checks."""


def write_pages(path: Path, records: Records) -> None:
    """Write the page of all checks to a path, and those of single checks into a folder beside it.

    Args:
        path: The page; the folder has its name with `.checks` in place of `.html`.
        records: The checks, in the order in which they are shown.

    Raises:
        OSError: If something cannot be written.
    """
    folder = path.with_suffix(FOLDER)
    if folder.is_dir():  # of an earlier run, whose checks may not have run now
        for old in folder.glob("*.html"):
            old.unlink()
    parts = [page.paragraph(f"{headline(records)}.", lead=True)]
    for record in records:
        link = _page(folder, record)
        if failed(record):
            parts.append(page.section(title(record), *_failure(record, link)))
        else:
            parts.append(page.folded(f"{title(record)}: {_outcomes(record)}", *_moves(record), link))
    parts += [page.section("All checks", page.table(table(records)))]
    parts += [page.paragraph(note) for note in notes(records)]
    page.write(path, "Retrieval quality", parts)


def _page(folder: Path, record: dict[str, Any]) -> str:
    """Write the page of a check, and return the link to it; nothing if there is no evaluation."""
    try:
        found = taken(record["comparison"] or record["evaluation"])
    except ValueError as error:  # a metric defined by a test in a worker of xdist is unknown here
        return page.paragraph(f"There is no page of its queries: {error}")
    if found is None or (isinstance(found, Evaluation) and found.scores.origin is None):
        return ""
    module, _, test = record["test"].partition("::")
    name = file_name(f"{module.replace('/', '.').removesuffix('.py')}.{test}", record["name"], ".html")
    folder.mkdir(parents=True, exist_ok=True)
    now = found if isinstance(found, Evaluation) else found.evaluations[NOW]
    texts = {query: text for query, text in texts_of(now).items() if text != query}
    found.report(folder / name, title=title(record), queries=texts)
    link = f'<a href="{escape(quote(f"{folder.name}/{name}"))}">'
    if not record["comparison"]:
        return f"<p>{link}Every query</a></p>"
    sides = "That page looks for gains, too, so its p is twice that of the check, which looks for losses."
    return f"<p>{link}Every query, before and now</a>. {sides}</p>"


def _failure(record: dict[str, Any], link: str) -> list[str]:
    lines = [line for row in record["metrics"] for line in row["lines"] if row["outcome"] not in {"passed", "stored"}]
    told = page.sentences(lines) if lines else page.paragraph(record["failure"])
    whole = page.folded("What became of the relevant documents", f"<pre>{escape(record['failure'])}</pre>")
    return [told, link, *_moves(record), whole if lines else ""]


def _moves(record: dict[str, Any]) -> list[str]:
    found = (telling_queries(record, row, SHOWN) for row in record["metrics"])
    return [page.table(drawn) for drawn in found if drawn is not None]


def _outcomes(record: dict[str, Any]) -> str:
    return ", ".join(f"{row['metric']} {row['outcome']}" for row in record["metrics"]) or "nothing was measured"
