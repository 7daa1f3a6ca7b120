"""The checks of an evaluation set, one module per kind of evidence, without a model."""
