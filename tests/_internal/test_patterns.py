"""Regular expressions are compiled when they are first used."""

import re

import pytest

from retrieval_metrics._internal.patterns import lazy_pattern


def test_it_is_the_pattern_it_was_made_of() -> None:
    pattern = lazy_pattern(r"(?P<document>.+)#\d+", re.IGNORECASE)
    compiled = re.compile(r"(?P<document>.+)#\d+", re.IGNORECASE)
    assert pattern.pattern == compiled.pattern
    assert pattern.flags == compiled.flags
    for text in ("d7#3", "d7", "D7#31 d8#2"):
        assert pattern.sub("_", text) == compiled.sub("_", text)
        assert pattern.findall(text) == compiled.findall(text)
        found, expected = pattern.fullmatch(text), compiled.fullmatch(text)
        assert (found and found["document"]) == (expected and expected["document"])


def test_it_is_compiled_when_it_is_used() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.match("(")
