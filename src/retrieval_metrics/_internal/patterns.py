"""Compile regular expressions when they are first used, because most programs need few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _LazyPattern:
    """A regular expression that is compiled when one of its attributes is first read, and then as fast as any."""

    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(self.pattern, self._flags), name)
        # The next time it is found in the instance, and this method is not called.
        setattr(self, name, attribute)
        return attribute


def lazy_pattern(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used.

    Example:
        >>> lazy_pattern("[a-z]+").findall("one, two")
        ['one', 'two']
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
