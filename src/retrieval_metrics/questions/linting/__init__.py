"""What may be wrong with an evaluation set, one file per kind of evidence; no model is asked."""
