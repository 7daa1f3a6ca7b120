"""Evaluation sets: questions with their judgments, and checks of both."""
