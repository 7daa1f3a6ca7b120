"""For integrations that keep evaluations in files and test new ones against them."""

from retrieval_metrics.judging.judge import with_documents
from retrieval_metrics.keeping.document import questions_fingerprint
from retrieval_metrics.results.doubts import doubts_of
from retrieval_metrics.results.summary import ceiling, refuse_bound
from retrieval_metrics.statistics.paired import fewest_units

__all__ = [
    "ceiling",
    "doubts_of",
    "fewest_units",
    "questions_fingerprint",
    "refuse_bound",
    "with_documents",
]
