"""Read trajectories from traces: from files, tables, objects and conversations of every known form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from retrieval_metrics.files.json_objects import ObjectLocation, iterate_objects
from retrieval_metrics.inputs.host_documents import convert_to_items
from retrieval_metrics.inputs.items import item_identity
from retrieval_metrics.reports.numbers import format_count, format_example
from retrieval_metrics.traces.agent_trace import AgentTrace, TraceContents, TraceReadingOptions
from retrieval_metrics.traces.chat_messages import CONVERSATION_KIND, Stray, iterate_spans
from retrieval_metrics.traces.merged_searches import merge_searches
from retrieval_metrics.traces.payload_decoding import decode_payload
from retrieval_metrics.traces.trace_formats import span_metadata
from retrieval_metrics.traces.trace_span import MODEL, NO_FIELDS, OTHER, RETRIEVER, TOOL, TraceError, TraceSpan
from retrieval_metrics.traces.trajectories import Trajectories
from retrieval_metrics.traces.trajectory import Trajectory

if TYPE_CHECKING:
    from retrieval_metrics.inputs.retrieved_run import MergedRanking
    from retrieval_metrics.traces.merged_searches import CallsView

# Words in the name of a tool that probably searches.
SEARCH_WORDS = ("search", "retriev", "look", "find", "query", "fetch")
# The largest number of attributes that a message names.
MAX_NAMED_ATTRIBUTES = 12


def read_traces(
    source: object,
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
    reranker follows under the same parent span, its output is what was found. The context is every document that was
    found and whose whole text is in the input of the model that answered. Where the last search was not followed by an
    answer, context and citations are unknown.

    Spans that a tracer truncated, that hold two different lists of documents, or that lie inside themselves are refused
    by name, and never scored. `notes` count spans without their parent, repeated ones, results that do not say what was
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
            `"numbered"` reads `[1]` and `[2, 5]`: numbers that stand before the documents in what the model has read
            since the last question of the user, else their order there; `[2019]` only if so many are numbered. None
            takes the structured citations of an answer (the `citations` of Anthropic, the `annotations` of OpenAI);
            where no answer has any, citations are unknown.
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
        TypeError: If the source cannot hold traces.
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
    _require_functions(query, citations, documents)
    options = TraceReadingOptions(_read_tool_names(tools), (), documents, citations, context == "any")
    traces = _Traces(source, query)
    findings = _read_all(traces, options, query)
    unclear_notes = findings.unclear_notes()
    _require_a_search(traces, options, unclear_notes, findings.steps)
    if not findings.contents_by_question:
        raise ValueError(
            f"none of {format_count(len(traces), 'trace')} has {query!r}, named in query=; "
            f"{_describe_first_root(traces)}"
        )
    if citations is None:
        findings.forget_empty_citations()
    trajectories = findings.trajectories()
    all_trajectories: list[Trajectory] = []
    for trajectories_of_question in trajectories.values():
        all_trajectories += trajectories_of_question
    _require_a_read_output(all_trajectories, findings.unread)
    notes = _count_notes(traces, findings)
    citation_note = _citation_note(all_trajectories, is_numbered=citations == "numbered")
    if citation_note:
        notes.append(citation_note)
    return Trajectories(trajectories, notes=[*notes, *unclear_notes])


def read_trace_ranking(
    spans: Iterable[Mapping[str, Any]],
    view: CallsView,
    calls: Collection[str] = (),
    citations: Sequence[Any] | None = None,
    where: str = "the span",
) -> MergedRanking:
    """Return the ranking that a view makes of one trace, for hosts that score a trace at a time.

    Args:
        spans: The spans of the trace.
        view: The view.
        calls: The ids of the spans that are searches; empty to find them.
        citations: What the answer cites; None if that is unknown.
        where: How to name the output of a span in an error.
    """

    def read_documents(output: Any) -> Sequence[Any]:
        return [] if output is None else convert_to_items(output, where)

    (trace,) = _Traces(spans, None).values()
    contents = AgentTrace(trace, TraceReadingOptions(calls=calls, documents=read_documents)).read()
    trajectory = Trajectory(contents.calls, contents.context, citations)
    failure = None
    if trajectory.calls and trajectory.failed == len(trajectory.calls):
        failure = f"every search failed: {trajectory.calls[-1].error}"
    return merge_searches(trajectory, view)._replace(failure=failure)


def _require_functions(query: Any, citations: Any, documents: Any) -> None:
    """Raise if an argument is neither a function nor one of the values that may stand in its place."""
    if citations is not None and citations != "numbered" and not callable(citations):
        _refuse_argument("citations", r"lambda answer: re.findall(r'\[(\w+)\]', answer)", citations)
    if documents is not None and not callable(documents):
        _refuse_argument("documents", "lambda output: output['ids']", documents)
    if query is not None and not isinstance(query, str) and not callable(query):
        _refuse_argument("query", "'metadata.question_id'", query)


def _refuse_argument(name: str, example: str, argument: Any) -> NoReturn:
    raise TypeError(f"{name}= must be {name}={example} or the like, got {argument!r}")


def _read_tool_names(tools: str | Collection[str]) -> list[str]:
    if isinstance(tools, str) or not isinstance(tools, Collection):
        names: list[Any] = [tools]
    else:
        names = list(tools)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"tools= must name the tools that search, as in 'search', got {name!r}")
    return names


class _Traces(dict[str, dict[str, TraceSpan]]):
    """Spans by trace and id.

    Attributes:
        n_repeated: How many spans were recorded more than once.
        strays: Entries between messages that are not messages.
        questions: The question of each trace that names one.
    """

    def __init__(self, source: object, query: str | Callable[[Mapping[str, Any]], Any] | None) -> None:
        super().__init__()
        self.n_repeated = 0
        self.strays: list[Stray] = []
        self.questions: dict[str, Any] = {}
        root_questions: dict[str, Any] = {}
        location = ObjectLocation()
        spans = iterate_spans(iterate_objects(source, location), self.strays, location)
        for span in _locate_errors(spans, location):
            is_outermost = span.parent is None
            # A path may name an attribute that any span of the trace has.
            may_name_question = is_outermost or (isinstance(query, str) and span.trace not in self.questions)
            question = None
            if query is not None and may_name_question:
                question = _find_question_id(span, query)
            if question is not None:
                if is_outermost and root_questions.setdefault(span.trace, question) != question:
                    raise TraceError(
                        f"the outermost spans of trace {span.trace!r} name the questions "
                        f"{root_questions[span.trace]!r} and {question!r}; give each question a trace of its own"
                    )
                self.questions[span.trace] = question
            if not is_outermost:
                # The fields were kept for the id of the question; they would take most of the memory.
                span.fields = NO_FIELDS
            if location.name:
                span.location = str(location)
            self._add(span)
        if not self:
            raise ValueError("there are no spans in the source")

    def _add(self, span: TraceSpan) -> None:
        spans = self.setdefault(span.trace, {})
        recorded = spans.get(span.id)
        outcome = span.outcome
        if recorded is not None:
            self.n_repeated += 1
            if None not in (outcome, recorded.outcome) and outcome != recorded.outcome:
                first_location = f", first in {recorded.location}" if recorded.location else ""
                raise TraceError(
                    f"{span.label} was recorded twice, with different outputs{first_location}; leave out one of them"
                )
        if recorded is None or outcome is not None:
            spans[span.id] = span

    def spans(self) -> list[TraceSpan]:
        """Return the spans of all traces."""
        spans: list[TraceSpan] = []
        for trace in self.values():
            spans += trace.values()
        return spans

    def count_orphans(self) -> int:
        """Return how many spans name a parent that their trace does not hold."""
        n_orphans = 0
        for trace in self.values():
            n_orphans += sum(span.parent is not None and span.parent not in trace for span in trace.values())
        return n_orphans


def _locate_errors(spans: Iterator[TraceSpan], location: ObjectLocation) -> Iterator[TraceSpan]:
    """Yield spans; an error of one names the line of the file, or the element of the list, in which it stands."""
    try:
        yield from spans
    except TraceError as error:
        where = str(location)
        if not where:
            raise
        raise TraceError(f"{where}: {error}") from error


def _find_question_id(span: TraceSpan, query: str | Callable[[Mapping[str, Any]], Any]) -> Any:
    attributes = span.fields.attributes
    span_values: dict[str, Any] = {"attributes": attributes, "metadata": span_metadata(span)}
    if span.parent is None:
        span_values["name"] = span.name
        span_values["input"] = decode_payload(span.input)
        span_values["output"] = decode_payload(span.output)
    if not isinstance(query, str):
        return query(span_values)
    if query in attributes:
        return attributes[query]
    value: Any = span_values
    for key in query.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return value


@dataclass(slots=True)
class _Findings:
    """The contents of all traces, before it is checked whether they can be trusted.

    Attributes:
        contents_by_question: The contents of each trace, by the id of its question.
        n_without_question: The number of traces that do not name a question.
        unclear: Spans that may be searches but are not counted as such, by the reason.
        unread: The errors of results that could not be read.
        steps: Steps that may have searched.
        long_conversations: The numbers of the messages with which the user begins a turn, by the question of each
            conversation that searches in several turns.
    """

    contents_by_question: dict[Any, list[TraceContents]] = field(default_factory=dict)
    n_without_question: int = 0
    unclear: dict[str, list[TraceSpan]] = field(default_factory=dict)
    unread: list[TraceError] = field(default_factory=list)
    steps: list[TraceSpan] = field(default_factory=list)
    long_conversations: dict[Any, tuple[int, ...]] = field(default_factory=dict)

    def add(self, question: Any, trace: AgentTrace) -> None:
        """Add the contents of one trace of a question."""
        self.contents_by_question.setdefault(question, []).append(trace.read())
        for unclear in trace.unclear_spans():
            self.unclear.setdefault(unclear.reason, []).append(unclear.span)
        self.steps += trace.find_steps(OTHER)
        self.unread += trace.unread
        if trace.searched_turns > 1 and len(trace.turn_starts) > 1:
            self.long_conversations.setdefault(question, trace.turn_starts)

    def forget_empty_citations(self) -> None:
        """Make all citations unknown if no answer has any, because the traces may not record them."""
        for contents_of_question in self.contents_by_question.values():
            if any(contents.citations for contents in contents_of_question):
                return
        for question, contents_of_question in self.contents_by_question.items():
            self.contents_by_question[question] = [
                contents._replace(citations=None) for contents in contents_of_question
            ]

    def trajectories(self) -> dict[Any, list[Trajectory]]:
        """Return the trajectories of each question."""
        trajectories: dict[Any, list[Trajectory]] = {}
        for question, contents_of_question in self.contents_by_question.items():
            trajectories[question] = [Trajectory(*contents) for contents in contents_of_question]
        return trajectories

    def unclear_notes(self) -> list[str]:
        """Return a note for each reason why spans may be searches but are not counted as such."""
        notes = []
        for reason, spans in self.unclear.items():
            example = f"such as {spans[0].label}" if len(spans) > 1 else spans[0].label
            notes.append(f"{format_count(len(spans), 'span')} {reason} excluded, {example}")
        return notes


def _read_all(traces: _Traces, options: TraceReadingOptions, query: Any) -> _Findings:
    findings = _Findings()
    for trace_id, spans in sorted(traces.items(), key=_trace_start):
        question = trace_id if query is None else traces.questions.get(trace_id)
        if question is None:
            findings.n_without_question += 1
            continue
        try:
            findings.add(question, AgentTrace(spans, options))
        except RecursionError:
            raise TraceError(f"an input or output in trace {trace_id!r} is nested too deeply to be read") from None
    return findings


def _trace_start(trace: tuple[str, Mapping[str, TraceSpan]]) -> float:
    _, spans = trace
    return min(span.start for span in spans.values())


def _require_a_search(
    traces: _Traces, options: TraceReadingOptions, unclear_notes: Sequence[str], steps: Sequence[TraceSpan]
) -> None:
    """Raise if no span of the source is a search, unless the traces show that models answered without a search."""
    spans = traces.spans()
    tools = sorted({span.name for span in spans if span.kind == TOOL})
    # A conversation shows every call, so the absence of calls means that none was made.
    shows_every_call = all(CONVERSATION_KIND in trace for trace in traces.values())
    if tools or unclear_notes or not shows_every_call:
        _require_tools(options.tools, tools, unclear_notes)
    if options.tools or any(span.kind == RETRIEVER for span in spans):
        return
    models = [span for span in spans if span.kind == MODEL]
    message_calls = [model.tool_calls() for model in models if model.error is None]
    answered_without_search = models and all(calls == [] for calls in message_calls)
    if answered_without_search and not tools and not unclear_notes and not steps:
        return
    raise TraceError(
        _explain_missing_search(len(traces), tools, unclear_notes, steps, is_call_unknown=None in message_calls)
    )


def _explain_missing_search(
    n_traces: int,
    tools: Sequence[str],
    unclear_notes: Sequence[str],
    steps: Sequence[TraceSpan],
    *,
    is_call_unknown: bool,
) -> str:
    """Return the message for traces without a search, with what may have searched.

    Args:
        n_traces: The number of traces.
        tools: The names of the tools that ran.
        unclear_notes: Notes on spans that may be searches.
        steps: Steps that may have searched.
        is_call_unknown: Whether it is unknown what some model called.
    """
    reasons = [*unclear_notes]
    if is_call_unknown:
        reasons.append("the replies of a model were not recorded")
    if steps and not tools:
        reasons.append(f"{steps[0].label} may have searched")
    if tools:
        names = ", ".join(map(repr, tools))
        reasons.append(f"tools that ran: {names}; if one searches, name it: tools={[_likeliest_search(tools)]!r}")
    else:
        reasons.append("if the trace format is not supported, convert the spans into plain dicts")
    return (
        f"no retriever span in {format_count(n_traces, 'trace')}, so the retrieved documents are unknown; "
        f"{'; '.join(reasons)}"
    )


def _require_tools(searching_tools: Iterable[str], tools: Sequence[str], unclear_notes: Sequence[str]) -> None:
    """Raise if a tool that is said to search did not run."""
    for name in searching_tools:
        if name in tools:
            continue
        if tools:
            hint = f"the tools are {', '.join(map(repr, tools))}"
        else:
            hint = "none did, so leave tools= out"
        raise TraceError("; ".join([f"no tool named {name!r} ran; {hint}", *unclear_notes]))


def _likeliest_search(tools: Sequence[str]) -> str:
    for tool in tools:
        if any(word in tool.lower() for word in SEARCH_WORDS):
            return tool
    return tools[0]


def _require_a_read_output(trajectories: Sequence[Trajectory], unread: Sequence[TraceError]) -> None:
    """Raise if the result of every search was unreadable or failed, which points to the recording or to an outage."""
    if not unread:
        return
    for trajectory in trajectories:
        if any(call.error is None for call in trajectory.calls):
            return
    raise unread[0]


def _count_notes(traces: _Traces, findings: _Findings) -> list[str]:
    """Return a note for each kind of span, trace or result that was left out or merged."""
    notes = []
    if findings.n_without_question:
        notes.append(f"{format_count(findings.n_without_question, 'trace')} without the ID of a question, excluded")
    n_orphans = traces.count_orphans()
    if n_orphans:
        notes.append(f"{format_count(n_orphans, 'span')} with a missing parent")
    if traces.n_repeated:
        notes.append(format_count(traces.n_repeated, "duplicate span"))
    if traces.strays:
        notes.append(f"{format_count(len(traces.strays), 'line')} between the messages ignored")
    if findings.unread:
        n_unread = format_count(len(findings.unread), "result")
        notes.append(f"{n_unread} unreadable, counted as a failed search: {findings.unread[0]}")
    if findings.long_conversations:
        notes.append(_describe_long_conversations(findings.long_conversations))
    return notes


def _describe_long_conversations(turn_starts_by_question: Mapping[Any, tuple[int, ...]]) -> str:
    """Return a note that conversations search for several questions of the user, with how to split the first."""
    question, (_, second_start, *_) = next(iter(turn_starts_by_question.items()))
    n_conversations = len(turn_starts_by_question)
    count = format_count(n_conversations, "conversation")
    example = format_example(n_conversations, repr(question))
    position = second_start - 1
    return (
        f"{count} with searches in several user turns ({example}): read as one trajectory, whose answer is the last; "
        f"to score each turn, pass it as a list of its own, such as {{'{question}, turn 1': "
        f"messages[:{position}], '{question}, turn 2': messages[{position}:]}}"
    )


def _citation_note(trajectories: Sequence[Trajectory], *, is_numbered: bool) -> str:
    """Return a note if no citation names a document that was found; empty otherwise."""
    cited: list[str] = []
    for trajectory in trajectories:
        cited += [str(item_identity(item)) for item in trajectory.citations or ()]
    if not cited:
        return ""
    retrieved: set[str] = set()
    for trajectory in trajectories:
        for call in trajectory.calls:
            retrieved.update(str(item_identity(item)) for item in call.ranking)
    if not retrieved or not retrieved.isdisjoint(cited):
        return ""
    hint = ""
    if not is_numbered:
        hint = "; if citations are numbers of the documents in the context, pass citations='numbered'"
    return f"no citation names a retrieved document, e.g. {cited[0]!r}{hint}"


def _describe_first_root(traces: _Traces) -> str:
    """Return where the id of a question could be in the outermost span of the first trace."""
    for span in traces.spans():
        if span.parent is None:
            names = [*(f"metadata.{key}" for key in span_metadata(span)), *span.fields.attributes]
            shown = ", ".join(map(repr, names[:MAX_NAMED_ATTRIBUTES])) or "neither attributes nor metadata"
            return f"the outermost span of the first has {shown}"
    return "none of them has an outermost span"
