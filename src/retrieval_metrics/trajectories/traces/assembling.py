"""The rules by which the spans of one trace become a trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.argument_names import in_python
from retrieval_metrics.inputs.host_rows import items_in as given_items
from retrieval_metrics.inputs.retrieved import Retrieved, identity
from retrieval_metrics.trajectories.traces.span import (
    MODEL,
    RERANKER,
    RETRIEVER,
    TOOL,
    TraceError,
    TraceSpan,
    parsed,
    plain,
)
from retrieval_metrics.trajectories.trajectory import SearchCall, Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from retrieval_metrics.aliases import DocumentId


class ReadingRules(NamedTuple):
    """What a reader was asked for.

    Attributes:
        tools: The names of tools that search.
        calls: The ids of the spans that are the searches, of any kind; empty for retrievers and `tools`.
        documents: Returns the documents in the output of a search.
        citations: Returns what an answer cites.
        any_reader: Whether what any model has read counts as context, not only the one that answered.
    """

    tools: Collection[str] = ()
    calls: Collection[str] = ()
    documents: Callable[[Any], Any] | None = None
    citations: Callable[[str], Sequence[DocumentId]] | None = None
    any_reader: bool = False


class _Search(NamedTuple):
    """A search: its span, and its place in the order of the agent."""

    span: TraceSpan
    order: tuple[Any, ...]
    step: tuple[Any, ...]
    call_id: str | None
    question: str | None


class Trace:
    """The spans of one trace."""

    def __init__(self, spans: Mapping[str, TraceSpan], rules: ReadingRules) -> None:
        """Take the spans.

        Raises:
            TraceError: If spans lie inside each other in a circle.
        """
        self.rules = rules
        self.spans = spans
        self._above = {id_: self._path(span) for id_, span in spans.items()}
        self._models = [one for one in spans.values() if one.kind == MODEL and not self._inside(one, MODEL)]
        self._scopes = {one.id: self._scope(one) for one in self._models}
        self._asked: dict[str, list[tuple[str | None, str | None]]] = {}
        self._items: dict[str, list[Any] | None] = {}

    def _path(self, span: TraceSpan) -> tuple[TraceSpan, ...]:
        """Return the spans around a span, from the inside out."""
        above: list[TraceSpan] = []
        at = span
        while at.parent is not None and at.parent in self.spans:
            at = self.spans[at.parent]
            above.append(at)
            if len(above) > len(self.spans):
                raise TraceError(f"{span.where} lies inside itself; its calls cannot be told apart")
        return tuple(above)

    def _inside(self, span: TraceSpan, kind: str) -> bool:
        return any(one.kind == kind for one in self._above[span.id])

    def _scope(self, span: TraceSpan) -> str | None:
        """Return the id of the nearest tool around a span: the agent that it belongs to."""
        return next((one.id for one in self._above[span.id] if one.kind == TOOL), None)

    def trajectory(self) -> Trajectory:
        """Return what the trace tells.

        Raises:
            TraceError: If a search does not say what it found.
        """
        calls = self.searches()
        items: dict[Any, Any] = {identity(item): item for call in calls for item in call.ranking}
        return Trajectory(calls, self._context(list(items.values())), self._citations())

    def searches(self) -> list[SearchCall]:
        """Return the searches of the trace, in the order in which the agent made them."""
        return self._calls(sorted(self._searches(), key=lambda one: one.order))

    def _searches(self) -> list[_Search]:
        if self.rules.calls:
            found = [one for one in self.spans.values() if one.id in self.rules.calls]
        else:
            found = [one for one in self.spans.values() if one.kind == RETRIEVER and not self._inside(one, RETRIEVER)]
            holding = {around.id for one in found for around in self._above[one.id]}
            found += [
                one
                for one in self.spans.values()
                if one.kind == TOOL
                and one.name in self.rules.tools
                and one.id not in holding
                and not self._inside(one, RETRIEVER)
                and not any(around.kind == TOOL and around.name in self.rules.tools for around in self._above[one.id])
            ]
        return [self._search(one) for one in found]

    def _search(self, span: TraceSpan) -> _Search:
        tools = [one for one in self._above[span.id] if one.kind == TOOL][::-1]
        elements = [*tools, *([] if tools and tools[-1] is span else [span])]
        question = span.question()
        order = [self._place(element, question) for element in elements]
        call_id = next((one.call for one in elements[::-1] if one.call is not None), None)
        return _Search(span, tuple(order), tuple(turn for turn, *_ in order), call_id, question)

    def _place(self, element: TraceSpan, question: str | None) -> tuple[int, int, float, str]:
        """Return the place of a call in its agent: its turn, its position in the model's message, its start, its id."""
        scope = self._scope(element)
        models = [one for one in self._models if self._scopes[one.id] == scope and one.end <= element.start]
        if not models:
            return 0, 0, element.start, element.id
        last = max(models, key=lambda one: (one.end, one.id))
        if last.id not in self._asked:
            self._asked[last.id] = last.asked()
        return len(models), _position(element, question, self._asked[last.id]), element.start, element.id

    def _calls(self, searches: Sequence[_Search]) -> list[SearchCall]:
        calls: list[tuple[_Search, SearchCall]] = []
        reranked = self._reranked([one.span for one in searches])
        done: set[str] = set()
        for search in searches:
            reranker = reranked.get(search.span.id)
            if reranker is not None:
                if reranker.id in done:  # several searches whose results one reranker joins are one call
                    continue
                done.add(reranker.id)
            together = [one for one in searches if reranker is not None and reranked.get(one.span.id) is reranker]
            call = self._call(search, reranker, together)
            again = next((at for at, one in enumerate(calls) if one[1].error and _is_retry(search, one[0])), None)
            if again is None:
                calls.append((search, call))
            else:
                calls[again] = calls[again][0], _joined(calls[again][1], call)
        return [call for _, call in calls]

    def _reranked(self, spans: Sequence[TraceSpan]) -> dict[str, TraceSpan]:
        """Return the reranker that follows each search inside the same step: it hands on what counts."""
        rerankers = [one for one in self.spans.values() if one.kind == RERANKER and not self._inside(one, RETRIEVER)]
        found: dict[str, TraceSpan] = {}
        for span in spans:
            after = [one for one in rerankers if one.parent == span.parent and one.start >= span.start]
            if span.error is None and after:
                found[span.id] = min(after, key=lambda one: (one.start, one.id))
        return found

    def _call(self, search: _Search, reranker: TraceSpan | None, together: Sequence[_Search]) -> SearchCall:
        span = search.span
        turn = max(search.step[0], 1)
        took = max(span.end - span.start, 0.0)
        if span.error is not None:
            return SearchCall(search.question, (), turn, 1, took, span.error)
        inside = [
            one
            for one in self.spans.values()
            if one.kind == RETRIEVER and span in self._above[one.id] and one.error is None
        ]
        found = self._found(span)
        inner = sorted(inside, key=lambda one: (len(self._above[one.id]), one.start, one.id))
        of_inner = [items for one in inner if (items := self._found(one)) is not None]
        if found is None and of_inner:
            found = of_inner.pop(0)
        if found is None:
            raise TraceError(
                f"{span.where} does not say which documents it found, and that is not the same as none: was the "
                "recording of content switched off, or is its output a text? "
                + in_python("documents= takes a function that returns the documents in an output; ")
                + f"this one is {_beginning(span.output)}"
            )
        before: list[list[Any]] = []
        before += [items for items in of_inner if items not in (found, *before)]
        if reranker is not None and (handed_on := self._found(reranker)) is not None:
            before = [items for one in together if (items := self._found(one.span)) is not None]
            found, took = handed_on, max(reranker.end - span.start, 0.0)
        return SearchCall(search.question, found, turn, 1, took, None, before)

    def _found(self, span: TraceSpan) -> list[Any] | None:
        if self.rules.documents is not None:
            said = self.rules.documents(parsed(span.output))
            return None if said is None else list(given_items(said, f"documents= of {span.where}"))
        same = span.output if isinstance(span.output, str) and span.documents is None else span.id
        if same not in self._items:
            try:
                self._items[same] = span.found()
            except RecursionError:
                raise TraceError(f"the output of {span.where} is nested too deeply to be read") from None
        return self._items[same]

    def _context(self, items: Sequence[Retrieved]) -> list[Any] | None:
        """Return the items whose whole text the answering model has read; None if that cannot be told."""
        readers = [one for one in self._models if one.error is None and self._reads(one)]
        if not self.rules.any_reader:
            readers = [one for one in readers if self._scopes[one.id] is None]
            readers = sorted(readers, key=lambda one: (one.end, one.id))[-1:]
        if not readers:
            return None
        if any(not isinstance(item, Retrieved) or not item.text for item in items):
            return None
        texts = [text for one in readers if (text := one.read()) is not None]
        if not texts:
            return None
        read = "\n".join(texts)
        return [item for item in items if plain(item.text or "") in read]

    def _reads(self, model: TraceSpan) -> bool:
        around = self._above[model.id]
        return not any(one.kind in {RETRIEVER, RERANKER} or "rerank" in one.name.lower() for one in around)

    def _citations(self) -> Sequence[DocumentId] | None:
        if self.rules.citations is None:
            return None
        answer = self.answer()
        if answer is None:
            return None
        cited = self.rules.citations(answer)
        if isinstance(cited, str) or not isinstance(cited, Iterable):
            raise TypeError(f"citations= must return a list of ids, an empty one if nothing is cited, got {cited!r}")
        return list(dict.fromkeys(cited))

    def answer(self) -> str | None:
        """Return the text of the answer: what the last model of the agent said, or what the outermost span returned."""
        said = sorted((one for one in self._models if self._scopes[one.id] is None), key=lambda one: (one.end, one.id))
        for span in (*said[::-1][:1], *(one for one in self.spans.values() if not self._above[one.id])):
            texts = list(_said(parsed(span.output)))
            if texts:
                return texts[-1]
        return None


def _is_retry(search: _Search, failed: _Search) -> bool:
    """Return whether a search repeats one that failed: the same call, or the same known question, in one turn."""
    if search.step != failed.step:
        return False
    if search.question is not None and failed.question is not None:
        return search.question == failed.question
    return search.call_id is not None and search.call_id == failed.call_id


def _joined(failed: SearchCall, call: SearchCall) -> SearchCall:
    """Return a call with a failed attempt before it."""
    took = (failed.seconds or 0.0) + (call.seconds or 0.0)
    return replace(call, query=call.query or failed.query, attempts=failed.attempts + 1, seconds=took)


def _position(element: TraceSpan, question: str | None, asked: Sequence[tuple[str | None, str | None]]) -> int:
    """Return where in the model's message a call was asked for; calls that are not there come last."""
    ids = [id_ for id_, _ in asked]
    if element.call is not None and Counter(ids)[element.call] == 1:
        return ids.index(element.call)
    wanted = element.question() if element.kind == TOOL else question
    at = [number for number, (_, one) in enumerate(asked) if one is not None and one == wanted]
    return at[0] if at else len(asked)


def _said(output: Any) -> list[str]:
    """Return the texts in what a model said."""
    if isinstance(output, str):
        return [output] if output.strip() else []
    if isinstance(output, list):
        return [text for one in output for text in _said(one)]
    if isinstance(output, dict):
        keys = (
            "generations", "choices", "replies", "messages", "message", "parts", "blocks", "said", "content", "text",
            "kwargs", "output", "answer", "response", "data",
        )  # fmt: skip
        return next((texts for key in keys if key in output and (texts := _said(parsed(output[key])))), [])
    return []


def _beginning(output: Any) -> str:
    said = repr(output)
    return said if len(said) <= 80 else f"{said[:77]}..."  # noqa: PLR2004  (a line)
