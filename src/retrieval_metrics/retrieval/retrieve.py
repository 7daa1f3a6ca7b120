"""Run a retriever over many queries, read its answers, and keep a record of them and of failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from retrieval_metrics._internal.error_causes import TWO_LOOPS_HINT, is_event_loop_error
from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.files.judgment_paths import resolve_texts
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions, question_texts
from retrieval_metrics.inputs.ranking_codec import (
    encode_error,
    encode_ranking,
    encode_stages,
)
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.stage_rankings import (
    StageRankings,
    merge_stage_inputs,
    stages_to_runs,
)
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import progress
from retrieval_metrics.retrieval.answer_log import AnswerLog, StoredAnswer
from retrieval_metrics.retrieval.answers import AnswerRankings, copy_answer, read_answer
from retrieval_metrics.retrieval.call_policy import FunctionCaller, run_concurrently
from retrieval_metrics.retrieval.event_loop import run_until_complete
from retrieval_metrics.retrieval.judgeable import Judgeable
from retrieval_metrics.retrieval.sync_async import RetrieverFunctions, choose_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.hosts import HostAdapter, HostRetriever
    from retrieval_metrics.inputs.items import QueryTexts, Ranking, Retrieved, RunMapping
    from retrieval_metrics.matching.matching_options import MatchBy

    # A function of the text of a query, or a retriever of a framework.
    Retriever: TypeAlias = Callable[..., object] | RetrieverFunctions | HostRetriever


# How many queries may run at once, unless said otherwise.
WORKERS = 8
# Failures with the same words, before any answer, after which no further query is asked.
MAX_FAILURES_ALIKE = 3


async def aretrieve(
    retriever: Retriever,
    questions: QueryTexts | Questions | str | PathLike[str],
    *,
    workers: int = WORKERS,
    timeout: float | None = None,  # noqa: ASYNC109  (of each query, not of the whole)
    retries: int = 0,
    show_progress: bool = False,
    raise_on_error: bool = False,
    match: MatchBy = "id",
    check: Callable[[RunMapping], object] | None = None,
    convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None,
    resume: str | PathLike[str] | None = None,
) -> RetrievedRun:
    """Run a retriever on every question and collect its rankings, on the running event loop.

    This is the asynchronous version of `retrieve`, with the same arguments, result and errors. Synchronous functions
    run in threads and do not block the loop. Cancelling it cancels the queries that are under way.
    """
    task = RetrievalTask(
        retriever,
        questions,
        workers=workers,
        timeout=timeout,
        retries=retries,
        raise_on_error=raise_on_error,
        match=match,
        check=check,
        convert=convert,
        resume=resume,
    )
    (run,) = await run_retrieval([task], show_progress=show_progress)
    return run


@takes_arguments_of(aretrieve)
def retrieve(*args: Any, **options: Any) -> RetrievedRun:
    """Run a retriever on every question and collect its rankings.

    The first question is run alone, and its answer is checked before the others are run. An error in every answer,
    such as documents without ids, is thus raised after one question. If the first answer is empty or the retriever
    fails, the next answer is checked instead. A later answer that cannot be read is a failure of its query.

    A setup error is not scored: if the first three queries fail with the same message, or all fail, the first failure
    is raised. If only some fail, they have empty rankings, score 0 and are listed in `errors`.

    Retrievers of hosts run in threads, by their synchronous methods, so that their asynchronous clients meet only the
    event loop of `aretrieve` and of your own `await`. What can only be awaited runs in one event loop that all
    synchronous calls of the process share; an asynchronous client used there and in your own loop as well breaks, and
    the error or a warning says so. It works in notebooks and in any running loop, and the retriever sees the context
    variables of the caller.

    Args:
        retriever: A synchronous or asynchronous function of a query text that returns document ids, best first, a
            mapping of ids to scores, a list of `Retrieved`, or documents of an installed host; or a retriever of an
            installed host (LangChain, LlamaIndex, Haystack). Synchronous functions run in threads. A function may also
            return its documents after each of its stages, `{"bm25": ..., "dense": ..., "reranked": ...}`: in order,
            None for a stage that the question did not reach; the last one that it reached is the answer.
        questions: Query texts by query id, an `EvaluationSet`, or a path as in `read_questions`. With the last two,
            judgments are checked before the first question, and answers against the judgments.
        workers: How many queries may run at once.
        timeout: Seconds that one attempt may take; a slower query fails with a `TimeoutError`. Asynchronous functions
            are cancelled. Synchronous ones cannot be: their thread is abandoned and ends when the function returns, or
            with the program. None sets no limit.
        retries: How many times a failed query is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30. A query
            that a rate limit refused is repeated as often, after the seconds that the service asks for (`Retry-After`)
            or 1, 2, 4 ..., and never after more than `timeout`; a warning announces the wait. With 0 nothing waits.
        show_progress: Show a progress bar on stderr, if rich is installed.
        raise_on_error: Raise the first failure instead of recording it.
        match: What the judgments of an `EvaluationSet` are compared with, as in `evaluate`.
        check: Called with the first answer, as a run of one query, before the others are run. Its exceptions are
            raised.
        convert: Converts an answer of the retriever into `Retrieved`, best first. None takes rankings as they are, and
            converts objects of a host with its integration.
        resume: A file such as `run.jsonl` to which every answer is written as it arrives. If it exists, only questions
            without an answer, with a failure or with a new text are run. `load` reads it as a run. Use one file per
            retriever: the file does not record which retriever answered.

    Returns:
        The rankings in the order of the questions, with the errors of failed queries, whose rankings are empty, the
        seconds of each, and the `stages` of the retriever, if it records them.

    Raises:
        TypeError: If `retriever` is not a retriever, `questions` are not query texts by id, or the first answer is not
            a ranking.
        ValueError: If `workers` or `timeout` is not positive, `retries` is negative, a judgment can be found in no
            answer, such as a quote that is too short, or the first answer cannot be judged; if `resume` is not such a
            file, or a file cannot hold the metadata of an item.
        OSError: If `resume` cannot be written.
        ImportError: If the retriever is of a host whose integration is not installed.
        Exception: The failure of the first query, if the first ones fail with the same error or all fail.

    Example:
        >>> run = retrieve(lambda text: ["d7", "d1"], {"q1": "what is a closure?"})
        >>> run["q1"], run.errors
        (['d7', 'd1'], {})
    """
    return run_until_complete(forward_arguments("retrieve", aretrieve, args, options))


class RetrievalTask:
    """One retriever, the questions it is asked, and its answers so far."""

    def __init__(
        self,
        retriever: Retriever,
        questions: QueryTexts | Questions | str | PathLike[str],
        *,
        workers: int,
        timeout: float | None,
        retries: int,
        raise_on_error: bool,
        match: MatchBy,
        check: Callable[[RunMapping], object] | None,
        convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None,
        name: str = "",
        resume: str | PathLike[str] | None = None,
    ) -> None:
        """Take the arguments of `retrieve`, and check them before anything is asked."""
        resolved = resolve_retriever(retriever)
        self._functions = resolved.functions
        self._convert = convert
        if convert is None and resolved.host is not None:
            self._convert = resolved.host.convert_items
        resolved_questions = resolve_texts(questions)
        self.texts = dict(question_texts(resolved_questions))
        self._judgeable: Judgeable | None = None
        if isinstance(resolved_questions, Questions) and self.texts:
            self._judgeable = _read_judgeable(resolved_questions, match)
        self._workers = positive_integer(workers, "workers")
        self._caller = FunctionCaller(
            resolved.call, name="retriever", timeout=timeout, retries=retries, keep=copy_answer
        )
        self._raise_on_error = raise_on_error
        self._check = check
        self.name = name
        # Whether an answer that holds documents was read and checked.
        self._has_checked_answer = False
        self._rankings: dict[Any, Ranking] = {}
        self._errors: dict[Any, Exception] = {}
        self._seconds: dict[Any, float] = {}
        self._stages: dict[Any, StageRankings] = {}
        self._log = None if resume is None else _open_answer_log(resume)
        if self._log is not None:
            self._take_stored(self._log.read_answers(self.texts))
        waiting = [(query, text) for query, text in self.texts.items() if query not in self._rankings]
        if self._log is not None and waiting:
            self._log.require_writable()
        self._waiting = iter(waiting)

    def _take_stored(self, stored: Mapping[Any, StoredAnswer]) -> None:
        """Take the answers from an earlier run, and check them like new ones."""
        for query, answer in stored.items():
            try:
                self._keep(query, self._read(query, answer.stages or answer.ranking, None))
            except Exception as error:
                error.add_note(f"this is the saved answer for query {query!r}; delete the file to ask again")
                raise
            self._seconds[query] = answer.seconds

    @property
    def n_asked(self) -> int:
        """How many queries have been asked."""
        return len(self._rankings) + len(self._errors)

    async def ask_first(self) -> None:
        """Ask the first query alone, so that an error in every answer costs one query; after a failure, the next."""
        for query, text in self._waiting:
            await self._ask(query, text)
            if self._rankings or len(self._errors) == MAX_FAILURES_ALIKE:
                break
        if len(self._errors) == MAX_FAILURES_ALIKE and not self._rankings and self._fail_alike():
            self._raise_first_failure(
                f"the first {MAX_FAILURES_ALIKE} queries failed with the same error, so the others were not run"
            )

    def _fail_alike(self) -> bool:
        """Return whether all failures have the same words apart from the query.

        Time-outs do not count as alike, because a service may be slow only at its start.
        """
        if any(isinstance(error, TimeoutError) for error in self._errors.values()):
            return False
        failures = set()
        for query, error in self._errors.items():
            failures.add((type(error), _generalise(error, query, self.texts[query])))
        return len(failures) == 1

    def _raise_first_failure(self, reason: str) -> NoReturn:
        query, error = next(iter(self._errors.items()))
        error.add_note(f"{reason}; this is the failure of query {query!r}{self._system_note()}")
        if is_event_loop_error(error):
            error.add_note(TWO_LOOPS_HINT)
        raise error

    async def ask_remaining(self, advance: Callable[[], None]) -> None:
        """Ask the other queries, several at a time."""

        async def ask(question: tuple[QueryId, str]) -> None:
            query, text = question
            await self._ask(query, text)
            advance()

        await run_concurrently(self._waiting, ask, min(self._workers, len(self.texts) - self.n_asked))

    def make_run(self) -> RetrievedRun:
        """Return the rankings in the order of the queries."""
        if self.texts and len(self._errors) == len(self.texts):
            queries = f"all {len(self.texts):,} queries"
            if len(self.texts) == 1:
                queries = "the only query"
            self._raise_first_failure(f"{queries} failed, so there is nothing to evaluate")
        failed_by_loop = [query for query, error in self._errors.items() if is_event_loop_error(error)]
        if failed_by_loop:
            warn(
                f"{len(failed_by_loop)} of {numbers.format_query_count(len(self.texts))} failed{self._system_note()}, "
                f"for example {failed_by_loop[0]!r}: {TWO_LOOPS_HINT}",
            )
        note = short_answers_note(self._rankings, self._functions, self._system_note())
        if note:
            warn(note)
        rankings: dict[Any, Ranking] = {}
        errors: dict[Any, Exception] = {}
        seconds: dict[Any, float] = {}
        stages: dict[Any, StageRankings] = {}
        for query in self.texts:
            rankings[query] = self._rankings.get(query, [])
            seconds[query] = self._seconds[query]
            if query in self._errors:
                errors[query] = self._errors[query]
            if query in self._stages:
                stages[query] = self._stages[query]
        runs = stages_to_runs(stages)
        return RetrievedRun(rankings, errors, seconds, stages=runs, takes_documents=merge_stage_inputs(stages))

    def end(self) -> None:
        """End the threads."""
        self._caller.end()

    async def _ask(self, query: QueryId, text: str) -> None:
        try:
            answer = await self._caller.call(text, after=partial(self._seconds.__setitem__, query))
        except Exception as error:
            self._note_failure(query, text, error)
            return
        entry: Mapping[str, Any] = {}
        has_checked_answer = self._has_checked_answer
        try:
            answer_rankings = self._read(query, answer, self._convert)
            if self._log is not None:
                ranking = answer_rankings.ranking
                entry = encode_ranking(ranking, query) | encode_stages(answer_rankings.stages, ranking, query)
        except Exception as error:
            if not has_checked_answer:
                error.add_note(f"this is the first answer{self._system_note()}, to query {query!r} ({text!r})")
                raise
            self._note_failure(query, text, error)
            return
        if self._log is not None:
            self._log.store(query, text, entry, self._seconds[query])
        self._keep(query, answer_rankings)

    def _keep(self, query: QueryId, answer: AnswerRankings) -> None:
        self._rankings[query] = answer.ranking
        if answer.stages:
            self._stages[query] = answer.stages

    def _read(
        self, query: QueryId, answer: Any, convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None
    ) -> AnswerRankings:
        """Return what an answer holds, checked; the first that holds documents also by the check of the caller."""
        answer_rankings = read_answer(answer, query, convert)
        ranking = answer_rankings.ranking
        if self._judgeable is not None:
            self._judgeable.check(ranking, query)
        if not self._has_checked_answer and len(ranking):
            if self._check is not None:
                run: dict[Any, Ranking] = {query: ranking}
                self._check(run)
            self._has_checked_answer = True
        return answer_rankings

    def _note_failure(self, query: QueryId, text: str, error: Exception) -> None:
        if self._log is not None:
            self._log.store(query, text, encode_error(error), self._seconds[query])
        if self._raise_on_error:
            error.add_note(
                f"while retrieving for query {query!r}{self._system_note()}; raise_on_error=False scores a query that "
                "fails 0, and counts it"
            )
            raise error
        self._errors[query] = error

    def _system_note(self) -> str:
        return f" of the system {self.name!r}" if self.name else ""


async def run_retrieval(tasks: Sequence[RetrievalTask], *, show_progress: bool) -> list[RetrievedRun]:
    """Ask several retrievers one after the other; all first queries come before any second one."""
    total = sum(len(task.texts) for task in tasks)
    with progress("retrieving", total, enabled=show_progress) as show:

        def advance() -> None:
            show(sum(task.n_asked for task in tasks))

        try:
            for task in tasks:
                await task.ask_first()
                advance()
            for task in tasks:
                await task.ask_remaining(advance)
        finally:
            for task in tasks:
                task.end()
    return [task.make_run() for task in tasks]


def _open_answer_log(path: str | PathLike[str]) -> AnswerLog:
    """Return the journal of a retriever, which is a file and not a folder with a file per system."""
    if Path(path).is_dir():
        raise ValueError(
            f"resume= must be a file, but {str(path)!r} is a folder; pass {str(Path(path) / 'run.jsonl')!r}"
        )
    return AnswerLog(path)


def _generalise(error: Exception, query: QueryId, text: str) -> str:
    """Return what an error says, without the query and without numbers, such as those of a request."""
    return re.sub(r"[\da-f-]*\d[\da-f-]*", "", str(error).replace(text, "").replace(repr(query), ""))


def _read_judgeable(questions: Questions, match: MatchBy) -> Judgeable:
    qrels = as_qrels(questions.qrels)
    return Judgeable(qrels, with_source_texts(match, None, qrels, questions))


def short_answers_note(rankings: Mapping[Any, Ranking], functions: RetrieverFunctions, system_note: str = "") -> str:
    """Return a note on queries for which a store found fewer than it was asked for; "" if that is all it holds.

    A store that is too small, or that filters before it searches, returns as many for every query. Where every query
    found nothing, that is said too if the store has an option to look at more.

    Example:
        >>> functions = RetrieverFunctions(n_requested=3)
        >>> note = short_answers_note({"q1": ["a", "b", "c"], "q2": ["a"], "q3": ["b", "c"]}, functions)
        >>> note.partition(" (")[0]
        '2 of 3 queries got fewer than k=3 results'
        >>> short_answers_note({"q1": ["a"], "q2": ["b"]}, functions)
        ''
    """
    n_requested = functions.n_requested
    if n_requested is None:
        return ""
    lengths = {query: len(ranking) for query, ranking in rankings.items()}
    short_queries = [query for query, length in lengths.items() if length < n_requested]
    found_nothing = not any(lengths.values())  # a filter of the store may have left nothing of what it looked at
    is_alike = len(set(lengths.values())) == 1
    if not short_queries or (is_alike and not (found_nothing and functions.candidate_option)):
        return ""
    option = functions.candidate_option and f" ({functions.candidate_option})"
    example = numbers.format_example(len(short_queries), f"{short_queries[0]!r}: {lengths[short_queries[0]]}")
    return (
        f"{len(short_queries)} of {numbers.format_query_count(len(lengths))}{system_note} got fewer than "
        f"k={n_requested} results ({example}): the store's filter or index left too few of the candidates it examined; "
        f"let it examine more{option}, or filter before the search"
    )


class ResolvedRetriever(NamedTuple):
    """How a retriever is asked.

    Attributes:
        call: The function to call with the text of a query.
        host: The host that converts its answers; None if they are ids or items.
        functions: Its synchronous and asynchronous functions.
    """

    call: Callable[[str], Any]
    host: HostAdapter | None
    functions: RetrieverFunctions


def resolve_retriever(retriever: Retriever) -> ResolvedRetriever:
    """Return how to ask a function or a retriever of an installed host."""
    host = find_host(retriever)
    functions = None if host is None else host.resolve_retriever(retriever)
    if functions is None and (callable(retriever) or isinstance(retriever, RetrieverFunctions)):
        functions = retriever
        host = None
    if functions is not None:
        call = choose_function(functions)
        if not isinstance(functions, RetrieverFunctions):
            functions = RetrieverFunctions(functions)
        return ResolvedRetriever(call, host, functions)
    hint = ""
    if isinstance(retriever, (Mapping, list)):
        hint = "; retrieve(retriever, questions) takes the retriever first"
    elif hasattr(retriever, "as_retriever"):
        hint = "; write as_retriever() behind it"
    raise TypeError(
        "a retriever must be a function of the text of a query, or a retriever of a framework whose integration is "
        f"installed; got {type(retriever).__name__}{hint}"
    )
