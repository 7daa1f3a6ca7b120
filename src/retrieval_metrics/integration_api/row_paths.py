"""For integrations that score the rows of a host one at a time: read judgments and documents at paths of a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from retrieval_metrics.inputs.host_documents import convert_to_items
from retrieval_metrics.traces.merged_searches import VIEW_FIELDS, CallsView
from retrieval_metrics.traces.read_traces import read_trace_ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.host_documents import Items
    from retrieval_metrics.inputs.retrieved_run import MergedRanking

__all__ = ["RowPaths"]


@dataclass(frozen=True)
class RowPaths:
    """The paths at which the rows of a host have their judgments and the retrieved documents.

    A path such as `outputs.documents` names keys of mappings and attributes of objects.

    Attributes:
        relevant: The path of the judgments.
        retrieved: The path of the retrieved documents, or the name by which a host refers to the spans of a trace.
        calls: How the searches of a trace become one ranking.
        citations: The path of what the answer cites, for `calls="cited"`.
        exclude: The path of the ids of documents to leave out of the ranking; None leaves out none.

    Example:
        >>> paths = RowPaths("expected", "outputs.documents").checked(["expected"], ["outputs"])
        >>> row = {"expected": ["d1"], "outputs": {"answer": "yes", "documents": ["d7", "d1"]}}
        >>> paths.judgments(row), paths.items(row)
        (['d1'], ['d7', 'd1'])
    """

    relevant: str
    retrieved: str
    calls: CallsView = "interleaved"
    citations: str | None = None
    exclude: str | None = None

    def checked(
        self,
        judgment_fields: Sequence[str],
        retrieved_fields: Sequence[str],
        *,
        traces: Sequence[str] = (),
        traced: bool = False,
    ) -> RowPaths:
        """Return the paths unchanged if rows can have them.

        Args:
            judgment_fields: The fields with which the paths of the judgments and of the ids to leave out may begin.
            retrieved_fields: The fields with which the paths of the retrieved documents and of the citations may begin.
            traces: The names for a trace with which the path of the retrieved documents may begin, too.
            traced: Whether the retrieved documents are in a trace, so that the calls of a row are known.

        Raises:
            ValueError: If a path begins with another field, or `calls` is unknown or needs a trace or citations that
                are missing.
        """
        _require_field(self.relevant, "relevant", judgment_fields)
        if self.exclude is not None:
            _require_field(self.exclude, "exclude", judgment_fields, "query_id")
        if traces or not traced:
            _require_field(self.retrieved, "retrieved", (*retrieved_fields, *traces))
        if self.calls not in get_args(CallsView):
            raise ValueError(f"calls must be one of {', '.join(map(repr, get_args(CallsView)))}, got {self.calls!r}")
        if not traced:
            self._require_no_trace()
        if (self.calls == "cited") != (self.citations is not None):
            raise ValueError(
                "calls='cited' and citations=, the path of what the answer cites, need each other; got "
                f"calls={self.calls!r} and citations={self.citations!r}"
            )
        if self.citations is not None:
            _require_field(self.citations, "citations", retrieved_fields)
        return self

    def _require_no_trace(self) -> None:
        if self.calls in VIEW_FIELDS:
            raise ValueError(f"calls={self.calls!r} needs the spans of a model, so retrieved= must name spans")

    def judgments(self, row: object) -> Any:
        """Return the judgments of a row.

        Raises:
            ValueError: If there is nothing at the path; the message lists what the row has there.
        """
        return _read_path(row, self.relevant)

    def excluded_ids(self, row: object) -> Collection[DocumentId]:
        """Return the ids of documents to leave out of the ranking of a row: one id, or several.

        Raises:
            ValueError: If there is nothing at the path.
            TypeError: If the value at the path is no id and no list of ids.
        """
        if self.exclude is None:
            return ()
        excluded: Any = _read_path(row, self.exclude)
        if isinstance(excluded, (str, int)):
            return [excluded]
        if isinstance(excluded, Mapping) or not isinstance(excluded, Collection):
            raise TypeError(
                f"{self.exclude} must be the ID of a document to leave out, or a list of IDs, got {excluded!r}; write "
                "[] to leave out none"
            )
        return list(excluded)

    def items(self, row: object, path: str | None = None) -> Items:
        """Return the documents retrieved for a row that has no trace, best first.

        Args:
            row: The row.
            path: The path of the documents; None for `retrieved`.

        Raises:
            ValueError: If there is nothing at the path, or the calls of a trace are needed.
            TypeError: If the value at the path is not a list of documents.
        """
        self._require_no_trace()
        path = self.retrieved if path is None else path
        return convert_to_items(_read_path(row, path), path)

    def read_trace(
        self, row: object, spans: Iterable[Mapping[str, Any]], searches: Collection[str], where: str = "the span"
    ) -> MergedRanking:
        """Read what was retrieved in the trace of a row.

        Args:
            row: The row, which has the citations.
            spans: The spans of its trace as plain dicts, as in `read_traces`.
            searches: The ids of the spans that count as searches; if empty, the outermost retrievers do.
            where: The name for the place of the documents of a search, for messages.

        Raises:
            ValueError: If the trace contradicts itself, or lacks a fact that `calls` needs.
            TypeError: If a search found something other than a list of documents.
        """
        cited = None
        if self.citations is not None:
            cited = convert_to_items(_read_path(row, self.citations), self.citations)
        return read_trace_ranking(spans, self.calls, searches, cited, where)


def _require_field(path: str, option: str, fields: Sequence[str], example: str = "documents") -> None:
    if not isinstance(path, str) or path.partition(".")[0] not in fields:
        raise ValueError(f"{option} must begin with {', '.join(fields)}, as in '{fields[0]}.{example}', got {path!r}")


def _read_path(row: Any, path: str) -> Any:
    """Return the value at a path in a row: keys of mappings and attributes of objects, separated by dots."""
    value = row
    location = ""
    for key in path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif not isinstance(value, Mapping) and hasattr(value, key):
            value = getattr(value, key)
        else:
            present = ", ".join(map(repr, value)) if isinstance(value, Mapping) else type(value).__name__
            raise ValueError(
                f"{location or 'the row'} has no {key!r}, which the path {path!r} needs; it has {present or 'nothing'}"
            )
        location = f"{location}.{key}" if location else key
    return value
