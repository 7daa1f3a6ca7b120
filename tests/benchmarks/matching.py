# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Judging by spans and by quotes, against the same work in plain Python: `uv run tests/benchmarks/matching.py`."""

import argparse
import random
import re
import statistics
import sys
import time
import unicodedata
from collections.abc import Callable

from measure import use_one_thread

use_one_thread()

import retrieval_metrics as rm
from retrieval_metrics.reports.tables import Table

DEPTH = 100
QUESTIONS = 472
SPANS = 790
SOURCES = 5
SOURCE_LENGTH = 300_000
CHUNK = 512
QUOTED_QUESTIONS = 1_000
QUOTED_CHUNK = 1_000
RECALL = f"recall@{DEPTH}"

Run = dict[str, list[rm.Retrieved]]


def prose(rng: random.Random, length: int, *, typographic: bool) -> str:
    """Words, sentences and paragraphs; typographic quotation marks and dashes where asked for."""
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(rng.choices(letters, k=rng.randint(1, 11))) for _ in range(2_000)]
    marks = [" ", " ", " ", " ", " ", ", ", ". ", "\n\n", *([" \u2013 ", " \u201c", "\u201d "] if typographic else [])]
    pieces: list[str] = []
    for _ in range(length // 6):
        pieces += (rng.choice(words), rng.choice(marks))
    return "".join(pieces)[:length]


def spans(rng: random.Random) -> tuple[dict[str, list[rm.Span]], Run, dict[str, str]]:
    """Questions with one to five spans each, and most of the chunks around them among others."""
    sources = {f"s{number}": prose(rng, SOURCE_LENGTH, typographic=True) for number in range(SOURCES)}
    truth: dict[str, list[rm.Span]] = {f"q{number}": [] for number in range(QUESTIONS)}
    home = {query: rng.choice(sorted(sources)) for query in truth}
    for query in [*truth, *rng.choices(sorted(truth), k=SPANS - QUESTIONS)]:
        start = rng.randrange(SOURCE_LENGTH - 1_000)
        truth[query].append(rm.Span(home[query], start, start + rng.randint(30, 400)))
    run: Run = {}
    for query, needed in truth.items():
        source = home[query]
        count = SOURCE_LENGTH // CHUNK
        around = {position // CHUNK for span in needed for position in (span.start, span.end)} & set(range(count))
        around = {position for position in sorted(around) if rng.random() < 0.8}
        other_chunks = rng.sample(sorted(set(range(count)) - around), DEPTH - len(around))
        ranked = rng.sample([*around, *other_chunks], DEPTH)
        run[query] = [item(source, position * CHUNK, sources[source]) for position in ranked]
    return truth, run, sources


def item(source: str, start: int, text: str) -> rm.Retrieved:
    return rm.Retrieved(f"{source}:{start}", text[start : start + CHUNK], source, start, start + CHUNK)


def quotes(rng: random.Random, index: int, *, typographic: bool) -> tuple[dict[str, list[rm.Quote]], Run]:
    """Questions with two quotes each, one of a chunk that is retrieved, and chunks drawn from an index of some size."""
    text = prose(rng, 2_000_000, typographic=typographic)
    starts = [rng.randrange(len(text) - QUOTED_CHUNK) for _ in range(index)]
    chunks = [rm.Retrieved(position, text[start : start + QUOTED_CHUNK]) for position, start in enumerate(starts)]
    truth: dict[str, list[rm.Quote]] = {}
    run: Run = {}
    for number in range(QUOTED_QUESTIONS):
        query = f"q{number}"
        ranked = rng.sample(range(index), DEPTH)
        run[query] = [chunks[position] for position in ranked]
        inside, outside = (chunks[position].text or "" for position in (rng.choice(ranked), rng.randrange(index)))
        truth[query] = [rm.Quote(words_of(inside[300:380])), rm.Quote(words_of(outside[500:560]))]
    return truth, run


def words_of(text: str) -> str:
    """The text without the words at its ends, which may be cut."""
    return text.split(maxsplit=1)[1].rsplit(maxsplit=1)[0]


def ours(truth: dict[str, list[rm.Span]] | dict[str, list[rm.Quote]], run: Run, match: rm.Matching) -> float:
    return rm.evaluate(truth, run, RECALL, match=match).means[RECALL]


def spans_in_loops(truth: dict[str, list[rm.Span]], run: Run, sources: dict[str, str]) -> float:
    """A set of the characters that count for every span, and for what was retrieved of it so far."""
    total = 0.0
    for query, needed in truth.items():
        n_found = 0
        for span in needed:
            text = sources[span.source]
            gold = {position for position in range(span.start, span.end) if not text[position].isspace()}
            covered: set[int] = set()
            for chunk in run[query]:
                if chunk.source == span.source:
                    covered |= {position for position in range(chunk.start or 0, chunk.end or 0) if position in gold}
            n_found += len(covered) >= 0.8 * len(gold)
        total += n_found / len(needed)
    return total / len(truth)


def quotes_in_loops(truth: dict[str, list[rm.Quote]], run: Run) -> float:
    """Normalise every text where it is needed, and look for every quote in it."""
    total = 0.0
    for query, quoted in truth.items():
        texts = [plain(chunk.text or "") for chunk in run[query]]
        total += sum(any(plain(quote.text) in text for text in texts) for quote in quoted) / len(quoted)
    return total / len(truth)


def plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[\u2018\u2019`]", "'", text)
    text = re.sub("[\u201c\u201d]", '"', text)
    text = re.sub("[\u2010-\u2015]", "-", text)
    return re.sub(r"\s+", "", text)


def seconds(call: Callable[[], float], rounds: int) -> tuple[float, float]:
    """The median of some calls in CPU seconds, and what they return."""
    durations = []
    value = 0.0
    for _ in range(rounds):
        start = time.process_time()
        value = call()
        durations.append(time.process_time() - start)
    return statistics.median(durations), value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each, of which the median is printed")
    rounds = parser.parse_args().rounds
    rng = random.Random(7)
    rows = []
    slow = []

    def compare(name: str, limit: float, mine: Callable[[], float], loops: Callable[[], float]) -> None:
        (fast, value), (plainly, expected) = seconds(mine, rounds), seconds(loops, 1)
        if abs(value - expected) > 1e-12:
            raise SystemExit(f"{name}: {RECALL} is {value}, and {expected} in plain loops")
        rows.append([name, f"{fast:.2f}", f"{plainly:.2f}", f"{plainly / fast:.1f}", f"{limit:g}", f"{value:.3f}"])
        if fast > limit:
            slow.append(name)

    truth, run, sources = spans(rng)
    match = rm.Matching(sources=sources)
    compare(
        f"{QUESTIONS} questions, {SPANS} spans, {DEPTH} chunks each",
        1.0,
        lambda: ours(truth, run, match),
        lambda: spans_in_loops(truth, run, sources),
    )
    for kind, index, typographic in (
        ("index of 10,000", 10_000, False),
        ("index of 10,000, typographic", 10_000, True),
        ("100,000 different", 100_000, False),
    ):
        quoted, ranked = quotes(rng, index, typographic=typographic)
        compare(
            f"{QUOTED_QUESTIONS:,} questions, 2 quotes, {DEPTH} chunks each, {kind}",
            3.0,
            lambda quoted=quoted, ranked=ranked: ours(quoted, ranked, rm.Matching()),
            lambda quoted=quoted, ranked=ranked: quotes_in_loops(quoted, ranked),
        )
    print(Table(["CPU seconds", "ours", "loops", "ratio", "at most", RECALL], rows).text())
    print("\nKept: " + ("every bound" if not slow else f"all but {', '.join(slow)}"))
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
