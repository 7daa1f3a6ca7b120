"""Record what is warned of while systems are evaluated, and issue each warning once, with the systems it is about."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

# How many systems a warning names.
MAX_NAMED_SYSTEMS = 3


class _SystemWarning(NamedTuple):
    """What was warned of while a system was evaluated."""

    message: str
    category: type[Warning]


class SystemWarnings:
    """The warnings of systems that are evaluated one after the other."""

    def __init__(self, n_systems: int) -> None:
        self._n_systems = n_systems
        self._names_by_warning: dict[_SystemWarning, list[str]] = {}

    @contextmanager
    def record(self, name: str, description: str) -> Iterator[None]:
        """Record the warnings about one system instead of issuing them, and describe the system in errors."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except Exception as error:
                error.add_note(description)
                raise
            finally:
                for warning in caught:
                    names = self._names_by_warning.setdefault(
                        _SystemWarning(str(warning.message), warning.category), []
                    )
                    if name not in names:
                        names.append(name)

    def repeat(self) -> None:
        """Issue each warning once, with the systems it is about unless it is about all of them."""
        for warning, names in self._names_by_warning.items():
            if len(names) == self._n_systems:
                warn(warning.message, warning.category)
            else:
                warn(f"{numbers.join_names(names, MAX_NAMED_SYSTEMS)}: {warning.message}", warning.category)


@contextmanager
def repeat_warnings_once(n_systems: int) -> Iterator[SystemWarnings]:
    """Record the warnings about systems within the block, and issue them at its end, also if it ends in an error."""
    system_warnings = SystemWarnings(n_systems)
    try:
        yield system_warnings
    finally:
        system_warnings.repeat()
