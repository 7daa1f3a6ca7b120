"""Read retrieved documents from the spans of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_evals.lifecycle import CaseLifecycle

from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import RowPaths, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_evals import Case
    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.otel import SpanNode

    from retrieval_metrics.types import CallsView, DocumentId, MergedRanking

# The fields of a case in which the path of its judgments may begin.
JUDGMENT_FIELDS = ("inputs", "metadata", "expected_output")

# The fields of a case in which the path of the retrieved documents may begin.
RETRIEVED_FIELDS = ("output", "attributes", *JUDGMENT_FIELDS)

# The beginning of a path into spans.
SPANS_PREFIX = "spans:"

# The attribute of a case in which `keep_spans` stores the retrieved documents.
KEPT_ATTRIBUTE = "retrieved"

# The default path of the judgments.
RELEVANT_PATH = "expected_output"


def keep_spans(
    retrieved: str, *, calls: CallsView = "interleaved", citations: str | None = None
) -> Callable[[Case[Any, Any, Any]], CaseLifecycle]:
    """Return a lifecycle for `Dataset.evaluate(task, lifecycle=...)` that keeps documents from spans in the report.

    A report has no spans. This stores the retrieved documents as the attribute `retrieved` of each case, for
    `RetrievalReport(retrieved="attributes.retrieved")` and `to_evaluation`.

    Args:
        retrieved: `"spans:<name of the spans>:<attribute>"`, as in `RetrievalMetrics`.
        calls: Which calls count, as there.
        citations: For `calls="cited"`, where the ids are that the answer cites, as there.

    Raises:
        ValueError: If the path or the choice of calls is wrong.

    Warns:
        RetrievalWarning: (for a case) If the spans do not hold it; the case then cannot be judged.
    """
    if not isinstance(retrieved, str) or not retrieved.startswith(SPANS_PREFIX):
        raise ValueError(f"keep_spans needs a path into spans, as in 'spans:retrieve:document_ids', got {retrieved!r}")
    paths = make_row_paths(RELEVANT_PATH, retrieved, calls, citations)
    return lambda case: _SpanKeeper(case, paths)


class _SpanKeeper(CaseLifecycle):
    """Stores the documents in the spans of a case as an attribute, before evaluators run."""

    def __init__(self, case: Case[Any, Any, Any], paths: RowPaths) -> None:
        super().__init__(case)
        self._paths = paths

    async def prepare_context(self, ctx: EvaluatorContext) -> EvaluatorContext:
        try:
            merged = read_span_ranking(ctx, self._paths)
        except (TypeError, ValueError) as error:
            # An exception here would make the task of the case fail.
            warn(f"case {ctx.name!r} cannot be judged: {error}", host="pydantic_evals")
        else:
            # The hook exists for adding attributes.
            ctx.attributes[KEPT_ATTRIBUTE] = [_item_as_json(item) for item in merged.ranking]
        return ctx


def _item_as_json(item: Retrieved | DocumentId) -> Any:
    """Return an item as JSON holds it, with the keys under which it is read again."""
    if not isinstance(item, Retrieved):
        return item
    fields = {"id": item.id, "text": item.text, "metadata": dict(item.metadata or {})}
    if item.source is not None:
        fields["source"] = item.source
    if item.start is not None:
        fields["start_char_idx"] = item.start
    return fields


def make_row_paths(
    relevant: str, retrieved: str, calls: CallsView, citations: str | None, exclude: str | None = None
) -> RowPaths:
    """Return the paths of judgments and retrieved documents, of which the second may lead into spans."""
    is_traced = isinstance(retrieved, str) and retrieved.startswith(SPANS_PREFIX)
    if is_traced and not all(retrieved.removeprefix(SPANS_PREFIX).rpartition(":")):
        raise ValueError(
            f"a path into spans must be 'spans:<name of the spans>:<attribute>', as 'spans:retrieve:document_ids', got "
            f"{retrieved!r}"
        )
    paths = RowPaths(relevant, retrieved, calls, citations, exclude)
    return paths.checked(JUDGMENT_FIELDS, RETRIEVED_FIELDS, traced=is_traced)


def read_span_ranking(ctx: EvaluatorContext, paths: RowPaths) -> MergedRanking:
    """Return the documents in an attribute of the spans with a name: a sequence of ids, or the JSON of documents."""
    # A failed span has retrieved nothing, even if its attribute has a value: a tool that is tried again leaves the
    # message of its error there.
    name, _, attribute = paths.retrieved.removeprefix(SPANS_PREFIX).rpartition(":")
    tree = ctx.span_tree
    searches = [span for span in tree if span.name == name]
    if not searches:
        present = ", ".join(dict.fromkeys(repr(span.name) for span in tree)) or "none"
        raise ValueError(f"the task left no span {name!r}; it left {present}")
    for span in searches:
        if attribute not in span.attributes and span.status != "error":
            present = ", ".join(map(repr, span.attributes)) or "none"
            raise ValueError(f"span {name!r} has no attribute {attribute!r}; it has {present}")
    spans = []
    for span in tree:
        span_as_dict = _span_as_dict(span)
        if span.name == name:
            span_as_dict["output"] = span.attributes.get(attribute)
        spans.append(span_as_dict)
    return paths.read_trace(ctx, spans, list(map(_span_id, searches)), f"{attribute} of span {name!r}")


def _span_id(span: SpanNode) -> str:
    return _format_span_id(span.span_id)


def _format_span_id(number: int) -> str:
    return f"{number:016x}"


def _span_as_dict(span: SpanNode) -> dict[str, Any]:
    """Return a span as the core reads it."""
    return {
        "trace": "the task",
        "span": _span_id(span),
        "parent": None if span.parent_span_id is None else _format_span_id(span.parent_span_id),
        "name": span.name,
        "start": span.start_timestamp,
        "end": span.end_timestamp,
        "status": {"status_code": span.status.upper()},
        "attributes": span.attributes,
    }
