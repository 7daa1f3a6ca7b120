"""The version, from what is installed: the one source for all distributions is their pyproject."""

from importlib.metadata import version

__version__ = version("retrieval-metrics")
