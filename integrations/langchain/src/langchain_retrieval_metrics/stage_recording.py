"""Record the documents that the retrievers, compressors and functions of a chain return for one question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import merge_configs

from langchain_retrieval_metrics.documents import are_documents
from retrieval_metrics.integration_api import RETURNED_STAGE, StageRankings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableConfig

    from retrieval_metrics import Retrieved

    ConvertItems: TypeAlias = Callable[[Any], list[Retrieved]]

# The tags that LangChain gives to the parts of a sequence, an ensemble and a map. They hold a position or a key, so
# that parallel parts can be sorted whichever starts first. A tag such as "retriever_prod" is a user's.
POSITION_TAG = re.compile(r"(seq:step|retriever_|map:key)(?::?(\d+)|(?<=map:key):(.*))")
STEP_OF_SEQUENCE = "seq:step"


@dataclass(frozen=True, slots=True)
class StagedAnswer:
    """An answer, and the stages before it that callbacks recorded."""

    answer: Any
    stages: StageRankings


def with_stages(
    answer: object, convert: ConvertItems, *, mapping_has_stages: bool = True
) -> list[Retrieved] | StageRankings:
    """Return the documents of an answer as items, as the last of its stages if there are others.

    With `mapping_has_stages`, an answer that maps names to documents, such as that of
    `RunnableParallel(...).assign(...)`, is read as the stages.
    """
    stages = StageRankings()
    if isinstance(answer, StagedAnswer):
        stages = answer.stages
        answer = answer.answer
    if mapping_has_stages and _is_stage_mapping(answer):
        return _convert_stage_mapping(answer, convert)
    items = convert(answer)
    if not stages:
        return items
    last = next(reversed(stages))
    if _ids_and_texts(stages[last]) != _ids_and_texts(items):
        # The chain changed the documents after its last recorded stage.
        takes_documents = {**stages.takes_documents, RETURNED_STAGE: True}
        return StageRankings({**stages, RETURNED_STAGE: items}, takes_documents)
    if len(stages) == 1:
        return items
    return StageRankings({**stages, last: items}, stages.takes_documents)


def _is_stage_mapping(answer: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether an answer maps several names to documents, None or an empty list."""
    if not isinstance(answer, Mapping) or len(answer) <= 1:
        return False
    return all(value is None or value == [] or are_documents(value) for value in answer.values())


def _convert_stage_mapping(answer: Mapping[Any, Any], convert: ConvertItems) -> StageRankings:
    stages = StageRankings()
    for name, documents in answer.items():
        stages[str(name)] = None if documents is None else convert(documents)
    return stages


def _ids_and_texts(items: Sequence[Retrieved]) -> list[tuple[Any, str | None]]:
    return [(item.id, item.text) for item in items]


class StageHandler(BaseCallbackHandler):
    """The callbacks that record the stages of one question."""

    run_inline = True  # in threads, the starts of parallel calls would arrive in any order
    raise_error = True

    def __init__(self, convert: ConvertItems, documents_key: str | None = None) -> None:
        self._convert = convert
        self._documents_key = documents_key
        self._runs: dict[UUID, _Run] = {}
        self._sequences: set[UUID | None] = set()

    def add_to(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return the config of LangChain with these callbacks."""
        return merge_configs(config, {"callbacks": [self]})

    def add_stages(self, answer: object) -> StagedAnswer:
        """Return an answer with the stages that were recorded before it."""
        # Sorting is stable: runs with one position stay in the order in which they started.
        run_ids = sorted(self._runs, key=self._position)
        spans = []
        takes_documents = {}
        for run_id in run_ids:
            run = self._runs[run_id]
            parent = None if run.parent is None else str(run.parent)
            spans.append((str(run_id), parent, run.name, run.items))
            if run.takes_documents is not None:
                takes_documents[str(run_id)] = run.takes_documents
        return StagedAnswer(answer, StageRankings.from_spans(spans, takes_documents))

    def _position(self, run_id: UUID) -> _Position:
        return self._runs[run_id].position

    def on_chain_start(
        self,
        serialized: object,
        inputs: object,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: object,
    ) -> None:
        """Record the start of a retriever or a chain."""
        del serialized
        name = str(kwargs.get("name") or "chain")
        position = _Position()
        for tag in tags or ():
            match = POSITION_TAG.fullmatch(tag)
            if match is not None:
                kind, number, key = match.groups()
                position = _Position(kind, int(number or 0), key or "")
                name = key or name
        is_step = position.kind == STEP_OF_SEQUENCE
        if is_step:
            self._sequences.add(parent_run_id)
        is_node = not is_step and name == (metadata or {}).get("langgraph_node")
        takes_documents: bool | None = None
        if isinstance(inputs, str):
            takes_documents = False
        elif are_documents(inputs):
            takes_documents = True
        self._runs[run_id] = _Run(
            parent_run_id, name, position, is_node_of_graph=is_node, takes_documents=takes_documents
        )

    on_retriever_start = on_chain_start  # type: ignore[assignment]  # the query is one of its inputs

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: object) -> None:
        """Record the documents that a retriever, an ensemble or a compressor returned."""
        del kwargs
        self._runs[run_id].items = self._convert(documents)

    def on_chain_end(self, outputs: object, *, run_id: UUID, **kwargs: object) -> None:
        """Record the documents that a function or the node of a graph returned, but not again those of a sequence."""
        del kwargs
        run = self._runs[run_id]
        documents = outputs
        if run.is_node_of_graph and isinstance(outputs, Mapping):
            documents = outputs.get(self._documents_key)
        # A sequence returns what its last step returned, which is recorded already.
        if not run.is_node_of_graph and run_id in self._sequences:
            return
        has_removed_all = run.takes_documents is True and documents == []
        if has_removed_all or are_documents(documents):
            run.items = self._convert(documents)


@dataclass(frozen=True, slots=True, order=True)
class _Position:
    """The position of a run among its siblings, as its tag says; runs are sorted by it."""

    kind: str = ""
    number: int = 0
    key: str = ""


@dataclass(slots=True)
class _Run:
    """A run of a chain or a retriever, and what it returned.

    `takes_documents` is whether it was given documents; None if it was given a mapping, of which it may use any part.
    """

    parent: UUID | None
    name: str
    position: _Position
    is_node_of_graph: bool = field(kw_only=True)
    takes_documents: bool | None = field(kw_only=True)
    items: list[Retrieved] | None = None
