"""Limits on the files that are read."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval_metrics.checks import positive_integer, positive_number


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a file is refused, so that hostile or broken files are rejected early.

    Attributes:
        compression: How many times larger than the compressed file its text may be. Runs and judgments reach 5 to 30
            times, a file made to fill the memory 1,000 times. The first 64 MB of text are always read. `math.inf`
            turns the limit off.
        line: The largest number of bytes in a line; 64 MB hold a ranking of a million scored documents.

    Raises:
        TypeError: If `line` is not an integer.
        ValueError: If one of them is not positive.

    Example:
        >>> Limits(compression=1000).line
        67108864
    """

    compression: float = 200.0
    line: int = 64 << 20

    def __post_init__(self) -> None:
        positive_number(self.compression, "the limit of compression")
        positive_integer(self.line, "the limit of a line")
