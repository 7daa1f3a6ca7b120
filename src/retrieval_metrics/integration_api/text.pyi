from retrieval_metrics._internal.atomic_write import save_text as save_text
from retrieval_metrics.evaluation.summary_wording import depth_notes as depth_notes
from retrieval_metrics.files.json_parsing import read_json as read_json
from retrieval_metrics.reports import numbers as numbers
from retrieval_metrics.reports import page as page
from retrieval_metrics.reports.tables import Table as Table
from retrieval_metrics.storage.load import format_saved as format_saved
from retrieval_metrics.storage.load import parse_saved as parse_saved
