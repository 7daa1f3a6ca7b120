"""Questions made of a corpus by a model: written, verified, checked and counted."""
