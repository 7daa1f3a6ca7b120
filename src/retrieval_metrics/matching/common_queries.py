"""Check that a run and judgments belong together: the run is a run, and they have queries in common."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels

# How many queries of either side an error lists.
MAX_LISTED_QUERIES = 3


def count_common_queries(run: RunMapping, qrels: Qrels) -> int:
    """Count the judged queries of the run, and raise if the run cannot belong to these judgments."""
    if not isinstance(run, Mapping):
        # Imported here because only an error needs it.
        from retrieval_metrics.inputs.input_hints import refuse_frame, wrong_argument_hint

        refuse_frame(run, "rankings", "Run.from_frame(frame)")
        raise TypeError(
            f"a run must map each query ID to its ranking, got {type(run).__name__}{wrong_argument_hint(run, 'run')}"
        )
    if hasattr(run, "interleaved"):  # Trajectories, a class of a folder that this one may not import
        raise TypeError("trajectories are not a run yet; evaluate a view of them, such as trajectories.union()")
    if isinstance(run, SearchHistory):
        run.require_judged_rows(frozenset(qrels.queries))
    if not run:
        raise ValueError("the run is empty; write a query without retrieved documents as {query: []}")
    run_type = common_id_type(set(map(type, run)), "query IDs in the run")
    require_same_id_type(qrels.query_kind, "query IDs in the qrels", run_type, "those in the run")
    n_common = sum(map(run.__contains__, qrels.queries))
    if not n_common:
        raise ValueError(
            f"the run and the qrels have no query in common: the run begins with {_format_first(run)}, the qrels with "
            f"{_format_first(qrels.queries)}; {_advise_on_order(run, qrels)}"
        )
    return n_common


def _advise_on_order(run: RunMapping, qrels: Qrels) -> str:
    """Return which order of arguments or of columns is right."""
    judged_documents = {document for document in qrels.documents if isinstance(document, (str, int))}
    queries_as_documents = judged_documents.intersection(run)
    if not queries_as_documents:
        return "evaluate(qrels, run) takes the judgments first"
    query = min(queries_as_documents, key=str)
    return (
        f"the qrels judge {query!r}, a query of the run, as a document: exchange the columns of the qrels, or "
        "their names in a table"
    )


def _format_first(queries: Iterable[QueryId]) -> str:
    first_queries = list(map(repr, islice(queries, MAX_LISTED_QUERIES)))
    noun = "query" if len(first_queries) == 1 else "queries"
    return f"{noun} {', '.join(first_queries)}"
