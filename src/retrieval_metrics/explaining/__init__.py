"""Explain the score of a query."""
