"""Refuse texts with half of a character, as what cuts text in UTF-16 leaves it, where no file can hold them."""

from __future__ import annotations

from retrieval_metrics._internal.patterns import lazy_pattern

LONE_SURROGATE = lazy_pattern("[\\ud800-\\udfff]")


def refuse_half_characters(text: str, where: str) -> None:
    """Raise if a text holds half of a character.

    Raises:
        ValueError: If so, with the text and where it stands.
    """
    if LONE_SURROGATE.search(text):
        raise ValueError(
            f"{text!r} in {where} holds half of a character, such as a split emoji, which is not valid UTF-8; "
            "fix the code that splits it (dicts, .json and .jsonl files can hold it)"
        )
