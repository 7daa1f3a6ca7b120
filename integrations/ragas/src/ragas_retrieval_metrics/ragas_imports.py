"""Import what this package needs of ragas; if that fails, the error says which command repairs it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

INSTALL = "pip install ragas-retrieval-metrics"
REPAIR = "pip install 'ragas>=0.4.3,<0.5' 'langchain-community>=0.4,<0.4.2'"


def format_import_error(error: ImportError) -> str:
    """Return what to do if ragas cannot be imported."""
    if error.name == "ragas":
        return f"ragas_retrieval_metrics needs ragas, which is not installed: {INSTALL}"
    installed = ", ".join(f"{name} {_installed_version(name)}" for name in ("ragas", "langchain-community"))
    return (
        f"ragas is installed but cannot be imported ({error}). Here are {installed}; ragas 0.4.3 needs a module that "
        f"langchain-community 0.4.2 removed. This pair works: {REPAIR}"
    )


def _installed_version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(not installed)"


try:
    from langchain_core.callbacks import BaseCallbackHandler
    from ragas.dataset import DataTable
    from ragas.dataset_schema import EvaluationDataset, EvaluationResult, SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
    from ragas.metrics.collections.base import BaseMetric
    from ragas.metrics.result import MetricResult
except ImportError as error:
    raise ImportError(format_import_error(error), name=error.name) from error


__all__ = [
    "BaseCallbackHandler",
    "BaseMetric",
    "DataTable",
    "EvaluationDataset",
    "EvaluationResult",
    "MetricResult",
    "MetricType",
    "SingleTurnMetric",
    "SingleTurnSample",
]
