"""The command `retrieval-metrics`."""
