"""Read judgments and runs from TREC files: into memory, or again at every use."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.checks import argument, in_python, require
from retrieval_metrics.files.encodings import at_line
from retrieval_metrics.files.errors import errors_of
from retrieval_metrics.files.opening import opened
from retrieval_metrics.files.trec import QRELS, RUN, line_of_repeat, parts, ranks_and_scores
from retrieval_metrics.inputs.columns import warn_of_doubt
from retrieval_metrics.inputs.frames import first_repeat, regrouped, whole_queries
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import Run, StreamedRun
from retrieval_metrics.presentation.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.files.limits import Limits
    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.files.trec import Layout
    from retrieval_metrics.inputs.columns import Batch

DEFAULT_MEMORY = 2 * 1024**3
SHARE_OF_MEMORY = 4
"""By default a run takes at most a quarter of the machine's memory."""


def trec_qrels(source: Reader) -> Qrels:
    """Return the judgments of a TREC file.

    Raises:
        ValueError: If a line is wrong, or a document is judged twice for a query.
    """
    batch = regrouped(whole_queries(parts(source, QRELS)))
    if (row := first_repeat(batch)) is not None:
        _refuse_repeat(source, QRELS, batch, row)
    return Qrels.from_batch(batch)


def trec_run(given: Any, source: Reader, memory: int | None, *, show_progress: bool) -> Run:
    """Return the run of a TREC file, streamed if its columns take more memory than allowed.

    Args:
        given: The source as given by the user, which is opened again at every use of a streamed run.
        source: The opened source.
        memory: How many bytes the columns may take; None for a quarter of the machine's memory.
        show_progress: Show a progress bar.

    Raises:
        ValueError: If a line is wrong, a query has a document twice, or a run that is too large cannot be streamed.
    """
    memory = _budget() if memory is None else memory
    kept: list[Batch] = []
    index: dict[Any, tuple[int, int]] = {}
    documents = taken = 0
    torn: Any = None
    label = f"reading {os.path.basename(source.name)}"  # noqa: PTH119  (a name for messages, which need not be a path)
    was = source.fingerprint() if source.is_regular else ()
    warn_of_doubt(ranks_and_scores(source.beginning()), source.name)
    with progress(label, source.size, enabled=show_progress, in_bytes=True) as advance:
        for number, batch in enumerate(whole_queries(parts(source, RUN, advance if show_progress else None))):
            for at, query in enumerate(batch.queries):
                if index.setdefault(query, (number, at)) != (number, at) and torn is None:
                    torn = query
            if torn is None and (row := first_repeat(batch)) is not None:
                _refuse_repeat(source, RUN, batch, row)
            documents += len(batch.documents)
            taken += int(batch.documents.estimated_size()) + 8 * len(batch.documents)
            if taken <= memory:
                kept.append(batch)
            else:
                kept.clear()
                _refuse_streaming(source, torn, memory)
    if taken > memory:
        return StreamedRun(given, partial(_batches, given, source.limits, was), index, documents)
    if torn is None:
        return Run(kept)
    whole = regrouped(kept)
    if (row := first_repeat(whole)) is not None:
        _refuse_repeat(source, RUN, whole, row)
    return Run([whole])


def _batches(path: Any, limits: Limits, was: tuple[int, ...]) -> Iterator[Batch]:
    """Read a file again, and raise if it has changed."""
    require("polars", "reading a streamed run again")
    with opened(path, limits) as source, errors_of(source.name):
        if source.fingerprint() != was:
            _refuse_change(source.name)
        yield from whole_queries(parts(source, RUN))
        if source.fingerprint() != was:  # while it was read
            _refuse_change(source.name)


def _refuse_change(name: str) -> NoReturn:
    raise ValueError(
        f"{name} has changed since it was read; {in_python('read it again with read_run', 'run the command again')}"
    )


def _budget() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE_OF_MEMORY
    except (AttributeError, ValueError, OSError):  # some systems do not tell how much memory they have
        return DEFAULT_MEMORY


def _refuse_streaming(source: Reader, torn: Any, memory: int) -> None:
    too_much = f"{source.name} takes more than the {memory:,} bytes that {argument('memory')} allows, and "
    if torn is not None:
        raise ValueError(
            f"{too_much}the lines of query {torn!r} are not consecutive, so it cannot be streamed; allow more, or sort "
            "the file by query (sort -s -k 1,1)"
        )
    if not source.is_regular:
        raise ValueError(f"{too_much}only a regular file can be streamed; allow more, or save it to a file")


def _refuse_repeat(source: Reader, layout: Layout, batch: Batch, row: int) -> NoReturn:
    query = batch.query_of(row)
    number, line = line_of_repeat(source, layout, query, batch.documents[row])
    raise ValueError(
        f"{at_line(source.name, number, line)}: document {batch.documents[row]!r} appears twice for query {query!r}"
    )
