"""`python -m retrieval_metrics` is the command `retrieval-metrics`."""

from retrieval_metrics.cli.main import script

script()
