"""Show how far long work is, and say beforehand that it will be long."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval_metrics.checks import RetrievalWarning, in_python
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG = 60.0
"""Seconds of work from which on it is announced."""
SOON = 5.0
"""Seconds after which the rest is estimated; steps are not all alike, and less says little of them."""


@contextmanager
def watched(
    label: str,
    total: int,
    doing: str,
    less: str,
    *,
    show_progress: bool,
    clock: Callable[[], float] = perf_counter,
) -> Iterator[Callable[[int], None]]:
    """Yield the function that is told how many steps are done; 0 begins anew after what had to be prepared.

    Args:
        label: What the bar is called.
        total: How many steps there are.
        doing: What is done, as a sentence begins.
        less: What takes less, likewise: `fewer settings take less`.
        show_progress: Whether to show a bar.
        clock: The time in seconds.

    Warns:
        RetrievalWarning: Once, if by the steps so far the rest takes more than a minute.
    """
    began, said = clock(), False
    with progress(label, total, enabled=show_progress) as show:

        def advance(done: int) -> None:
            nonlocal began, said
            if done == 0:
                began = clock()
            elif not said and (taken := clock() - began) >= SOON and (left := taken / done * (total - done)) > LONG:
                said = True
                minutes = numbers.count(round(left / 60) or 1, "minute")
                shown = in_python("; show_progress=True shows how far it is", "")
                warnings.warn(f"{doing} takes about {minutes} more; {less}{shown}", RetrievalWarning, stacklevel=2)
            show(min(done, total))

        yield advance
