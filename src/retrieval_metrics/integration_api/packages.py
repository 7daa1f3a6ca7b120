"""Make the names of an integration available, with a hint at what an unknown one means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["lazy_package"]


def lazy_package(owner: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of an integration, whose names are listed in its stub.

    A name is imported when it is first used. The error about an unknown name says what it means if it is that of a
    metric, in any spelling, or of MMR.

    Args:
        owner: The name of the package.
    """

    def suggest(name: str) -> str:
        # Imported here because few programs use an unknown name.
        from retrieval_metrics.metrics.metric_names import suggest_own_name

        return suggest_own_name(name, public_names)

    get_name, list_names, public_names = lazy_module(owner, suggest)
    return get_name, list_names, public_names
