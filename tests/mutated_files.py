"""Files of every format, mutated byte by byte, and a second parser that knows none of the package's code."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm

if TYPE_CHECKING:
    from pathlib import Path

Rankings = dict[str, dict[str, float]]

TREC = "trec"
CSV = "csv"
TSV = "tsv"
JSON = "json"
JSONL = "jsonl"
KINDS = (TREC, CSV, TSV, JSON, JSONL)
ROWS = [(f"q{index // 4}", f"d{index}", 20 - index / 7) for index in range(16)]


class Unreadable(Exception):  # noqa: N818  (a fact, and no error of the test)
    """The second parser finds no run in this text."""


def written(rows: list[tuple[str, str, float]], kind: str) -> bytes:
    """A run as text."""
    if kind == TREC:
        text = "".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in rows)
    elif kind in {CSV, TSV}:
        separator = "," if kind == CSV else "\t"
        lines = [("query", "document", "score"), *((query, document, repr(score)) for query, document, score in rows)]
        text = "".join(separator.join(line) + "\n" for line in lines)
    else:
        rankings: Rankings = {}
        for query, document, score in rows:
            rankings.setdefault(query, {})[document] = score
        texts = (json.dumps({"query": query, "documents": ranking}) + "\n" for query, ranking in rankings.items())
        text = json.dumps(rankings) if kind == JSON else "".join(texts)
    return text.encode()


PIECES = [b"\n", b" ", b"\t", b",", b'"', b"\x00", b"\r", b"\xff", b"nan", b"1e999", b"-", b"{", b"}", b"[", b":",
          b"q0", b"d1", b"\xef\xbb\xbf", b"0", b".", b"e", b"\xc2\xa0"]  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One or two bytes changed, removed, inserted or doubled; a piece repeated; or the end cut off."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 2))):
        index = chance.randrange(len(data) + 1)
        end = min(len(data), index + chance.choice((1, 1, 2, 8, 30)))
        match chance.randrange(6):
            case 0 if index < len(data):
                data[index] ^= 1 << chance.randrange(8)
            case 1:
                del data[index:end]
            case 2:
                data[index:index] = chance.choice(PIECES)
            case 3:
                data[index:index] = data[index:end]
            case 4:
                data[index:end] = chance.choice(PIECES)
            case _:
                del data[index:]
    return bytes(data)


def parsed(content: bytes, kind: str) -> Rankings:
    """The run in a text, by the plain definition of its format.

    Raises:
        Unreadable: If there is none.
    """
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise Unreadable(str(error)) from error
    if kind == TREC:
        rows = [_trec(line) for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.split()]
    elif kind in {CSV, TSV}:
        rows = _table(text, kind)
    else:
        rows = _json(text, kind)
    rankings: Rankings = {}
    for query, document, score in rows:
        if document in rankings.setdefault(query, {}):
            raise Unreadable(f"{document!r} twice")
        rankings[query][document] = _number(score)
    if not rankings:
        raise Unreadable("empty")
    return rankings


def _trec(line: bytes) -> tuple[str, str, Any]:
    words = line.split()
    if len(words) != 6:
        raise Unreadable(line)
    return words[0].decode(), words[2].decode(), words[4].decode()


NAMES = ({"query", "topic"}, {"document", "doc", "pid"}, {"score", "sim"})
"""The names that a column may have after so small a mutation."""


def _table(text: str, kind: str) -> list[tuple[str, str, Any]]:
    options: Any = {"delimiter": ",", "quoting": csv.QUOTE_MINIMAL}
    if kind == TSV:
        options = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), **options) if line]
    except csv.Error as error:
        raise Unreadable(str(error)) from error
    if not lines or any(len(line) != len(lines[0]) for line in lines):
        raise Unreadable("uneven")
    header = [name.strip().lower() for name in lines[0]]
    places = [[column for column, name in enumerate(header) if name in usual] for usual in NAMES]
    if any(len(columns) != 1 for columns in places):
        raise Unreadable(str(header))
    return [(line[places[0][0]], line[places[1][0]], line[places[2][0]]) for line in lines[1:]]


def _json(text: str, kind: str) -> list[tuple[str, str, Any]]:
    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Unreadable("a key twice")
        return dict(pairs)

    try:
        if kind == JSON:
            rankings = json.loads(text, object_pairs_hook=unrepeated)
        else:
            lines = [json.loads(line, object_pairs_hook=unrepeated) for line in text.split("\n") if line.strip()]
            if len({line["query"] for line in lines}) < len(lines):
                raise Unreadable("a query twice")
            rankings = {line["query"]: line["documents"] for line in lines}
        return [(query, document, score) for query, ranking in rankings.items() for document, score in ranking.items()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def _number(value: Any) -> float:
    if isinstance(value, (bool, list, dict, type(None))):
        raise Unreadable(repr(value))
    try:
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise Unreadable(str(error)) from error
    if not math.isfinite(number) or (isinstance(value, str) and "_" in value):
        raise Unreadable(repr(value))
    return number


def compressed(content: bytes, chance: random.Random) -> bytes:
    """The text as gzip, which is then damaged itself."""
    return mutated(gzip.compress(content, mtime=0), chance)


def _check(path: Path, kind: str, content: bytes) -> str:
    """Read a file and compare it with the second parser; return which of the two outcomes it had."""
    path.write_bytes(content)
    try:
        run = rm.read_run(path, format=kind)
        read = {query: run[query] for query in run}
    except ValueError as error:
        assert path.name in str(error)
        return "refused"
    expected = parsed(content, kind)
    assert {query: ranking for query, ranking in read.items() if ranking} == {
        query: ranking for query, ranking in expected.items() if ranking
    }
    return "read"


def outcome(path: Path, kind: str, seed: int) -> str:
    """Mutate a file and read it; return which of the two outcomes it had."""
    chance = random.Random(seed)
    content = mutated(written(ROWS, kind), chance)
    try:
        return _check(path, kind, content)
    except Unreadable as error:
        raise AssertionError(f"{kind} was read, and holds no run: {error}: {content!r}") from error
