"""The rankings that a retriever had after each of its stages, for one question and for all."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking, Retrieved

# The name of the last stage if no named stage is the last of every question, for example behind a router.
RETURNED_STAGE = "returned"


class _Call(NamedTuple):
    """A call of a component; `items` is None if it returned something else."""

    id: str
    parent: str | None
    name: str
    items: Sequence[Retrieved] | None


class StageRankings(dict[str, Any]):
    """The ranking that a retriever had for one question after each stage, by name and in order; None if not reached.

    The last ranking is the answer. A plain function may return a plain mapping of this shape.

    Attributes:
        takes_documents: By stage whether its input held documents, so that it is no source. A stage whose input is
            unknown is absent.
    """

    def __init__(
        self,
        rankings: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        takes_documents: Mapping[str, bool] | None = None,
    ) -> None:
        super().__init__(rankings)
        self.takes_documents: dict[str, bool] = dict(takes_documents or {})

    @property
    def answer(self) -> Ranking | None:
        """The ranking after the last stage that was reached; None if none was."""
        for ranking in reversed(self.values()):
            if ranking is not None:
                answer: Ranking = ranking
                return answer
        return None

    @classmethod
    def from_spans(
        cls,
        spans: Iterable[tuple[str, str | None, str, Sequence[Retrieved] | None]],
        takes_documents: Mapping[str, bool] | None = None,
    ) -> StageRankings:
        """Return the stages of nested calls in the order of their starts: (id, parent, name, what it returned).

        A call follows the calls inside it. Calls beside one another are in the order in which they began, whichever
        ended first, so a repeated name has the same number for every question. A call that returned no items is not a
        stage, but the calls inside it may be. A stage with stages inside takes documents: theirs.

        Args:
            spans: The calls.
            takes_documents: By id of a call whether it was given documents; a call of which that is unknown is absent.
        """
        calls = [_Call(*span) for span in spans]
        call_ids = {call.id for call in calls}
        children: dict[str | None, list[_Call]] = {}
        for call in calls:
            parent = call.parent if call.parent in call_ids else None
            children.setdefault(parent, []).append(call)
        stages = cls()

        def add_inside(parent: str | None) -> None:
            for call in children.get(parent, ()):
                n_before = len(stages)
                add_inside(call.id)
                if call.items is None:
                    continue
                name = numbered(call.name, stages)
                has_stages_inside = len(stages) > n_before
                if has_stages_inside:
                    stages.takes_documents[name] = True
                elif takes_documents is not None and call.id in takes_documents:
                    stages.takes_documents[name] = takes_documents[call.id]
                stages[name] = call.items

        add_inside(None)
        return stages


def numbered(name: str, known: Iterable[str]) -> str:
    """Return a name, with a number where it is known already.

    Example:
        >>> numbered("Finder", []), numbered("Finder", ["Finder", "Finder 2"])
        ('Finder', 'Finder 3')
    """
    known_names = set(known)
    free_name = name
    number = 2
    while free_name in known_names:
        free_name = f"{name} {number}"
        number += 1
    return free_name


def is_stage_mapping(answer: Any) -> bool:
    """Return whether a mapping holds rankings and not the scores of documents."""
    return isinstance(answer, Mapping) and len(answer) > 0 and all(map(_is_ranking_or_none, answer.values()))


def _is_ranking_or_none(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, Real):
        return False
    is_array = hasattr(value, "tolist") and hasattr(value, "__len__")
    return isinstance(value, list | tuple | Mapping) or is_array


def require_separate_stages(stages: Mapping[Any, Any]) -> None:
    """Raise if a name is not text, or if two stages share a list, because both would show a change in place."""
    name_by_identity: dict[int, Any] = {}
    for name, ranking in stages.items():
        if not isinstance(name, str):
            raise TypeError(f"stages are named by text, got {name!r}")
        if not isinstance(ranking, list | dict) or not ranking:
            continue
        first_name = name_by_identity.setdefault(id(ranking), name)
        if first_name != name:
            raise ValueError(
                f"the stages {first_name!r} and {name!r} share one list, so a change of one changes both; copy it: "
                f"{{{first_name!r}: list(found), ...}}"
            )


def stages_to_runs(
    stages_by_query: Mapping[Any, Mapping[str, Ranking | None]],
) -> dict[str, dict[QueryId, Ranking]]:
    """Return the stages of many questions as one run per stage, in an order that agrees with that of each question."""
    runs: dict[str, dict[QueryId, Ranking]] = {}
    for name in _merge_orders(stages_by_query.values()):
        runs[name] = {}
        for query, stages in stages_by_query.items():
            ranking = stages.get(name)
            if ranking is not None:
                runs[name][query] = ranking
    return runs


def merge_stage_inputs(stages_by_query: Mapping[Any, StageRankings]) -> dict[str, bool]:
    """Return by stage whether its input held documents for any question; a stage is absent if that is unknown."""
    takes_documents: dict[str, bool] = {}
    for stages in stages_by_query.values():
        for name, has_documents in stages.takes_documents.items():
            takes_documents[name] = takes_documents.get(name, False) or has_documents
    return takes_documents


def declare_sources(stage_names: Collection[str], sources: Collection[str]) -> dict[str, bool]:
    """Return by stage whether it takes documents, as all stages do that `sources` does not name.

    Raises:
        TypeError: If `sources` is a text.
        ValueError: If it names no stage, or a name that is none.
    """
    listed_names = ", ".join(map(repr, stage_names))
    if isinstance(sources, str):
        raise TypeError(f"sources must be a list of names, got {sources!r}; write sources=[{sources!r}]")
    if not sources:
        raise ValueError(f"sources must name at least one of the stages {listed_names}, got {sources!r}")
    for name in sources:
        if name not in stage_names:
            raise ValueError(
                f"sources names {name!r}, which is not a stage; the stages are {listed_names or 'unknown'}"
            )
    return {name: name not in sources for name in stage_names}


def _merge_orders(orders: Iterable[Iterable[str]]) -> list[str]:
    """Merge several orders of names into one that agrees with all of them wherever they agree with each other."""
    names_before: dict[str, set[str]] = {}
    for order in dict.fromkeys(map(tuple, orders)):
        for index, name in enumerate(order):
            names_before.setdefault(name, set()).update(order[:index])
    # Where two orders contradict each other about two names, neither has to come first.
    required_before: dict[str, set[str]] = {}
    for name, earlier_names in names_before.items():
        required_before[name] = {earlier for earlier in earlier_names if name not in names_before[earlier]}
    remaining = list(names_before)
    merged: list[str] = []
    while remaining:
        name = _choose_next(remaining, required_before)
        merged.append(name)
        remaining.remove(name)
    return merged


def _choose_next(remaining: list[str], required_before: Mapping[str, set[str]]) -> str:
    """Return the first name before which no remaining name is required; if orders form a circle, the first of all."""
    for name in remaining:
        if required_before[name].isdisjoint(remaining):
            return name
    return remaining[0]


def with_final_stage(
    stages: Mapping[str, Mapping[Any, Any]],
    rankings: Mapping[Any, Any],
    failed: Mapping[QueryId, Exception],
) -> dict[str, Mapping[Any, Any]]:
    """Return the stages with the run itself as the last one.

    The run replaces the last stage if that has the same rankings; otherwise it is added under a name of its own.

    Args:
        stages: The run after each stage, by name and in order.
        rankings: The run.
        failed: The queries on which the retriever failed, whose rankings are not compared.
    """
    if not stages:
        return {}
    for name, run in stages.items():
        if not isinstance(name, str) or not isinstance(run, Mapping):
            raise TypeError(f"stages must map the name of each stage to a run, got {type(run).__name__} for {name!r}")
    run_by_stage = dict(stages)
    last_name, last_run = next(reversed(run_by_stage.items()))
    is_last_the_run = last_name == RETURNED_STAGE or all(
        query in failed or is_same_ranking(last_run.get(query), ranking) for query, ranking in rankings.items()
    )
    if is_last_the_run:
        return {**run_by_stage, last_name: rankings}
    if RETURNED_STAGE in run_by_stage:
        raise ValueError(f"the last stage differs from the run, so only the run can be {RETURNED_STAGE!r}")
    return {**run_by_stage, RETURNED_STAGE: rankings}


def is_same_ranking(ranking: Any, other: Any) -> bool:
    """Return whether two rankings of a question are equal; None, for no ranking, equals only None."""
    if ranking is other or ranking is None:
        return ranking is other
    has_scores = isinstance(ranking, Mapping)
    if has_scores != isinstance(other, Mapping):
        return False
    if has_scores:
        return dict(ranking) == dict(other)
    return list(ranking) == list(other)
