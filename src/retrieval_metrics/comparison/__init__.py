"""Compare systems, settings or rule sets: which is better, how certain this is, and what would decide it."""
