"""Confidence intervals of means, tests between systems, and the differences that an evaluation set can detect.

Everything here works on plain arrays of per-query values and does not depend on metrics, runs or qrels.
`distributions` has the probabilities and quantiles that every comparison needs. For the rest scipy is imported where
it is called, because it takes longer to import than most evaluations take.
"""

from retrieval_metrics._internal.lazy import lazy_module

__getattr__, __dir__, __all__ = lazy_module(__name__)
