"""Grades from people and models: what is worth grading, who graded what, and what follows for all queries."""
