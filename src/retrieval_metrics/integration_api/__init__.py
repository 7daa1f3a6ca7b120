"""The interface for integrations, which import nothing else of the core but the top level and its types.

An integration converts the objects of its host into `rm.Retrieved`, calls the core, and returns the host's types. It
registers a `HostAdapter`, so the core and the other integrations accept the retrievers, documents and models of that
host too; `as_list_of` and `finite_score_or_none` check what comes from there. `EvaluationTask` evaluates a retriever
that a function of the integration asks; `Scorer` and `RowScorer` score what was retrieved where the host wants values
query by query.
`lazy_package` imports the names of an integration when they are first used. What only some need stands apart:
`async_support` (functions with an asynchronous form), `text` (tables and files), `pytest_support` (tests against saved
evaluations) and `batches` (data too large for one machine).
"""

from retrieval_metrics._internal.lazy import lazy_module

__getattr__, __dir__, __all__ = lazy_module(__name__)
