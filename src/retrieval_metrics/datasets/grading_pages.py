"""Write the pages on which people grade, and divide the questions among several people."""

from __future__ import annotations

import json
import random
import re
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from retrieval_metrics._internal.append_log import FORMAT, VERSION
from retrieval_metrics._internal.validation import integer
from retrieval_metrics.datasets.pooled_documents import group_by_query
from retrieval_metrics.datasets.rubric import Scale, resolve_rubric
from retrieval_metrics.files.saved_format import DIGEST_PREFIX
from retrieval_metrics.inputs.fingerprints import fingerprint
from retrieval_metrics.reports import numbers, page

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.datasets.pooled_documents import PooledDocument

# What is replaced by a hyphen where a name becomes a part of the name of a file.
SEPARATORS = re.compile(r"[\W_]+")
# What the page shows until its script runs.
PLACEHOLDER = '<div id="labelling"><p>This page needs a browser that runs its script.</p></div>'

# Digits to which a product is rounded before it is rounded up, so that 0.07 * 100 is 7 and not a little more.
ROUNDING_DIGITS = 9


def write_grading_pages(
    path: str | PathLike[str],
    items: Sequence[PooledDocument],
    queries: Mapping[Any, str],
    *,
    people: Iterable[str] | None,
    overlap: float,
    seed: int,
    **page_options: Any,
) -> tuple[Path, ...]:
    """Write one page for everybody, or a page for each of several people; see `Pool.labelling_page`."""
    if people is None:
        _write_page(Path(path), items, queries, seed=seed, person=None, **page_options)
        return (Path(path),)
    shares = share_out(items, people, overlap, seed)
    person_by_path = {_path_of_person(path, person): person for person in shares}
    if len(person_by_path) < len(shares):
        raise ValueError(f"the names {', '.join(shares)} give equal file names")
    for number, (person_path, person) in enumerate(person_by_path.items()):
        _write_page(person_path, shares[person], queries, seed=seed + number, person=person, **page_options)
    return tuple(person_by_path)


def _write_page(
    path: Path,
    items: Sequence[PooledDocument],
    queries: Mapping[Any, str],
    *,
    title: str,
    rubric: Collection[str] | None,
    relevant_from: int,
    seed: int,
    person: str | None,
) -> None:
    meanings = resolve_rubric(rubric)
    generator = random.Random(integer(seed, "seed"))
    items_by_query = group_by_query(items)
    shuffled_queries = list(items_by_query)
    generator.shuffle(shuffled_queries)
    questions = []
    for query in shuffled_queries:
        query_items = items_by_query[query]
        generator.shuffle(query_items)
        passages = [_encode_passage(item, queries[query]) for item in query_items]
        questions.append({"query": json.dumps(query), "text": queries[query], "passages": passages})
    scale = Scale.from_grades(relevant_from)
    data = {
        "file": {"format": FORMAT, "version": VERSION, "kind": "labels"},
        "digest": DIGEST_PREFIX.decode(),
        "label": {"kind": "human", "prompt": f"rubric {fingerprint(list(meanings))[:8]}"},
        "grader": person,
        "rubric": list(meanings),
        "scale": scale._asdict(),
        # The browser keeps grades under this key, so that everything is graded anew under another rubric.
        "rubric_key": fingerprint([list(meanings), list(scale)]),
        "questions": questions,
    }
    page.write(path, title, [PLACEHOLDER], data, scripts=("labelling_store.js", "labelling.js"), style="labelling.css")


def _encode_passage(item: PooledDocument, question: str) -> dict[str, Any]:
    document = json.dumps(item.document)
    return {
        "document": document,
        "text": item.text,
        # The browser keeps the grade under this key, so that any page with this question and passage finds it.
        "key": fingerprint([json.dumps(item.query), question, document, item.text]),
    }


def _path_of_person(path: str | PathLike[str], person: str) -> Path:
    """Return the path of the page of one person: `label.html` becomes `label-Ada.html`."""
    common = Path(path)
    return common.with_name(f"{common.stem}-{SEPARATORS.sub('-', person)}{common.suffix}")


def share_out(
    items: Sequence[PooledDocument], people: Iterable[str], overlap: float, seed: int
) -> dict[str, list[PooledDocument]]:
    """Return the documents that each person grades: whole questions, some of which everybody grades."""
    names = _check_people(people)
    if isinstance(overlap, bool) or not 0 <= overlap <= 1:
        raise ValueError(f"overlap must be a part of the questions from 0 to 1, got {overlap!r}")
    items_by_query = group_by_query(items)
    shuffled_queries = list(items_by_query)
    random.Random(integer(seed, "seed")).shuffle(shuffled_queries)
    n_common = 0
    if len(names) > 1:
        n_common = ceil(round(overlap * len(shuffled_queries), ROUNDING_DIGITS))
    items_by_person: dict[str, list[PooledDocument]] = {name: [] for name in names}
    for query in shuffled_queries[:n_common]:
        for name in names:
            items_by_person[name] += items_by_query[query]
    for query in shuffled_queries[n_common:]:
        least_busy = min(names, key=lambda name: len(items_by_person[name]))
        items_by_person[least_busy] += items_by_query[query]
    for name in names:
        if not items_by_person[name]:
            raise ValueError(
                f"{numbers.format_query_count(len(shuffled_queries))} are too few for {len(names)} people: nothing is "
                f"left for {name}; name fewer people, or raise overlap"
            )
    return items_by_person


def _check_people(people: Iterable[str]) -> list[str]:
    """Return the names of people, without spaces around them."""
    if isinstance(people, str):
        raise TypeError(f"people must be a list of names, got the text {people!r}; for one person: [{people!r}]")
    names = [name.strip() if isinstance(name, str) else name for name in people]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"people must be names, got {name!r} ({type(name).__name__})")
    # Each name becomes a file, and on many disks Ada and ada are one, and so are two Unicode forms of a name.
    file_names = {normalize("NFC", name).casefold() for name in names}
    if not names or not all(names) or len(file_names) < len(names):
        raise ValueError(
            f"people must be different names, got {names}; upper and lower case, or two Unicode forms, are one file on "
            "some disks"
        )
    return names
