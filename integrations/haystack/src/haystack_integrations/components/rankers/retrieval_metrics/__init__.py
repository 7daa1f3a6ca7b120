"""Exact maximal marginal relevance as a ranker of Haystack.

from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker
"""

from haystack_integrations.components.rankers.retrieval_metrics.mmr_ranker import MMRRanker

__all__ = ["MMRRanker"]
