"""Read trajectories from traces, and the rules by which the spans of one trace become a trajectory."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics._internal.validation import format_argument, python_or_cli_text
from retrieval_metrics.agents.chat_messages import CONVERSATION_KIND, iterate_spans
from retrieval_metrics.agents.citations import find_cited_documents, find_numbered_citations, find_quoted_items
from retrieval_metrics.agents.trace_formats import span_metadata
from retrieval_metrics.agents.trace_span import (
    MODEL,
    OTHER,
    RAISE_LIMITS,
    RERANKER,
    RETRIEVER,
    SPAN_KINDS,
    TOOL,
    UNKNOWN_KIND,
    TraceError,
    TraceSpan,
    decode_payload,
    unescape,
)
from retrieval_metrics.agents.trajectories import Trajectories
from retrieval_metrics.agents.trajectory import SearchCall, Trajectory, merge_searches, result_key
from retrieval_metrics.files.json_objects import iterate_objects
from retrieval_metrics.inputs.host_documents import convert_to_items
from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from retrieval_metrics.agents.trajectory import CallsView
    from retrieval_metrics.inputs.retrieved_run import MergedRanking


def read_traces(
    source: str | PathLike[str] | Iterable[Any] | Mapping[str, Any] | Any,
    *,
    query: str | Callable[[Mapping[str, Any]], Any] | None = None,
    citations: Callable[..., Sequence[Any]] | Literal["numbered"] | None = None,
    tools: str | Collection[str] = (),
    documents: Callable[[Any], Any] | None = None,
    context: Literal["answer", "any"] = "answer",
) -> Trajectories:
    """Read what agents searched, read and cited from recorded traces.

    A call is an outermost retriever span, or a tool named in `tools` that has no retriever inside. Calls are ordered by
    the turn of the agent and by their position in the model's message, never by the clock alone. A search that is
    repeated after a failure, with the same id or question in the same turn, is one call with several attempts. If a
    reranker follows in the same step, what it hands on is what was found. The context is every document that was found
    and whose whole text stands in the input of the model that answered. Where the last search was not followed by an
    answer, context and citations are unknown.

    What a tracer has cut, what holds two lists of documents that differ, or lies inside itself is refused, naming the
    span, and never scored. `notes` count spans without their parent, repeated ones, results that do not say what was
    found or that an agent has cut, and what may be a search that is not counted. Where nothing says what was found, the
    source is refused.

    Args:
        source: A file (JSON, JSONL, OTLP JSON, Parquet; compressed or not), a DataFrame of Phoenix or of
            `mlflow.search_traces`, or spans or traces as objects: of OpenInference, OpenTelemetry GenAI, OpenLLMetry,
            LangSmith, Langfuse, MLflow, pydantic-ai, Haystack and the OpenAI Agents SDK, or plain dicts with `trace`,
            `span`, `parent`, `kind` (`"retriever"`, `"reranker"`, `"tool"`, `"model"` or `"other"`), `name`, `input`,
            `output`, `start`, `end` and `error`. Or lists of messages, by question if they are in a mapping: of
            Anthropic, OpenAI, LangChain, LangGraph, LlamaIndex, pydantic-ai, Haystack or a coding agent.
        query: Where the id of the question is: a path such as `"metadata.question_id"`, the name of an attribute, or a
            function of the outermost span, as `{"name", "input", "output", "attributes", "metadata"}`. None takes the
            id of the trace.
        citations: Returns the ids that the text of an answer cites; a function of two arguments also gets the context.
            `"numbered"` reads `[1]` and `[2, 5]`: numbers that stand before the documents in what the model has read,
            else their order there. None takes the structured citations of an answer (the `citations` of Anthropic, the
            `annotations` of OpenAI); where no answer has any, citations are unknown.
        tools: The names of tools that search, if they leave no retriever spans.
        documents: Returns the documents in the output of a search as ids, items or objects with an id and a text; for
            outputs of no known form. None from it says that the output holds no documents; it may raise to say that
            the search failed.
        context: `"answer"`, what the model that answered has read; `"any"`, what any model has read, those inside
            tools included.

    Returns:
        The trajectories by the id of their question; several traces of one question are rows of one cluster.

    Raises:
        OSError: If the file cannot be opened.
        ValueError: If a trace cannot be trusted, a line is not JSON, no span is recognised, or no trace has the id of a
            question. The message names the span, or the line.
        TypeError: If the source is nothing that holds traces.
        ImportError: If a Parquet file is given and polars is not installed.

    Example:
        >>> found = [{"id": "d7", "text": "A context manager."}]
        >>> spans = [
        ...     {"trace": "t", "span": "1", "parent": None, "kind": "other", "input": "q1"},
        ...     {"trace": "t", "span": "2", "parent": "1", "kind": "retriever", "input": "with", "output": found},
        ... ]
        >>> read_traces(spans, query="input").union()["q1"]
        [Retrieved(id='d7', text='A context manager.', source=None, start=None, end=None, score=None, metadata=None, \
tokens=None)]
    """
    if context not in {"answer", "any"}:
        raise ValueError(f"context must be 'answer' or 'any', got {context!r}")
    cites = None if citations == "numbered" else citations
    for function, name, example in (
        (cites, "citations", r"lambda answer: re.findall(r'\[(\w+)\]', answer)"),
        (documents, "documents", "lambda output: output['ids']"),
        (None if isinstance(query, str) else query, "query", "'metadata.question_id'"),
    ):
        if function is not None and not callable(function):
            raise TypeError(f"{name}= must be {name}={example} or the like, got {function!r}")
    rules = TraceReadingOptions(_names(tools), (), documents, citations, context == "any")
    traces = _Traces(source, query)
    told: dict[Any, list[tuple[list[SearchCall], list[Any] | None, list[Any] | None]]] = {}
    without = 0
    unclear: dict[str, list[TraceSpan]] = {}
    unread: list[TraceError] = []
    steps: list[TraceSpan] = []
    for id_, spans in sorted(traces.items(), key=lambda one: min(span.start for span in one[1].values())):
        question = traces.questions.get(id_) if query is not None else id_
        if question is None:
            without += 1
            continue
        try:
            trace = AgentTrace(spans, rules)
            told.setdefault(question, []).append(trace.told())
            for what, span in trace.unclear():
                unclear.setdefault(what, []).append(span)
            steps += trace.steps(OTHER)
            unread += trace.unread
        except RecursionError:
            raise TraceError(f"an input or output in trace {id_!r} is nested too deeply to be read") from None
    doubts = _doubts(unclear)
    _check_found(traces, rules, doubts, steps)
    if not told:
        raise ValueError(
            f"of {format_count(len(traces), 'trace')}, none has {query!r}, which {format_argument('query')} names; "
            f"{_there(traces)}"
        )
    if citations is None and not any(cited for of in told.values() for _, _, cited in of):
        told = {id_: [(calls, read, None) for calls, read, _ in of] for id_, of in told.items()}
    of_question = {id_: [Trajectory(*one) for one in of] for id_, of in told.items()}
    every = [one for several in of_question.values() for one in several]
    _check_read(every, unread)
    return Trajectories(
        of_question, notes=[*_notes(traces, without, every, unread, numbers=citations == "numbered"), *doubts]
    )


def _names(tools: str | Collection[str]) -> list[str]:
    names: list[Any] = [tools] if isinstance(tools, str) or not isinstance(tools, Collection) else list(tools)
    if strange := [name for name in names if not isinstance(name, str)]:
        raise TypeError(
            f"{format_argument('tools')} must name the tools that search, as in 'search', got {strange[0]!r}"
        )
    return names


def read_trace_ranking(
    spans: Iterable[Mapping[str, Any]],
    view: CallsView,
    calls: Collection[str] = (),
    citations: Sequence[Any] | None = None,
    where: str = "the span",
) -> MergedRanking:
    """Return what was seen in one trace, for hosts that score a trace at a time."""
    (trace,) = _Traces(spans, None).values()
    rules = TraceReadingOptions(
        calls=calls, documents=lambda output: [] if output is None else convert_to_items(output, where)
    )
    calls_, context, _ = AgentTrace(trace, rules).told()
    told = Trajectory(calls_, context, citations)
    down = told.calls and told.failed == len(told.calls)
    return merge_searches(told, view)._replace(failure=f"every search failed: {told.calls[-1].error}" if down else None)


class _Traces(dict[str, dict[str, TraceSpan]]):
    """Spans by trace and id, with how many were repeated, and the question of each trace."""

    def __init__(self, source: Any, query: str | Callable[[Mapping[str, Any]], Any] | None) -> None:
        super().__init__()
        self.repeated = 0
        self.strays: list[Any] = []
        self.questions: dict[str, Any] = {}
        roots: dict[str, Any] = {}
        for span in iterate_spans(iterate_objects(source), self.strays):
            outermost = span.parent is None
            if query is not None and (outermost or (isinstance(query, str) and span.trace not in self.questions)):
                said = _question_id(span, query)
                if said is not None:
                    if outermost and roots.setdefault(span.trace, said) != said:
                        raise TraceError(
                            f"the outermost spans of trace {span.trace!r} name the questions {roots[span.trace]!r} and "
                            f"{said!r}; give each question a trace of its own"
                        )
                    self.questions[span.trace] = said
            if not outermost:
                span.root = ({}, {})
            self._add(span)
        if not self:
            raise ValueError("there are no spans in the source")

    def _add(self, span: TraceSpan) -> None:
        spans = self.setdefault(span.trace, {})
        known, outcome = spans.get(span.id), span.outcome
        if known is not None:
            self.repeated += 1
            if None not in (outcome, known.outcome) and outcome != known.outcome:
                raise TraceError(f"{span.label} was recorded twice, with different outputs; leave out one of them")
        if known is None or outcome is not None:
            spans[span.id] = span


def _question_id(span: TraceSpan, query: str | Callable[[Mapping[str, Any]], Any]) -> Any:
    _, attributes = span.root
    metadata = span_metadata(span)
    seen: dict[str, Any] = {"attributes": attributes, "metadata": metadata}
    if span.parent is None:
        seen |= {"name": span.name, "input": decode_payload(span.input), "output": decode_payload(span.output)}
    if not isinstance(query, str):
        return query(seen)
    if query in attributes:
        return attributes[query]
    at: Any = seen
    for key in query.split("."):
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, (str, int)) and not isinstance(at, bool) else None


def _check_found(
    traces: _Traces, rules: TraceReadingOptions, doubts: Sequence[str], steps: Sequence[TraceSpan]
) -> None:
    """Raise if no span of the source is a search, unless models answered without one: that would say nothing."""
    every = [span for spans in traces.values() for span in spans.values()]
    tools = sorted({span.name for span in every if span.kind == TOOL})
    whole = all(
        CONVERSATION_KIND in spans for spans in traces.values()
    )  # which shows every call, and so that none was made
    if (tools or doubts or not whole) and (lacking := [name for name in rules.tools if name not in tools]):
        there = (
            f"the tools are {', '.join(map(repr, tools))}"
            if tools
            else f"no tool ran, so leave {format_argument('tools')} out"
        )
        raise TraceError("; ".join([f"no tool is called {lacking[0]!r}; {there}", *doubts]))
    if rules.tools or any(span.kind == RETRIEVER for span in every):
        return
    models = [span for span in every if span.kind == MODEL]
    asked = [span.tool_calls() for span in models if span.error is None]
    if tools or not models or doubts or steps or any(one != [] for one in asked):
        likely = sorted(tools, key=lambda tool: not any(part in tool.lower() for part in SEARCHES))[:1]
        ran = ", ".join(map(repr, tools))
        searches = f"tools that ran are {ran}; {format_argument('tools', likely)} says that one searches"
        unknown = "is the form of these traces supported?" + python_or_cli_text(" convert them into plain dicts")
        raise TraceError(
            f"no span of {format_count(len(traces), 'trace')} is a search of a retriever, so nothing is known of what "
            "was found; "
            + "".join(f"{doubt}; " for doubt in doubts)
            + ("what a model answered was not recorded; " if None in asked else "")
            + (f"{steps[0].label} is a step that may have searched; " if steps and not tools else "")
            + (searches if tools else unknown)
        )


def _check_read(every: Sequence[Trajectory], unread: Sequence[TraceError]) -> None:
    """Raise if no search came back with what could be read: that is the recording, or an outage."""
    if unread and all(call.error is not None for one in every for call in one.calls):
        raise unread[0]


def _notes(
    traces: _Traces, without: int, every: Sequence[Trajectory], unread: Sequence[TraceError], *, numbers: bool
) -> list[str]:
    spans = [(span.parent, spans) for spans in traces.values() for span in spans.values()]
    orphans = sum(parent is not None and parent not in spans for parent, spans in spans)
    cited = [str(item_identity(item)) for one in every for item in one.citations or ()]
    found = {str(item_identity(item)) for one in every if cited for call in one.calls for item in call.ranking}
    said = [
        (without, "trace", "traces", " without the id of a question left out"),
        (orphans, "span", "spans", " whose parent is missing"),
        (traces.repeated, "repeated span", "repeated spans", ""),
        (len(traces.strays), "line", "lines", " between the messages that are none"),
        (len(unread), "result", "results", f" not read, so the search failed: {next(iter(unread), '')}"),
    ]
    notes = [f"{format_count(number, one, many)}{what}" for number, one, many, what in said if number]
    if found and found.isdisjoint(cited):
        cure = (
            python_or_cli_text("; where they number what the model has read, pass citations='numbered'")
            if not numbers
            else ""
        )
        notes.append(f"no citation names a document that was found, {cited[0]!r} for example{cure}")
    return notes


def _doubts(unclear: Mapping[str, Sequence[TraceSpan]]) -> list[str]:
    """Return a note for each reason why spans may be searches that nobody counts."""
    return [
        f"{format_count(len(spans), 'span')} {what} left out, {'such as ' if len(spans) > 1 else ''}{spans[0].label}"
        for what, spans in unclear.items()
    ]


def _there(traces: _Traces) -> str:
    roots = [span for spans in traces.values() for span in spans.values() if span.parent is None]
    if not roots:
        return "none of them has an outermost span"
    there = [*(f"metadata.{key}" for key in span_metadata(roots[0])), *roots[0].root[1]]
    return (
        f"the outermost span of the first has {', '.join(map(repr, there[:12])) or 'neither attributes nor metadata'}"
    )


# The rules by which the spans of one trace become a trajectory.


TOLD = {RETRIEVER, RERANKER, TOOL, MODEL}
KNOWN_KINDS = {*SPAN_KINDS, UNKNOWN_KIND}
"""The kinds that tell something, and those with the ones that only hold others."""


class TraceReadingOptions(NamedTuple):
    """What a reader was asked for."""

    tools: Collection[str] = ()
    calls: Collection[str] = ()
    documents: Callable[[Any], Any] | None = None
    citations: Callable[..., Sequence[Any]] | Literal["numbered"] | None = None
    any_reader: bool = False


class _FoundSearch(NamedTuple):
    """A search: its span, its place in the order of the agent, its turn in each agent around it, and what it asked."""

    span: TraceSpan
    place: tuple[tuple[int, int, float, str], ...]
    step: tuple[int, ...]
    call_id: str | None
    question: str | None


class _AgentTurns(NamedTuple):
    """The models of an agent, those in one tool or in none: when each ended, and its turn."""

    ends: list[float]
    turns: list[int]
    models: list[TraceSpan]


class AgentTrace:
    """The spans of one trace."""

    def __init__(self, spans: Mapping[str, TraceSpan], rules: TraceReadingOptions) -> None:
        """Take the spans."""
        self._rules = rules
        self.unread: list[TraceError] = []
        self._spans = spans
        first = {span.parent: span for span in spans.values()}
        paths = {outer: self._path(span) for outer, span in first.items()}
        scopes = {outer: next((one.id for one in path if one.kind == TOOL), None) for outer, path in paths.items()}
        self._above = {id_: paths[span.parent] for id_, span in spans.items()}
        self._scope = {id_: scopes[span.parent] for id_, span in spans.items()}
        self._outer = first.keys()
        models = [one for one in spans.values() if one.kind == MODEL and not self._works_inside(one)]
        self._models = sorted(models, key=lambda one: (one.end, one.id))
        self._retrievers = [one for one in spans.values() if one.kind == RETRIEVER]
        starts: dict[str | None, list[float]] = {None: []}
        for one in spans.values():
            if one.kind in {TOOL, RETRIEVER} or one.id in rules.calls:
                starts.setdefault(self._scope[one.id], []).append(one.start)
        self._agents = {scope: self._agent(scope, sorted(at)) for scope, at in starts.items()}

    def _agent(self, scope: str | None, starts: list[float]) -> _AgentTurns:
        models = [one for one in self._models if self._scope[one.id] == scope]
        places = [bisect_left(starts, one.end) for one in models]
        turns = {place: turn for turn, place in enumerate(dict.fromkeys(places), start=1)}
        return _AgentTurns([one.end for one in models], [turns[place] for place in places], models)

    def _path(self, span: TraceSpan) -> tuple[TraceSpan, ...]:
        """Return the spans around a span, from the inside out."""
        above: list[TraceSpan] = []
        at = span
        while at.parent is not None and at.parent in self._spans:
            at = self._spans[at.parent]
            above.append(at)
            if len(above) > len(self._spans):
                raise TraceError(f"{span.label} lies inside itself; its calls cannot be told apart")
        return tuple(above)

    def _works_inside(self, model: TraceSpan) -> bool:
        """Return whether a model is a part of another, or of a search, of which it reads every candidate."""
        inside = {MODEL, RETRIEVER, RERANKER}
        return any(one.kind in inside or "rerank" in one.name.lower() for one in self._above[model.id])

    def _around(self, span: TraceSpan, kind: str) -> list[TraceSpan]:
        return [one for one in self._above[span.id] if one.kind == kind]

    def told(self) -> tuple[list[SearchCall], list[Any] | None, list[Any] | None]:
        """Return the calls, the context and the citations that the trace tells."""
        searches = sorted(self._searches(), key=lambda one: one.place)
        calls = self._calls(searches)
        self._answering = self._who_answered(searches)
        items = list({result_key(item): item for call in calls for item in call.ranking}.values())
        read, context = self._context(items)
        cited = self._citations(read, context, items)
        if not cited:
            return calls, context, None if cited is None else []
        ids = [item_identity(item) for item in items]  # of which an id may name several passages
        short = [one.id if ids.count(getattr(one, "id", None)) == 1 else one for one in cited]
        return calls, context, list(dict.fromkeys(short))

    def _who_answered(self, searches: Sequence[_FoundSearch]) -> TraceSpan | None:
        """Return the model that answered: the last of the agent, if it did not ask for a search that came after it."""
        models = [one for one in self._agents[None].models if one.error is None]
        last = max((one.place[0][2] for one in searches), default=-math.inf)
        if not models or (last >= models[-1].end and models[-1].tool_calls()):
            return None
        said_nothing = CONVERSATION_KIND in self._spans and not models[-1].tool_calls() and models[-1].answer() is None
        return None if said_nothing else models[-1]

    def unclear(self) -> Iterator[tuple[str, TraceSpan]]:
        """Yield the spans that may be searches which nobody counts, each with what is said of it."""
        for one in self._spans.values():
            if one.kind not in KNOWN_KINDS:
                yield f"of the unknown kind {one.kind!r}", one
            elif one.kind == MODEL:
                for name in [name for name, tool in one.provider_searches() if tool not in self._rules.tools][:1]:
                    yield f"with a tool of the model's provider ({name!r})", one
        for one in self.steps(UNKNOWN_KIND):
            yield "without a kind", one

    def steps(self, kind: str) -> Iterator[TraceSpan]:
        """Yield the spans of a kind that are told by no other: none is inside, nor a search, tool or model around."""
        for id_, one in self._spans.items():
            if one.kind == kind and id_ not in self._outer and TOLD.isdisjoint(each.kind for each in self._above[id_]):
                yield one

    def _searches(self) -> list[_FoundSearch]:
        if self._rules.calls:
            return [self._search(one) for one in self._spans.values() if one.id in self._rules.calls]
        named = {one.id for one in self._spans.values() if one.kind == TOOL and one.name in self._rules.tools}
        outer = [one for one in self._spans.values() if not self._around(one, RETRIEVER)]
        found = [one for one in outer if one.kind == RETRIEVER]
        named -= {around.id for one in found for around in self._above[one.id]}
        found += [one for one in outer if one.id in named and named.isdisjoint(o.id for o in self._above[one.id])]
        return [self._search(one) for one in found]

    def _search(self, span: TraceSpan) -> _FoundSearch:
        steps = [*self._around(span, TOOL)[::-1], span]
        question = span.question()
        place = tuple(self._place(one, question) for one in steps)
        call_id = next((one.call for one in steps[::-1] if one.call is not None), None)
        return _FoundSearch(span, place, tuple(turn for turn, *_ in place), call_id, question)

    def _place(self, step: TraceSpan, question: str | None) -> tuple[int, int, float, str]:
        """Return the place of a call in its agent: its turn, its position in the model's message, its start, its id."""
        agent = self._agents[self._scope[step.id]]
        before = bisect_right(agent.ends, step.start) - 1
        if before < 0:
            return 0, 0, step.start, step.id
        turn, asked = agent.turns[before], agent.models[before].tool_calls() or []
        at = next((number for number, call in enumerate(asked) if call.id == step.call is not None), None)
        if at is None and (wanted := (step.question() if step.kind == TOOL else None) or question) is not None:
            at = next((number for number, call in enumerate(asked) if call.question == wanted), None)
        return turn, len(asked) if at is None else at, step.start, step.id

    def _calls(self, searches: Sequence[_FoundSearch]) -> list[SearchCall]:
        """Return the calls: searches that one reranker joins are one, and so are the attempts at the same."""
        rerankers = [
            one
            for one in self._spans.values()
            if one.kind == RERANKER and one.error is None and not self._around(one, RETRIEVER)
        ]
        joined: dict[str, tuple[list[_FoundSearch], TraceSpan | None]] = {}
        for one in searches:
            after = [each for each in rerankers if each.parent == one.span.parent and each.start >= one.span.start]
            by = min(after, key=lambda each: (each.start, each.id)) if after and one.span.error is None else None
            joined.setdefault(one.span.id if by is None else by.id, ([], by))[0].append(one)
        calls: list[tuple[_FoundSearch, SearchCall]] = []
        for group, by in joined.values():
            call = self._call(group, by)
            at = next((at for at, (one, it) in enumerate(calls) if it.error and _is_retry(group[0], one)), None)
            if at is None:
                calls.append((group[0], call))
                continue
            failed = calls[at][1]
            took = (failed.seconds or 0.0) + (call.seconds or 0.0) or None
            again = replace(call, query=call.query or failed.query, attempts=failed.attempts + 1, seconds=took)
            calls[at] = calls[at][0], again
        return [call for _, call in calls]

    def _call(self, group: Sequence[_FoundSearch], reranker: TraceSpan | None) -> SearchCall:
        span, error = group[0].span, group[0].span.error
        found: Sequence[Any] = ()
        before: list[list[Any]] = []
        try:
            if error is None:
                found, before = self._answered(group, reranker)
        except _UnreadError as unread:
            self.unread.append(unread)
            error, reranker = str(unread), None
        took = (span if reranker is None else reranker).end - span.start
        seconds = took if took > 0 else None if reranker is None else 0.0
        return SearchCall(group[0].question, found, max(group[0].step[0], 1), 1, seconds, error, before)

    def _answered(self, group: Sequence[_FoundSearch], reranker: TraceSpan | None) -> tuple[list[Any], list[list[Any]]]:
        """Return what a step handed on, and the rankings inside it."""
        span = group[0].span
        if reranker is not None:
            return self._told(reranker), [items for one in group if (items := self._found(one.span)) is not None]
        inside = [one for one in self._retrievers if span in self._above[one.id]]
        inside.sort(key=lambda one: (len(self._above[one.id]), one.start, one.id))
        inner = [items for one in inside if one.error is None and (items := self._found(one)) is not None]
        found = self._found(span)
        found = inner.pop(0) if inner and found is None else self._told(span) if found is None else found
        return found, [items for at, items in enumerate(inner) if items != found and items not in inner[:at]]

    def _told(self, span: TraceSpan) -> list[Any]:
        """Return the documents that a span says it found."""
        found = self._found(span)
        if found is None:
            said, example = repr(span.output), "documents=lambda output: [one['key'] for one in output['rows']]"
            why = (
                "was the recording of content switched off, or is its output a text? "
                + python_or_cli_text(f"{example} or the like reads it; ")
                if self._rules.documents is None
                else f"{format_argument('documents')} returned None for it; "
            )
            raise _UnreadError(
                f"{span.label} does not say which documents it found, and that is not the same as none: {why}"
                f"this one is {said if len(said) <= SHOWN else f'{said[: SHOWN - 3]}...'}"
            )
        return found

    def _found(self, span: TraceSpan) -> list[Any] | None:
        if self._rules.documents is not None:
            try:
                said = self._rules.documents(decode_payload(span.output))
            except Exception as error:  # what the function of a user raises
                said = f"{format_argument('documents')} of {span.label} raised {type(error).__name__}: {error}"
                raise _UnreadError(said) from error
            return None if said is None else list(convert_to_items(said, f"documents= of {span.label}"))
        try:
            return span.documents()
        except RecursionError:
            raise TraceError(f"the output of {span.label} is nested too deeply to be read") from None
        except TraceError as error:
            if CONVERSATION_KIND not in self._spans:
                raise
            said = str(error).removesuffix(f"; {RAISE_LIMITS}")  # an agent cuts one result, a tracer all that is long
            raise _UnreadError(said) from None

    def _context(self, items: Sequence[Any]) -> tuple[str, list[Any] | None]:
        """Return what the answering model has read, and the items whose whole text it is; None if that is unknown."""
        readers = [self._answering] if self._answering is not None else []
        if self._rules.any_reader:
            readers = [one for one in self._models if one.error is None]
        texts = [text for one in readers if (text := one.input_text()) is not None]
        if not texts or any(not isinstance(item, Retrieved) or not item.text for item in items):
            return "", None
        read = "\n".join(texts)
        return read, list(find_quoted_items(read, items))

    def _citations(self, read: str, context: Sequence[Any] | None, items: Sequence[Any]) -> Iterable[Any] | None:
        """Return what the answer cites: what the last model of the agent said, or what the outermost span returned."""
        said, rule = [self._answering] if self._answering is not None else [], self._rules.citations
        if rule is None:
            return (
                [item for one in said for by in one.citations() for item in find_cited_documents(by, items)]
                if said
                else None
            )
        said += [one for one in self._spans.values() if not self._above[one.id] and one.kind not in TOLD]
        answer = next((text for one in said if (text := one.answer())), None)
        given = () if rule == "numbered" else signature(rule).parameters.values()
        alone = rule != "numbered" and sum(one.default is one.empty for one in given) <= 1
        if answer is None or (context is None and not alone):
            return None
        if rule == "numbered":
            return find_numbered_citations(answer, unescape(read), context or ())
        cited = rule(answer) if alone else rule(answer, context)
        if isinstance(cited, str) or not isinstance(cited, Iterable):
            raise TypeError(f"citations= must return a list of ids, an empty one if nothing is cited, got {cited!r}")
        return cited


class _UnreadError(TraceError):
    """A result does not say which documents a search found."""


SHOWN = 80
"""Characters of an output that a message shows: a line."""
SEARCHES = ("search", "retriev", "look", "find", "query", "fetch")
"""What stands in the name of a tool that probably searches."""


def _is_retry(search: _FoundSearch, failed: _FoundSearch) -> bool:
    """Return whether a search repeats one that failed in the same turn: its call, else its tool with its arguments."""
    if search.step != failed.step:
        return False
    of_one_call = search.call_id is not None and search.call_id == failed.call_id
    if search.question is None or failed.question is None:
        return of_one_call
    one, other = search.span, failed.span
    alike = of_one_call or (one.name == other.name and decode_payload(one.input) == decode_payload(other.input))
    return alike and search.question == failed.question
