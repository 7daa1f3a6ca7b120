"""Grades from people and models: pools to grade, labels, agreement, and estimates for all queries."""
