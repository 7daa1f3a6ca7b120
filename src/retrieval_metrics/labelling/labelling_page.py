"""The pages on which people grade a pool."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import grouped, integer
from retrieval_metrics.inputs.entries import fingerprint
from retrieval_metrics.journal import FORMAT, VERSION
from retrieval_metrics.keeping.document import DIGEST
from retrieval_metrics.labelling.assigning import shared_out
from retrieval_metrics.labelling.grading import checked_rubric
from retrieval_metrics.labelling.label import Scale
from retrieval_metrics.presentation import page

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.labelling.pooled import Pooled

NO_WORD = re.compile(r"[\W_]+")
PLACE = '<div id="labelling"><p>This page needs a browser that runs its script.</p></div>'


def write_pages(
    path: str | PathLike[str],
    items: Sequence[Pooled],
    queries: Mapping[Any, str],
    *,
    people: Iterable[str] | None,
    overlap: float,
    seed: int,
    **page: Any,
) -> tuple[Path, ...]:
    """Write a page for anybody, or one for each person; see `Pool.labelling_page`."""
    pages: dict[Path, tuple[str | None, Sequence[Pooled]]] = {Path(path): (None, items)}
    if people is not None:
        shares = shared_out(items, people, overlap, seed)
        pages = {_path_of(path, person): (person, held) for person, held in shares.items()}
        if len(pages) < len(shares):
            raise ValueError(f"the names {', '.join(shares)} make equal names of files")
    for at, (file, (person, held)) in enumerate(pages.items()):
        _write_page(file, held, queries, seed=seed + at, person=person, **page)
    return tuple(pages)


def _write_page(
    path: Path,
    items: Sequence[Pooled],
    queries: Mapping[Any, str],
    *,
    title: str,
    rubric: Collection[str] | None,
    relevant_from: int,
    seed: int,
    person: str | None,
) -> None:
    meaning = checked_rubric(rubric)
    chance = random.Random(integer(seed, "seed"))  # noqa: S311  (not a secret)
    of_query = grouped((item.query, item) for item in items)
    order = list(of_query)
    chance.shuffle(order)
    questions = []
    for query in order:
        held = of_query[query]
        chance.shuffle(held)
        passages = [
            {
                "document": json.dumps(item.document),
                "text": item.text,
                # Another page finds the grade of the same passage for the same question, whatever else is on it.
                "key": fingerprint([json.dumps(query), queries[query], json.dumps(item.document), item.text]),
            }
            for item in held
        ]
        questions.append({"query": json.dumps(query), "text": queries[query], "passages": passages})
    scale = Scale.of(relevant_from)
    data = {
        "file": {"format": FORMAT, "version": VERSION, "kind": "labels"},
        "digest": DIGEST.decode(),
        "label": {"kind": "person", "prompt": f"rubric {fingerprint(list(meaning))[:8]}"},
        "person": person,
        "rubric": list(meaning),
        "scale": scale._asdict(),
        "rubric_key": fingerprint([list(meaning), list(scale)]),  # under another rubric, everything is graded anew
        "questions": questions,
    }
    page.write(path, title, [PLACE], data, scripts=("labelling_store.js", "labelling.js"), style="labelling.css")


def _path_of(path: str | PathLike[str], person: str) -> Path:
    """Return the path of the page of one person: `label.html` becomes `label-Ada.html`."""
    whole = Path(path)
    return whole.with_name(f"{whole.stem}-{NO_WORD.sub('-', person)}{whole.suffix}")
