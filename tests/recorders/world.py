"""The small world that every recorder plays: documents, and an agent that searches for what a script says."""

from __future__ import annotations

DOCUMENTS = {
    "d1": "The with statement wraps the execution of a block with methods defined by a context manager.",
    "d2": "open() returns a file object, which the with keyword closes properly.",
    "d3": "A context manager defines the runtime context of a with statement: __enter__ and __exit__.",
    "d4": "If __exit__() returns true, the exception is suppressed.",
    "d7": "contextlib.suppress returns a context manager that suppresses exceptions.",
}
QUESTION = "How does a file get closed when its block raises, and can the exception be swallowed?"
DOWN = "index offline"
HOPS = [["close a file"], ["exit method", "suppress exceptions"], [DOWN], ["suppress exceptions"]]
"""What the model asks for, turn by turn; two searches of one turn are made side by side."""
RESULTS = {"close a file": ["d2", "d1"], "exit method": ["d3", "d1"], "suppress exceptions": ["d7", "d4"]}
ANSWER = "The context manager closes it [d2][d3]; returning true swallows the exception [d4]."


def search(query: str) -> list[str]:
    """Return the ids of what is found, or fail as an index does that is down."""
    query = query.strip().removeprefix("input is ")  # as a tool of LlamaIndex asks
    if query == DOWN:
        raise ConnectionError(DOWN)
    return RESULTS[query]
