"""Match retrieved texts, positions and metadata with the judgments."""
