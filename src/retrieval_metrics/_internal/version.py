"""The version of the installed distribution; its only source is pyproject.toml."""

from importlib.metadata import version

__version__ = version("retrieval-metrics")
