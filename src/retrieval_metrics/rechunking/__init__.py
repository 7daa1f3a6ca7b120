"""Transfer judgments from one chunking to another, and inspect matches."""
