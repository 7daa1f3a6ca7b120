"""Let the pages of the API be read from the top: a list of their names, and of each entry its sentence and example.

What comes after these, if it is long, opens at a click; a browser opens it too when it looks for a word on the page.
"""

import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

LONG = 500
"""Characters of arguments, errors and sources that may stand open."""
OPEN = '<details class="rest"><summary>{}</summary>'
FOLDER = "api/"
SHOWN = {
    "retrieval_metrics": "rm",
    "retrieval_metrics.metrics": "rm.metrics",
    "retrieval_metrics.statistics": "rm.statistics",
    "retrieval_metrics.types": "rm.types",
}
"""How users write the modules; those of integrations stand on top of their pages."""
RECEIVED = {"retrieval_metrics.Comparison", "retrieval_metrics.Evaluation"}
"""With `rm.types`, the classes that nobody makes by hand."""


def first_things_first(_app: Sphinx, _domain: str, _kind: str, content: addnodes.desc_content) -> None:
    """Put the example of an entry below its first sentence and its formulas, and fold what is left if that is long."""
    members = [node for node in content if isinstance(node, addnodes.desc)]
    documented = [node for node in content if node not in members and not isinstance(node, addnodes.index)]
    lead, example, further = split_content(documented)
    if sum(len(node.astext()) for node in further) > LONG:
        takes = any("param" in field[0].astext() for node in further for field in node.findall(nodes.field))
        label = "Arguments and details" if takes else "Details"
        further = [
            nodes.raw("", OPEN.format(label), format="html"),
            *further,
            nodes.raw("", "</details>", format="html"),
        ]
    signature = [node for node in content if isinstance(node, addnodes.index | addnodes.desc)]
    content.children = []
    content.extend([*lead, *example, *further, *signature])


def split_content(content: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.Node], list[nodes.Node]]:
    """Return the sentence and the formulas of an entry, its example, and the rest."""
    starts = [position for position, node in enumerate(content) if isinstance(node, nodes.rubric | nodes.field_list)]
    prose = content[: starts[0]] if starts else content
    shown = [
        position for position, node in enumerate(prose) if isinstance(node, nodes.math_block | nodes.doctest_block)
    ]
    lead = prose[: max([1, *(position + 1 for position in shown)])]
    example: list[nodes.Node] = []
    further = prose[len(lead) :]
    for start, end in pairwise([*starts, None]):
        part = content[start:end]
        if isinstance(part[0], nodes.rubric) and part[0].astext().startswith("Example"):
            example += part[1:]
        else:
            further += part
    return lead, example, further


def names(tree: nodes.document) -> nodes.bullet_list:
    """Return a list of what a page describes: a link to each name, its first words, and links to its members."""
    listed = nodes.bullet_list(classes=["names"])
    for entry in tree.findall(addnodes.desc):
        if isinstance(entry.parent, addnodes.desc_content):
            continue
        line = nodes.paragraph("", "", _link(entry))
        line += [
            nodes.Text(f": {_sentence(paragraph)}")
            for paragraph in entry[-1][:1]
            if isinstance(paragraph, nodes.paragraph)
        ]
        members = [_link(member) for member in entry[-1].findall(addnodes.desc) if member.parent is entry[-1]]
        item = nodes.list_item("", line)
        if members:
            item += nodes.paragraph("", "", *_spaced(members), classes=["members"])
        listed += item
    return listed


def _link(entry: addnodes.desc) -> nodes.reference:
    signature = entry[0]
    name = next(iter(signature.findall(addnodes.desc_name))).astext()
    if signature["module"] in SHOWN and not signature["class"]:
        name = f"{SHOWN[signature['module']]}.{name}"
    return nodes.reference("", "", nodes.literal("", name), refid=signature["ids"][0], internal=True)


def _sentence(paragraph: nodes.Node) -> str:
    text = paragraph.astext().partition(". ")[0].removesuffix(".").removeprefix("Return ")
    return f"{text[:1].upper()}{text[1:]}."


def _spaced(links: list[nodes.reference]) -> Iterator[nodes.Node]:
    for link in links:
        yield from (link, nodes.Text(" "))


def _class_signature(
    _app: Sphinx, object_type: str, name: str, obj: Any, _options: Any, signature: str | None, _returned: str | None
) -> tuple[str, str] | None:
    """Return no signature of a class that is only received, and one that can be read of a model of Pydantic."""
    if object_type != "class" or not signature:
        return None
    if name in RECEIVED or name.startswith("retrieval_metrics.types."):
        return "", ""
    return (by_name(obj), "") if hasattr(obj, "model_fields") else None


def by_name(model: Any) -> str:
    """Return the signature of a model: its fields without their types, which are those of its validation."""
    sections = []
    for field in inspect.signature(model).parameters.values():
        plain = type(field.default) in {type(None), str, int, float, bool}
        default = "" if field.default is field.empty else f"={field.default!r}" if plain else "=..."
        sections.append(f"{'**' if field.kind is field.VAR_KEYWORD else ''}{field.name}{default}")
    return f"(*, {', '.join(sections)})"


def _list_names(app: Sphinx, tree: nodes.document) -> None:
    if app.env.docname.startswith(FOLDER):
        section = next(iter(tree.findall(nodes.section)))
        if len(listed := names(tree)):
            section.insert(2, listed)  # below the title and its sentence


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the entries when they are made, and each page when it is read."""
    app.connect("object-description-transform", first_things_first)
    app.connect("autodoc-process-signature", _class_signature)
    app.connect("doctree-read", _list_names, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
