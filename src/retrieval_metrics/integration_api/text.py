"""For integrations that print or write results themselves: format numbers, tables, pages and files as the core does."""

from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.files.json_parsing import read_json
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.storage.load import format_saved, parse_saved

__all__ = [
    "Table",
    "format_saved",
    "numbers",
    "page",
    "parse_saved",
    "read_json",
    "save_text",
]
