"""Three systems of twelve queries, and what their reports and figures hold."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

QRELS = {f"q{number}": ["d"] for number in range(12)}
RUNS: dict[str, dict[str, list[str]]] = {"old": {}, "<new> $1$": {}, "third": {}}
for _number, _query in enumerate(QRELS):
    RUNS["old"][_query] = ["x", "d"] if _number % 3 else ["x", "y"]
    RUNS["<new> $1$"][_query] = ["d"] if _number % 4 else ["x", "d"]
    RUNS["third"][_query] = ["d", "x"] if _number % 2 else ["x"]
TEXTS = {"q0": "is 1 < 2 & so on?", "q4": "long " * 60}


class Tags(HTMLParser):
    """Collects the elements of a page and what they refer to, and complains of one that is not closed."""

    VOID = ("meta", "br", "path", "use", "rect", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def read(path: Path) -> tuple[str, Tags]:
    text = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    return text, tags


def texts_of(figure: Figure) -> set[str]:
    return {" ".join(text.get_text().split()) for text in figure.findobj(Text)}


def data_of(text: str) -> dict[str, Any]:
    start = text.index('id="data">') + len('id="data">')
    data: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return data
