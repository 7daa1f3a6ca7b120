"""Ask a retriever many questions: several at a time, with a time limit for each, and a record of failures."""

from __future__ import annotations

import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.checks import RetrievalWarning, positive_integer
from retrieval_metrics.inputs.documents import host_of
from retrieval_metrics.inputs.entries import of_error, of_ranking
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions, question_texts
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.judging.judge import with_documents
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.progress import progress
from retrieval_metrics.retrieving.answer import as_ranking
from retrieval_metrics.retrieving.answers import Answers
from retrieval_metrics.retrieving.calling import Caller, several_at_a_time
from retrieval_metrics.retrieving.causes import TWO_LOOPS, is_of_another_loop
from retrieval_metrics.retrieving.judgeable import Judgeable
from retrieval_metrics.retrieving.ways import Ways, way_for_caller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.documents import Host
    from retrieval_metrics.inputs.items import QueryTexts, Ranking, Retrieved, RunMapping
    from retrieval_metrics.judging.ranking_order import MatchBy

FAILURES_ALIKE = 3
"""Failures with the same words, before any answer, after which no further query is asked."""


class Asking:
    """One retriever, the questions it is asked, and its answers so far."""

    def __init__(
        self,
        retriever: Any,
        questions: QueryTexts | Questions,
        *,
        workers: int,
        timeout: float | None,
        retries: int,
        raise_on_error: bool,
        match: MatchBy,
        check: Callable[[RunMapping], object] | None,
        items: Callable[[Any], Sequence[Retrieved]] | None = None,
        name: str = "",
        resume: str | PathLike[str] | None = None,
    ) -> None:
        """Take the arguments of `retrieve`, and check them before anything is asked.

        Args:
            retriever: The retriever.
            questions: The questions.
            workers: How many queries may be under way at once.
            timeout: Seconds that one attempt may take.
            retries: How often a failed query is repeated.
            raise_on_error: Whether the first failure is raised.
            match: What ids of the judgments are compared with.
            check: Called with the first answer.
            items: A function that converts an answer into items; None leaves that to the host.
            name: The name of the system, for messages.
            resume: The file in which the answers are kept.
        """
        ask, host = how_to_ask(retriever)
        self._items = host.items if items is None and host is not None else items
        self.texts = question_texts(questions)
        self._judgeable = _judgeable(questions, match) if isinstance(questions, Questions) and self.texts else None
        self._workers = positive_integer(workers, "workers")
        self._caller = Caller(ask, what="retriever", timeout=timeout, retries=retries)
        self._raise_on_error = raise_on_error
        self._check = check
        self.name = name
        self._sound = False
        self._rankings: dict[Any, Ranking] = {}
        self._errors: dict[Any, Exception] = {}
        self._seconds: dict[Any, float] = {}
        self._answers = None if resume is None else Answers(resume)
        if self._answers is not None:
            self._take(self._answers.known(self.texts))
        self._waiting = iter([(query, text) for query, text in self.texts.items() if query not in self._rankings])

    def _take(self, known: Mapping[Any, tuple[Ranking, float]]) -> None:
        """Take the answers from an earlier run, and check them like new ones."""
        for query, (ranking, seconds) in known.items():
            try:
                self._rankings[query] = self._read(query, ranking, None)
            except Exception as error:
                error.add_note(f"this is the saved answer for query {query!r}; delete the file to ask again")
                raise
            self._seconds[query] = seconds

    @property
    def done(self) -> int:
        """How many queries have been asked."""
        return len(self._rankings) + len(self._errors)

    async def first(self) -> None:
        """Ask the first query alone, so that an error in every answer costs only one query; after a failure, the next.

        Raises:
            Exception: The failure, if the first queries fail alike.
        """
        for query, text in self._waiting:
            await self._ask_one(query, text)
            if self._rankings or len(self._errors) == FAILURES_ALIKE:
                break
        if len(self._errors) == FAILURES_ALIKE and not self._rankings and self._fail_alike():
            self._raise_first(f"the first {FAILURES_ALIKE} queries failed alike, so the others were not asked")

    def _fail_alike(self) -> bool:
        """Whether all failures have the same words but for the query; a service may be slow only at its start."""
        errors = self._errors.items()
        return len(
            {(type(error), _without(error, query, self.texts[query])) for query, error in errors}
        ) == 1 and not any(isinstance(error, TimeoutError) for _, error in errors)

    def _raise_first(self, why: str) -> NoReturn:
        query, error = next(iter(self._errors.items()))
        error.add_note(f"{why}; this is the failure of query {query!r}{self._of_system()}")
        if is_of_another_loop(error):
            error.add_note(TWO_LOOPS)
        raise error

    async def rest(self, advance: Callable[[], None]) -> None:
        """Ask the other queries, several at a time."""

        async def work(question: tuple[QueryId, str]) -> None:
            await self._ask_one(*question)
            advance()

        await several_at_a_time(self._waiting, work, min(self._workers, len(self.texts) - self.done))

    def run(self) -> RetrievedRun:
        """Return the rankings in the order of the queries.

        Raises:
            Exception: The first failure, if every query failed.
        """
        if self.texts and len(self._errors) == len(self.texts):
            self._raise_first(f"all {numbers.queries(len(self.texts))} failed, so there is nothing to evaluate")
        if lost := [query for query, error in self._errors.items() if is_of_another_loop(error)]:
            warnings.warn(
                f"{len(lost)} of {numbers.queries(len(self.texts))} failed{self._of_system()}, for example "
                f"{lost[0]!r}: {TWO_LOOPS}",
                RetrievalWarning,
                stacklevel=2,
            )
        order = list(self.texts)
        return RetrievedRun(
            {query: self._rankings.get(query, []) for query in order},
            {query: self._errors[query] for query in order if query in self._errors},
            {query: self._seconds[query] for query in order},
        )

    def end(self) -> None:
        """End the threads."""
        self._caller.end()

    async def _ask_one(self, query: QueryId, text: str) -> None:
        try:
            answer = await self._caller.call(text, after=partial(self._seconds.__setitem__, query))
        except Exception as error:  # noqa: BLE001  (whatever a retriever raises is the failure of its query)
            self._failed(query, text, error)
            return
        said: Mapping[str, Any] = {}
        sound = self._sound
        try:
            ranking = self._read(query, answer, self._items)
            if self._answers is not None:
                said = of_ranking(ranking, query)
        except Exception as error:
            if not sound:
                error.add_note(f"this is the first answer{self._of_system()}, for query {query!r}: {text!r}")
                raise
            self._failed(query, text, error)
            return
        if self._answers is not None:
            self._answers.keep(query, text, said, self._seconds[query])
        self._rankings[query] = ranking

    def _read(self, query: QueryId, answer: Any, items: Callable[[Any], Sequence[Retrieved]] | None) -> Ranking:
        ranking = as_ranking(answer, query, items)
        if self._judgeable is not None:
            self._judgeable.check(ranking, query)
        if not self._sound and len(ranking):
            if self._check is not None:
                run: dict[Any, Ranking] = {query: ranking}
                self._check(run)
            self._sound = True
        return ranking

    def _failed(self, query: QueryId, text: str, error: Exception) -> None:
        if self._answers is not None:
            self._answers.keep(query, text, of_error(error), self._seconds[query])
        if self._raise_on_error:
            error.add_note(f"while retrieving for query {query!r}{self._of_system()}")
            raise error
        self._errors[query] = error

    def _of_system(self) -> str:
        return f" of the system {self.name!r}" if self.name else ""


async def ask_all(askings: Sequence[Asking], *, show_progress: bool) -> list[RetrievedRun]:
    """Ask several retrievers one after the other; all first queries come before any second one.

    Raises:
        Exception: If a first answer cannot be read, or, with `raise_on_error`, the first failure.
        ImportError: If `show_progress` is set and rich is not installed.
    """
    total = sum(len(asking.texts) for asking in askings)
    with progress("retrieving", total, enabled=show_progress) as show:

        def advance() -> None:
            show(sum(asking.done for asking in askings))

        try:
            for asking in askings:
                await asking.first()
                advance()
            for asking in askings:
                await asking.rest(advance)
        finally:
            for asking in askings:
                asking.end()
    return [asking.run() for asking in askings]


def _without(error: Exception, query: QueryId, text: str) -> str:
    """Return what an error says, without the query and without numbers, such as those of a request."""
    return re.sub(r"[\da-f-]*\d[\da-f-]*", "", str(error).replace(text, "").replace(repr(query), ""))


def _judgeable(questions: Questions, match: MatchBy) -> Judgeable:
    truth = as_qrels(questions.qrels)
    return Judgeable(truth, with_documents(match, None, truth, questions))


def how_to_ask(retriever: Any) -> tuple[Callable[[str], Any], Host | None]:
    """Return the function to call with the text of a query, and the host that converts its answers.

    Raises:
        TypeError: If it is not a retriever.
        ImportError: If it belongs to a host whose integration is not installed.
    """
    host = host_of(retriever)
    if host is not None:
        ask = host.ask(retriever)
        if ask is not None:
            return way_for_caller(ask), host
    if callable(retriever) or isinstance(retriever, Ways):
        return way_for_caller(retriever), None
    hint = "; write as_retriever() behind it" if hasattr(retriever, "as_retriever") else ""
    raise TypeError(
        "a retriever must be a function of the text of a query, or a retriever of an installed host; got "
        f"{type(retriever).__name__}{hint}"
    )
