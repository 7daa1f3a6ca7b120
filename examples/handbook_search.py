"""The handbook of a ferry line in paragraphs, its questions, and stand-ins for an embedding model, for the examples."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

HANDBOOK = Path(__file__).parent / "handbook"
DIMENSIONS = 1024


def old_words(text: str) -> list[str]:
    """Return the longer words as they are written."""
    return re.findall(r"\w{4,}", text)


def new_words(text: str) -> list[str]:
    """Return the beginnings of words, in lower case: "tickets" meets "Ticket"."""
    return [word[:5] for word in re.findall(r"\w{3,}", text.lower())]


def embed(text: str, words: Callable[[str], list[str]] = new_words) -> list[float]:
    """Return a vector with a 1 for every word of a text: it stands for your embedding model, offline."""
    vector = [0.0] * DIMENSIONS
    for word in words(text):
        vector[crc32(word.encode()) % DIMENSIONS] = 1.0
    return vector


def chunks() -> list[tuple[str, str]]:
    """Return the name of the file and the text of every paragraph of the handbook."""
    return [
        (page.name, paragraph)
        for page in sorted(HANDBOOK.glob("*.md"))
        for paragraph in page.read_text(encoding="utf-8").split("\n\n")[1:]
    ]


def questions() -> list[tuple[str, list[str]]]:
    """Return the questions of the passengers, each with the files that answer it."""
    lines = (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["query"], sorted({place["source"] for place in row["needed"]})) for row in rows]


def write_questions(path: Path) -> None:
    """Write the questions as a CSV file, one row for each file that a question needs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "document"])
        for question, files in questions():
            writer.writerows([question, name] for name in files)
