"""Group the pages below a page of the sidebar by topic: a topic is a section of that page that lists pages.

A list of thirty names helps nobody.
"""

from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GROUPED = ["api/index", "guides/index"]
TREE = "furo_navigation_tree"
"""What the theme puts into the sidebar."""


def topics(page: nodes.document) -> dict[str, int]:
    """Return the sections of a page that list pages, each with how many it lists."""
    counts = {}
    for section in page.findall(nodes.section):
        lists = [toctree for toctree in section.findall(addnodes.toctree) if _section_of(toctree) is section]
        if lists:
            counts[section[0].astext()] = sum(len(toctree["entries"]) for toctree in lists)
    return counts


def _section_of(node: nodes.Node) -> nodes.Node | None:
    while node.parent is not None and not isinstance(node.parent, nodes.section):
        node = node.parent
    return node.parent


def grouped(tree: str, link: str, counts: dict[str, int]) -> str:
    """Return the tree of the sidebar with the pages below a link grouped by topic; the topic of today's page is open.

    Example:
        >>> below = '<ul><li><a href="a">a</a></li><li class="current"><a href="#">b</a></li></ul>'
        >>> print(grouped(f'<ul><li><a href="api">API</a>{below}</li></ul>', "api", {"A": 1, "B": 1}))
        <ul><li><a href="api">API</a><ul><li><details><summary>A</summary><ul><li><a href="a">a</a></li></ul></details></li><li><details open=""><summary>B</summary><ul><li class="current"><a href="#">b</a></li></ul></details></li></ul></li></ul>
    """  # noqa: E501  (as it is printed)
    soup = BeautifulSoup(tree, "html.parser")
    for item in soup.find_all("li"):
        anchor = item.find("a", recursive=False)
        below = item.find("ul", recursive=False)
        if anchor and below and anchor["href"] == link:
            _group(soup, below, counts)
    return str(soup)


def _group(soup: BeautifulSoup, below: Tag, counts: dict[str, int]) -> None:
    pages = iter(below.find_all("li", recursive=False))
    for name, count in counts.items():
        topic, details, summary, inside = (soup.new_tag(tag) for tag in ("li", "details", "summary", "ul"))
        summary.string = name
        inside.extend([next(pages).extract() for _ in range(count)])
        if inside.find(class_="current", recursive=False):
            details["open"] = ""
        details.extend([summary, inside])
        topic.append(details)
        below.append(topic)


def _change(app: Sphinx, page: str, _template: str, context: dict[str, Any], _document: nodes.document | None) -> None:
    if TREE in context:
        for name in GROUPED:
            link = "#" if page == name else context["pathto"](name)
            context[TREE] = grouped(context[TREE], link, topics(app.env.get_doctree(name)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the tree after the theme has made it."""
    app.connect("html-page-context", _change, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
