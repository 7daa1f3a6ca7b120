"""The format of saved results: what can be written to a file, read back, and recognised as the same."""
