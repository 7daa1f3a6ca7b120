"""Which retrieved item satisfies which piece of the truth."""
