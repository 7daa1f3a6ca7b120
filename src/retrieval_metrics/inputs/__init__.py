"""The inputs of users: judgments, runs, queries, retrieved items and the sources of chunks."""
