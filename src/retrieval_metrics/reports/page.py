"""A self-contained HTML page for light and dark mode: it fetches nothing, and is readable without its script."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.atomic_write import save_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics.reports.tables import Table


def section(title: str, *parts: str) -> str:
    """Return a heading followed by parts."""
    return f"<h2>{escape(title)}</h2>{''.join(parts)}"


def paragraph(words: str, *, lead: bool = False) -> str:
    """Return a paragraph; one that leads is larger."""
    return f"<p class=lead>{escape(words)}</p>" if lead else f"<p>{escape(words)}</p>"


def table(content: Table) -> str:
    """Return a table that scrolls if it is wider than the page, with its notes below."""
    notes = "".join(f'<p class="notes">{escape(note)}</p>' for note in content.notes)
    if not content.header:
        return notes
    # The page's style sheet aligns the cells; inline styles would double the size of a large table.
    cells = content._replace(notes=()).html(left=" class=l", right="")
    return f'<div class="wide" tabindex="0">{cells}</div>{notes}'


def sentences(lines: Sequence[str]) -> str:
    """Return sentences as a list; indented ones belong to the sentence before."""
    items = []
    for line in lines:
        style = " class=faint" if line.startswith(" ") else ""
        items.append(f"<li{style}>{escape(line.strip())}</li>")
    return f"<ul>{''.join(items)}</ul>"


def folded(summary: str, *parts: str) -> str:
    """Return parts that are hidden until the summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def queries(static: str) -> str:
    """Return the element in which the script shows the queries; `static` is read where no script runs."""
    return f'<div id="queries"><noscript>{static}</noscript></div>'


def side_by_side(words: str, picture: str, *, picture_leads: bool = False) -> str:
    """Return words with their picture beside them, on a phone below them, or above them if it leads."""
    style = "first leads" if picture_leads else "first"
    return f'<div class="{style}"><div>{words}</div>{picture}</div>'


def write(
    path: str | PathLike[str],
    title: str,
    parts: Sequence[str],
    data: Any = None,
    *,
    scripts: Sequence[str] = ("queries.js",),
    style: str = "",
) -> None:
    """Write a page with a title to a file."""
    script_names = ["tables.js"] if data is None else ["tables.js", *scripts]
    program = "\n".join(map(_read_resource, script_names))
    digest = b64encode(sha256(program.encode()).digest()).decode()
    # Only the page's own script may run and nothing may be fetched, whatever the texts of the corpus contain.
    allowed = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    styles = _read_resource("page.css")
    if style:
        styles += _read_resource(style)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
        f"<title>{escape(title)}</title><style>{styles}</style>"
    )
    body = "\n".join([f"<main>\n<h1>{escape(title)}</h1>", *parts, "</main>"])
    if data is not None:
        body += f'\n<script type="application/json" id="data">{_json(data)}</script>'
    body += f"\n<script>{program}</script>"
    page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
    # Broken texts may hold half a surrogate pair, which UTF-8 cannot encode.
    save_text(path, page.encode("utf-8", "backslashreplace").decode())


def _json(data: Any) -> str:
    # With "<" escaped, no text can close the element that holds the data.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


@cache
def _read_resource(name: str) -> str:
    return files("retrieval_metrics.reports").joinpath(name).read_text(encoding="utf-8")  # also from an archive
