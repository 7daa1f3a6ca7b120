"""The rules by which the spans of one trace become a trajectory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import in_python
from retrieval_metrics.inputs.documents import items_in
from retrieval_metrics.inputs.items import Retrieved, identity
from retrieval_metrics.trajectories.traces.payloads import parsed
from retrieval_metrics.trajectories.traces.span import (
    MODEL,
    RERANKER,
    RETRIEVER,
    SPAN_KINDS,
    TOOL,
    UNSAID,
    TraceError,
    TraceSpan,
    plain,
)
from retrieval_metrics.trajectories.trajectory import SearchCall, Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from retrieval_metrics.checks import DocumentId


class ReadingRules(NamedTuple):
    """What a reader was asked for.

    `tools` are the names of tools that search, `calls` the ids of the spans that are the searches, if they are given.
    `documents` returns the documents in the output of a search, `citations` what an answer cites. `any_reader` says
    that what any model has read counts as context, not only the one that answered.
    """

    tools: Collection[str] = ()
    calls: Collection[str] = ()
    documents: Callable[[Any], Any] | None = None
    citations: Callable[[str], Sequence[DocumentId]] | None = None
    any_reader: bool = False


class _Search(NamedTuple):
    """A search: its span, its place in the order of the agent, its turn in each agent around it, and what it asked."""

    span: TraceSpan
    place: tuple[tuple[int, int, float, str], ...]
    step: tuple[int, ...]
    call_id: str | None
    question: str | None


class Trace:
    """The spans of one trace."""

    def __init__(self, spans: Mapping[str, TraceSpan], rules: ReadingRules) -> None:
        """Take the spans.

        Raises:
            TraceError: If spans lie inside each other in a circle.
        """
        self._rules = rules
        self._spans = spans
        self._above = {id_: self._path(span) for id_, span in spans.items()}
        self._outer = {span.parent for span in spans.values()}
        models = [one for one in spans.values() if one.kind == MODEL and not self._works_inside(one)]
        self._models = sorted(models, key=lambda one: (one.end, one.id))
        calls = [one for one in spans.values() if one.kind in {TOOL, RETRIEVER} or one.id in rules.calls]
        self._starts: dict[str | None, list[float]] = {}
        for one in sorted(calls, key=lambda one: one.start):
            self._starts.setdefault(self._scope(one), []).append(one.start)

    def _path(self, span: TraceSpan) -> tuple[TraceSpan, ...]:
        """Return the spans around a span, from the inside out."""
        above: list[TraceSpan] = []
        at = span
        while at.parent is not None and at.parent in self._spans:
            at = self._spans[at.parent]
            above.append(at)
            if len(above) > len(self._spans):
                raise TraceError(f"{span.where} lies inside itself; its calls cannot be told apart")
        return tuple(above)

    def _works_inside(self, model: TraceSpan) -> bool:
        """Return whether a model is a part of another, or of a search, of which it reads every candidate."""
        inside = {MODEL, RETRIEVER, RERANKER}
        return any(one.kind in inside or "rerank" in one.name.lower() for one in self._above[model.id])

    def _around(self, span: TraceSpan, kind: str) -> list[TraceSpan]:
        return [one for one in self._above[span.id] if one.kind == kind]

    def _scope(self, span: TraceSpan) -> str | None:
        """Return the id of the nearest tool around a span: the agent that it belongs to."""
        return next((one.id for one in self._around(span, TOOL)), None)

    def trajectory(self) -> Trajectory:
        """Return what the trace tells.

        Raises:
            TraceError: If a search does not say what it found.
        """
        calls = self._calls(sorted(self._searches(), key=lambda one: one.place))
        items: dict[Any, Any] = {identity(item): item for call in calls for item in call.ranking}
        return Trajectory(calls, self._context(list(items.values())), self._citations())

    def unclear(self) -> Iterator[tuple[str, TraceSpan]]:
        """Yield the spans that may be searches which nobody counts, each with what is said of it."""
        for one in self._spans.values():
            if one.kind not in {*SPAN_KINDS, UNSAID}:
                yield f"of the unknown kind {one.kind!r}", one
            elif one.kind == MODEL and (hosted := one.hosted()):
                yield f"with a tool of the model's provider ({hosted[0]!r})", one
        for one in self.steps(UNSAID):
            yield "without a kind", one

    def steps(self, kind: str) -> Iterator[TraceSpan]:
        """Yield the spans of a kind that are told by no other: none is inside, nor a search, tool or model around."""
        known = {RETRIEVER, RERANKER, TOOL, MODEL}
        for id_, one in self._spans.items():
            if one.kind == kind and id_ not in self._outer and known.isdisjoint(each.kind for each in self._above[id_]):
                yield one

    def _searches(self) -> list[_Search]:
        if self._rules.calls:
            return [self._search(one) for one in self._spans.values() if one.id in self._rules.calls]
        named = {one.id for one in self._spans.values() if one.kind == TOOL and one.name in self._rules.tools}
        outer = [one for one in self._spans.values() if not self._around(one, RETRIEVER)]
        found = [one for one in outer if one.kind == RETRIEVER]
        named -= {around.id for one in found for around in self._above[one.id]}
        found += [one for one in outer if one.id in named and named.isdisjoint(o.id for o in self._above[one.id])]
        return [self._search(one) for one in found]

    def _search(self, span: TraceSpan) -> _Search:
        steps = [*self._around(span, TOOL)[::-1], span]
        question = span.question()
        place = tuple(self._place(one, question) for one in steps)
        call_id = next((one.call for one in steps[::-1] if one.call is not None), None)
        return _Search(span, place, tuple(turn for turn, *_ in place), call_id, question)

    def _place(self, step: TraceSpan, question: str | None) -> tuple[int, int, float, str]:
        """Return the place of a call in its agent: its turn, its position in the model's message, its start, its id.

        Models without a call between them are of one turn: some instrumentations write two spans where one model spoke.
        """
        scope = self._scope(step)
        before = [one for one in self._models if one.end <= step.start and self._scope(one) == scope]
        if not before:
            return 0, 0, step.start, step.id
        turn = len({bisect_left(self._starts[scope], one.end) for one in before})
        asked = before[-1].asked() or []
        ids = [id_ for id_, _ in asked]
        if step.call is not None and ids.count(step.call) == 1:
            return turn, ids.index(step.call), step.start, step.id
        wanted = (step.question() if step.kind == TOOL else None) or question
        at = [number for number, (_, one) in enumerate(asked) if one is not None and one == wanted]
        return turn, at[0] if at else len(asked), step.start, step.id

    def _calls(self, searches: Sequence[_Search]) -> list[SearchCall]:
        """Return the calls: searches that one reranker joins are one, and so are the attempts at the same."""
        rerankers = [
            one
            for one in self._spans.values()
            if one.kind == RERANKER and one.error is None and not self._around(one, RETRIEVER)
        ]
        joined: dict[str, tuple[list[_Search], TraceSpan | None]] = {}
        for one in searches:
            after = [each for each in rerankers if each.parent == one.span.parent and each.start >= one.span.start]
            by = min(after, key=lambda each: (each.start, each.id)) if after and one.span.error is None else None
            joined.setdefault(one.span.id if by is None else by.id, ([], by))[0].append(one)
        calls: list[tuple[_Search, SearchCall]] = []
        for group, by in joined.values():
            call = self._call(group, by)
            at = next((at for at, (one, it) in enumerate(calls) if it.error and _is_retry(group[0], one)), None)
            if at is None:
                calls.append((group[0], call))
                continue
            failed = calls[at][1]
            took = (failed.seconds or 0.0) + (call.seconds or 0.0)
            again = replace(call, query=call.query or failed.query, attempts=failed.attempts + 1, seconds=took)
            calls[at] = calls[at][0], again
        return [call for _, call in calls]

    def _call(self, group: Sequence[_Search], reranker: TraceSpan | None) -> SearchCall:
        span = group[0].span
        call = SearchCall(group[0].question, (), max(group[0].step[0], 1), 1, max(span.end - span.start, 0.0))
        if span.error is not None:
            return replace(call, error=span.error)
        inside = [one for one in self._spans.values() if one.kind == RETRIEVER and span in self._above[one.id]]
        inside.sort(key=lambda one: (len(self._above[one.id]), one.start, one.id))
        inner = [items for one in inside if one.error is None and (items := self._found(one)) is not None]
        found = inner.pop(0) if inner and self._found(span) is None else self._told(span)
        before = [items for at, items in enumerate(inner) if items != found and items not in inner[:at]]
        if reranker is not None:
            before = [items for one in group if (items := self._found(one.span)) is not None]
            found, call = self._told(reranker), replace(call, seconds=max(reranker.end - span.start, 0.0))
        return replace(call, ranking=found, before=before)

    def _told(self, span: TraceSpan) -> list[Any]:
        """Return the documents that a span says it found.

        Raises:
            TraceError: If it does not say.
        """
        found = self._found(span)
        if found is None:
            said = repr(span.output)
            raise TraceError(
                f"{span.where} does not say which documents it found, and that is not the same as none: was the "
                "recording of content switched off, or is its output a text? "
                + in_python("documents= takes a function that returns the documents in an output; ")
                + f"this one is {said if len(said) <= SHOWN else f'{said[: SHOWN - 3]}...'}"
            )
        return found

    def _found(self, span: TraceSpan) -> list[Any] | None:
        if self._rules.documents is not None:
            said = self._rules.documents(parsed(span.output))
            return None if said is None else list(items_in(said, f"documents= of {span.where}"))
        try:
            return span.found()
        except RecursionError:
            raise TraceError(f"the output of {span.where} is nested too deeply to be read") from None

    def _context(self, items: Sequence[Any]) -> list[Any] | None:
        """Return the items whose whole text the answering model has read; None if that cannot be told."""
        readers = [one for one in self._models if one.error is None]
        if not self._rules.any_reader:
            readers = [one for one in readers if self._scope(one) is None][-1:]
        texts = [text for one in readers if (text := one.read()) is not None]
        if not texts or any(not isinstance(item, Retrieved) or not item.text for item in items):
            return None
        read = "\n".join(texts)
        if all(item.text in read for item in items):
            return list(items)
        read = plain(read)
        return [item for item in items if plain(item.text) in read]

    def _citations(self) -> Sequence[DocumentId] | None:
        """Return what the answer cites: what the last model of the agent said, or what the outermost span returned."""
        if self._rules.citations is None:
            return None
        said = [one for one in self._models if self._scope(one) is None][-1:]
        said += [one for one in self._spans.values() if not self._above[one.id]]
        answer = next((text for one in said if (text := one.answer())), None)
        if answer is None:
            return None
        cited = self._rules.citations(answer)
        if isinstance(cited, str) or not isinstance(cited, Iterable):
            raise TypeError(f"citations= must return a list of ids, an empty one if nothing is cited, got {cited!r}")
        return list(dict.fromkeys(cited))


SHOWN = 80
"""Characters of an output that a message shows: a line."""


def _is_retry(search: _Search, failed: _Search) -> bool:
    """Return whether a search repeats one that failed: the same call, or the same known question, in one turn."""
    if search.step != failed.step:
        return False
    if search.question is not None and failed.question is not None:
        return search.question == failed.question
    return search.call_id is not None and search.call_id == failed.call_id
