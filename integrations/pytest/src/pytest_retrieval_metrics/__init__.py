"""Test retrieval quality with the fixture `retrieval_check`, which pytest finds by itself.

For annotations there are `RetrievalCheck`, the type of the fixture, and `Checked`, the type of its result.
"""

from retrieval_metrics.adapting import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
