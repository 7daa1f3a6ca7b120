"""Evaluate the same data by the rules of several libraries."""
