"""Give the pages of the theme what a keyboard or a screen reader needs: levels, names, and a way to scroll."""

import re
from pathlib import Path

from sphinx.application import Sphinx

CHANGES = [
    (re.compile(r'<p class="caption" role="heading">'), '<p class="caption" role="heading" aria-level="2">'),
    (re.compile(r'<aside class="sidebar-drawer">'), '<aside class="sidebar-drawer" aria-label="Site">'),
    (re.compile(r'<aside class="toc-drawer'), '<aside aria-label="Page" class="toc-drawer'),
    (re.compile(r'<div id="search-results">'), '<h1>Search</h1>\n<div id="search-results">'),
    (re.compile(r"<pre>"), '<pre tabindex="0">'),  # wider than a phone
    (re.compile(r'<div class="formula"'), '<div tabindex="0" class="formula"'),
    (re.compile(r'<div class="table-wrapper'), '<div tabindex="0" class="table-wrapper'),
]
_START = '<span class="parameter">'
PARAMETERS = re.compile(r'(<span class="sig-paren">\(</span>)\s*<dl>(.*?)</dl>', re.DOTALL)
"""A long signature, which Sphinx writes as a list of definitions without terms."""


def accessible(page: str) -> str:
    """Return a page with these changes.

    Example:
        >>> accessible("<pre>x</pre>")
        '<pre tabindex="0">x</pre>'
        >>> accessible('<span class="sig-paren">(</span><dl><dd>x,</dd></dl>')
        '<span class="sig-paren">(</span><span class="parameter">x,</span>'
    """
    for pattern, instead in CHANGES:
        page = pattern.sub(instead, page)
    return PARAMETERS.sub(lambda match: match[1] + match[2].replace("<dd>", _START).replace("</dd>", "</span>"), page)


def _change(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            if path.parent.name != "examples":  # those are no pages of the theme
                path.write_text(accessible(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the pages when all are written."""
    app.connect("build-finished", _change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
