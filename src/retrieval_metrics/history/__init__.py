"""Metrics over time."""
