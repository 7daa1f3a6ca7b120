"""The types that annotations and `isinstance` name: what is returned, and the shapes of what is accepted."""

from retrieval_metrics._internal.lazy import lazy_module

__getattr__, __dir__, __all__ = lazy_module(__name__)
