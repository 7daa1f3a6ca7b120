"""Cuts a text of the language reference into runs of whole paragraphs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

HEADING = re.compile(r"^(?:(?P<title>\S.*)\n(?P<rule>[*=\-~^\"])(?P=rule){2,}|-\[ (?P<note>.+) \]-)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_TABLE_RULE = re.compile(r"^ *\+[-+]{3,}\n", re.MULTILINE)
_CONTINUED = re.compile(r"(?:is|are|was|were|at|and|or|except) ")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text that is never cut: a paragraph, a heading, an example, or a row of a large table."""

    start: int
    end: int
    words: int
    indent: int
    is_heading: bool
    introduces: bool  # it ends with a colon
    continues: bool  # it continues a sentence that an example interrupted: "... is equivalent to"


def chunks(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the pieces of ``text[start:end]``, each of about ``size`` words or one paragraph."""
    runs: list[list[Block]] = []
    for unit in _units(list(_blocks(text, start, end, size)), size):
        if not runs or _ends_before(unit, runs[-1], size):
            runs.append([])
        runs[-1] += unit
    if len(runs) > 1 and _words(runs[-1]) < size / 4 and not runs[-1][0].is_heading:
        tail = runs.pop()
        runs[-1] += tail
    for run in runs:
        if not all(block.is_heading for block in run):
            yield run[0].start, run[-1].end


def _ends_before(unit: Sequence[Block], run: Sequence[Block], size: int) -> bool:
    """Return whether a run of blocks is complete, so the unit starts the next run."""
    words = _words(run)
    if words < size / 4:
        return False  # too short to stand alone
    return (
        words + _words(unit) > size
        or unit[0].is_heading
        or (words >= size / 2 and unit[0].indent < run[-1].indent)  # a definition or a list is over
    )


def _units(blocks: Sequence[Block], size: int) -> Iterator[list[Block]]:
    """Yield the blocks that belong together, such as a heading or an introduction with the block it introduces."""
    unit: list[Block] = []
    inside: int | None = None  # the indent of the sentence that introduced the example we are in
    for block in blocks:
        if unit and not _belongs(block, unit, inside, size):
            yield unit
            unit = []
        if not unit or (inside is not None and block.indent <= inside):
            inside = None
        if block.introduces and inside is None:
            inside = block.indent
        unit.append(block)
    if unit:
        yield unit


def _belongs(block: Block, unit: Sequence[Block], inside: int | None, size: int) -> bool:
    last = unit[-1]
    if last.is_heading or last.introduces or block.continues:
        return True
    if block.is_heading or _words(unit) >= size:
        return False
    return block.indent > (last.indent if inside is None else inside)


def _blocks(text: str, start: int, end: int, size: int) -> Iterator[Block]:
    for paragraph in _PARAGRAPH.finditer(text, start, end):
        if len(paragraph[0].split()) <= 2 * size:
            yield _block(text, *paragraph.span())
            continue
        # The first rule is the upper edge of a table; every further one ends a row. Prose has none and stays whole.
        rules = [rule.end() for rule in _TABLE_RULE.finditer(text, *paragraph.span())]
        edges = [paragraph.start(), *(edge for edge in rules[1:] if edge < paragraph.end()), paragraph.end()]
        for row_start, row_end in pairwise(edges):
            yield _block(text, row_start, row_end)


def _block(text: str, start: int, end: int) -> Block:
    content = text[start:end].rstrip()
    return Block(
        start=start,
        end=start + len(content),
        words=len(content.split()),
        indent=len(content) - len(content.lstrip()),
        is_heading=HEADING.fullmatch(content) is not None,
        introduces=content.endswith(":"),
        continues=_CONTINUED.match(content.lstrip()) is not None,
    )


def _words(blocks: Sequence[Block]) -> int:
    return sum(block.words for block in blocks)
