"""For integrations that print or write files of their own: numbers, tables and pages as the core makes them."""

from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.saving import save_text

__all__ = [
    "Table",
    "numbers",
    "page",
    "save_text",
]
