"""Explain the scores of queries."""
