"""Evaluate judged runs: means, intervals, counts and values per query."""
