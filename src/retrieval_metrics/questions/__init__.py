"""Evaluation sets: questions with their judgments, read, checked, split and generated."""
