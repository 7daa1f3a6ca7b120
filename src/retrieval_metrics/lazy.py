"""Lazy imports: a package or module whose names are imported on first use."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(owner: str, modules: Mapping[str, str], *, package: str | None = None) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that imports each name from its module on first use.

    Args:
        owner: The name of the package or module that offers the names.
        modules: The module of each name, relative to the package.
        package: The name of that package; by default the owner itself.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package or owner}.{modules[name]}"), name)
        setattr(sys.modules[owner], name, value)
        return value

    return get
