"""Models: anything that turns a prompt into a reply."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.documents import host_of
from retrieval_metrics.retrieving.ways import way_for_caller

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = "schema"
"""The argument by which a model takes the JSON schema of its reply."""
NAMES = ("model_name", "model", "model_id", "name")
"""The attributes in which models of frameworks have the name of the model they call."""


def how_to_prompt(model: Any) -> Callable[[str], Any]:
    """Return the function to call with a prompt, synchronous or not.

    Args:
        model: A function from a prompt to a reply, or a model of an installed host.

    Raises:
        TypeError: If it is not a model.
        ImportError: If it belongs to a host whose integration is not installed.
    """
    host = host_of(model)
    if host is not None:
        prompt = None if host.model is None else host.model(model)
        if prompt is not None:
            return way_for_caller(prompt)
    if callable(model) and not isinstance(model, type):
        asked: Callable[[str], Any] = model
        return asked
    raise TypeError(
        "a model must be a function of a prompt that returns its reply, synchronous or not, or a model of an installed "
        f"host, got {model!r}"
    )


def takes_schema(prompt: Callable[..., Any]) -> bool:
    """Return whether a function to call with a prompt can be asked for a reply of a JSON schema."""
    try:
        return SCHEMA in inspect.signature(prompt).parameters
    except (TypeError, ValueError):  # of a function without a signature
        return False


def name_of(model: Any) -> str | None:
    """Return the name of a model, or None if it has none; a function has none, because it may call any model."""
    for name in NAMES:
        if isinstance(said := getattr(model, name, None), str) and said.strip():
            return said
    return None
