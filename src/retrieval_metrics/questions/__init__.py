"""Sets of questions: made with a model, checked, sampled and exchanged."""
