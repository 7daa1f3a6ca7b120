"""The results of evaluations and comparisons, as plain records."""
