"""Reranking: maximal marginal relevance, and the diversity of its results."""
