"""Retrieval quality as a test: the fixture `retrieval_check`, which pytest finds by itself.

For annotations there are `RetrievalCheck`, what the fixture is, and `Checked`, what it returns.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_retrieval_metrics.checking import Checked, RetrievalCheck

__all__ = ["Checked", "RetrievalCheck"]


if not TYPE_CHECKING:  # a type checker knows the names from above, and finds those that are wrong

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pytest_retrieval_metrics import checking  # noqa: PLC0415  (numpy only where it is used)

        return getattr(checking, name)


def __dir__() -> list[str]:
    return __all__
