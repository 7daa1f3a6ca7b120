"""Evaluate runs, and slice, explain and merge the results."""
