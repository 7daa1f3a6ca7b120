"""Read the conversations that precede questions, and put them before the texts of the questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# One message: who said it, as `role`, and what, as `content`.
Message = Mapping[str, str]

ROLES = ("user", "assistant")
MESSAGE_KEYS = {"role", "content"}


def read_messages(conversation: Any, where: str) -> tuple[dict[str, str], ...]:
    """Return the messages of a conversation, checked.

    Example:
        >>> read_messages([{"role": "user", "content": "Who may open the vault?"}], "query 'q1'")
        ({'role': 'user', 'content': 'Who may open the vault?'},)
    """
    if not isinstance(conversation, (list, tuple)):
        raise TypeError(f"the conversation before {where} must be a list of messages, got {conversation!r}")
    for message in conversation:
        if not isinstance(message, Mapping) or not all(isinstance(text, str) for text in message.values()):
            raise TypeError(
                f"the conversation before {where} must be messages such as {{'role': 'user', 'content': '...'}}, got "
                f"{message!r}"
            )
        if message.keys() != MESSAGE_KEYS or message["role"] not in ROLES:
            raise ValueError(
                f"a message before {where} must have a role, {' or '.join(map(repr, ROLES))}, and a content; got "
                f"{dict(message)!r}"
            )
    return tuple({"role": message["role"], "content": message["content"]} for message in conversation)


def prepend_conversation(conversation: Any, question: str) -> str:
    """Return a question with the conversation before it, one message a line."""
    lines = [message["content"] for message in conversation]
    return "\n".join([*lines, question])


def texts_with_conversation(texts: Mapping[Any, str], conversation: Mapping[Any, Any]) -> Mapping[Any, str]:
    """Return query texts by query id, each with the conversation before it."""
    return {query: prepend_conversation(conversation.get(query, ()), text) for query, text in texts.items()}
