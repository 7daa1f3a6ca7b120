"""Tell the language of a question by its common words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Sequence


# A text with fewer words has too few common ones to tell its language.
MIN_WORDS = 5

# A text is in a language if this share of its words is among the common ones of that language ...
MIN_SHARE = 0.2

# ... and surely so if this share is: letters of formulas and tables are common words, too.
MIN_SURE_SHARE = 0.3

_COMMON_WORDS_TEXT = {
    "English": (
        "a about above after again against all also am an and any are as asked at be because been before being "
        "below between both but by can could d did do does doing don down during each few for from further get "
        "give had has have having he her here hers herself him himself his how i if in into is isn it its itself "
        "just know let ll many may me might more most much must my myself no nor not now of off on once only or "
        "other our ours out over own please re s same shall she should so some such t tell than that the their "
        "theirs them themselves then there these they this those through to too under until up us ve very want "
        "was we were what when where which while who whom whose why will with would you your yours"
    ),
    "German": (
        "aber als am an auch auf aus bei beim bis das dass dem den der des die dies diese dieser durch ein "
        "eine einem einen einer eines er es für gegen gibt hat haben ich ihr im in ist kann kein keine man "
        "mein mich mir mit muss nach nicht noch nur oder ohne sein sich sie sind so über um und unter vom von "
        "vor wann war warum was welche welchem welchen welcher welches wem wen wenn wer werden wie wird wo "
        "wurde wurden zu zum zur zwischen"
    ),
    "French": (
        "a au aux avec ce ces cet cette chez comment d dans de des du elle elles en est et il ils j je l la "
        "le les leur lui ma mais mes mon n ne nous on ont ou où par pas peut plus pour pourquoi qu quand que "
        "quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta tu un une vous y à été "
        "être"
    ),
    "Spanish": (
        "a al como con cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo de del desde dónde e el ella "
        "ellos en entre es esta este esto están está fue ha hay han la las le les lo los más mi mis muy no o "
        "para pero por porque puede pueden qué quién quiénes se según ser si sin sobre son su sus también te "
        "tiene tienen un una unos unas y ya"
    ),
}

# The languages whose phrases are known, with words that occur in most of their sentences.
COMMON_WORDS = {language: frozenset(common_words.split()) for language, common_words in _COMMON_WORDS_TEXT.items()}

# Words that occur in most questions.
FUNCTION_WORDS = COMMON_WORDS["English"]

_UNSPACED_LETTER = re.compile(f"[{UNSPACED_SCRIPTS}]")


def find_known_language(tokens: Sequence[str], min_share: float = MIN_SHARE) -> str | None:
    """Return the language of a text among those whose phrases are known; None if it is none of them, or too short.

    Example:
        >>> find_known_language("wie lange ist eine gästekarte gültig".split())
        'German'
        >>> find_known_language("hoe lang is een gastenkaart eigenlijk geldig".split()) is None
        True
    """
    if len(tokens) < MIN_WORDS:
        return None
    share_by_language: dict[str, float] = {}
    for language, common_words in COMMON_WORDS.items():
        n_common = sum(token in common_words for token in tokens)
        share_by_language[language] = n_common / len(tokens)
    likeliest = max(share_by_language, key=share_by_language.__getitem__)
    return likeliest if share_by_language[likeliest] >= min_share else None


def detect_language(tokens: Sequence[str], min_share: float = MIN_SHARE) -> str | None:
    """Return the language of a text, or that it has no spaces between words; None if neither is clear.

    Example:
        >>> detect_language([*"谁在夜里打开金库"]), detect_language("wer darf die tür öffnen".split())
        ('a script without spaces', 'German')
    """
    if len(tokens) >= MIN_WORDS:
        n_unspaced = sum(_UNSPACED_LETTER.fullmatch(token) is not None for token in tokens)
        if n_unspaced * 2 > len(tokens):
            return "a script without spaces"
    return find_known_language(tokens, min_share)


def is_unknown_language(tokens: Sequence[str]) -> bool:
    """Return whether a text is long enough to tell that it is in none of the known languages."""
    return len(tokens) >= MIN_WORDS and find_known_language(tokens) is None
