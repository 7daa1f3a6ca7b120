"""For integrations that print or write results themselves: format numbers, tables, pages and files as the core does.

A name is imported when it is first used: reading saved files needs what every kind of result needs.
"""

from retrieval_metrics._internal.lazy import lazy_module

__getattr__, __dir__, __all__ = lazy_module(__name__)
