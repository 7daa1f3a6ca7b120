"""Split texts into normalised words, so that texts which differ only in typography have equal words."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS
from retrieval_metrics.matching.text_normalisation import normalise_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    WordRun: TypeAlias = tuple[str, ...]

_LETTERS = rf"[^\W\d_{UNSPACED_SCRIPTS}]"

# Scripts without spaces between words are split into letters.
_WORD = lazy_pattern(rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+")

# Words with the hyphens between their letters, which may be those of a broken line.
COMPOUND_WORD = lazy_pattern(
    rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+(?:(?<={_LETTERS})-(?={_LETTERS})[^\W_{UNSPACED_SCRIPTS}]+)*"
)


def words(text: str) -> list[str]:
    r"""Return the words of a text as `normalise_words` reads it; punctuation, hyphens and white space separate words.

    Example:
        >>> words("The \ufb01rst: don't; \u4e2d\u6587 well-known of-\nfice")
        ['the', 'first', 'don', 't', '中', '文', 'well', 'known', 'office']
    """
    return _WORD.findall(normalise_words(text))


def unhyphenated_words(text: str) -> list[str]:
    r"""Return the words of a text as quotes are compared: whether a word has hyphens does not matter.

    Example:
        >>> unhyphenated_words("A well-known of-\nfice"), unhyphenated_words("a well-\nknown office")
        (['a', 'wellknown', 'office'], ['a', 'wellknown', 'office'])
    """
    return [word.replace("-", "") for word in COMPOUND_WORD.findall(normalise_words(text))]


def word_runs(tokens: Sequence[str], length: int) -> zip[WordRun]:
    """Return all runs of `length` words.

    Example:
        >>> list(word_runs(["a", "b", "c"], 2))
        [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[start:] for start in range(length)), strict=False)
