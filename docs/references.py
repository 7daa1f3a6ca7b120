"""What the pages of a built site refer to, and which of it leads nowhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser fetches without being asked."""


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        """Read the page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names and what it refers to."""
        values = dict(attrs)
        self.anchors |= {name for key in ("id", "name") if (name := values.get(key))}
        if tag == "a" and (href := values.get("href")):
            self.links.append(href)
        elif tag in LOADED and (address := values.get(LOADED[tag])):
            self.loaded.append(address)


def broken(site: Path) -> Iterator[str]:
    """Yield a sentence for each reference inside the site that leads nowhere, and for what is loaded from elsewhere."""
    site = site.resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for address in page.loaded:
            if urlsplit(address).netloc:
                yield f"{name} loads {address} from elsewhere"
        for address in (*page.links, *page.loaded):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name} refers to {address}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} refers to {address}, but {target.name} has no such anchor"
