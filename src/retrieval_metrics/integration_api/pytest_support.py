"""For integrations that keep evaluations in files and test new ones against them."""

from retrieval_metrics.evaluation.data_warnings import doubts_of
from retrieval_metrics.evaluation.summary import ceiling, refuse_bound
from retrieval_metrics.files.saved_format import questions_fingerprint
from retrieval_metrics.matching.judge import with_documents
from retrieval_metrics.statistics.paired import fewest_units

__all__ = [
    "ceiling",
    "doubts_of",
    "fewest_units",
    "questions_fingerprint",
    "refuse_bound",
    "with_documents",
]
