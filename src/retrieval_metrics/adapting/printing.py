"""For integrations that print or write files of their own: numbers, tables, pages and results as the core does."""

from retrieval_metrics.journal import save_text
from retrieval_metrics.loading import read_again, written
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table

__all__ = [
    "Table",
    "numbers",
    "page",
    "read_again",
    "save_text",
    "written",
]
