"""Packages that come with an extra: imported where they are used, and asked for by name where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {"pandas": "pandas", "matplotlib": "plot", "rich": "cli"}


def require(package: str, what: str) -> Any:
    """Return a package of an extra.

    Raises:
        ImportError: If it is not installed; the message holds the command that installs it.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'") from error
