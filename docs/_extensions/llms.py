"""Write `llms.txt`, the contents of the site for a language model, and `llms-full.txt`, all pages as one text.

Both are made from the pages as they are read, so that neither can say something else than the site.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HTML = re.compile(r"^<figure.*?</figure>$", re.MULTILINE)
DIRECTIVE = re.compile(r"^```\{(?:toctree|eval-rst)\}.*?^```\n?", re.MULTILINE | re.DOTALL)
ENTRIES = re.compile(r"^```\{eval-rst\}\n.*?^```\n?", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^\.\. auto(?!module|method)\w+:: (\S+)$", re.MULTILINE)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
FRONT = "index"
FOLDERS = {
    "tutorial": "Tutorial",
    "guides": "Guides",
    "integrations": "Integrations",
    "reference/metrics": "Metrics",
    "reference": "Reference",
    "api": "API reference",
    "explanation": "Explanation",
    "": "About the project",
}


def contents(pages: dict[str, str]) -> str:
    """Return the contents of a site: its pages by folder, each with its title and its first sentence."""
    front = pages[FRONT]
    parts = [f"# {title(front)}", f"> {sentences(front, 3)}", "All pages as one text: [llms-full.txt](llms-full.txt)"]
    for folder, heading in FOLDERS.items():
        inside = [name for name in sorted(pages) if folder_of(name) == folder and Path(name).name != FRONT]
        if inside:
            parts += [f"## {heading}", "\n".join(_line(name, pages[name]) for name in inside)]
    return "\n\n".join(parts) + "\n"


def _line(name: str, text: str) -> str:
    text_sentences = sentences(text, 1)
    return f"- [{title(text)}]({name}.html){': ' if text_sentences else ''}{text_sentences}"


def folder_of(name: str) -> str:
    """Return the longest listed folder that a page lies in."""
    return max((folder for folder in FOLDERS if name.startswith(f"{folder}/")), key=len, default="")


def title(text: str) -> str:
    """Return the title of a page."""
    match = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    return match[1] if match else ""


def sentences(text: str, count: int) -> str:
    """Return the first sentences of the first paragraph of a page."""
    plain = HTML.sub("", FENCE.sub("", text))
    paragraphs = (part.strip() for part in plain.split("\n\n"))
    first = next((part for part in paragraphs if part and part[0] not in "#|<!-*$"), "")
    words = LINK.sub(r"\1", " ".join(first.split()))
    return " ".join(re.split(r"(?<=[.?!:]) (?=[A-Z`])", words)[:count]).removesuffix(":")


def declared(path: str) -> str:
    """Return what can be called under a dotted path: its signature and its first sentence, and those of its methods."""
    module, _, name = path.rpartition(".")
    public_object = getattr(import_module(module), name)
    lines = [_signed(name, public_object)]
    if inspect.isclass(public_object):
        for attribute, value in vars(public_object).items():
            member = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            member = getattr(member, "fget", None) or getattr(member, "func", member)  # of a property
            if not attribute.startswith("_") and inspect.isfunction(member):
                lines.append(f"    {_signed(f'.{attribute}', member)}")
    return "\n".join(lines)


def _signed(name: str, public_object: Any) -> str:
    docstring = (inspect.getdoc(public_object) or "").partition("\n\n")[0]
    try:
        signature = str(inspect.signature(public_object)) if callable(public_object) else f" = {public_object!r}"
    except ValueError:  # of a built-in class
        signature = "(...)"
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature).replace("(self, ", "(").replace("(self)", "()")
    return f"{name}{' '.join(signature.replace('(cls, ', '(').split())}  # {' '.join(docstring.split())}"


def full_text(pages: dict[str, str]) -> Iterator[str]:
    """Yield every page as text: signatures for the entries of the API, and nothing that only a browser can show."""
    for name in [FRONT, *sorted(pages.keys() - {FRONT})]:
        entries = ENTRIES.sub(lambda block: "\n".join(map(declared, ENTRY.findall(block[0]))) + "\n", pages[name])
        text = HTML.sub("", DIRECTIVE.sub("", entries)).strip()
        yield f"<!-- {name}.html -->\n\n{text}\n"


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        pages: dict[str, str] = app.env.llms_pages  # type: ignore[attr-defined]
        folder = Path(app.outdir)
        (folder / "llms.txt").write_text(contents(pages), encoding="utf-8")
        (folder / "llms-full.txt").write_text("\n".join(full_text(pages)), encoding="utf-8")


def _note(app: Sphinx, name: str, source: list[str]) -> None:
    app.env.llms_pages[name] = source[0]  # type: ignore[attr-defined]


def _begin(app: Sphinx) -> None:
    app.env.llms_pages = {}  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Keep every page as it is parsed, after all that changes it, and write the files at the end."""
    app.connect("builder-inited", _begin)
    app.connect("source-read", _note, priority=900)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
