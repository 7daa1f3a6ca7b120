"""Match the texts, positions and metadata of retrieved items with the judgments."""
