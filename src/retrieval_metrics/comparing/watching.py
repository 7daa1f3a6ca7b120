"""Show how far a long test is, and say beforehand that it will be long."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval_metrics.argument_names import in_python
from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG = 60.0
"""Seconds beyond which a test is announced."""


@contextmanager
def watched(
    hypotheses: int, queries: int, resamples: int, *, show_progress: bool, clock: Callable[[], float] = perf_counter
) -> Iterator[Callable[[int], None]]:
    """Yield the function that is told how many choices of signs are done, beginning with 0.

    Args:
        hypotheses: How many differences are tested.
        queries: On how many queries.
        resamples: How many choices there will be.
        show_progress: Whether to show a bar.
        clock: The time in seconds.

    Warns:
        RetrievalWarning: If the first choices took so long that all of them take more than a minute.
    """
    began: list[float] = []
    with progress("testing", resamples, enabled=show_progress) as show:

        def advance(done: int) -> None:
            if done == 0:
                began[:] = [clock()]
            elif began:
                left = (clock() - began.pop()) / done * (resamples - done)
                if left > LONG:
                    warnings.warn(_said(hypotheses, queries, resamples, left), RetrievalWarning, stacklevel=2)
            show(min(done, resamples))

        yield advance


def _said(hypotheses: int, queries: int, resamples: int, seconds: float) -> str:
    return (
        f"testing {numbers.count(hypotheses, 'difference')} on {numbers.queries(queries)} with {resamples:,} choices "
        f"of signs takes about {numbers.count(round(seconds / 60) or 1, 'minute')} more; fewer systems"
        + in_python(
            ", metrics or resamples= take less, and show_progress=True shows how far it is", " or metrics take less"
        )
    )
