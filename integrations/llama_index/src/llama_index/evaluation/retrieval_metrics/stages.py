"""The names of the stages of an evaluation: after retrieval and after each postprocessor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_index.core.postprocessor.types import BaseNodePostprocessor

RETRIEVED = "retrieved"


def stage_names(postprocessors: Sequence[BaseNodePostprocessor]) -> list[str]:
    """Return `retrieved`, then the class of each postprocessor, numbered where it comes again."""
    names = [RETRIEVED]
    for one in postprocessors:
        name = type(one).__name__
        again = sum(known.partition(" ")[0] == name for known in names)
        names.append(f"{name} {again + 1}" if again else name)
    return names
