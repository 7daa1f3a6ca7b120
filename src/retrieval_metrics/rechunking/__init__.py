"""Judgments and matches from one chunking to another."""
