"""What users bring: judgments, runs, queries, retrieved items and the sources of chunks."""
