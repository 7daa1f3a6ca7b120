"""Read the answer of a retriever: a ranking, or the rankings of its stages."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from retrieval_metrics._internal.validation import common_id_type
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.ranking_checks import (
    ITEMS_HINT,
    as_list,
    describe_keys,
    is_list_of_ids,
    refuse_empty_id,
    require_finite_scores,
)
from retrieval_metrics.inputs.stage_rankings import (
    StageRankings,
    is_stage_mapping,
    require_separate_stages,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking


class AnswerRankings(NamedTuple):
    """The answer of a retriever: ids, ids with scores, or items, best first; and its stages, if it tells any."""

    ranking: Ranking
    stages: StageRankings


def copy_answer(answer: Any) -> Any:
    """Return an answer as it is now, because a retriever may fill one list or dict for one question after another."""
    if isinstance(answer, list):
        return list(answer)
    if not isinstance(answer, dict):
        return answer
    copied = copy(answer)
    # By identity, because stages that share a list are refused.
    copy_by_identity = {id(value): copy(value) for value in answer.values() if isinstance(value, (dict, list))}
    for name, value in answer.items():
        copied[name] = copy_by_identity.get(id(value), value)
    return copied


def read_answer(
    answer: Any, query: QueryId, convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None
) -> AnswerRankings:
    """Return what the answer of a retriever holds.

    Raises:
        TypeError: If it is no ranking.
        ValueError: If a score is not finite.
    """
    if answer is not None and convert is not None and not isinstance(answer, StageRankings):
        answer = convert(answer)
    stages = StageRankings()
    if isinstance(answer, StageRankings) or is_stage_mapping(answer):
        require_separate_stages(answer)
        takes_documents = answer.takes_documents if isinstance(answer, StageRankings) else None
        rankings = {name: _read_stage(ranking, name, query) for name, ranking in answer.items()}
        stages = StageRankings(rankings, takes_documents)
        answer = stages.answer
    if answer is None:
        raise TypeError(
            f"the retriever returned None for query {query!r}; does it lack a return statement? If nothing was found, "
            "return an empty list"
        )
    if stages:  # its rankings were read already
        return AnswerRankings(answer, stages)
    return AnswerRankings(_read_ranking(answer, query), stages)


def _read_stage(ranking: Any, name: str, query: QueryId) -> Ranking | None:
    """Return the ranking of a stage; None if the question did not reach it."""
    if ranking is None:
        return None
    try:
        return _read_ranking(ranking, query)
    except (TypeError, ValueError) as error:
        error.add_note(f"this is its ranking after the stage {name!r}")
        raise


def _read_ranking(answer: Any, query: QueryId) -> Ranking:
    if isinstance(answer, Mapping):
        _require_scores(answer, query)
        return dict(answer)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], (list, tuple)):
        _refuse_pairs(answer[0], query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], Mapping):
        raise TypeError(f"the retriever returned {describe_keys(answer[0])} for query {query!r}; return {ITEMS_HINT}")
    ranking = as_list(answer, query)
    if not ranking or all(isinstance(item, Retrieved) for item in ranking):
        return ranking
    first = ranking[0]
    if not isinstance(first, (str, Integral)):
        host = find_host(first)
        if host is not None:
            return list(host.convert_items(ranking))
        if not isinstance(first, Retrieved):
            raise TypeError(
                f"the retriever returned objects of type {type(first).__name__} for query {query!r}; return the IDs of "
                "the documents, best first, or items: [rm.Retrieved(id, text=...) for ... in found]"
            )
    common_id_type(set(map(type, ranking)), f"the document IDs retrieved for query {query!r}")
    if "" in ranking:
        refuse_empty_id(query)
    return ranking


def _require_scores(answer: Mapping[Any, Any], query: QueryId) -> None:
    for name, value in answer.items():
        if not isinstance(value, Real):
            raise TypeError(
                f"the retriever returned a mapping for query {query!r} with a {type(value).__name__} under "
                f"{name!r}; a mapping must map document IDs to scores, or stages to rankings, so put nothing but "
                "document scores in the mapping"
            )
    common_id_type(set(map(type, answer)), f"the document IDs retrieved for query {query!r}")
    if "" in answer:
        refuse_empty_id(query)
    require_finite_scores(answer, query)


def _refuse_pairs(pair: Sequence[Any], query: QueryId) -> NoReturn:
    if is_list_of_ids(pair) and all(isinstance(part, (str, Integral)) for part in pair):
        raise TypeError(
            f"the retriever returned lists such as {pair!r} for query {query!r}; return one list of IDs, best first"
        )
    if pair and isinstance(pair[0], (str, Integral)):
        example = repr(pair)
        remedy = "dict(found), which is IDs with scores"
    else:
        example = f"({', '.join(type(part).__name__ for part in pair)})"
        remedy = "[document for document, score in found]"
    raise TypeError(f"the retriever returned pairs such as {example} for query {query!r}; return {remedy}")
