"""What a distribution installs."""

from pathlib import Path


def modules_of(folder: Path) -> list[str]:
    """Return the packages of a distribution, dotted: each is typed, and most distributions have one."""
    source = folder / "src"
    return [".".join(mark.parent.relative_to(source).parts) for mark in sorted(source.rglob("py.typed"))]
