"""A self-contained HTML page, without scripts or external fonts and images, for light and dark mode."""

from __future__ import annotations

import re
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context

from retrieval_metrics.presentation import tables
from retrieval_metrics.saving import save_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from matplotlib.figure import Figure

    from retrieval_metrics.presentation.tables import Table

STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --page: #ffffff; --faint: #5d646c; --line: #d9dde1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e9; --page: #16181b; --faint: #9da4ac; --line: #383d43; } }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1.25rem; background: var(--page); color: var(--ink);
       font: 15px/1.5 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 1.2rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p, ul { margin: .5rem 0; }
ul { padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; }
th, td { padding: .22rem 1.1rem .22rem 0; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--faint); }
th:last-child, td:last-child { padding-right: 0; }
caption { color: var(--faint); padding-top: .45rem; font-size: .9em; }
td[style="text-align:left"] { white-space: normal; overflow-wrap: anywhere; min-width: 5rem; }
details { margin: .15rem 0; }
summary { cursor: pointer; font-variant-numeric: tabular-nums; }
details .wide, details details { margin-left: 1.1rem; }
.faint { color: var(--faint); list-style: none; margin-left: 1rem; }
svg { max-width: 100%; height: auto; display: block; margin: .6rem 0; }
"""

INK = "#010203"
"""A placeholder colour for the plots, which is replaced by the text colour of the page."""
_DRAWN_IN_INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color")
_SEE_THROUGH = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
_SETTINGS: dict[Any, Any] = {
    **dict.fromkeys(_DRAWN_IN_INK, INK),
    **dict.fromkeys(_SEE_THROUGH, "none"),
    "grid.color": "#8a9099",
    "svg.fonttype": "none",  # text stays text, which can be searched and is a tenth of the size
    "svg.hashsalt": "retrieval-metrics",  # the same plot always gives the same file
}


@contextmanager
def ink() -> Iterator[None]:
    """Draw plots in the placeholder colour within this context."""
    with rc_context(_SETTINGS):
        yield


def svg(figure: Figure, description: str) -> str:
    """Return a figure that was drawn within `ink` as an SVG element.

    Args:
        figure: The figure.
        description: A description for screen readers.
    """
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = drawn.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)


def section(title: str, *parts: str) -> str:
    """Return a heading followed by some parts."""
    return f"<h2>{escape(title)}</h2>{''.join(parts)}"


def table(content: Table) -> str:
    """Return a table that scrolls if it is wider than the page."""
    return f'<div class="wide">{tables.html(*content)}</div>'


def sentences(said: Sequence[str]) -> str:
    """Return sentences as a list; indented ones belong to the sentence before."""
    items = (f"<li{' class=faint' if line.startswith(' ') else ''}>{escape(line.strip())}</li>" for line in said)
    return f"<ul>{''.join(items)}</ul>"


def folded(summary: str, *parts: str) -> str:
    """Return parts that are hidden until the summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def write(path: str | PathLike[str], title: str, parts: Sequence[str]) -> None:
    """Write a page with a title to a file."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts])
    page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
    save_text(path, page)
