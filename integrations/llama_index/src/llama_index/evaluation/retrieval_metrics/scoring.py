"""Score retrieved nodes, and the source nodes of responses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics import CohereRerankRelevancyMetric
from llama_index.core.schema import BaseNode, Document, ImageNode, MetadataMode, NodeWithScore, TextNode

from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.results import (
    DatasetResult,
    RetrieverEvalResult,
    list_relevant_ids,
    read_dataset_content,
    refuse_nodes,
    to_json_judgments,
)
from retrieval_metrics import DEFAULT_METRICS, EvaluationSet, Matching, Metric, Qrels, Retrieved
from retrieval_metrics.integration_api import EvaluationTask, RowScorer, known_score, listed
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from llama_index.core.base.response.schema import Response
    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

    from retrieval_metrics import RetrievedRun
    from retrieval_metrics.types import ClustersBy, DocumentId, MatchBy, QueryId, QueryScore

Source: TypeAlias = str | Callable[[NodeWithScore], str | None]
METADATA = "metadata:"


class ResponseEvaluator(BaseEvaluator):
    """Scores the source nodes of a response by one metric, for `BatchEvalRunner`.

    Args:
        metric: A name such as `"recall@5"`.
        dataset: The questions and judgments, as in `RetrieverEvaluator.evaluate_dataset`; a response is judged by those
            of the question with the same text.
        match: What identifies a node in the judgments, as in `RetrieverEvaluator`.
        source: The name of a node's document, as in `RetrieverEvaluator`.
        documents: The documents that the nodes were cut from, if a `Span` is judged, as in `RetrieverEvaluator`.
        passing: The smallest score that passes.

    Raises:
        ValueError: If no metric has that name, or two questions have the same text.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> nodes = [NodeWithScore(node=TextNode(id_=name, text=name)) for name in ("d3", "d7")]
        >>> evaluator = ResponseEvaluator("mrr", [("what is a slot?", ["d7"])])
        >>> evaluator.evaluate_response("what is a slot?", Response("a place", source_nodes=nodes)).score  # at rank 2
        0.5
    """

    def __init__(
        self,
        metric: str | Metric,
        dataset: Any,
        *,
        match: MatchBy = "id",
        source: Source = "ref_doc_id",
        documents: Any = None,
        passing: float = 0.5,
    ) -> None:
        """Set the questions, the judgments and the options."""
        questions = EvaluationSet.from_dataset(read_dataset_content(dataset))
        refuse_nodes(questions)
        asked = EvaluationTask(questions, [metric], match, documents=partial(texts_by_name, documents, source))
        self._scorer = RowScorer([metric], match=asked.match, max_grade=asked.qrels.largest_grade or 1.0)
        (self._metric,) = self._scorer.metrics
        self._source = named_as_judged(asked, questions, match, source)
        self._has_ids = asked.qrels.document_kind is not None
        self._judgments: dict[str, Any] = {}
        judged: Mapping[Any, Any] = questions.qrels
        for query, text in asked.texts.items():
            if text in self._judgments:
                raise ValueError(f"query {query!r} has the text of another, {text!r}, but responses are found by text")
            self._judgments[text] = judged[query]
        self._passing = passing

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """Do nothing: there is no prompt."""

    def evaluate_response(
        self, query: str | None = None, response: Response | None = None, **_: Any
    ) -> EvaluationResult:
        """Score the source nodes of a response."""
        items = nodes_as_items(response or [], source=self._source)
        return self._scored(query, None if response is None else response.response, items)

    async def aevaluate_response(
        self, query: str | None = None, response: Response | None = None, **options: Any
    ) -> EvaluationResult:
        """Score the source nodes of a response; the asynchronous twin."""
        return self.evaluate_response(query, response, **options)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_: Any,
    ) -> EvaluationResult:
        """Score contexts, which are texts without ids, so the judgments must be quotes or texts."""
        if self._has_ids:
            return _invalid(query, response, "contexts have no ids, but the judgments are ids; evaluate the response")
        return self._scored(query, response, [Retrieved(None, text=text) for text in contexts or ()])

    def _scored(self, query: str | None, response: str | None, items: list[Retrieved]) -> EvaluationResult:
        if query not in self._judgments:
            return _invalid(query, response, f"the dataset has no question {query!r}")
        (score,) = self._scorer.row(self._judgments[query], lambda: items, name=f"query {query!r}").values()
        if not score.is_defined:
            return _invalid(query, response, f"{self._metric} is undefined: nothing is relevant")
        return EvaluationResult(
            query=query,
            response=response,
            contexts=[item.text or "" for item in items],
            score=score.value,
            passing=score.value >= self._passing,
            feedback=f"{self._metric} {numbers.value(score.value)}, relevant at ranks {[*score.relevant_ranks]}",
        )


def _invalid(query: str | None, response: str | None, reason: str) -> EvaluationResult:
    return EvaluationResult(query=query, response=response, invalid_result=True, invalid_reason=reason)


READS_TEXTS_ALONE = (CohereRerankRelevancyMetric,)
"""Metrics of LlamaIndex that use no judgments."""


class NodeScorer:
    """Questions and the metrics of an evaluator, checked before anything is retrieved; scores the nodes retrieved."""

    def __init__(
        self,
        metrics: Sequence[BaseRetrievalMetric],
        questions: EvaluationSet,
        match: MatchBy,
        *,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        source: Source = "ref_doc_id",
        documents: Any = None,
        clusters: ClustersBy = "source",
    ) -> None:
        self._own = [one for one in metrics if isinstance(one, RetrievalMetric)]
        self._foreign = [one for one in metrics if not isinstance(one, RetrievalMetric)]
        self._order = [one.metric_name for one in metrics]
        self._questions, self._mode = questions, mode
        self._texts: Mapping[Any, str] = questions.queries
        refuse_nodes(questions)
        comparing = [one.metric_name for one in self._foreign if not isinstance(one, READS_TEXTS_ALONE)]
        if comparing and Qrels(questions.qrels).has_pieces:
            raise TypeError(
                f"{comparing[0]!r} compares ids, but the judgments hold quotes, texts or places; use "
                "the metrics of this package, RetrieverEvaluator.from_metric_names([...]), or judge by ids"
            )
        self._asked = EvaluationTask(
            questions,
            [one.spec for one in self._own] or DEFAULT_METRICS,
            match,
            clusters=clusters,
            documents=partial(texts_by_name, documents, source),
        )
        self.items = partial(nodes_as_items, mode=mode, source=named_as_judged(self._asked, questions, match, source))
        self.asking = self._asked.retrieve_arguments | {"convert": self.items} | ({} if self._own else {"check": None})

    def dataset(self, run: RetrievedRun, *, raise_on_error: bool) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation."""
        errors = dict(run.errors)
        evaluation = self._asked.evaluation(run) if self._own else None
        scores = {} if evaluation is None else self._asked.query_scores(evaluation)
        return DatasetResult(
            self._results(run, scores, errors=None if raise_on_error else errors),
            evaluation,
            errors,
            seconds=run.seconds,
            names=self._order,
            foreign=[one.metric_name for one in self._foreign],
        )

    def score_one_query(self, run: RetrievedRun, *, expected_texts: list[str] | None) -> RetrieverEvalResult:
        """Return the result of a single query, whose id is its text; without the warnings that concern a whole run."""
        scores = self._asked.query_scores(run) if self._own else {}
        (result,) = self._results(run, scores, expected_texts=expected_texts)
        result.query_id = None
        return result

    def _results(
        self,
        run: RetrievedRun,
        scores: Mapping[Metric, Mapping[QueryId, QueryScore]],
        *,
        expected_texts: list[str] | None = None,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of LlamaIndex's metrics are collected if there is a dict for them."""
        truth: Mapping[Any, Any] = self._questions.qrels
        columns = [(one.metric_name, one.spec, scores[one.spec]) for one in self._own]
        results = []
        for query, text in self._texts.items():
            items, judgments = run[query], to_json_judgments(truth[query])
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=list_relevant_ids(judgments),
                expected_texts=expected_texts,
                retrieved_ids=list_match_ids(items, self._asked.key),
                retrieved_texts=[item.text for item in items],
                mode=self._mode,
                metric_dict={name: as_result(values[query], spec) for name, spec, values in columns},
                judgments=judgments,
            )
            if self._foreign and query not in run.errors:
                self._ask_foreign(result, errors)
            if errors and query in errors:
                result.error = f"{type(errors[query]).__name__}: {errors[query]}"
            results.append(result)
        return results

    def _ask_foreign(self, result: RetrieverEvalResult, errors: dict[QueryId, Exception] | None) -> None:
        values = dict(result.metric_dict)
        for one in self._foreign:
            try:
                values[one.metric_name] = one.compute(
                    result.query,
                    result.expected_ids,
                    result.retrieved_ids,
                    result.expected_texts,
                    result.retrieved_texts,
                )
            except Exception as error:
                error.add_note(f"while computing {one.metric_name} for query {result.query!r}")
                if errors is None or result.query_id is None:
                    raise
                errors[result.query_id] = error
                result.failures[one.metric_name] = f"{type(error).__name__}: {error}"
        result.metric_dict = {name: values[name] for name in self._order if name in values}


def resolve_source(source: Source) -> Callable[[NodeWithScore], str | None]:
    """Return the function that returns the name of a node's document, as used in a `Span`."""
    if callable(source):
        return source
    if not isinstance(source, str) or not source:
        raise ValueError(
            f"source must be 'ref_doc_id', a metadata key such as 'file_name', or a function of a node; got {source!r}"
        )
    if source == "ref_doc_id":
        return _document_id
    name = source.removeprefix(METADATA)

    def value(scored: NodeWithScore) -> str:
        if (found := scored.node.metadata.get(name)) is None:
            has = ", ".join(map(repr, scored.node.metadata)) or "none"
            raise ValueError(
                f"node {scored.node.node_id!r} has no metadata {name!r} to name its document; it has {has}"
            )
        return str(found)

    return value


def _document_id(scored: NodeWithScore) -> str | None:
    node = scored.node
    return node.node_id if isinstance(node, Document) else node.ref_doc_id


def named_as_judged(
    asked: EvaluationTask, questions: EvaluationSet, match: MatchBy, source: Source
) -> Callable[[NodeWithScore], str | None]:
    """Return what names a node's document; it raises where a random id would be compared with judged names."""
    named = one_document_each(source, asked.sources)
    by = match.by if isinstance(match, Matching) else match
    if by != "source" or source != "ref_doc_id" or asked.qrels.document_kind is None:
        return named
    judged = {one for judgments in questions.qrels.values() for one in list_relevant_ids(to_json_judgments(judgments))}
    if not judged or any(map(_is_random, judged)):
        return named

    def name(scored: NodeWithScore) -> str | None:
        found = named(scored)
        if found is not None and _is_random(found):
            metadata = scored.node.metadata
            key = next((key for key, value in metadata.items() if value in judged), "file_name")
            raise ValueError(
                f"match='source' would compare the judged {min(judged)!r} with {found!r}, the ref_doc_id that a reader "
                f"made up for the document: write match='metadata:{key}'; node {scored.node.node_id!r} has the "
                f"metadata {', '.join(map(repr, metadata)) or 'none'}"
            )
        return found

    return name


def _is_random(name: str) -> bool:
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False


def one_document_each(source: Source, judged: Collection[str]) -> Callable[[NodeWithScore], str | None]:
    """Return the function of `source_of`, which raises once two documents have one name that spans refer to."""
    named = resolve_source(source)
    documents: dict[str, str | None] = {}

    def name(scored: NodeWithScore) -> str | None:
        found = named(scored)
        if found is not None and found in judged:
            document = _document_id(scored)
            other = documents.setdefault(found, document)
            if other != document:
                raise ValueError(
                    f"the documents {other!r} and {document!r} are both named {found!r} by source={source!r}, as the "
                    f"pages of one file are, so a span of {found!r} could mean either; name the document of a span by "
                    "its doc_id and pass source='ref_doc_id', or use a function that tells pages apart: "
                    "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\""
                )
        return found

    return name


def source_text_by_name(documents: Iterable[Document], source: Source = "ref_doc_id") -> dict[str, str]:
    """Return the texts of documents by name, for `Matching(sources=...)`, which searches for chunks in them.

    Args:
        documents: Documents, as returned by a reader.
        source: The name of a document, as in `RetrieverEvaluator`.

    Raises:
        ValueError: If two documents with different texts have the same name, or a document has none.

    Example:
        >>> source_text_by_name([Document(text="Slots save memory.", metadata={"file_name": "slots.md"})], "file_name")
        {'slots.md': 'Slots save memory.'}
    """
    texts: dict[str, str] = {}
    name_of = resolve_source(source)
    for document in documents:
        scored = NodeWithScore(node=document)
        name, text = name_of(scored), text_of(scored)
        if name is None:
            raise ValueError(f"document {document.node_id!r} has no name by source={source!r}")
        if texts.setdefault(name, text) != text:
            raise ValueError(
                f"two documents are named {name!r} and have different texts, as the pages of one file do; name them by "
                "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\", or by ref_doc_id"
            )
    return texts


def texts_by_name(documents: Any, source: Source) -> Any:
    """Return the texts of documents by name; None, or a mapping of names to texts, as it is."""
    return documents if documents is None or isinstance(documents, Mapping) else source_text_by_name(documents, source)


def as_retrieved(scored: NodeWithScore, source: Callable[[NodeWithScore], str | None] = _document_id) -> Retrieved:
    """Return a node as an item of the core: its text, and its place in its document.

    Args:
        scored: A node; it is not changed.
        source: The name of its document.
    """
    node = scored.node
    text = text_of(scored)
    start, end = _offsets(node, text)
    # A document is its own source. Nothing says whether the offsets of a node are those in its document: after a second
    # parser, they are those in a section, while the node still names the document.
    claimed = not isinstance(node, Document)
    return Retrieved(
        node.node_id,
        text,
        source(scored),
        start,
        end,
        known_score(scored.score),
        node.metadata,
        offsets_unverified=claimed,
    )


def _offsets(node: BaseNode, text: str) -> tuple[int | None, int | None]:
    """Return start and end in the document that a node was cut from; None if they are unknown."""
    if isinstance(node, Document):
        return 0, len(text)  # a document is its own source, from its first character
    start = getattr(node, "start_char_idx", None)
    if start is None or start < 0:
        return None, None
    end = getattr(node, "end_char_idx", None)
    # A node cut from another one, as by the HierarchicalNodeParser, has its place in that one, not in the document.
    if (end is not None and end < start) or node.parent_node is not None:
        return None, None
    return start, end


def get_nodes(answer: Any) -> list[NodeWithScore]:
    """Return the nodes of an answer: a list of nodes, with or without scores, or a response with `source_nodes`."""
    found = getattr(answer, "source_nodes", answer)
    said = "a retriever must return a list of nodes with scores, or a response with source_nodes"
    found = listed(found, (NodeWithScore, BaseNode), said)
    return [one if isinstance(one, NodeWithScore) else NodeWithScore(node=one) for one in found]


def convert_items(answer: Any) -> list[Retrieved]:
    """Return the nodes of an answer, or documents and nodes of a parser, as items with their own ids."""
    return [as_retrieved(one) for one in get_nodes(answer)]


def get_match_key(match: MatchBy) -> Callable[[Retrieved], DocumentId | None]:
    """Return the function that returns what is compared with the ids of the judgments."""
    return (match if isinstance(match, Matching) else Matching(by=match)).key


def list_match_ids(items: Sequence[Retrieved], name_of: Callable[[Retrieved], DocumentId | None]) -> list[str]:
    """Return what items are judged by, as text; where a node lacks it, the id of the node."""
    return [str(item.id if (found := name_of(item)) is None else found) for item in items]


def text_of(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    node = scored.node
    # Most nodes are plain TextNodes; calling their method takes three times as long as reading the attribute.
    text = node.text if type(node) is TextNode else node.get_content(metadata_mode=MetadataMode.NONE)
    # Readers keep the line ends of Windows, but spans are written against what `open` reads.
    return text.replace("\r\n", "\n") if isinstance(node, Document) else text


class IdsAndTexts(NamedTuple):
    """The result of the hook of LlamaIndex's evaluators, which a subclass can override."""

    ids: list[str]
    texts: list[str]


def of_mode(nodes: Sequence[NodeWithScore], mode: RetrievalEvalMode) -> Sequence[NodeWithScore]:
    """Return the nodes that count in a mode: only images, or everything, as in LlamaIndex's evaluators."""
    if mode != RetrievalEvalMode.IMAGE:
        return nodes
    return [scored for scored in nodes if isinstance(scored.node, ImageNode)]


def nodes_as_items(
    nodes: Any, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT, source: Source = "ref_doc_id"
) -> list[Retrieved]:
    """Return retrieved nodes as items of the core, in their order."""
    if isinstance(nodes, IdsAndTexts):
        return [Retrieved(name, text=text) for name, text in zip(*nodes, strict=True)]
    named = resolve_source(source)
    return [as_retrieved(scored, named) for scored in of_mode(get_nodes(nodes), mode)]
