"""Find the words by which a question refers to something unseen, in four languages.

Where a phrase holds more than these words, such as a verb before them, a group encloses them.
"""

from __future__ import annotations

import re

# Patterns of the parts that phrases are made of: words for documents, for what they show, and for referring to them.
_DOCUMENT = (
    "(?:article|chapter|chunk|context|document|excerpt|extract|fragment|page|paragraph|passage|quote|section|sentence|"
    "snippet|source|text|transcript)"
)
_SHOWN = "(?:above|below|cited|described|discussed|following|given|mentioned|preceding|presented|previous|provided)"
_EXHIBIT = "(?:code|diagram|equation|example|figure|image|list|output|snippet|table)"
_SEEN = rf"(?:{_DOCUMENT}|{_EXHIBIT}|study|paper)"
_ENGLISH_PHRASES = (
    rf"\bth(?:is|ese) {_DOCUMENT}s?\b(?! of\b)",
    (
        rf"\b(?:in|of|from|to|by|per|does|do|is|with|within|per) (the (?:{_SHOWN} )?{_DOCUMENT})\b"
        r"(?=\W*$|\W+(?:says?|states?|mention|suggest|describe|analy[sz]e|explain|discuss|about|regarding))"
    ),
    (
        rf"\baccording to ((?:the|this|that) (?:{_SHOWN} )?"
        rf"(?:{_DOCUMENT}|author|authors|speaker|writer|study|paper|report))\b"
    ),
    rf"\bthe (?:above|following|preceding|previous|provided|given|cited) (?:{_SEEN}|author)s?\b",
    rf"\bth(?:is|ese|e) {_SEEN}s? (?:above|below|provided|shown|given)\b",
    (
        r"\b(?:described|discussed|mentioned|outlined|given|presented|provided|stated|shown) "
        rf"(?:above|below|here|earlier|(?:in|by) (?:the|this) (?:{_SHOWN} )?(?:{_DOCUMENT}|author|study|paper))\b"
    ),
    rf"\b(?:in|from|of) (?:the|this) (?:{_SHOWN} ){_SEEN}\b",
    rf"\bwhat (?:does|did|do|will|is) (the (?:{_DOCUMENT}|author|authors|speaker|writer))\b(?! of\b)",
    (
        rf"\bth(?:is|ese) (?:{_SEEN}|author|person|company|event|method|approach|process|case|part|term|one)"
        r"s?\b(?=[^.!?]*\?\W*$)"
    ),
    r"\bthe author(?:s|'s|\u2019s)?\b(?! of\b)",
    r"\bthe (?:above|aforementioned|former|latter)\b",
    r"\b(?:as|see) (?:above|below)\b",
    rf"\b(?:paper|study) {_SHOWN}\b",
)

_GERMAN_DOCUMENT = (
    "(?:abbildung|abschnitt|absatz|artikel|auszug|beispiel|bild|dokument|kapitel|passage|seite|tabelle|text|textstelle)"
)
_GERMAN_AUTHOR = rf"(?:{_GERMAN_DOCUMENT}|autor|autorin|verfasser)(?:e?s)?"
_GERMAN_SHOWN = r"(?:oben \w+|obigen?|obenstehenden?|vorliegenden?|vorstehenden?|folgenden?|genannten)"
_GERMAN_SAID = "(?:angegeben|beschrieben|dargestellt|erläutert|erwähnt|genannt|gesagt|gezeigt)"
_GERMAN_VERB = "(?:hat|haben|wird|wurde|wurden|kann|können|muss|müssen|ist|sind|war|waren)"
_FRENCH_DOCUMENT = "(?:article|chapitre|document|exemple|extrait|image|page|paragraphe|passage|section|tableau|texte)"
_FRENCH_THE = "(?:le |la |l['\u2019]|ce |cet |cette )"
_FRENCH_SAID = "(?:citée?s?|décrite?s?|indiquée?s?|mentionnée?s?|présentée?s?)"
_FRENCH_SHOWN = "(?:ci-dessus|ci-dessous|précédente?s?|suivante?s?|ci-joint)"
_FRENCH_VERB = "(?:a-t|ont|est|sont|peut|peuvent|doit|doivent)"
_FRENCH_COMMON = "(?:possible|permis|nécessaire|interdit|obligatoire|vrai|utile)"
_SPANISH_DOCUMENT = "(?:artículo|capítulo|documento|ejemplo|fragmento|imagen|párrafo|pasaje|página|sección|tabla|texto)"
_SPANISH_SAID = "(?:citad|descrit|indicad|mencionad)[oa]s?"
_SPANISH_SHOWN = rf"(?:anterior(?:es)?|siguientes?|de arriba|{_SPANISH_SAID})"

_GERMAN_PHRASES = (
    rf"\bdies(?:er|em|en|es|e) {_GERMAN_DOCUMENT}(?:e?s|e?n)?\b(?! (?:des|der|von)\b)",
    rf"\b(?:laut|gemäß) ((?:dem |der |des )?(?:{_GERMAN_SHOWN} )?{_GERMAN_AUTHOR})\b",
    rf"\b(?:der|die|das|dem|den|des|im|am) {_GERMAN_SHOWN} {_GERMAN_DOCUMENT}(?:e?s|e?n)?\b",
    rf"\b(?:im|in der|aus dem) {_GERMAN_DOCUMENT}(?:e?s)? (?:\w+ ){{0,3}}{_GERMAN_SAID}\b",
    rf"\bwas (?:sagt|beschreibt|erklärt|behandelt|zeigt) ((?:der|die|das) {_GERMAN_AUTHOR})\b",
    rf"\b(?:wie|oben) (?:oben )?{_GERMAN_SAID}\b",
    rf"^\W*(?:wann|warum|wie|wieso|wo|wozu) {_GERMAN_VERB} (er|dies|dieser|diese)\b(?! \w+ )",
)
_FRENCH_PHRASES = (
    rf"\b(?:ce|cet|cette|ces) {_FRENCH_DOCUMENT}s?\b(?! (?:de|du|des|d')\b)",
    rf"\b(?:selon|d['\u2019]après) ({_FRENCH_THE}(?:{_FRENCH_DOCUMENT}|auteur|autrice))\b",
    rf"\b{_FRENCH_DOCUMENT}s? {_FRENCH_SHOWN}",
    rf"\b{_FRENCH_SAID} (?:ci-dessus|plus haut|dans {_FRENCH_THE}{_FRENCH_DOCUMENT})\b",
    rf"\bque (?:dit|décrit|explique|montre) ({_FRENCH_THE}(?:{_FRENCH_DOCUMENT}|auteur|autrice))\b",
    r"\bl['\u2019](?:auteur|autrice)\b(?! (?:de|du|des|d['\u2019])\b)",
    rf"^\W*(?:quand|pourquoi|comment|où) {_FRENCH_VERB}-(il|elle|ils|elles)\b(?! {_FRENCH_COMMON})",
)
_SPANISH_PHRASES = (
    rf"\best[ea]s? {_SPANISH_DOCUMENT}s?\b(?! (?:de|del)\b)",
    rf"\bsegún ((?:el |la |este |esta )(?:{_SPANISH_DOCUMENT}|autor|autora))\b",
    rf"\b(?:el|la|los|las|del|al) {_SPANISH_DOCUMENT}s? {_SPANISH_SHOWN}\b",
    rf"\b{_SPANISH_SAID} (?:arriba|anteriormente|en (?:el|la|este|esta) {_SPANISH_DOCUMENT})\b",
    rf"\bqué (?:dice|describe|explica|muestra) ((?:el |la )(?:{_SPANISH_DOCUMENT}|autor|autora))\b(?! (?:de|del)\b)",
    r"\b(?:el autor|la autora)\b(?! (?:de|del)\b)",
)
_ENGLISH_POINTER = re.compile("|".join(_ENGLISH_PHRASES), re.IGNORECASE)
_FOREIGN_POINTER = re.compile("|".join([*_GERMAN_PHRASES, *_FRENCH_PHRASES, *_SPANISH_PHRASES]), re.IGNORECASE)

# A question that begins with a pronoun without anything that it refers to, unlike "is it possible to ...".
_IMPERSONAL = (
    r"\W+(?:(?:possible|true|safe|necessary|allowed|bad|better|legal|that|wrong|okay|ok|enough|a|an|the|there|to|mean|"
    r"matter|worth)\b|(?:actually|also|always|acceptable|advisable|appropriate)\W+(?:to|that|if|for|possible|true|safe|"
    r"necessary|allowed|better|legal|wrong|worth|acceptable|advisable|appropriate)\b)"
)
_DANGLING_PRONOUN = re.compile(
    r"^\W*(?:and|but|so|then|also)?\W*(?:(?:what|why|how|when|where|which|who)\W+)?(?:did|does|do|is|was|were|are|has|had"
    rf"|have|can|could|will|would|should)\W+(he|she|it|they|this|that|these|those)\b(?!{_IMPERSONAL})",
    re.IGNORECASE,
)
_SENTENCE_BREAK = re.compile(r"[.!?;]\s+\S")


def find_pointing_words(question: str) -> str | None:
    """Return the words by which a question refers to something unseen; None if it does not.

    Example:
        >>> find_pointing_words("What does the author think of it?"), find_pointing_words("Was sagt der Text?")
        ('the author', 'der Text')
        >>> find_pointing_words("Who does this rule apply to?")
        'this'
        >>> find_pointing_words("Who opens the vault?") is None
        True
    """
    match = _find_english_pointer(question) or _FOREIGN_POINTER.search(question)
    if match is None and _SENTENCE_BREAK.search(question) is None:
        match = _DANGLING_PRONOUN.search(question)
    if match is None:
        return None
    words = match[match.lastindex or 0]
    return " ".join(words.split())


def _find_english_pointer(question: str) -> re.Match[str] | None:
    match = _ENGLISH_POINTER.search(question)
    if match is None:
        return None
    is_about_question = match[0].lower().startswith("this ") and _SENTENCE_BREAK.search(question[: match.start()])
    if is_about_question:  # "this" may refer to an earlier sentence of the question itself
        return None
    return match
