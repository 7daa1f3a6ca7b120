"""Test retrieval quality with the fixture `retrieval_check`, which pytest finds by itself.

For annotations there are `RetrievalCheck`, the type of the fixture, and `CheckResult`, the type of its result.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_retrieval_metrics.checking import CheckResult, RetrievalCheck

__all__ = ["CheckResult", "RetrievalCheck"]


if not TYPE_CHECKING:  # type checkers take the names from the imports above, and report wrong ones

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pytest_retrieval_metrics import checking

        return getattr(checking, name)


def __dir__() -> list[str]:
    return __all__
