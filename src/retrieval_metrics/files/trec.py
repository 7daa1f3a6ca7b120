"""Read TREC qrels and runs: with polars or without, and a large run again at every use."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.encodings import format_line_location, name_file_in_errors
from retrieval_metrics.files.formats import blank_system_description
from retrieval_metrics.files.opening import open_source
from retrieval_metrics.files.trec_lines import (
    COMMENT_PATTERN,
    QRELS_LAYOUT,
    RUN_LAYOUT,
    find_repeated_lines,
    iterate_pieces,
    iterate_rows,
    read_lines,
    refuse_empty,
)
from retrieval_metrics.inputs.batch import drop_repeated_rows, find_first_duplicate, regroup_by_query, split_by_query
from retrieval_metrics.inputs.grade_checks import describe_repeated_judgment
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import QueryPosition, Run, StreamedRun
from retrieval_metrics.inputs.score_checks import warn_about_score_direction
from retrieval_metrics.reports.progress import progress

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from retrieval_metrics.files.opening import Limits, Reader
    from retrieval_metrics.files.trec_lines import TrecLayout
    from retrieval_metrics.inputs.batch import Batch


# By default a run takes at most a quarter of the machine's memory, or this many bytes if that is unknown.
MEMORY_DIVISOR = 4
DEFAULT_MEMORY = 2 * 1024**3
# The bytes of a score in memory.
SCORE_BYTES = 8


def read_trec_qrels(source: Reader, allow: Collection[str] = ()) -> Qrels:
    """Return the judgments of a TREC file; `allow="repeated"` accepts the same judgment twice."""
    if not has_polars():
        return Qrels(_read_by_query(source, QRELS_LAYOUT, allow))
    batch = regroup_by_query(split_by_query(iterate_rows(source, QRELS_LAYOUT)))
    if "repeated" in allow:
        batch = drop_repeated_rows(batch)
    _require_no_duplicates(source, QRELS_LAYOUT, batch)
    return Qrels.from_batch(batch)


def read_trec_run(path: Any, source: Reader, memory: int | None, *, show_progress: bool) -> Run | RetrievedRun:
    """Return the run of a TREC file, streamed if its columns take more memory than allowed."""
    if memory is None and not has_polars():
        warn_about_score_direction(iterate_ranks_and_scores(source.beginning()), source.name)
        return RetrievedRun(_read_by_query(source, RUN_LAYOUT))
    import_optional("polars", "a run that is read within a limit of memory")
    max_bytes = _default_memory() if memory is None else memory
    fingerprint = source.fingerprint() if source.is_regular else ()
    warn_about_score_direction(iterate_ranks_and_scores(source.beginning()), source.name)
    content = _RunContent(source, max_bytes)
    label = f"reading {os.path.basename(source.name)}"
    with progress(label, source.size, enabled=show_progress, in_bytes=True) as advance:
        rows = iterate_rows(source, RUN_LAYOUT, advance if show_progress else None)
        for batch in split_by_query(rows):
            content.add(batch)
    if content.is_too_large:
        read_again = partial(_read_batches_again, path, source.limits, fingerprint)
        return StreamedRun(path, read_again, content.index, content.n_documents)
    if content.split_query is None:
        return Run(content.batches)
    batch = regroup_by_query(content.batches)
    _require_no_duplicates(source, RUN_LAYOUT, batch)
    return Run([batch])


class _RunContent:
    """The content of a run as far as it was read: its batches while they fit into memory, and an index of its queries.

    Attributes:
        batches: The batches; none if they are too large.
        index: The position of each query: its batch and its row there.
        n_documents: The number of documents.
        split_query: The first query whose lines are not consecutive; None if there is none.
    """

    def __init__(self, source: Reader, max_bytes: int) -> None:
        self.batches: list[Batch] = []
        self.index: dict[Any, QueryPosition] = {}
        self.n_documents = 0
        self.split_query: Any = None
        self._source = source
        self._max_bytes = max_bytes
        self._n_batches = 0
        self._n_bytes = 0

    @property
    def is_too_large(self) -> bool:
        """Whether the columns need more memory than allowed."""
        return self._n_bytes > self._max_bytes

    def add(self, batch: Batch) -> None:
        """Add the next batch."""
        for row, query in enumerate(batch.queries):
            position = QueryPosition(self._n_batches, row)
            if self.index.setdefault(query, position) != position and self.split_query is None:
                self.split_query = query
        self._n_batches += 1
        if self.split_query is None:
            _require_no_duplicates(self._source, RUN_LAYOUT, batch)
        self.n_documents += len(batch.documents)
        self._n_bytes += int(batch.documents.estimated_size()) + SCORE_BYTES * len(batch.documents)
        if self.is_too_large:
            self.batches.clear()
            self._require_streamable()
        else:
            self.batches.append(batch)

    def _require_streamable(self) -> None:
        problem = f"{self._source.name} takes more than the {self._max_bytes:,} bytes that memory= allows, and "
        if self.split_query is not None:
            raise ValueError(
                f"{problem}the lines of query {self.split_query!r} are not consecutive, so it cannot be streamed; "
                "allow more, or sort the file by query (sort -s -k 1,1)"
            )
        if not self._source.is_regular:
            raise ValueError(f"{problem}only a regular file can be streamed; allow more, or save it to a file")


def has_polars() -> bool:
    """Return whether polars is installed; without it, Python alone reads and writes TREC files."""
    if find_spec("polars") is None:
        return False
    import_optional("polars", "reading or writing a file")
    return True


def iterate_ranks_and_scores(beginning: bytes) -> Iterator[tuple[bytes, float, float]]:
    """Yield the query, the rank and the score of each readable line at the beginning of a run.

    The last line is left out, because it may be cut.
    """
    rank_column = RUN_LAYOUT.fields.index("rank")
    score_column = RUN_LAYOUT.fields.index("score")
    for line in COMMENT_PATTERN.sub(b"", blank_system_description(beginning)).split(b"\n")[:-1]:
        words = line.split()
        if len(words) == len(RUN_LAYOUT.fields):
            with suppress(ValueError):
                yield words[0], float(words[rank_column]), float(words[score_column])


def _read_by_query(source: Reader, layout: TrecLayout, allow: Collection[str] = ()) -> dict[Any, Any]:
    """Return the value of each document by query, read without polars."""
    values_by_query: dict[str, dict[str, float]] = {}
    first_line = 1
    for piece in iterate_pieces(source):
        for query, document, value in read_lines(piece, layout, source, first_line):
            values = values_by_query.setdefault(query, {})
            if document in values:
                is_allowed = layout is QRELS_LAYOUT and "repeated" in allow
                if is_allowed and values[document] == value:
                    continue
                _refuse_duplicate(source, layout, query, document)
            values[document] = value
        first_line += piece.count(b"\n")
    if not values_by_query:
        refuse_empty(source)
    return values_by_query


def _read_batches_again(path: Any, limits: Limits, fingerprint: tuple[int, ...]) -> Iterator[Batch]:
    """Read a file again, and raise if it has changed."""
    import_optional("polars", "reading a streamed run again")
    with open_source(path, limits) as source, name_file_in_errors(source.name):
        if source.fingerprint() != fingerprint:
            _refuse_changed_file(source.name)
        yield from split_by_query(iterate_rows(source, RUN_LAYOUT))
        if source.fingerprint() != fingerprint:  # while it was read
            _refuse_changed_file(source.name)


def _refuse_changed_file(name: str) -> NoReturn:
    raise ValueError(f"{name} has changed since it was read; read it again with read_run")


def _default_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEMORY_DIVISOR
    except (AttributeError, ValueError, OSError):  # some systems do not tell how much memory they have
        return DEFAULT_MEMORY


def _require_no_duplicates(source: Reader, layout: TrecLayout, batch: Batch) -> None:
    row = find_first_duplicate(batch)
    if row is not None:
        _refuse_duplicate(source, layout, batch.find_query(row), batch.documents[row])


def _refuse_duplicate(source: Reader, layout: TrecLayout, query: Any, document: Any) -> NoReturn:
    first, repeated = find_repeated_lines(source, layout, query, document)
    note = ""
    if layout is QRELS_LAYOUT:
        note = f"{describe_repeated_judgment(first.value, repeated.value)}; first in line {first.number}"
    raise ValueError(
        f"{format_line_location(source.name, repeated.number, repeated.text)}: document {document!r} appears twice for "
        f"query {query!r}{note}"
    )
