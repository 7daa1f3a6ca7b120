"""What a shell offers when Tab is pressed; argcomplete asks this program for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence


def typed(words: Sequence[str]) -> Sequence[str]:
    """Return the words of a call, or those typed so far if a shell asks what can come next."""
    return os.environ["COMP_LINE"].split() if "_ARGCOMPLETE" in os.environ else words


def complete(parser: argparse.ArgumentParser) -> None:
    """Write what can come next and end the process, if a shell asks for it; else return at once."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete  # noqa: PLC0415  (an extra: imported where it is used)

        argcomplete.autocomplete(parser)


def offer(option: argparse.Action, words: Iterable[str]) -> None:
    """Let an option be completed with some words, also after a comma."""

    def after_comma(prefix: str, **_: Any) -> list[str]:
        before, comma, _last = prefix.rpartition(",")
        return [f"{before}{comma}{word}" for word in words]

    option.completer = after_comma  # type: ignore[attr-defined]  # where argcomplete looks for it
