"""Import the optional packages that single features need, or raise an error that says how to install them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


# The extra that installs each optional package.
EXTRAS = {
    "backports.zstd": "files",
    "bm25s": "questions",
    "cbor2": "lz4",
    "compression.zstd": "files",
    "lz4.frame": "lz4",
    "matplotlib": "plot",
    "openpyxl": "excel",
    "pandas": "pandas",
    "polars": "files",
    "rich": "cli",
}

# The ids of the processes in which this package imported polars. A forked child inherits the id of its parent.
_processes_with_polars: set[int] = set()


def import_optional(package: str, feature: str) -> Any:
    """Import and return an optional package that a feature needs."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise ImportError(f"{feature} needs {package}: pip install 'retrieval-metrics[{EXTRAS[package]}]'") from error
    if package == "polars":
        if is_forked_from_polars():
            raise RuntimeError(
                f"{feature} needs polars, whose threads do not survive a fork, and this process was forked from one "
                "that used polars; start processes with multiprocessing.get_context('spawn') or 'forkserver', or read "
                "the files in the parent process and evaluate here"
            )
        _processes_with_polars.add(os.getpid())
    return module


def to_data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return rows as a pandas DataFrame; the `to_pandas` methods call it."""
    column_names = None if columns is None else [*columns]
    frame: pd.DataFrame = import_optional("pandas", "to_pandas").DataFrame(rows, columns=column_names)
    return frame


def is_forked_from_polars() -> bool:
    """Return whether this process was forked from one that used polars; the threads of polars are then missing."""
    return bool(_processes_with_polars) and os.getpid() not in _processes_with_polars
