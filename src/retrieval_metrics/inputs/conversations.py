"""What was said before a question, as the messages of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Message = Mapping[str, str]
"""One message: who said it, as `role`, and what, as `content`."""

ROLES = ("user", "assistant")
_KEYS = {"role", "content"}


def messages_of(said: Any, where: str) -> tuple[dict[str, str], ...]:
    """Return the messages of a conversation, checked.

    Args:
        said: Messages such as `{"role": "user", "content": "..."}`, in the order in which they were said.
        where: The question, for messages.

    Raises:
        TypeError: If it is no list of messages, or the content of one is no text.
        ValueError: If a message has other keys, or is from neither the user nor the assistant.

    Example:
        >>> messages_of([{"role": "user", "content": "Who may open the vault?"}], "query 'q1'")
        ({'role': 'user', 'content': 'Who may open the vault?'},)
    """
    if not isinstance(said, (list, tuple)):
        raise TypeError(f"what was said before {where} must be a list of messages, got {said!r}")
    for message in said:
        if not isinstance(message, Mapping) or not all(isinstance(part, str) for part in message.values()):
            raise TypeError(
                f"what was said before {where} must be messages such as {{'role': 'user', 'content': '...'}}, got "
                f"{message!r}"
            )
        if message.keys() != _KEYS or message["role"] not in ROLES:
            raise ValueError(
                f"a message before {where} has a role, {' or '.join(map(repr, ROLES))}, and a content; got "
                f"{dict(message)!r}"
            )
    return tuple({"role": message["role"], "content": message["content"]} for message in said)


def with_what_was_said(said: Any, question: str) -> str:
    """Return a question with what was said before it, one message a line."""
    return "\n".join([*(message["content"] for message in said), question])


def texts_in_context(texts: Mapping[Any, str], history: Mapping[Any, Any]) -> Mapping[Any, str]:
    """Return query texts by query id, each with what was said before it."""
    return {query: with_what_was_said(history.get(query, ()), text) for query, text in texts.items()}
