"""Reranking: maximal marginal relevance, and the diversity it is meant to buy."""
