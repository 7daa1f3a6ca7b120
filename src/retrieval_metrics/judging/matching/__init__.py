"""Which retrieved text, place or property satisfies which piece of the truth."""
