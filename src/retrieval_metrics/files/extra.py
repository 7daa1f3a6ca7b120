"""The zstd module, which older Pythons get from the extra `files`: imported only where it is used."""

from __future__ import annotations

import sys
from typing import Any

from retrieval_metrics.inputs.extra import INSTALL


def need_zstd() -> Any:
    """Return the zstd module: that of the standard library, or its backport before Python 3.14.

    Raises:
        ImportError: If it is not installed; the message contains the command that installs it.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise ImportError(f"zst files need a zstd module, which this Python lacks: {INSTALL}") from error
    return zstd
