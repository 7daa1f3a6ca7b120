"""Show progress bars, and announce work that takes long."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval_metrics._internal.warn import warn
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(label: str, total: int, *, enabled: bool, in_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if rich is installed, and yield the function that sets how much is done."""
    if not enabled or not _has_rich():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    done_column = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), done_column, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


# Work that takes longer than this is announced.
ANNOUNCED_SECONDS = 60.0

# Steps are not all alike, and less time than this says little of them.
MIN_SECONDS_FOR_ESTIMATE = 5.0


@contextmanager
def track_steps(
    label: str,
    total: int,
    activity: str,
    remedy: str,
    *,
    show_progress: bool,
    clock: Callable[[], float] = perf_counter,
) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of steps done; 0 restarts the clock, after preparations."""
    start = clock()
    is_announced = False
    with progress(label, total, enabled=show_progress) as show:

        def advance(done: int) -> None:
            nonlocal start, is_announced
            if done == 0:
                start = clock()
            elif not is_announced:
                elapsed = clock() - start
                remaining = elapsed / done * (total - done)
                if elapsed >= MIN_SECONDS_FOR_ESTIMATE and remaining > ANNOUNCED_SECONDS:
                    is_announced = True
                    minutes = numbers.format_count(round(remaining / 60) or 1, "more minute")
                    warn(f"{activity} takes about {minutes}; {remedy}; show_progress=True shows the progress")
            show(min(done, total))

        yield advance


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None
