"""The page on which a person grades a pool."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import integer
from retrieval_metrics.inputs.fingerprints import fingerprint
from retrieval_metrics.journal import FORMAT, VERSION
from retrieval_metrics.labelling.grading import checked_rubric
from retrieval_metrics.labelling.label import Scale
from retrieval_metrics.presentation import page

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.labelling.pooled import Pooled

PLACE = '<div id="labelling"><p>This page needs a browser that runs its script.</p></div>'


def write_page(
    path: str | PathLike[str],
    items: Sequence[Pooled],
    queries: Mapping[Any, str],
    *,
    title: str,
    rubric: Collection[str] | None,
    relevant_from: int,
    seed: int,
) -> None:
    """Write the page; see `Pool.labelling_page`."""
    meaning = checked_rubric(rubric)
    chance = random.Random(integer(seed, "seed"))  # noqa: S311  (not a secret)
    of_query: dict[Any, list[Pooled]] = {}
    for item in items:
        of_query.setdefault(item.query, []).append(item)
    order = list(of_query)
    chance.shuffle(order)
    questions = []
    for query in order:
        held = of_query[query]
        chance.shuffle(held)
        passages = [{"document": json.dumps(item.document), "text": item.text} for item in held]
        questions.append({"query": json.dumps(query), "text": queries[query], "passages": passages})
    # A new page of the same pool finds the grades given on the old one; a page of another pool or rubric does not.
    pooled = sorted([str(item.query), queries[item.query], str(item.document), item.text] for item in items)
    scale = Scale.of(relevant_from)
    key = fingerprint([pooled, list(meaning), list(scale)])
    data = {
        "key": f"{FORMAT} labels {key}",
        "format": FORMAT,
        "version": VERSION,
        "rubric": list(meaning),
        "scale": scale._asdict(),
        "prompt": f"rubric {fingerprint(list(meaning))[:8]}",
        "questions": questions,
    }
    page.write(path, title, [PLACE], data, script="labelling.js", style="labelling.css")
