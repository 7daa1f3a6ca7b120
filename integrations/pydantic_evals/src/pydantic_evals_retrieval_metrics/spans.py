"""Read retrieved documents from the spans of a task."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from pydantic_evals.lifecycle import CaseLifecycle

from retrieval_metrics import RetrievalWarning, Retrieved
from retrieval_metrics.adapting import CallsTaken, check_calls, items_in, items_of_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_evals import Case
    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.otel import SpanTree

    from retrieval_metrics.adapting import DocumentId

SPANS = "spans:"
KEPT = "retrieved"


def check_spans(path: str) -> str:
    """Return a path `spans:<name of the spans>:<attribute>` if it is one.

    Raises:
        ValueError: If it is not.
    """
    if not all(path.removeprefix(SPANS).rpartition(":")):
        raise ValueError(
            f"a path into spans must be 'spans:<name of the spans>:<attribute>', as 'spans:retrieve:document_ids', got "
            f"{path!r}"
        )
    return path


def items_in_spans(tree: SpanTree, path: str, calls: CallsTaken) -> list[Retrieved | DocumentId]:
    """Return an attribute of the spans with a name: a sequence of ids, or the JSON of ids or documents.

    Raises:
        ValueError: If no span has that name, or one has no such attribute.
        TypeError: If the attribute is not a list of documents.
    """
    name, _, attribute = path.removeprefix(SPANS).rpartition(":")
    spans = sorted((span for span in tree if span.name == name), key=lambda span: span.start_timestamp)
    if not spans:
        there = ", ".join(dict.fromkeys(repr(span.name) for span in tree)) or "none"
        raise ValueError(f"the task left no span {name!r}; it left {there}")
    found: list[list[Retrieved | DocumentId]] = []
    for span in spans:
        if attribute not in span.attributes:
            has = ", ".join(map(repr, span.attributes)) or "none"
            if span.status == "error":  # a failed call has found nothing
                found.append([])
                continue
            raise ValueError(f"span {name!r} has no attribute {attribute!r}; it has {has}")
        value = span.attributes[attribute]
        read = json.loads(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
        found.append(items_in(read, f"{attribute} of span {name!r}"))
    return items_of_calls(found, calls)


def keep_spans(retrieved: str, *, calls: CallsTaken = "union") -> Callable[[Case[Any, Any, Any]], CaseLifecycle]:
    """Return a lifecycle for `Dataset.evaluate(task, lifecycle=...)` that keeps documents from spans in the report.

    A report has no spans. This stores the retrieved documents as the attribute `retrieved` of each case, for
    `RetrievalReport(retrieved="attributes.retrieved")` and `to_evaluation`.

    Args:
        retrieved: `"spans:<name of the spans>:<attribute>"`, as in `RetrievalMetrics`.
        calls: Which calls count, as there.

    Raises:
        ValueError: If the path or the choice of calls is wrong.

    Warns:
        RetrievalWarning: (for a case) If the spans do not hold it; the case then scores 0.
    """
    if not isinstance(retrieved, str) or not retrieved.startswith(SPANS):
        raise ValueError(f"keep_spans needs a path into spans, as in 'spans:retrieve:document_ids', got {retrieved!r}")
    path, chosen = check_spans(retrieved), check_calls(calls)
    return lambda case: _KeepsSpans(case, path, chosen)


class _KeepsSpans(CaseLifecycle):
    def __init__(self, case: Case[Any, Any, Any], path: str, calls: CallsTaken) -> None:
        super().__init__(case)
        self._path = path
        self._calls = calls

    async def prepare_context(self, ctx: EvaluatorContext) -> EvaluatorContext:
        try:
            found = items_in_spans(ctx.span_tree, self._path, self._calls)
        except (TypeError, ValueError) as error:  # an exception here would make the task of the case fail
            warnings.warn(f"case {ctx.name!r}: {error}; it scores 0", RetrievalWarning, stacklevel=2)
        else:
            ctx.attributes[KEPT] = [_plain(item) for item in found]  # the hook exists for adding attributes
        return ctx


def _plain(item: Retrieved | DocumentId) -> Any:
    """Return an item as JSON holds it."""
    if not isinstance(item, Retrieved):
        return item
    return {"id": item.id, "text": item.text, "metadata": dict(item.metadata or {})}
