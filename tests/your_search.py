"""What the pages of some integrations call yours: a search over the handbook, an answer and a judge, offline."""

import re
from functools import cache
from pathlib import Path
from typing import Any

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
N_HITS = 10


def words(text: str) -> set[str]:
    """Return the beginnings of the words of a text, so that "tickets" meets "Ticket"."""
    return {word[:5] for word in re.findall(r"\w{4,}", text.lower())}


@cache
def passages() -> list[dict[str, str]]:
    """Return every paragraph of the handbook with the name of its file."""
    paragraphs = []
    for page in sorted(HANDBOOK.glob("*.md")):
        for paragraph in page.read_text(encoding="utf-8").split("\n\n")[1:]:
            paragraphs.append({"file": page.name, "text": paragraph})
    return paragraphs


def search(question: str) -> list[dict[str, str]]:
    """Return the passages that share most words with a question."""

    def count_shared_words(passage: dict[str, str]) -> int:
        return len(words(question) & words(passage["text"]))

    return sorted(passages(), key=count_shared_words, reverse=True)[:N_HITS]


def search_files(question: str) -> list[str]:
    """Return the names of the files of these passages, each once."""
    return list(dict.fromkeys(passage["file"] for passage in search(question)))


def names(integration: str) -> dict[str, Any]:
    """Return what the page of an integration calls yours."""
    if integration == "pytest":
        files = {page.name: page.read_text(encoding="utf-8") for page in HANDBOOK.glob("*.md")}
        return {"search": search_files, "files": files}
    if integration != "ragas":
        return {}

    from front_page import Judge

    def answer(question: str, hits: list[dict[str, str]]) -> str:
        return hits[0]["text"]

    return {"search": search, "answer": answer, "llm": Judge()}
