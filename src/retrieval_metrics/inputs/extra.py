"""polars, the package of the extra `files`: imported only where it is used."""

from __future__ import annotations

from importlib.util import find_spec

INSTALL = "pip install 'retrieval-metrics[files]'"


def need_polars() -> None:
    """Raise if polars is not installed.

    Raises:
        ImportError: If it is not installed; the message contains the command that installs it.
    """
    if find_spec("polars") is None:
        raise ImportError(f"reading and writing files and DataFrames needs polars: {INSTALL}")
