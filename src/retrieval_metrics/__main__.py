"""`python -m retrieval_metrics` is the command `retrieval-metrics`."""

from retrieval_metrics.command_line.main import script

script()
