"""Who grades which questions: a part of them everybody, the others one person each."""

from __future__ import annotations

import random
from math import ceil
from typing import TYPE_CHECKING

from retrieval_metrics.checks import grouped, integer
from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.labelling.pooled import Pooled


def shared_out(items: Sequence[Pooled], people: Iterable[str], overlap: float, seed: int) -> dict[str, list[Pooled]]:
    """Return what each person grades: whole questions, of which a part is everybody's.

    The questions are taken in random order. The first are everybody's; each other one goes to the person who has the
    fewest passages so far.

    Args:
        items: What is to be graded.
        people: The names.
        overlap: The part of the questions that everybody grades, from 0 to 1, rounded up.
        seed: Seed of the order.

    Raises:
        TypeError: If a name is not text, or there is a text in place of names.
        ValueError: If there are no names, one is empty or occurs twice, the overlap is not from 0 to 1, or somebody
            would have nothing to grade.
    """
    if isinstance(people, str):
        raise TypeError(f"people must be a list of names, got the text {people!r}; for one person: [{people!r}]")
    names = [name.strip() if isinstance(name, str) else name for name in people]
    if odd := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"people must be names, got {odd[0]!r} ({type(odd[0]).__name__})")
    if not names or not all(name.strip() for name in names) or len(set(names)) < len(names):
        raise ValueError(f"people must be different names, got {names}")
    if isinstance(overlap, bool) or not 0 <= overlap <= 1:
        raise ValueError(f"overlap must be a part of the questions from 0 to 1, got {overlap!r}")
    of_query = grouped((item.query, item) for item in items)
    order = list(of_query)
    random.Random(integer(seed, "seed")).shuffle(order)  # noqa: S311  (not a secret)
    common = ceil(round(overlap * len(order), 9)) if len(names) > 1 else 0
    found = {name: [item for query in order[:common] for item in of_query[query]] for name in names}
    for query in order[common:]:
        least = min(names, key=lambda name: len(found[name]))
        found[least] += of_query[query]
    if idle := [name for name, held in found.items() if not held]:
        raise ValueError(
            f"{numbers.queries(len(order))} are too few for {len(names)} people: nothing is left for {idle[0]}; name "
            "fewer people, or raise overlap"
        )
    return found
