"""For integrations that print or write files of their own: numbers, tables and pages as the core makes them."""

from retrieval_metrics.presentation import numbers, page, tables
from retrieval_metrics.saving import save_text

__all__ = [
    "numbers",
    "page",
    "save_text",
    "tables",
]
