"""Read trajectories from traces: files, frames and lists of spans in the forms of many tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from retrieval_metrics.checks import argument, in_python
from retrieval_metrics.inputs.documents import items_in
from retrieval_metrics.presentation.numbers import count
from retrieval_metrics.trajectories.traces.assembling import ReadingRules, Trace
from retrieval_metrics.trajectories.traces.forms import spans_of
from retrieval_metrics.trajectories.traces.payloads import parsed
from retrieval_metrics.trajectories.traces.span import MODEL, OTHER, RETRIEVER, TOOL, TraceError, TraceSpan
from retrieval_metrics.trajectories.traces.units import units_of
from retrieval_metrics.trajectories.trajectories import Trajectories
from retrieval_metrics.trajectories.views import seen_in

if TYPE_CHECKING:
    from os import PathLike

    from retrieval_metrics.checks import DocumentId
    from retrieval_metrics.inputs.run import Seen
    from retrieval_metrics.trajectories.trajectory import Trajectory
    from retrieval_metrics.trajectories.views import CallsView


def read_traces(
    source: str | PathLike[str] | Iterable[Any] | Mapping[str, Any] | Any,
    *,
    query: str | Callable[[Mapping[str, Any]], Any] | None = None,
    citations: Callable[[str], Sequence[DocumentId]] | None = None,
    tools: str | Collection[str] = (),
    documents: Callable[[Any], Any] | None = None,
    context: Literal["answer", "any"] = "answer",
) -> Trajectories:
    """Read what agents searched, read and cited from recorded traces.

    A call is an outermost retriever span, or a tool named in `tools` that has no retriever inside. Calls are ordered by
    the turn of the agent and by their position in the model's message, never by the clock alone. A search that is
    repeated after a failure, with the same id or question in the same turn, is one call with several attempts. If a
    reranker follows in the same step, what it hands on is what was found. The context is every document that was found
    and whose whole text stands in the input of the model that answered.

    What was cut, has no content, holds two lists of documents that differ, or lies inside itself is refused, naming the
    span, and never scored. Spans without their parent and repeated ones are counted in `notes`, and so is what may be a
    search that is not counted: spans of an unknown kind, those that say only that something ran, and tools that the
    provider of a model ran itself. Beside these, a source without any search is refused.

    Args:
        source: A file (JSON, JSONL, OTLP JSON, Parquet; compressed or not), a DataFrame of Phoenix or of
            `mlflow.search_traces`, or spans or traces as objects: of OpenInference, OpenTelemetry GenAI, OpenLLMetry,
            LangSmith, Langfuse, MLflow, pydantic-ai, Haystack and the OpenAI Agents SDK, or plain dicts with `trace`,
            `span`, `parent`, `kind` (`"retriever"`, `"reranker"`, `"tool"`, `"model"` or `"other"`), `name`, `input`,
            `output`, `start`, `end` and `error`.
        query: Where the id of the question is: a path such as `"metadata.question_id"`, the name of an attribute, or a
            function of the outermost span, as `{"name", "input", "output", "attributes", "metadata"}`. None takes the
            id of the trace.
        citations: Returns the ids that the text of an answer cites; without it, citations are unknown.
        tools: The names of tools that search, if they leave no retriever spans.
        documents: Returns the documents in the output of a search as ids, items or objects with an id and a text; for
            outputs of no known form. None from it says that the output holds no documents, which is refused.
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
    for function, name, example in (
        (citations, "citations", r"lambda answer: re.findall(r'\[(\w+)\]', answer)"),
        (documents, "documents", "lambda output: output['ids']"),
        (None if isinstance(query, str) else query, "query", "'metadata.question_id'"),
    ):
        if function is not None and not callable(function):
            raise TypeError(f"{name}= must be {name}={example} or the like, got {function!r}")
    names = [tools] if isinstance(tools, str) else list(tools)
    rules = ReadingRules(names, (), documents, citations, context == "any")
    traces = _Traces(source, query)
    of_question: dict[Any, list[Trajectory]] = {}
    without = 0
    unclear: dict[str, list[TraceSpan]] = {}
    steps: list[TraceSpan] = []
    for id_, spans in sorted(traces.items(), key=lambda one: min(span.start for span in one[1].values())):
        question = traces.questions.get(id_) if query is not None else id_
        if question is None:
            without += 1
            continue
        try:
            trace = Trace(spans, rules)
            told = trace.trajectory()
            for what, span in trace.unclear():
                unclear.setdefault(what, []).append(span)
            steps += trace.steps(OTHER)
        except RecursionError:
            raise TraceError(f"an input or output in trace {id_!r} is nested too deeply to be read") from None
        of_question.setdefault(question, []).append(told)
    doubts = _doubts(unclear)
    _check_found(traces, rules, doubts, steps)
    if not of_question:
        raise ValueError(
            f"of {count(len(traces), 'trace')}, none has {query!r}, which {argument('query')} names; {_there(traces)}"
        )
    return Trajectories(of_question, notes=[*_notes(traces, without), *doubts])


def seen_in_trace(
    spans: Iterable[Mapping[str, Any]],
    view: CallsView,
    calls: Collection[str] = (),
    citations: Sequence[Any] | None = None,
    where: str = "the span",
) -> Seen:
    """Return what was seen in one trace, for hosts that score a trace at a time.

    Args:
        spans: The spans as plain dicts, as in `read_traces`.
        view: Which searches count, or what became of them.
        calls: The ids of the spans that are the searches; empty for the outermost retrievers.
        citations: What the answer cites, if that is known.
        where: Where the documents of a search are, for messages.

    Raises:
        ValueError: If the trace cannot be trusted, or what the view needs is unknown.
        TypeError: If a search found something other than a list of documents.
    """
    (trace,) = _Traces(spans, None).values()
    rules = ReadingRules(calls=calls, documents=lambda output: [] if output is None else items_in(output, where))
    told = Trace(trace, rules).trajectory()
    return seen_in(told if citations is None else replace(told, citations=citations), view)


class _Traces(dict[str, dict[str, TraceSpan]]):
    """Spans by trace and id, with how many were repeated, and the question of each trace."""

    def __init__(self, source: Any, query: str | Callable[[Mapping[str, Any]], Any] | None) -> None:
        super().__init__()
        self.repeated = 0
        self.questions: dict[str, Any] = {}
        roots: dict[str, Any] = {}
        for span in (span for unit in units_of(source) for span in spans_of(unit)):
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
                raise TraceError(f"{span.where} was recorded twice, with different outputs; leave out one of them")
        if known is None or outcome is not None:
            spans[span.id] = span


def _question_id(span: TraceSpan, query: str | Callable[[Mapping[str, Any]], Any]) -> Any:
    _, attributes = span.root
    metadata = _metadata(span)
    seen: dict[str, Any] = {"attributes": attributes, "metadata": metadata}
    if span.parent is None:
        seen |= {"name": span.name, "input": parsed(span.input), "output": parsed(span.output)}
    if not isinstance(query, str):
        return query(seen)
    if query in attributes:
        return attributes[query]
    at: Any = seen
    for key in query.split("."):
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, (str, int)) and not isinstance(at, bool) else None


def _metadata(span: TraceSpan) -> dict[str, Any]:
    """Return the metadata of a span, wherever its tool keeps them."""
    own, attributes = span.root
    found: dict[str, Any] = {}
    for held in (attributes, own):
        if isinstance(said := parsed(held.get("metadata")), Mapping):
            found |= said
    for before in ("langfuse.trace.metadata.", "langfuse.observation.metadata.", "metadata."):
        found |= {key.removeprefix(before): parsed(at) for key, at in attributes.items() if key.startswith(before)}
    return found


def _check_found(traces: _Traces, rules: ReadingRules, doubts: Sequence[str], steps: Sequence[TraceSpan]) -> None:
    """Raise if no span of the source is a search, unless models answered without one: that would say nothing."""
    every = [span for spans in traces.values() for span in spans.values()]
    tools = sorted({span.name for span in every if span.kind == TOOL})
    if lacking := [name for name in rules.tools if name not in tools]:
        there = (
            f"the tools are {', '.join(map(repr, tools))}"
            if tools
            else f"no tool ran, so leave {argument('tools')} out"
        )
        raise TraceError(f"no tool is called {lacking[0]!r}; {there}")
    if rules.tools or any(span.kind == RETRIEVER for span in every):
        return
    models = [span for span in every if span.kind == MODEL]
    asked = [span.asked() for span in models if span.error is None]
    if tools or not models or doubts or steps or any(one != [] for one in asked):
        said = (
            f"tools that ran are {', '.join(map(repr, tools))}; {argument('tools', tools[:1])} says that one searches"
        )
        raise TraceError(
            f"no span of {count(len(traces), 'trace')} is a search of a retriever, so nothing is known of what was "
            "found; "
            + "".join(f"{doubt}; " for doubt in doubts)
            + ("what a model answered was not recorded; " if None in asked else "")
            + (f"{steps[0].where} is a step that may have searched; " if steps and not tools else "")
            + (
                said
                if tools
                else "is the form of these traces supported?" + in_python(" convert them into plain dicts")
            )
        )


def _notes(traces: _Traces, without: int) -> list[str]:
    every = [(span.parent, spans) for spans in traces.values() for span in spans.values()]
    orphans = sum(parent is not None and parent not in spans for parent, spans in every)
    said = [
        (without, "trace", "traces", " without the id of a question left out"),
        (orphans, "span", "spans", " whose parent is missing"),
        (traces.repeated, "repeated span", "repeated spans", ""),
    ]
    return [f"{count(number, one, many)}{what}" for number, one, many, what in said if number]


def _doubts(unclear: Mapping[str, Sequence[TraceSpan]]) -> list[str]:
    """Return a note for each reason why spans may be searches that nobody counts."""
    return [
        f"{count(len(spans), 'span')} {what} left out, {'such as ' if len(spans) > 1 else ''}{spans[0].where}"
        for what, spans in unclear.items()
    ]


def _there(traces: _Traces) -> str:
    roots = [span for spans in traces.values() for span in spans.values() if span.parent is None]
    if not roots:
        return "none of them has an outermost span"
    there = [*(f"metadata.{key}" for key in _metadata(roots[0])), *roots[0].root[1]]
    return (
        f"the outermost span of the first has {', '.join(map(repr, there[:12])) or 'neither attributes nor metadata'}"
    )
