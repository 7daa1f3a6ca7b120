"""A progress bar on stderr for anything that takes more than a moment."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from retrieval_metrics.checks import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(label: str, total: int, *, enabled: bool, in_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, and yield the function that sets how much is done.

    Args:
        label: The label of the bar.
        total: How much there is to do.
        enabled: Whether to show the bar; without it, rich is not needed.
        in_bytes: Whether the total is a number of bytes.

    Raises:
        ImportError: If `enabled` is set and rich is not installed.
    """
    if not enabled:
        yield lambda _: None
        return
    require("rich", "show_progress")
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
