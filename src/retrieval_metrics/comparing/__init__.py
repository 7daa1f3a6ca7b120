"""Compare systems: which is better, and how certain this is."""
