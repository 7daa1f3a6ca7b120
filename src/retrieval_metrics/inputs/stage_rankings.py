"""What a retriever held after each of its steps: for one question, and for all."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.items import Ranking, Retrieved

RETURNED_STAGE = "returned"
"""The last step where no named one holds what every question gets, as behind a router."""


class StageRankings(dict[str, Any]):
    """What a retriever held for one question after each step, as rankings: by name, in order, None if not reached.

    The last ranking is the answer. A plain function may return a plain mapping of this shape.
    """

    @property
    def answer(self) -> Ranking | None:
        """The ranking after the last step that was reached; None if none was."""
        return next((ranking for ranking in reversed(self.values()) if ranking is not None), None)

    @classmethod
    def of_spans(cls, spans: Iterable[tuple[str, str | None, str, Sequence[Retrieved] | None]]) -> StageRankings:
        """Return the steps of nested calls in the order of their starts: (id, parent, name, what it returned).

        A call stands behind those inside it, and calls beside one another in the order in which they began, whichever
        ended first. So a name that comes again has the same number for every question. What returned no items is no
        step, and leads to those inside it.
        """
        inside: dict[str | None, list[tuple[str, str, Any]]] = {}
        calls = list(spans)
        known = {span for span, *_ in calls}
        for span, parent, name, found in calls:
            inside.setdefault(parent if parent in known else None, []).append((span, name, found))
        steps = cls()

        def add(parent: str | None) -> None:
            for span, name, found in inside.get(parent, ()):
                add(span)
                if found is not None:
                    steps[numbered(name, steps)] = found

        add(None)
        return steps


def numbered(name: str, known: Iterable[str]) -> str:
    """Return a name, with a number where it is known already.

    Example:
        >>> numbered("Finder", []), numbered("Finder", ["Finder", "Finder 2"])
        ('Finder', 'Finder 3')
    """
    taken, number, found = set(known), 2, name
    while found in taken:
        found, number = f"{name} {number}", number + 1
    return found


def is_stage_mapping(answer: Any) -> bool:
    """Return whether a mapping holds rankings and not the scores of documents."""
    return (
        isinstance(answer, Mapping)
        and len(answer) > 0
        and all(
            one is None or (not isinstance(one, Real) and (isinstance(one, list | tuple | Mapping) or _is_array(one)))
            for one in answer.values()
        )
    )


def _is_array(value: Any) -> bool:
    return hasattr(value, "tolist") and hasattr(value, "__len__")


def require_separate_stages(stages: Mapping[Any, Any]) -> None:
    """Raise for a name that is no text, or one list under two names: if a step sorted it in place, both show that."""
    seen: dict[int, Any] = {}
    for name, ranking in stages.items():
        if not isinstance(name, str):
            raise TypeError(f"steps are named by text, got {name!r}")
        if isinstance(ranking, list | dict) and ranking and (other := seen.setdefault(id(ranking), name)) != name:
            raise ValueError(
                f"the steps {other!r} and {name!r} hold the same list, so a change by one shows in both; copy it: "
                f"{{{other!r}: list(found), ...}}"
            )


def stages_to_runs(
    of_questions: Mapping[Any, Mapping[str, Ranking | None]],
) -> dict[str, dict[QueryId, Ranking]]:
    """Return the steps of many questions as runs, in an order that agrees with theirs."""
    names = _in_one_order(of_questions.values())
    return {
        name: {query: ranking for query, steps in of_questions.items() if (ranking := steps.get(name)) is not None}
        for name in names
    }


def _in_one_order(orders: Iterable[Iterable[str]]) -> list[str]:
    """Return names in an order that agrees with all orders where these agree with one another."""
    before: dict[str, set[str]] = {}
    for order in dict.fromkeys(map(tuple, orders)):
        for at, name in enumerate(order):
            before.setdefault(name, set()).update(order[:at])
    firm = {name: {other for other in those if name not in before[other]} for name, those in before.items()}
    left, found = list(before), list[str]()
    while left:  # where three routes contradict one another in a circle, the name that was seen first comes first
        found.append(next((name for name in left if firm[name].isdisjoint(left)), left[0]))
        left.remove(found[-1])
    return found


def with_final_stage(
    stages: Mapping[str, Mapping[Any, Any]],
    rankings: Mapping[Any, Any],
    failed: Mapping[QueryId, Exception],
) -> dict[str, Mapping[Any, Any]]:
    """Return steps whose last one is the run: it has the name of the last step if that holds the same, else its own."""
    if not stages:
        return {}
    if stray := [name for name, run in stages.items() if not isinstance(name, str) or not isinstance(run, Mapping)]:
        raise TypeError(
            f"steps map the name of each step to a run, got {type(stages[stray[0]]).__name__} for {stray[0]!r}"
        )
    named = dict(stages)
    last, held = next(reversed(named.items()))
    if last == RETURNED_STAGE or all(
        query in failed or is_same_ranking(held.get(query), one) for query, one in rankings.items()
    ):
        return {**named, last: rankings}
    if RETURNED_STAGE in named:
        raise ValueError(
            f"the last step holds other rankings than the run, so none but the run can be {RETURNED_STAGE!r}"
        )
    return {**named, RETURNED_STAGE: rankings}


def is_same_ranking(one: Any, other: Any) -> bool:
    """Return whether two rankings of a question are the same; None is none."""
    if one is other or one is None:
        return one is other
    mapped = isinstance(one, Mapping), isinstance(other, Mapping)
    if mapped[0] != mapped[1]:
        return False
    return dict(one) == dict(other) if all(mapped) else list(one) == list(other)
