"""Prepare the READMEs and the addresses of all distributions for a package index, where relative links lead nowhere.

    python docs/package_pages.py https://example.org/owner/retrieval-metrics v1.2.0

The release runs it before it builds, with the address and the tag that it is run from. Links into the repository become
links to its files at the tag, and every distribution gets `[project.urls]`. Without it, a build keeps only the words of
such links (see the hook in each pyproject.toml).
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"https://[^/\s]+(/[^/\s]+){2,}")
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?P<target>[^)\s]+)\)")


def prepare(root: Path, address: str, tag: str) -> None:
    """Rewrite the READMEs and the settings of all distributions of a working copy.

    Raises:
        FileNotFoundError: If a link leads to a file that is not there.
        ValueError: If the address is none.
    """
    if not ADDRESS.fullmatch(address):
        raise ValueError(
            f"a release needs the address of its repository, https://host/owner/repository, got {address!r}"
        )
    for settings in (root / "pyproject.toml", *sorted(root.glob("integrations/*/pyproject.toml"))):
        readme = settings.with_name("README.md")
        readme.write_text(absolute(readme.read_text(encoding="utf-8"), readme.parent, root, address, tag), "utf-8")
        settings.write_text(f"{settings.read_text(encoding='utf-8')}\n{urls(address, tag)}", "utf-8")


def absolute(text: str, folder: Path, root: Path, address: str, tag: str) -> str:
    """Return a page whose links from a folder into the repository are absolute; code stays as it is.

    Raises:
        FileNotFoundError: If a link leads to a file that is not there.
    """

    def link(found: re.Match[str]) -> str:
        image = found["image"]
        shown = found["text"]
        target = found["target"]
        path, mark, part = target.partition("#")
        if "://" in target or not path:
            return found[0]
        held = (folder / path).resolve(strict=True).relative_to(root.resolve()).as_posix()
        return f"{image}{shown}({address}/{'raw' if image else 'blob'}/{tag}/{held}{mark}{part})"

    parts = []
    end = 0
    for code in FENCED.finditer(text):
        parts += [LINK.sub(link, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(link, text[end:])])


def urls(address: str, tag: str) -> str:
    """Return the table of addresses of a distribution."""
    return (
        "[project.urls]\n"
        f'Repository = "{address}"\n'
        f'Documentation = "{address}/tree/{tag}/docs"\n'
        f'Changelog = "{address}/blob/{tag}/CHANGELOG.md"\n'
        f'Issues = "{address}/issues"\n'
    )


if __name__ == "__main__":
    prepare(ROOT, *sys.argv[1:])
