"""What the retrievers, ensembles, compressors and functions of a chain hold while one question is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables.config import merge_configs

from retrieval_metrics.integration_api import RETURNED_STAGE, StageRankings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from langchain_core.runnables import RunnableConfig

    from retrieval_metrics import Retrieved

PLACE = re.compile(r"(seq:step|retriever_|map:key):?(?:(\d+)|(.*))")
"""The tags by which LangChain tells the parts of a sequence, an ensemble and a map apart, whichever starts first."""


class StagedAnswer(NamedTuple):
    """An answer, and what callbacks told of the way to it."""

    answer: Any
    stages: StageRankings


def with_stages(
    answer: Any, convert: Callable[[Any], list[Retrieved]], *, maps_steps: bool = True
) -> list[Retrieved] | StageRankings:
    """Return what was retrieved as the last of the steps; only that if there was nothing on the way to it.

    With `maps_steps`, an answer that maps names to documents, as of `RunnableParallel(...).assign(...)`, is the steps.
    """
    told = answer if isinstance(answer, StagedAnswer) else StagedAnswer(answer, StageRankings())
    several = isinstance(told.answer, Mapping) and len(told.answer) > 1
    if maps_steps and several and all(map(_may_be_a_step, told.answer.values())):
        return StageRankings({str(name): None if one is None else convert(one) for name, one in told.answer.items()})
    found = convert(told.answer)
    last = next(reversed(told.stages), None)
    if last is not None and _compared(told.stages[last]) == _compared(found):
        return StageRankings(told.stages | {last: found}) if len(told.stages) > 1 else found
    return StageRankings(told.stages | {RETURNED_STAGE: found}) if told.stages else found


def _may_be_a_step(value: Any) -> bool:
    return value is None or value == [] or _are_documents(value)


def _compared(items: Sequence[Retrieved]) -> list[Any]:
    return [(item.id, item.text) for item in items]


class StageHandler(BaseCallbackHandler):
    """The callbacks of one question."""

    run_inline = True  # in threads, the starts of parallel calls would arrive in any order
    raise_error = True

    def __init__(self, convert: Callable[[Any], list[Retrieved]], documents_key: str | None = None) -> None:
        self._convert = convert
        self._documents_key = documents_key
        self._runs: dict[UUID, _Run] = {}
        self._sequences: set[UUID | None] = set()

    def config(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return the config of LangChain with these callbacks."""
        return merge_configs(config, {"callbacks": [self]})

    def told(self, answer: Any) -> StagedAnswer:
        """Return an answer with the steps to it."""
        runs = sorted(self._runs.items(), key=lambda run: run[1].place)
        return StagedAnswer(
            answer, StageRankings.from_spans((str(key), str(run.parent), run.name, run.found) for key, run in runs)
        )

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Note that a retriever or a chain began."""
        del serialized
        name, place = str(kwargs.get("name") or "chain"), ("", 0, "")
        for said in filter(None, map(PLACE.fullmatch, kwargs.get("tags") or ())):
            place, name = (said[1], int(said[2] or 0), said[3] or ""), said[3] or name
        is_part = place[0] == "seq:step"
        if is_part:
            self._sequences.add(parent_run_id)
        is_node = not is_part and name == (kwargs.get("metadata") or {}).get("langgraph_node")
        self._runs[run_id] = _Run(parent_run_id, name, place, is_node=is_node, passes_on=_are_documents(inputs))

    on_retriever_start = on_chain_start  # type: ignore[assignment]  # the query is one of its inputs

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a retriever, an ensemble or a compressor returned."""
        del kwargs
        self._runs[run_id].found = self._convert(documents)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the documents that a function or the node of a graph returned; a sequence returns those of its last."""
        del kwargs
        run = self._runs[run_id]
        if run.is_node and isinstance(outputs, Mapping):
            outputs = outputs.get(self._documents_key)
        if (run.is_node or run_id not in self._sequences) and (
            _are_documents(outputs) or (outputs == [] and run.passes_on)
        ):
            run.found = self._convert(outputs)


@dataclass
class _Run:
    """A run of a chain or a retriever."""

    parent: UUID | None
    name: str
    place: tuple[str, int, str]
    is_node: bool
    passes_on: bool
    found: list[Retrieved] | None = None


def _are_documents(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(one, Document) for one in value)
