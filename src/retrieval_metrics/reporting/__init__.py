"""Whole reports and figures of results."""
