"""Progress bars."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import python_or_cli_text, warn
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(label: str, total: int, *, enabled: bool, in_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if rich is installed, and yield the function that sets how much is done."""
    if not enabled or find_spec("rich") is None:
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  (an extra: imported where it is used)
    from rich.progress import (  # noqa: PLC0415  (as above)
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    done = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), done, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda so_far: bar.update(task, completed=so_far)


LONG = 60.0
"""Seconds of work from which on it is announced."""
SOON = 5.0
"""Seconds after which the rest is estimated; steps are not all alike, and less says little of them."""


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
    """Yield the function that is told how many steps are done; 0 begins anew after what had to be prepared."""
    began, said = clock(), False
    with progress(label, total, enabled=show_progress) as show:

        def advance(done: int) -> None:
            nonlocal began, said
            if done == 0:
                began = clock()
            elif not said and (taken := clock() - began) >= SOON and (left := taken / done * (total - done)) > LONG:
                said = True
                minutes = numbers.format_count(round(left / 60) or 1, "minute")
                shown = python_or_cli_text("; show_progress=True shows how far it is", "")
                warn(f"{activity} takes about {minutes} more; {remedy}{shown}")
            show(min(done, total))

        yield advance
