"""Twelve things that agents do, and what they count to, worked out by hand."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

TEXTS = {
    "d1": "Alpha is the first letter.",
    "d2": "Beta is the second letter.",
    "d3": "Gamma is the third letter.",
}
FAILS = "index offline"
CUT = "no result"


class Search(NamedTuple):
    """A search of a turn: what is asked, and what comes back: documents, `FAILS`, or `CUT`."""

    query: str
    found: Any
    tool: str = "search"


class Scenario(NamedTuple):
    """What an agent does for one question.

    Attributes:
        turns: Its searches by turn; None is where the user asks again, after an answer.
        blocks: The blocks of its answer, each with the document that it cites in a structured way; none if it has none.
        calls: Query, turn, attempts, ids and failure of each call that must be read.
        counts: Properties that must be found.
        cited: The ids that the answer cites, told by a function, by numbers or by the structure.
        citations: By which of these: `"ids"`, `"numbered"`, or None.
    """

    turns: list[list[Search] | None]
    calls: list[tuple[str, int, int, list[Any], bool]]
    counts: dict[str, float]
    blocks: tuple[tuple[str, str | None], ...] = (("So it is.", None),)
    cited: list[str] | None = None
    citations: str | None = None


def documents(*ids: str) -> list[dict[str, Any]]:
    """Return documents with their texts."""
    return [{"id": id_, "text": TEXTS[id_]} for id_ in ids]


WITHOUT_IDS = [{"text": TEXTS["d1"]}, {"text": TEXTS["d2"]}]
OTHER_PASSAGE = [{"id": "d1", "text": "Alpha comes from aleph, an ox."}]
SCENARIOS = {
    "nested": Scenario(
        [[Search("a", documents("d1", "d2"), "ask")]],
        [("a", 1, 1, ["d1", "d2"], False)],
        {"calls": 1, "failed": 0, "retrieved": 2, "distinct": 2, "redundant": 0, "no_new_results": 0},
    ),
    "parallel": Scenario(
        [[Search("a", documents("d1", "d2")), Search("b", documents("d3")), Search("c", documents("d1"))]],
        [("a", 1, 1, ["d1", "d2"], False), ("b", 1, 1, ["d3"], False), ("c", 1, 1, ["d1"], False)],
        {"calls": 3, "failed": 0, "retrieved": 4, "distinct": 3, "redundant": 1 / 4, "no_new_results": 1 / 3}
        | {"not_in_context": 0},
    ),
    "retries": Scenario(
        [[Search("a", FAILS), Search("a", documents("d1"))]],
        [("a", 1, 2, ["d1"], False)],
        {"calls": 1, "failed": 0, "retrieved": 1, "distinct": 1, "no_new_results": 0, "not_in_context": 0},
    ),
    "errors": Scenario(
        [[Search("a", FAILS)], [Search("b", documents("d1"))]],
        [("a", 1, 1, [], True), ("b", 2, 1, ["d1"], False)],
        {"calls": 2, "failed": 1, "retrieved": 1, "distinct": 1, "no_new_results": 1 / 2, "not_in_context": 0},
    ),
    "empty": Scenario(
        [[Search("a", [])], [Search("b", documents("d1"))]],
        [("a", 1, 1, [], False), ("b", 2, 1, ["d1"], False)],
        {"calls": 2, "failed": 0, "retrieved": 1, "distinct": 1, "no_new_results": 1 / 2, "not_in_context": 0},
    ),
    "truncated": Scenario(
        [[Search("a", documents("d1"))], [Search("b", CUT)]],
        [("a", 1, 1, ["d1"], False), ("b", 2, 1, [], True)],
        {"calls": 2, "failed": 1, "retrieved": 1, "distinct": 1, "no_new_results": 1 / 2},
        blocks=(),
    ),
    "repeats over turns": Scenario(
        [[Search("a", documents("d1", "d2"))], None, [Search("b", documents("d2", "d1"))]],
        [("a", 1, 1, ["d1", "d2"], False), ("b", 2, 1, ["d2", "d1"], False)],
        {"calls": 2, "failed": 0, "retrieved": 4, "distinct": 2, "redundant": 1 / 2, "no_new_results": 1 / 2}
        | {"not_in_context": 0},
    ),
    "missing ids": Scenario(
        [[Search("a", WITHOUT_IDS)], [Search("b", WITHOUT_IDS[:1])]],
        [("a", 1, 1, [None, None], False), ("b", 2, 1, [None], False)],
        {"calls": 2, "failed": 0, "retrieved": 3, "distinct": 2, "redundant": 1 / 3, "no_new_results": 1 / 2}
        | {"not_in_context": 0},
    ),
    "several blocks": Scenario(
        [[Search("a", documents("d1", "d2", "d3"))]],
        [("a", 1, 1, ["d1", "d2", "d3"], False)],
        {"calls": 1, "retrieved": 3, "not_in_context": 0, "uncited": 1 / 3, "cited_not_in_context": 0},
        (("Alpha is first [d1],", None), (" Beta second [d2].", None)),
        ["d1", "d2"],
        "ids",
    ),
    "one id with two texts": Scenario(
        [[Search("a", documents("d1"))], [Search("b", OTHER_PASSAGE)]],
        [("a", 1, 1, ["d1"], False), ("b", 2, 1, ["d1"], False)],
        {"calls": 2, "retrieved": 2, "distinct": 2, "redundant": 0, "no_new_results": 0, "not_in_context": 0},
    ),
    "numbered citations": Scenario(
        [[Search("a", documents("d3", "d1", "d2"))]],
        [("a", 1, 1, ["d3", "d1", "d2"], False)],
        {"calls": 1, "retrieved": 3, "uncited": 1 / 3, "cited_not_in_context": 0},
        (("Gamma is third [1], Beta second [3].", None),),
        ["d3", "d2"],
        "numbered",
    ),
    "structured citations": Scenario(
        [[Search("a", documents("d1", "d2"))]],
        [("a", 1, 1, ["d1", "d2"], False)],
        {"calls": 1, "retrieved": 2, "uncited": 1 / 2, "cited_not_in_context": 0},
        (("It comes second: ", None), ("Beta is the second letter.", "d2")),
        ["d2"],
    ),
}


WITHOUT_CITATIONS = {"pydantic_ai", "haystack"}
"""The forms whose texts have no structured citations."""


def cited(answer: str) -> list[str]:
    """Return the ids in square brackets."""
    return re.findall(r"\[(d\d)\]", answer)


def ids_of(items: Any) -> list[Any]:
    """Return the ids of items."""
    return [item.id for item in items]


def check(source: Any, name: str, form: str, tools: Any = "search") -> None:
    """Check all that must be read of a scenario in a form."""
    import retrieval_metrics as rm

    scenario = SCENARIOS[name]
    citations: Any = {"ids": cited, "numbered": "numbered", None: None}[scenario.citations]
    (trajectory,) = rm.read_traces(source, citations=citations, tools=tools).values()
    calls = [
        (call.query, call.turn, call.attempts, ids_of(call.ranking), call.error is not None)
        for call in trajectory.calls
    ]
    assert calls == scenario.calls, (form, name, calls)
    assert (trajectory.context is None) == (not scenario.blocks), (form, name, trajectory.context)
    if name == "structured citations" and form in WITHOUT_CITATIONS:
        assert trajectory.citations is None
        return
    properties = trajectory.properties()
    assert {key: properties[key] for key in scenario.counts} == scenario.counts, (form, name)
    if scenario.cited is not None:
        assert trajectory.citations == scenario.cited, (form, name, trajectory.citations)
