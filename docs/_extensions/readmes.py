"""Let the READMEs be pages of the site, and let every link be one that also works where the repository is shown.

A page that says ```` ```{readme} integrations/ray/README.md ```` holds that file. A link to a README leads to its page,
and a link to a folder to its files, packed. Between `<!-- tabs -->` and `<!-- end of tabs -->`, each part that begins
with a bold line is a tab on the site.
"""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
README = re.compile(r"^```\{readme\} (\S+)\n```$", re.MULTILINE)
TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- end of tabs -->$", re.MULTILINE | re.DOTALL)
TAB = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")


def readme_pages() -> dict[Path, Path]:
    """Return the page that holds each README."""
    pages = {}
    for page in DOCS.rglob("*.md"):
        for name in README.findall(page.read_text(encoding="utf-8")):
            pages[ROOT / name] = page
    return pages


def packed(folder: Path) -> Path:
    """Return a file for download that holds a folder."""
    target = DOCS / "_build" / "downloads" / folder.name
    return Path(shutil.make_archive(str(target), "zip", folder.parent, folder.name))


def relinked(text: str, start: Path, page: Path, pages: dict[Path, Path]) -> str:
    """Return a text that was written in the folder `start`, with the links it needs on a page of the site."""

    def link(match: re.Match[str]) -> str:
        if "://" in match[0]:
            return match[0]
        target = (start / match[0]).resolve()
        shown = packed(target) if target.is_dir() else pages.get(target, target)
        return Path(os.path.relpath(shown, page.parent)).as_posix()

    return LINK.sub(link, text)


def tabbed(text: str) -> str:
    r"""Return a text with the parts that stand between the marks of tabs as tabs.

    Example:
        >>> print(tabbed("<!-- tabs -->\n**A**\n\none\n\n**B**\n\ntwo\n<!-- end of tabs -->"))
        ::::{tab} A
        one
        ::::
        ::::{tab} B
        two
        ::::
    """

    def as_tabs(marked: re.Match[str]) -> str:
        _, *parts = TAB.split(marked[1])
        lines = []
        for name, part in zip(parts[::2], parts[1::2], strict=True):
            lines += [f"::::{{tab}} {name}", part.strip(), "::::"]
        return "\n".join(lines)

    return TABS.sub(as_tabs, text)


def _reader(pages: dict[Path, Path]) -> Callable[[Sphinx, str, list[str]], None]:
    def read(app: Sphinx, name: str, source: list[str]) -> None:
        page = DOCS / f"{name}.md"
        text = relinked(source[0], page.parent, page, pages)
        for readme in README.findall(text):
            path = ROOT / readme
            app.env.note_dependency(path)
            page_text = relinked(tabbed(path.read_text(encoding="utf-8")), path.parent, page, pages)
            text = text.replace(f"```{{readme}} {readme}\n```", page_text)
        source[0] = text

    return read


def setup(app: Sphinx) -> dict[str, bool]:
    """Change what a page says before it is parsed."""
    app.connect("source-read", _reader(readme_pages()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
