"""Read the searches, the context and the citations of an agent from the spans of one trace."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics.inputs.host_documents import convert_to_items
from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.traces.chat_messages import CONVERSATION_KIND
from retrieval_metrics.traces.citations import find_cited_documents, find_numbered_citations
from retrieval_metrics.traces.payload_decoding import decode_payload, unescape
from retrieval_metrics.traces.quoted_items import find_quoted_items
from retrieval_metrics.traces.trace_span import (
    MODEL,
    RAISE_LIMITS,
    RERANKER,
    RETRIEVER,
    SPAN_KINDS,
    TOOL,
    UNKNOWN_KIND,
    TraceError,
    TraceSpan,
)
from retrieval_metrics.traces.trajectory import SearchCall, result_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.traces.model_message import ToolCall

# The kinds of spans that searched, ranked, called or answered; spans of other kinds only contain these.
INFORMATIVE_KINDS = {RETRIEVER, RERANKER, TOOL, MODEL}
KNOWN_KINDS = {*SPAN_KINDS, UNKNOWN_KIND}
# The largest number of characters of an output that a message shows, about a line.
MAX_SHOWN_OUTPUT = 80


class UnreadOutputError(TraceError):
    """A result does not say which documents a search found."""


class TraceReadingOptions(NamedTuple):
    """The options of `read_traces` for one trace.

    Attributes:
        tools: The names of tools that search.
        calls: The ids of the spans that are searches; empty to find them.
        documents: Returns the documents in the output of a search.
        citations: Returns the ids that the text of an answer cites, or `"numbered"`.
        any_reader: Whether the context is what any model has read, instead of what the answering model has read.
    """

    tools: Collection[str] = ()
    calls: Collection[str] = ()
    documents: Callable[[Any], Any] | None = None
    citations: Callable[..., Sequence[Any]] | Literal["numbered"] | None = None
    any_reader: bool = False


class TraceContents(NamedTuple):
    """The searches, the context and the citations in one trace; None means that context or citations are unknown."""

    calls: list[SearchCall]
    context: list[Any] | None
    citations: list[Any] | None


class UnclearSpan(NamedTuple):
    """A span that may be a search but is not counted as one, and the reason why that is unclear."""

    reason: str
    span: TraceSpan


class _CallPosition(NamedTuple):
    """The place of a call in its agent; compared in this order."""

    turn: int
    position_in_message: int
    start: float
    span_id: str


class _FoundSearch(NamedTuple):
    """A search that was found in a trace.

    Attributes:
        span: The span of the search.
        positions: The place of the search in each agent around it, from the outermost agent on.
        call_id: The id of the tool call that the search answers; None if that is unknown.
        question: What the search asked for; None if that is unknown.
    """

    span: TraceSpan
    positions: tuple[_CallPosition, ...]
    call_id: str | None
    question: str | None

    @property
    def turns(self) -> tuple[int, ...]:
        """Its turn in each agent around it."""
        return tuple(position.turn for position in self.positions)

    def is_retry_of(self, failed: _FoundSearch) -> bool:
        """Return whether this search repeats a failed one in the same turn.

        It does if both have one call id, or the same tool and arguments, and their questions do not differ.
        """
        if self.turns != failed.turns:
            return False
        has_same_call = self.call_id is not None and self.call_id == failed.call_id
        if self.question is None or failed.question is None:
            return has_same_call
        if self.question != failed.question:
            return False
        if has_same_call:
            return True
        if self.span.name != failed.span.name:
            return False
        return bool(decode_payload(self.span.input) == decode_payload(failed.span.input))


@dataclass(slots=True)
class _SearchGroup:
    """The searches of one step whose results one reranker joins; without a reranker, a single search."""

    searches: list[_FoundSearch]
    reranker: TraceSpan | None


@dataclass(slots=True)
class _ReadCall:
    """A call, and the first of the searches that it consists of."""

    search: _FoundSearch
    call: SearchCall


class _StepResult(NamedTuple):
    """The ranking that a step returned, and the rankings of the steps inside it."""

    ranking: Sequence[Any]
    inner_rankings: list[list[Any]]


class _ReadContext(NamedTuple):
    """The text that models have read, and the documents whose whole text it contains; None if that is unknown."""

    text: str
    documents: list[Any] | None


class _AgentTurns(NamedTuple):
    """The models of one agent in the order of their ends; an agent is the whole trace, or a tool with models inside.

    Attributes:
        models: The spans of the models.
        ends: When each of them ended, in seconds.
        turns: The turn of each, from 1.
    """

    models: list[TraceSpan]
    ends: list[float]
    turns: list[int]


class AgentTrace:
    """The spans of one trace, from which `read` makes the searches of an agent.

    Attributes:
        unread: The errors of results that do not say which documents were found.
        searched_turns: In how many turns of the user the agent searched, once the trace was read.
        turn_starts: The numbers of the messages with which the user begins a turn; empty if it is no conversation.
    """

    def __init__(self, spans: Mapping[str, TraceSpan], options: TraceReadingOptions) -> None:
        """Take the spans."""
        self._options = options
        self.unread: list[TraceError] = []
        self.searched_turns = 0
        self.turn_starts: tuple[int, ...] = ()
        if CONVERSATION_KIND in spans:
            self.turn_starts = spans[CONVERSATION_KIND].turn_starts
        self._spans = spans
        self._parent_ids = {span.parent for span in spans.values()}
        # The nearest span around each span that counts, its innermost tool, and how many spans are around it. Links
        # and not whole paths, which would take quadratic time and memory in deep traces.
        self._outer: dict[str, TraceSpan | None] = {}
        self._scope: dict[str, str | None] = {}
        self._depth: dict[str, int] = {}
        for span in spans.values():
            self._link(span)
        models = [span for span in spans.values() if span.kind == MODEL and not self._works_inside(span)]
        self._models = sorted(models, key=_end_and_id)
        self._retrievers_inside: dict[str, list[TraceSpan]] = {}
        for span in spans.values():
            if span.kind == RETRIEVER:
                for outer in self._above(span):
                    self._retrievers_inside.setdefault(outer.id, []).append(span)
        self._answering: TraceSpan | None = None
        starts: dict[str | None, list[float]] = {None: []}
        for span in spans.values():
            if span.kind in {TOOL, RETRIEVER} or span.id in options.calls:
                starts.setdefault(self._scope[span.id], []).append(span.start)
        self._agents = {scope: self._count_turns(scope, sorted(times)) for scope, times in starts.items()}

    def _count_turns(self, scope: str | None, starts: list[float]) -> _AgentTurns:
        """Number the turns of an agent: models are in one turn if no tool or search started between their ends."""
        models = [model for model in self._models if self._scope[model.id] == scope]
        n_started = [bisect_left(starts, model.end) for model in models]
        turn_by_n_started = {number: turn for turn, number in enumerate(dict.fromkeys(n_started), start=1)}
        turns = [turn_by_n_started[number] for number in n_started]
        return _AgentTurns(models, [model.end for model in models], turns)

    def _link(self, span: TraceSpan) -> None:
        """Link a span, and those around it that are not linked yet, to the spans around them."""
        unlinked: list[TraceSpan] = []
        current: TraceSpan | None = span
        while current is not None and current.id not in self._outer:
            unlinked.append(current)
            if len(unlinked) > len(self._spans):
                raise TraceError(f"{span.label} is nested inside itself, so its calls are ambiguous")
            current = None if current.parent is None else self._spans.get(current.parent)
        while unlinked:
            inner = unlinked.pop()
            parent = None if inner.parent is None else self._spans.get(inner.parent)
            if parent is None:
                self._outer[inner.id] = None
                self._scope[inner.id] = None
                self._depth[inner.id] = 0
                continue
            self._outer[inner.id] = parent if self._counts(parent) else self._outer[parent.id]
            self._scope[inner.id] = parent.id if parent.kind == TOOL else self._scope[parent.id]
            self._depth[inner.id] = self._depth[parent.id] + 1

    def _counts(self, span: TraceSpan) -> bool:
        """Return whether anything depends on a span being around another one."""
        return span.kind in INFORMATIVE_KINDS or span.id in self._options.calls or "rerank" in span.name.lower()

    def _above(self, span: TraceSpan) -> Iterator[TraceSpan]:
        """Yield the spans around a span that count, from the inside out."""
        outer = self._outer[span.id]
        while outer is not None:
            yield outer
            outer = self._outer[outer.id]

    def _works_inside(self, model: TraceSpan) -> bool:
        """Return whether a model works inside another model, a search or a reranker, so that it is not an agent's."""
        for span in self._above(model):
            if span.kind in {MODEL, RETRIEVER, RERANKER} or "rerank" in span.name.lower():
                return True
        return False

    def _spans_around(self, span: TraceSpan, kind: str) -> list[TraceSpan]:
        return [outer for outer in self._above(span) if outer.kind == kind]

    def read(self) -> TraceContents:
        """Return the calls, the context and the citations in the trace."""
        searches = sorted(self._find_searches(), key=_search_positions)
        self.searched_turns = self._count_searched_turns(searches)
        calls = self._join_searches(searches)
        self._answering = self._find_answering_model(searches)
        items = _distinct_items(calls)
        context = self._find_context(items)
        cited = self._find_citations(context, items)
        if not cited:
            return TraceContents(calls, context.documents, None if cited is None else [])
        return TraceContents(calls, context.documents, _shorten_citations(cited, items))

    def _count_searched_turns(self, searches: Iterable[_FoundSearch]) -> int:
        # In a conversation, a search starts at the number of a message.
        return len({bisect_right(self.turn_starts, search.positions[0].start) for search in searches})

    def _find_answering_model(self, searches: Sequence[_FoundSearch]) -> TraceSpan | None:
        """Return the last model of the agent; None if it failed to answer, because it asked for a later search."""
        models = [model for model in self._agents[None].models if model.error is None]
        if not models:
            return None
        model = models[-1]
        last_start = max((search.positions[0].start for search in searches), default=-math.inf)
        if last_start >= model.end and model.tool_calls():
            return None
        is_conversation = CONVERSATION_KIND in self._spans
        if is_conversation and not model.tool_calls() and model.answer() is None:
            return None
        return model

    def unclear_spans(self) -> Iterator[UnclearSpan]:
        """Yield the spans that may be searches but are not counted as such."""
        for span in self._spans.values():
            if span.kind not in KNOWN_KINDS:
                yield UnclearSpan(f"of the unknown kind {span.kind!r}", span)
            elif span.kind == MODEL:
                for search in span.provider_searches():
                    if search.tool not in self._options.tools:
                        yield UnclearSpan(f"with a tool of the model's provider ({search.name!r})", span)
                        break
        for span in self.find_steps(UNKNOWN_KIND):
            yield UnclearSpan("without a kind", span)

    def find_steps(self, kind: str) -> Iterator[TraceSpan]:
        """Yield the spans of a kind that have no span inside, and no search, reranker, tool or model around them."""
        for span_id, span in self._spans.items():
            if span.kind != kind or span_id in self._parent_ids:
                continue
            if INFORMATIVE_KINDS.isdisjoint(outer.kind for outer in self._above(span)):
                yield span

    def _find_searches(self) -> list[_FoundSearch]:
        if self._options.calls:
            return [self._read_search(span) for span in self._spans.values() if span.id in self._options.calls]
        outermost = [span for span in self._spans.values() if not self._spans_around(span, RETRIEVER)]
        retrievers = [span for span in outermost if span.kind == RETRIEVER]
        tools = self._find_searching_tools(outermost, retrievers)
        return [self._read_search(span) for span in (*retrievers, *tools)]

    def _find_searching_tools(
        self, outermost: Sequence[TraceSpan], retrievers: Sequence[TraceSpan]
    ) -> Iterator[TraceSpan]:
        """Yield the outermost of the tools that search and have no retriever inside."""
        tool_ids: set[str] = set()
        for span in self._spans.values():
            if span.kind == TOOL and span.name in self._options.tools:
                tool_ids.add(span.id)
        for retriever in retrievers:
            tool_ids.difference_update(outer.id for outer in self._above(retriever))
        for span in outermost:
            if span.id in tool_ids and tool_ids.isdisjoint(outer.id for outer in self._above(span)):
                yield span

    def _read_search(self, span: TraceSpan) -> _FoundSearch:
        steps = [*reversed(self._spans_around(span, TOOL)), span]
        question = span.question()
        positions = tuple(self._find_position(step, question) for step in steps)
        call_id = None
        for step in steps:
            if step.call is not None:
                call_id = step.call
        return _FoundSearch(span, positions, call_id, question)

    def _find_position(self, step: TraceSpan, question: str | None) -> _CallPosition:
        """Return the place of a call in its agent."""
        agent = self._agents[self._scope[step.id]]
        asking = bisect_right(agent.ends, step.start) - 1
        if asking < 0:
            return _CallPosition(0, 0, step.start, step.id)
        tool_calls = agent.models[asking].tool_calls() or []
        position = _find_by_id(tool_calls, step.call)
        if position is None:
            step_question = step.question() if step.kind == TOOL else None
            position = _find_by_question(tool_calls, step_question or question)
        if position is None:
            position = len(tool_calls)
        return _CallPosition(agent.turns[asking], position, step.start, step.id)

    def _join_searches(self, searches: Sequence[_FoundSearch]) -> list[SearchCall]:
        """Return the calls. Searches whose results one reranker joins are one call, and so are repeated attempts."""
        read_calls: list[_ReadCall] = []
        failed_calls: list[_ReadCall] = []
        for group in self._group_by_reranker(searches):
            search = group.searches[0]
            call = self._read_call(group)
            failed = _find_failed_attempt(failed_calls, search)
            if failed is None:
                read_calls.append(_ReadCall(search, call))
                if call.error:
                    failed_calls.append(read_calls[-1])
            else:
                failed.call = _add_attempt(failed.call, call)
        return [read_call.call for read_call in read_calls]

    def _group_by_reranker(self, searches: Sequence[_FoundSearch]) -> Iterable[_SearchGroup]:
        rerankers_by_parent: dict[str | None, list[TraceSpan]] = {}
        for span in self._spans.values():
            if span.kind == RERANKER and span.error is None and not self._spans_around(span, RETRIEVER):
                rerankers_by_parent.setdefault(span.parent, []).append(span)
        groups: dict[str, _SearchGroup] = {}
        for search in searches:
            reranker = _find_next_reranker(rerankers_by_parent.get(search.span.parent, ()), search.span)
            group_id = search.span.id if reranker is None else reranker.id
            groups.setdefault(group_id, _SearchGroup([], reranker)).searches.append(search)
        return groups.values()

    def _read_call(self, group: _SearchGroup) -> SearchCall:
        search = group.searches[0]
        span = search.span
        reranker = group.reranker
        error = span.error
        result = _StepResult((), [])
        try:
            if error is None:
                result = self._read_result(group)
        except UnreadOutputError as unread:
            self.unread.append(unread)
            error = str(unread)
            reranker = None
        end = span.end if reranker is None else reranker.end
        seconds: float | None = None
        if end > span.start:
            seconds = end - span.start
        elif reranker is not None:
            seconds = 0.0
        turn = max(search.turns[0], 1)
        return SearchCall(search.question, result.ranking, turn, 1, seconds, error, result.inner_rankings)

    def _read_result(self, group: _SearchGroup) -> _StepResult:
        """Return the ranking that a step returned, and the rankings inside it."""
        if group.reranker is not None:
            ranking = self._require_documents(group.reranker)
            return _StepResult(ranking, self._find_rankings(search.span for search in group.searches))
        span = group.searches[0].span
        retrievers = sorted(self._retrievers_inside.get(span.id, ()), key=self._depth_and_start)
        inner_rankings = self._find_rankings(retriever for retriever in retrievers if retriever.error is None)
        handed_on = self._find_documents(span)
        if handed_on is None:
            handed_on = inner_rankings.pop(0) if inner_rankings else self._require_documents(span)
        distinct: list[list[Any]] = []
        for ranking in inner_rankings:
            if ranking != handed_on and ranking not in distinct:
                distinct.append(ranking)
        return _StepResult(handed_on, distinct)

    def _depth_and_start(self, span: TraceSpan) -> tuple[int, float, str]:
        return self._depth[span.id], span.start, span.id

    def _find_rankings(self, spans: Iterable[TraceSpan]) -> list[list[Any]]:
        """Return the documents of each span, without the spans whose documents are unknown."""
        rankings = []
        for span in spans:
            documents = self._find_documents(span)
            if documents is not None:
                rankings.append(documents)
        return rankings

    def _require_documents(self, span: TraceSpan) -> list[Any]:
        """Return the documents that a span found.

        Raises:
            UnreadOutputError: If the output does not say which documents they are.
        """
        documents = self._find_documents(span)
        if documents is not None:
            return documents
        if self._options.documents is None:
            remedy = (
                "Enable the recording of content, or pass documents=, such as "
                "lambda output: [row['key'] for row in output['rows']]"
            )
        else:
            remedy = "Return a list from documents=, which returned None for it"
        shown = repr(span.output)
        if len(shown) > MAX_SHOWN_OUTPUT:
            shown = f"{shown[: MAX_SHOWN_OUTPUT - 3]}..."
        raise UnreadOutputError(
            f"{span.label} names no documents, which is not the same as an empty result, got {shown}. {remedy}"
        )

    def _find_documents(self, span: TraceSpan) -> list[Any] | None:
        if self._options.documents is not None:
            try:
                documents = self._options.documents(decode_payload(span.output))
            except Exception as error:  # what the function of a user raises
                raise UnreadOutputError(f"documents= of {span.label} raised {type(error).__name__}: {error}") from error
            if documents is None:
                return None
            return list(convert_to_items(documents, f"documents= of {span.label}"))
        try:
            return span.documents()
        except RecursionError:
            raise TraceError(f"the output of {span.label} is nested too deeply to be read") from None
        except TraceError as error:
            if CONVERSATION_KIND not in self._spans:
                raise
            # Agents cut single results, so the others can still be read; tracers cut everything that is long.
            message = str(error).removesuffix(f"; {RAISE_LIMITS}")
            raise UnreadOutputError(message) from None

    def _find_context(self, items: Sequence[Any]) -> _ReadContext:
        """Return what the answering model has read, and the items whose whole text stands in it."""
        readers: list[TraceSpan] = []
        if self._options.any_reader:
            readers = [model for model in self._models if model.error is None]
        elif self._answering is not None:
            readers = [self._answering]
        texts = []
        for reader in readers:
            text = reader.input_text()
            if text is not None:
                texts.append(text)
        has_every_text = all(isinstance(item, Retrieved) and item.text for item in items)
        if not texts or not has_every_text:
            return _ReadContext("", None)
        read_text = "\n".join(texts)
        return _ReadContext(read_text, list(find_quoted_items(read_text, items)))

    def _find_citations(self, context: _ReadContext, items: Sequence[Any]) -> Iterable[Any] | None:
        """Return what the answer cites; None if that is unknown."""
        rule = self._options.citations
        if rule is None:
            return self._find_structured_citations(items)
        answer = self._find_answer()
        takes_context = rule == "numbered" or _takes_context(rule)
        if answer is None or (takes_context and context.documents is None):
            return None
        if rule == "numbered":
            numbered = self._find_numbered_context(context)
            return find_numbered_citations(answer, unescape(numbered.text), numbered.documents or ())
        cited = rule(answer, context.documents) if takes_context else rule(answer)
        if isinstance(cited, str) or not isinstance(cited, Iterable):
            raise TypeError(f"citations= must return a list of IDs, empty if nothing is cited, got {cited!r}")
        return cited

    def _find_numbered_context(self, context: _ReadContext) -> _ReadContext:
        """Return the context that numbers in the answer can mean: what was read since the last question of the user."""
        if self._answering is None or self._answering.turn_input is None:
            return context
        text = self._answering.turn_text()
        return _ReadContext(text, list(find_quoted_items(text, context.documents or ())))

    def _find_structured_citations(self, items: Sequence[Any]) -> list[Any] | None:
        if self._answering is None:
            return None
        cited: list[Any] = []
        for citation in self._answering.citations():
            cited += find_cited_documents(citation, items)
        return cited

    def _find_answer(self) -> str | None:
        """Return the text of the model that answered, or the output of an outermost span; None if neither has one."""
        spans = [] if self._answering is None else [self._answering]
        for span in self._spans.values():
            if not self._depth[span.id] and span.kind not in INFORMATIVE_KINDS:
                spans.append(span)
        for span in spans:
            answer = span.answer()
            if answer:
                return answer
        return None


def _distinct_items(calls: Iterable[SearchCall]) -> list[Any]:
    """Return what the calls found, each document or passage once."""
    items: dict[Any, Any] = {}
    for call in calls:
        for item in call.ranking:
            items[result_key(item)] = item
    return list(items.values())


def _end_and_id(span: TraceSpan) -> tuple[float, str]:
    return span.end, span.id


def _start_and_id(span: TraceSpan) -> tuple[float, str]:
    return span.start, span.id


def _search_positions(search: _FoundSearch) -> tuple[_CallPosition, ...]:
    return search.positions


def _find_by_id(tool_calls: Sequence[ToolCall], call_id: str | None) -> int | None:
    if call_id is None:
        return None
    for position, tool_call in enumerate(tool_calls):
        if tool_call.id == call_id:
            return position
    return None


def _find_by_question(tool_calls: Sequence[ToolCall], question: str | None) -> int | None:
    if question is None:
        return None
    for position, tool_call in enumerate(tool_calls):
        if tool_call.question == question:
            return position
    return None


def _find_next_reranker(rerankers: Iterable[TraceSpan], span: TraceSpan) -> TraceSpan | None:
    """Return the first of the rerankers of a step that follows a search in it; None for a search that failed."""
    if span.error is not None:
        return None
    following = []
    for reranker in rerankers:
        if reranker.start >= span.start:
            following.append(reranker)
    return min(following, key=_start_and_id, default=None)


def _find_failed_attempt(read_calls: Iterable[_ReadCall], search: _FoundSearch) -> _ReadCall | None:
    for read_call in read_calls:
        if read_call.call.error and search.is_retry_of(read_call.search):
            return read_call
    return None


def _add_attempt(failed: SearchCall, call: SearchCall) -> SearchCall:
    """Return a call that counts a failed attempt before it."""
    seconds = (failed.seconds or 0.0) + (call.seconds or 0.0) or None
    return replace(call, query=call.query or failed.query, attempts=failed.attempts + 1, seconds=seconds)


def _shorten_citations(cited: Iterable[Any], items: Sequence[Any]) -> list[Any]:
    """Return the ids of the cited documents, each once; a passage that shares its id with others stays an item."""
    ids = [item_identity(item) for item in items]
    citations = []
    for document in cited:
        has_own_id = ids.count(getattr(document, "id", None)) == 1
        citations.append(document.id if has_own_id else document)
    return list(dict.fromkeys(citations))


def _takes_context(citations: Callable[..., Any]) -> bool:
    """Return whether a function of citations takes the context beside the answer."""
    parameters = signature(citations).parameters.values()
    n_required = sum(parameter.default is parameter.empty for parameter in parameters)
    return n_required > 1
