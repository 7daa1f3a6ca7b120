"""The metrics of retrieval-metrics as a provider of ir_measures, for it, PyTerrier and ir_datasets."""

from ir_measures_retrieval_metrics.provider import RetrievalMetricsProvider, put_first

__all__ = ["RetrievalMetricsProvider", "put_first"]
