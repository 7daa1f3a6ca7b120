"""How a metric changed over time."""
