"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and does not depend on metrics, runs or qrels.
scipy does the statistics. It is imported where it is called, so that importing the package does not load it.
"""

from retrieval_metrics._internal.lazy import lazy_module

__getattr__, __dir__, __all__ = lazy_module(__name__)
