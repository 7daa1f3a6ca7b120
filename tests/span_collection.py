"""The public span collection: 472 questions over 5 texts, and ways of cutting the texts."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from typing import TYPE_CHECKING

from retrieval_metrics import Retrieved, Span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPLITTERS = ("256", "384", "512", "1024", "512 overlapping by 64", "recursive")


@cache
def corpora_in(shared_data: Path) -> dict[str, str]:
    """Return the texts by name."""
    folder = shared_data / "chroma_spans" / "corpora"
    return {path.stem: path.read_bytes().decode() for path in sorted(folder.glob("*.md"))}


@cache
def questions_in(shared_data: Path) -> dict[str, list[Span]]:
    """Return what is relevant to each question."""
    questions = {}
    with (shared_data / "chroma_spans" / "questions_df.csv").open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            references = json.loads(row["references"])
            questions[f"q{number}"] = [
                Span(row["corpus_id"], reference["start_index"], reference["end_index"]) for reference in references
            ]
    return questions


def chunked(corpora: dict[str, str], splitter: str) -> list[Retrieved]:
    chunks = []
    for name, text in corpora.items():
        for start, end in cut(text, splitter):
            chunks.append(Retrieved(f"{name}:{start}", text[start:end], name, start, end))
    return chunks


def cut(text: str, splitter: str) -> list[tuple[int, int]]:
    if splitter == "recursive":
        return list(recursive(text, 0, len(text), 500))
    size, overlap = (int(number) for number in [*re.findall(r"\d+", splitter), "0"][:2])
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size - overlap)]


def recursive(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut at the last paragraph, else line, else sentence, else word that fits; strip white space from the pieces."""
    while end - start > size:
        window = text[start : start + size]
        cut = find_cut(window, size)
        yield from _stripped(text, start, start + cut)
        start += cut
    yield from _stripped(text, start, end)


def find_cut(window: str, size: int) -> int:
    for mark in ("\n\n", "\n", ". ", " "):
        position = window.rfind(mark)
        if position > size // 4:
            return position + len(mark)
    return size


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def shared(chunk: Retrieved, span: Span) -> set[int]:
    """The offsets that a chunk and a span have in common."""
    assert chunk.start is not None
    assert chunk.end is not None
    return set(range(max(chunk.start, span.start), min(chunk.end, span.end)))


def stripped(text: str, chunk: Retrieved) -> tuple[int, int]:
    """The offsets of a chunk without the white space at its edges."""
    assert chunk.start is not None
    piece = text[chunk.start : chunk.end]
    return chunk.start + len(piece) - len(piece.lstrip()), chunk.start + len(piece.rstrip())
