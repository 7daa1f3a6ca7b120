"""What users hold: judgments, runs, queries, files."""
