"""Evaluation sets: the questions with their judgments, checked before anybody believes a number."""
