"""Describe the form in which ids are written, such as `page5.md` and `page12.md` against `PAGE5`.

A run holds two forms if some of its queries were answered by another index: no id of theirs has the form of the others.
"""

from __future__ import annotations

from retrieval_metrics._internal.patterns import lazy_pattern

_LEADING_ZEROS = lazy_pattern(r"(?<![\d.])0+\d")
_MARKS = lazy_pattern(r"[\W_]")


def describe_form(document_id: str) -> str:
    """Return the form of an id: its case, whether a number has leading zeros, and the marks between words and numbers.

    How long an id is, and where it holds words and numbers, is left out, because that differs from id to id.

    Example:
        >>> describe_form("docs/page12.md"), describe_form("DOCS/Page0012.md"), describe_form("how-to-pay")
        ('a/.', 'Aa0/.', 'a-')
    """
    form = ""
    if document_id.upper() != document_id.lower():
        if document_id == document_id.lower():
            form = "a"
        elif document_id == document_id.upper():
            form = "A"
        else:
            form = "Aa"
    if not document_id.isascii():
        form += "*"
    if _LEADING_ZEROS.search(document_id):
        form += "0"
    return form + "".join(dict.fromkeys(_MARKS.findall(document_id)))
