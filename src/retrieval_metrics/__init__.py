"""The retrieval metrics of the field, defined once: exact, fast, and the same everywhere."""
