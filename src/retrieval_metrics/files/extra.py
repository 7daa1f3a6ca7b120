"""The packages of the extra `files`, imported where they are used."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

INSTALL = "pip install 'retrieval-metrics[files]'"


def need_polars() -> None:
    """Raise if polars is not installed.

    Raises:
        ImportError: If it is not installed; the message holds the command.
    """
    if find_spec("polars") is None:
        raise ImportError(f"reading and writing files and DataFrames needs polars: {INSTALL}")


def need_zstd() -> Any:
    """Return the zstd module: that of the standard library, or its backport before Python 3.14.

    Raises:
        ImportError: If it is not installed; the message holds the command.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise ImportError(f"zst files need a zstd module, which this Python lacks: {INSTALL}") from error
    return zstd
