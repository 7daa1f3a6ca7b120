"""One class of error for all that may be wrong in a file."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Make whatever is wrong in a file a ValueError that names it.

    Args:
        name: How messages name the file.

    Raises:
        ValueError: If something is.
    """
    import polars as pl

    try:
        yield
    except (ValueError, TypeError, ArithmeticError, RecursionError, LookupError) as error:
        if isinstance(error, ValueError) and not isinstance(error, UnicodeError) and name in str(error):
            raise
        raise ValueError(f"{name}: {error or type(error).__name__}") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(
            f"{name} is damaged, or not what it seems: {next(iter(str(error).splitlines()), '')}"
        ) from error
