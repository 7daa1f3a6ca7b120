"""The phrases by which a question refers to something unseen, in four languages, and which of these a text is in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.sources import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_WORDS = 5
"""A text with fewer words has too few common ones to tell its language."""
SHARE, SURE = 0.2, 0.3
"""A text is in a language if this share of its words is among the common ones of that language, and surely so if that
one is: letters of formulas and tables are common words, too."""


_COMMON_WORDS = {
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
COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
"""The languages whose phrases are known, with words that occur in most of their sentences."""
FUNCTION_WORDS = COMMON_WORDS["English"]
"""Words that occur in most questions."""

_DOCUMENT = (
    "(?:article|chapter|chunk|context|document|excerpt|extract|fragment|page|paragraph|passage|quote|section|sentence|"
    "snippet|source|text|transcript)"
)
_SHOWN = "(?:above|below|cited|described|discussed|following|given|mentioned|preceding|presented|previous|provided)"
_EXHIBIT = "(?:code|diagram|equation|example|figure|image|list|output|snippet|table)"
_SEEN = rf"(?:{_DOCUMENT}|{_EXHIBIT}|study|paper)"
_OF_ENGLISH = (
    rf"\bth(?:is|ese) {_DOCUMENT}s?\b(?! of\b)",
    (
        rf"\b(?:in|of|from|to|by|per|does|do|is|with|within|per) the (?:{_SHOWN} )?{_DOCUMENT}\b"
        r"(?=\W*$|\W+(?:says?|states?|mention|suggest|describe|analy[sz]e|explain|discuss|about|regarding))"
    ),
    (
        rf"\baccording to (?:the|this|that) (?:{_SHOWN} )?"
        rf"(?:{_DOCUMENT}|author|authors|speaker|writer|study|paper|report)\b"
    ),
    rf"\bthe (?:above|following|preceding|previous|provided|given|cited) (?:{_SEEN}|author)s?\b",
    rf"\bth(?:is|ese|e) {_SEEN}s? (?:above|below|provided|shown|given)\b",
    (
        r"\b(?:described|discussed|mentioned|outlined|given|presented|provided|stated|shown) "
        rf"(?:above|below|here|earlier|(?:in|by) (?:the|this) (?:{_SHOWN} )?(?:{_DOCUMENT}|author|study|paper))\b"
    ),
    rf"\b(?:in|from|of) (?:the|this) (?:{_SHOWN} ){_SEEN}\b",
    rf"\bwhat (?:does|did|do|will|is) the (?:{_DOCUMENT}|author|authors|speaker|writer)\b(?! of\b)",
    (
        rf"\bth(?:is|ese) (?:{_SEEN}|author|person|company|event|method|approach|process|case|part|term|one)"
        r"s?\b(?=[^.!?]*\?\W*$)"
    ),
    r"\bthe author(?:s|'s|\u2019s)?\b(?! of\b)",
    r"\bthe (?:above|aforementioned|former|latter)\b",
    r"\b(?:as|see) (?:above|below)\b",
    rf"\b(?:paper|study) {_SHOWN}\b",
)

_GERMAN = (
    "(?:abbildung|abschnitt|absatz|artikel|auszug|beispiel|bild|dokument|kapitel|passage|seite|tabelle|text|textstelle)"
)
_GERMAN_AUTHOR = rf"(?:{_GERMAN}|autor|autorin|verfasser)(?:e?s)?"
_GERMAN_SHOWN = r"(?:oben \w+|obigen?|obenstehenden?|vorliegenden?|vorstehenden?|folgenden?|genannten)"
_GERMAN_SAID = "(?:angegeben|beschrieben|dargestellt|erläutert|erwähnt|genannt|gesagt|gezeigt)"
_GERMAN_VERB = "(?:hat|haben|wird|wurde|wurden|kann|können|muss|müssen|ist|sind|war|waren)"
_FRENCH = "(?:article|chapitre|document|exemple|extrait|image|page|paragraphe|passage|section|tableau|texte)"
_FRENCH_THE = "(?:le |la |l['\u2019]|ce |cet |cette )"
_FRENCH_SAID = "(?:citée?s?|décrite?s?|indiquée?s?|mentionnée?s?|présentée?s?)"
_FRENCH_SHOWN = "(?:ci-dessus|ci-dessous|précédente?s?|suivante?s?|ci-joint)"
_FRENCH_VERB = "(?:a-t|ont|est|sont|peut|peuvent|doit|doivent)"
_FRENCH_COMMON = "(?:possible|permis|nécessaire|interdit|obligatoire|vrai|utile)"
_SPANISH = "(?:artículo|capítulo|documento|ejemplo|fragmento|imagen|párrafo|pasaje|página|sección|tabla|texto)"
_SPANISH_SAID = "(?:citad|descrit|indicad|mencionad)[oa]s?"
_SPANISH_SHOWN = rf"(?:anterior(?:es)?|siguientes?|de arriba|{_SPANISH_SAID})"

_OF_GERMAN = (
    rf"\bdies(?:er|em|en|es|e) {_GERMAN}(?:e?s|e?n)?\b(?! (?:des|der|von)\b)",
    rf"\b(?:laut|gemäß) (?:dem |der |des )?(?:{_GERMAN_SHOWN} )?{_GERMAN_AUTHOR}\b",
    rf"\b(?:der|die|das|dem|den|des|im|am) {_GERMAN_SHOWN} {_GERMAN}(?:e?s|e?n)?\b",
    rf"\b(?:im|in der|aus dem) {_GERMAN}(?:e?s)? (?:\w+ ){{0,3}}{_GERMAN_SAID}\b",
    rf"\bwas (?:sagt|beschreibt|erklärt|behandelt|zeigt) (?:der|die|das) {_GERMAN_AUTHOR}\b",
    rf"\b(?:wie|oben) (?:oben )?{_GERMAN_SAID}\b",
    rf"^\W*(?:wann|warum|wie|wieso|wo|wozu) {_GERMAN_VERB} (?:er|dies|dieser|diese)\b(?! \w+ )",
)
_OF_FRENCH = (
    rf"\b(?:ce|cet|cette|ces) {_FRENCH}s?\b(?! (?:de|du|des|d')\b)",
    rf"\b(?:selon|d['\u2019]après) {_FRENCH_THE}(?:{_FRENCH}|auteur|autrice)\b",
    rf"\b{_FRENCH}s? {_FRENCH_SHOWN}",
    rf"\b{_FRENCH_SAID} (?:ci-dessus|plus haut|dans {_FRENCH_THE}{_FRENCH})\b",
    rf"\bque (?:dit|décrit|explique|montre) {_FRENCH_THE}(?:{_FRENCH}|auteur|autrice)\b",
    r"\bl['\u2019](?:auteur|autrice)\b(?! (?:de|du|des|d['\u2019])\b)",
    rf"^\W*(?:quand|pourquoi|comment|où) {_FRENCH_VERB}-(?:il|elle|ils|elles)\b(?! {_FRENCH_COMMON})",
)
_OF_SPANISH = (
    rf"\best[ea]s? {_SPANISH}s?\b(?! (?:de|del)\b)",
    rf"\bsegún (?:el |la |este |esta )(?:{_SPANISH}|autor|autora)\b",
    rf"\b(?:el|la|los|las|del|al) {_SPANISH}s? {_SPANISH_SHOWN}\b",
    rf"\b{_SPANISH_SAID} (?:arriba|anteriormente|en (?:el|la|este|esta) {_SPANISH})\b",
    rf"\bqué (?:dice|describe|explica|muestra) (?:el |la )(?:{_SPANISH}|autor|autora)\b(?! (?:de|del)\b)",
    r"\b(?:el autor|la autora)\b(?! (?:de|del)\b)",
)
_ENGLISH_POINTER = re.compile("|".join(_OF_ENGLISH), re.IGNORECASE)
_POINTER = re.compile("|".join([*_OF_GERMAN, *_OF_FRENCH, *_OF_SPANISH]), re.IGNORECASE)
_DANGLING = re.compile(
    r"^\W*(?:and|but|so|then|also)?\W*(?:(?:what|why|how|when|where|which|who)\W+)?(?:did|does|do|is|was|were|are|has|had"
    r"|have|can|could|will|would|should)\W+(?:he|she|it|they|this|that|these|those)\b(?!\W+(?:possible|true|safe|"
    r"necessary|allowed|bad|better|legal|that|wrong|okay|ok|enough|a|an|the|there|to|mean|matter|worth))",
    re.IGNORECASE,
)
"""A question that begins with a pronoun, except one that English grammar puts there."""
_LETTER = re.compile(f"[{UNSPACED}]")
_SENTENCE = re.compile(r"[.!?;]\s+\S")


def pointing_words(question: str) -> str | None:
    """Return the words by which a question refers to something unseen; None if it does not.

    Example:
        >>> pointing_words("What does the author think of it?"), pointing_words("Was sagt der Text?")
        ('What does the author', 'Was sagt der Text')
        >>> pointing_words("Who opens the vault?") is None
        True
    """
    found = _ENGLISH_POINTER.search(question)
    if found is not None and found[0].lower().startswith("this ") and _SENTENCE.search(question[: found.start()]):
        found = None  # it refers to an earlier part of the question
    found = found or _POINTER.search(question) or (None if _SENTENCE.search(question) else _DANGLING.search(question))
    return None if found is None else " ".join(found[0].split())


def language_of(tokens: Sequence[str], share: float = SHARE) -> str | None:
    """Return the language of a text among those whose phrases are known; None if it is none of them, or too short.

    Args:
        tokens: The words of the text.
        share: The least share of these that are among the common words of the language.

    Example:
        >>> language_of("wie lange ist eine gästekarte gültig".split())
        'German'
        >>> language_of("hoe lang is een gastenkaart eigenlijk geldig".split()) is None
        True
    """
    if len(tokens) < FEWEST_WORDS:
        return None
    shares = {name: sum(token in common for token in tokens) / len(tokens) for name, common in COMMON_WORDS.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= share else None


def language_or_script(tokens: Sequence[str], share: float = SHARE) -> str | None:
    """Return the language of a text, or that it has no spaces between words; None if neither is clear.

    Example:
        >>> language_or_script([*"谁在夜里打开金库"]), language_or_script("wer darf die tür öffnen".split())
        ('a script without spaces', 'German')
    """
    if len(tokens) >= FEWEST_WORDS and sum(_LETTER.fullmatch(token) is not None for token in tokens) * 2 > len(tokens):
        return "a script without spaces"
    return language_of(tokens, share)


def unknown_language(tokens: Sequence[str]) -> bool:
    """Return whether a text is long enough to tell that it is in none of the known languages."""
    return len(tokens) >= FEWEST_WORDS and language_of(tokens) is None
