"""What the pyproject.toml of a distribution says, where it may say it in two ways."""

from collections.abc import Mapping
from typing import Any


def modules_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the modules that a distribution installs, dotted; most have one."""
    names: str | list[str] = settings["tool"]["uv"]["build-backend"]["module-name"]
    return [names] if isinstance(names, str) else names
