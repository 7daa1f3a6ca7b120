"""For integrations that offer a function both synchronously and asynchronously, with one implementation."""

from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.retrieval.event_loop import run_until_complete
from retrieval_metrics.retrieval.retrieve import WORKERS

__all__ = [
    "WORKERS",
    "forward_arguments",
    "positive_integer",
    "run_until_complete",
    "takes_arguments_of",
]
