"""The values of `allow=`: what a reader accepts that is refused otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


# Ids that begin or end with blanks, and repeated columns, keys and judgments, of which the first counts.
ALLOWANCES = ("blanks", "repeated")


def parse_allowances(allow: str | Collection[str]) -> frozenset[str]:
    """Return the values of `allow=` as a set."""
    allowed = frozenset([allow] if isinstance(allow, str) else allow)
    unknown = sorted(allowed - set(ALLOWANCES))
    if unknown:
        raise ValueError(f"allow= takes {' and '.join(map(repr, ALLOWANCES))}, not {unknown[0]!r}")
    return allowed
