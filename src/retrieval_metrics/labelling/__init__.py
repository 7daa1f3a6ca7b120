"""Grades from people and models: what to grade, who graded what, and estimates for all queries."""
