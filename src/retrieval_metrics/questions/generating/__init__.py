"""Generate questions from a corpus with a model, and check them."""
