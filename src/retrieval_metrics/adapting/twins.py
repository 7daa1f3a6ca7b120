"""For integrations with functions that ask a retriever: their synchronous and asynchronous ways, written once."""

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.retrieving.event_loop import run_until_complete
from retrieval_metrics.retrieving.retrieve import WORKERS
from retrieval_metrics.signatures import arguments_of, passed_on

__all__ = [
    "WORKERS",
    "arguments_of",
    "passed_on",
    "positive_integer",
    "run_until_complete",
]
