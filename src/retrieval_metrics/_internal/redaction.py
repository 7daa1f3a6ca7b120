"""Remove passwords and keys from the messages of exceptions before these are kept or shown.

HTTP clients put the address with its query, and some the headers, into their messages; files with results are shared.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    import re

REDACTED = "[redacted]"
# As much of the message of an exception as is shown; some hold a whole page.
MAX_SHOWN_CHARACTERS = 200

# What a name of a secret ends with, in an address, a header or an assignment.
_NAME_ENDING = (
    r"[\w.-]*(?:api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|secret|token|password|passwd|pwd|credential|signature"
    r"|\bsig|\bkey|[_-]key|authorization|cookie)"
)
_PATTERNS = (
    # Whole headers, because their value has blanks.
    (
        lazy_pattern(
            r"(?i)\b((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token|digest)\s+)?[^\s\"',;}]+"
        ),
        r"\1",
    ),
    # With a digit, because "basic retrieval" is no secret.
    (lazy_pattern(r"(?i)\b(bearer|basic)(\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}"), r"\1\2"),
    (lazy_pattern(r"(\b[a-zA-Z][\w+.-]*://)[^\s/@?#]+@"), r"\1"),
    (lazy_pattern(rf"(?i)(\b{_NAME_ENDING}[\"']?\s*(?:[:=]|%3[ad])\s*[\"']?)[^\s\"'&,;}})]+"), r"\1"),
    (lazy_pattern(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?s:.*?)(?:-----END [A-Z ]*-----|\Z)"), r"\1"),
    # Keys known by their form: OpenAI and Anthropic, AWS, GitHub, Slack, Google, Hugging Face, and JSON tokens.
    (lazy_pattern(r"\bsk-[\w-]{8,}"), ""),
    (lazy_pattern(r"\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b"), ""),
    (lazy_pattern(r"\b(?:gh[pousr]_|github_pat_|xox[abprs]-|AIza|hf_|pcsk_|lsv2_)[\w-]{8,}"), ""),
    (lazy_pattern(r"\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"), ""),
)

# What may be a user name with a password in base64, or a word.
_STANDARD_ALPHABET = str.maketrans("-_", "+/")
_BASIC_CREDENTIALS = lazy_pattern(r"(?i)\b(basic\s+)([a-z0-9+/_-]{4,}={0,2})(?![\w+/=-])")


def redact_secrets(text: str) -> str:
    """Return a text without the passwords, keys and tokens that are recognised in it.

    Example:
        >>> redact_secrets("401 for https://user:hunter2@host/x?api_key=abc&k=5")
        '401 for https://[redacted]@host/x?api_key=[redacted]&k=5'
    """
    for pattern, kept in _PATTERNS:
        ending = "@" if pattern.pattern.endswith("@") else ""
        text = pattern.sub(f"{kept}{REDACTED}{ending}", text)
    return _BASIC_CREDENTIALS.sub(_redact_credentials, text)


def _redact_credentials(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}" if _holds_credentials(match[2]) else match[0]


def _holds_credentials(word: str) -> bool:
    """Return whether a word is base64 of a user name, a colon and a password, which ordinary words hardly ever are."""
    padded = word if word.endswith("=") else word + "=" * (-len(word) % 4)
    try:
        decoded = base64.b64decode(padded.translate(_STANDARD_ALPHABET), validate=True)
        text = decoded.decode("latin-1" if word.endswith("=") else "utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in text[1:] and text.isprintable()


def describe_error(error: BaseException) -> str:
    """Return the type and the message of an exception, without secrets, as it is kept and shown.

    Example:
        >>> describe_error(ConnectionError("refused, token=abc"))
        'ConnectionError: refused, token=[redacted]'
    """
    return f"{type(error).__name__}: {redact_secrets(str(error))}"


def show_error(error: BaseException) -> str:
    """Return the type and the beginning of the message of an exception, without secrets, for a line of a message.

    Example:
        >>> len(show_error(ConnectionError("refused " * 250)))
        200
    """
    text = describe_error(error)
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[: MAX_SHOWN_CHARACTERS - 1]}…"
