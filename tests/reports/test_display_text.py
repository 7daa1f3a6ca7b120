"""Texts for display: nothing in them breaks a line or acts on the terminal."""

import io
import sys

import pytest

from retrieval_metrics.reports.display_text import (
    CONTROL,
    escaped,
    for_terminal,
    format_cells,
    format_one_line,
    shorten,
)


def test_control_characters_are_written_out_and_line_breaks_stay() -> None:
    assert escaped("q\x1b[31m7\nnext\u202e") == r"q\x1b[31m7" + "\n" + r"next\u202e"


def test_one_line_has_no_breaks_and_no_tabs() -> None:
    assert format_one_line("two\nlines\tand a tab") == r"two\nlines and a tab"
    assert format_cells(["two\nlines", "a\ttab"]) == [r"two\nlines", "a tab"]


def test_what_is_printable_holds_nothing_to_escape() -> None:
    printable = "".join(character for character in map(chr, range(sys.maxunicode + 1)) if character.isprintable())
    assert CONTROL.search(printable) is None
    assert escaped(printable) == format_one_line(printable) == printable


def test_a_long_text_ends_at_a_word_if_one_ends_late_enough() -> None:
    assert shorten("The with statement\n wraps a block", 20) == "The with statement…"
    assert shorten("a" * 30, 20) == "a" * 19 + "…"
    assert shorten("short") == "short"


def test_a_terminal_without_triangles_gets_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert for_terminal("▲ better, ▼ worse") == "+ better, - worse"
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert for_terminal("▲ better") == "▲ better"
