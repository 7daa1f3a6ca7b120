"""One class of error for everything that can be wrong with a file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Turn any error while reading a file into a ValueError that names the file.

    Args:
        name: The name of the file, for messages.

    Raises:
        ValueError: If there is an error.
    """
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, RecursionError, LookupError) as error:
        if isinstance(error, ValueError) and not isinstance(error, UnicodeError) and name in str(error):
            raise
        raise ValueError(f"{name}: {error or type(error).__name__}") from error
    except _of_polars() as error:
        raise ValueError(
            f"{name} is damaged, or of another format: {next(iter(str(error).splitlines()), '')}"
        ) from error


def _of_polars() -> tuple[type[BaseException], ...]:
    """Return what polars raises for damaged data, if anything was read with it."""
    errors = getattr(sys.modules.get("polars"), "exceptions", None)
    return () if errors is None else (errors.PolarsError, errors.PanicException)
