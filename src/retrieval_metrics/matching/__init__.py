"""Which retrieved items satisfy which judgments."""
