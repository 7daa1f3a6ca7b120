"""For integrations that keep evaluations in files and test new ones against them."""

from retrieval_metrics.judging.judge import with_documents
from retrieval_metrics.keeping.document import questions_fingerprint
from retrieval_metrics.results.doubts import refuse_undecidable

__all__ = [
    "questions_fingerprint",
    "refuse_undecidable",
    "with_documents",
]
