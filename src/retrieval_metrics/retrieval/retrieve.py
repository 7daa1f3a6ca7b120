"""Run a retriever over many queries, read its answers, and keep a record of them and of failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics._internal.validation import common_id_type, positive_integer, require_same_id_type
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions, question_texts
from retrieval_metrics.inputs.ranking_checks import (
    ITEMS_HINT,
    as_list,
    describe_keys,
    is_list_of_ids,
    require_finite_scores,
)
from retrieval_metrics.inputs.ranking_codec import (
    decode_error,
    decode_ranking,
    decode_stages,
    encode_error,
    encode_ranking,
    encode_stages,
)
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.stage_rankings import (
    StageRankings,
    is_stage_mapping,
    require_separate_stages,
    stages_to_runs,
)
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import progress
from retrieval_metrics.retrieval.call_policy import (
    TWO_LOOPS_HINT,
    FunctionCaller,
    is_event_loop_error,
    run_concurrently,
)
from retrieval_metrics.retrieval.event_loop import run_until_complete
from retrieval_metrics.retrieval.sync_async import RetrieverFunctions, choose_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.hosts import HostAdapter, HostRetriever
    from retrieval_metrics.inputs.items import QueryTexts, Ranking, RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import MatchBy

    # A function of the text of a query, or a retriever of a framework.
    Retriever: TypeAlias = Callable[..., object] | RetrieverFunctions | HostRetriever


# How many queries may be under way at once, unless said otherwise.
WORKERS = 8
# Failures with the same words, before any answer, after which no further query is asked.
MAX_FAILURES_ALIKE = 3
# What the first line of a file calls a journal of answers.
RUN_LOG_KIND = "journal of a run"


async def aretrieve(
    retriever: Retriever,
    questions: QueryTexts | Questions,
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
    """Ask a retriever every question and collect its rankings, on the running event loop.

    This is the asynchronous twin of `retrieve`, with the same arguments, result and errors. Synchronous functions run
    in threads and do not block the loop. Cancelling it cancels the queries that are under way.
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
    """Ask a retriever every question and collect its rankings.

    The first question is asked alone, and its answer is checked before the others are asked. An error in every answer,
    such as documents without ids, is thus raised after one question. If the first answer is empty or the retriever
    fails, the next answer is checked instead. A later answer that cannot be read is a failure of its query.

    A setup error is no score: where the first three queries fail with the same words, or all fail, the first failure is
    raised. Where some fail, they have empty rankings, score 0 and are listed in `errors`.

    Retrievers of hosts are asked in threads, by their synchronous way, so that their asynchronous clients meet only the
    event loop of `aretrieve` and of your own `await`. What can only be awaited runs in one event loop that all
    synchronous calls of the process share; an asynchronous client used there and in your own loop as well breaks, and
    the error or a warning says so. It works in notebooks and in any running loop, and the retriever sees the context
    variables of the caller.

    Args:
        retriever: A synchronous or asynchronous function of a query text that returns document ids, best first, a
            mapping of ids to scores, a list of `Retrieved`, or documents of an installed host; or a retriever of an
            installed host (LangChain, LlamaIndex, Haystack). Synchronous functions run in threads. A function may also
            return what it held after each of its steps, `{"bm25": ..., "dense": ..., "reranked": ...}`: in order, None
            for a step that the question did not reach; the last one that it reached is the answer.
        questions: Query texts by query id, or an `EvaluationSet`. With the latter, judgments are checked before the
            first question, and answers against the judgments.
        workers: How many queries may be under way at once.
        timeout: Seconds that one attempt may take; a slower query fails with a `TimeoutError`. Asynchronous functions
            are cancelled. Synchronous ones cannot be: their thread is abandoned and ends when the function returns, or
            with the program. None sets no limit.
        retries: How often a failed query is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30.
        show_progress: Show a progress bar on stderr, if rich is installed.
        raise_on_error: Raise the first failure instead of recording it.
        match: What the judgments of an `EvaluationSet` are compared with, as in `evaluate`.
        check: Called with the first answer, as a run of one query, before the others are asked. Its exceptions are
            raised.
        convert: Converts an answer of the retriever into `Retrieved`, best first. None takes rankings as they are, and
            converts objects of a host with its integration.
        resume: A file such as `run.jsonl` to which every answer is written as it arrives. If it exists, only questions
            without an answer, with a failure or with a new text are asked. `load` reads it as a run. Use one file per
            retriever: the file does not record which retriever answered.

    Returns:
        The rankings in the order of the questions, with the errors of failed queries, whose rankings are empty, the
        seconds of each, and the `stages` of the retriever, if it tells them.

    Raises:
        TypeError: If `retriever` is not a retriever, `questions` are not query texts by id, or the first answer is not
            a ranking.
        ValueError: If `workers` or `timeout` is not positive, `retries` is negative, a judgment can be found in no
            answer, such as a quote that is too short, or the first answer cannot be judged; if `resume` is not such a
            file, or JSON cannot hold the metadata of an item.
        OSError: If `resume` cannot be written.
        ImportError: If the retriever is of a host whose integration is not installed.
        Exception: The failure of the first query, if the first ones fail alike or all fail.

    Example:
        >>> run = retrieve(lambda text: ["d7", "d1"], {"q1": "what is a closure?"})
        >>> run["q1"], run.errors
        (['d7', 'd1'], {})
    """
    return run_until_complete(forward_arguments("retrieve", aretrieve, args, options))


# Ask a retriever many questions: several at a time, with a time limit for each, and a record of failures.


class RetrievalTask:
    """One retriever, the questions it is asked, and its answers so far."""

    def __init__(
        self,
        retriever: Retriever,
        questions: QueryTexts | Questions,
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
        self.texts = question_texts(questions)
        self._judgeable: Judgeable | None = None
        if isinstance(questions, Questions) and self.texts:
            self._judgeable = _read_judgeable(questions, match)
        self._workers = positive_integer(workers, "workers")
        self._caller = FunctionCaller(resolved.call, name="retriever", timeout=timeout, retries=retries)
        self._raise_on_error = raise_on_error
        self._check = check
        self.name = name
        # Whether an answer that holds documents was read and checked.
        self._has_checked_answer = False
        self._rankings: dict[Any, Ranking] = {}
        self._errors: dict[Any, Exception] = {}
        self._seconds: dict[Any, float] = {}
        self._stages: dict[Any, StageRankings] = {}
        self._log = None if resume is None else AnswerLog(resume)
        if self._log is not None:
            self._take_stored(self._log.stored(self.texts))
        self._waiting = iter([(query, text) for query, text in self.texts.items() if query not in self._rankings])

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
    def done(self) -> int:
        """How many queries have been asked."""
        return len(self._rankings) + len(self._errors)

    async def ask_first(self) -> None:
        """Ask the first query alone, so that an error in every answer costs one query; after a failure, the next."""
        for query, text in self._waiting:
            await self._ask(query, text)
            if self._rankings or len(self._errors) == MAX_FAILURES_ALIKE:
                break
        if len(self._errors) == MAX_FAILURES_ALIKE and not self._rankings and self._fail_alike():
            self._raise_first(f"the first {MAX_FAILURES_ALIKE} queries failed alike, so the others were not asked")

    def _fail_alike(self) -> bool:
        """Whether all failures have the same words but for the query; a service may be slow only at its start."""
        if any(isinstance(error, TimeoutError) for error in self._errors.values()):
            return False
        failures = set()
        for query, error in self._errors.items():
            failures.add((type(error), _generalise(error, query, self.texts[query])))
        return len(failures) == 1

    def _raise_first(self, reason: str) -> NoReturn:
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

        await run_concurrently(self._waiting, ask, min(self._workers, len(self.texts) - self.done))

    def run(self) -> RetrievedRun:
        """Return the rankings in the order of the queries."""
        if self.texts and len(self._errors) == len(self.texts):
            self._raise_first(
                f"all {numbers.format_query_count(len(self.texts))} failed, so there is nothing to evaluate"
            )
        lost = [query for query, error in self._errors.items() if is_event_loop_error(error)]
        if lost:
            warn(
                f"{len(lost)} of {numbers.format_query_count(len(self.texts))} failed{self._system_note()}, for "
                f"example {lost[0]!r}: {TWO_LOOPS_HINT}",
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
        return RetrievedRun(rankings, errors, seconds, stages=stages_to_runs(stages))

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
                error.add_note(f"this is the first answer{self._system_note()}, for query {query!r}: {text!r}")
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
            error.add_note(f"while retrieving for query {query!r}{self._system_note()}")
            raise error
        self._errors[query] = error

    def _system_note(self) -> str:
        return f" of the system {self.name!r}" if self.name else ""


async def run_retrieval(tasks: Sequence[RetrievalTask], *, show_progress: bool) -> list[RetrievedRun]:
    """Ask several retrievers one after the other; all first queries come before any second one."""
    total = sum(len(task.texts) for task in tasks)
    with progress("retrieving", total, enabled=show_progress) as show:

        def advance() -> None:
            show(sum(task.done for task in tasks))

        try:
            for task in tasks:
                await task.ask_first()
                advance()
            for task in tasks:
                await task.ask_remaining(advance)
        finally:
            for task in tasks:
                task.end()
    return [task.run() for task in tasks]


def _generalise(error: Exception, query: QueryId, text: str) -> str:
    """Return what an error says, without the query and without numbers, such as those of a request."""
    return re.sub(r"[\da-f-]*\d[\da-f-]*", "", str(error).replace(text, "").replace(repr(query), ""))


def _read_judgeable(questions: Questions, match: MatchBy) -> Judgeable:
    qrels = as_qrels(questions.qrels)
    return Judgeable(qrels, with_source_texts(match, None, qrels, questions))


def short_answers_note(rankings: Mapping[Any, Ranking], functions: RetrieverFunctions, system_note: str = "") -> str:
    """Return for how many queries a store found fewer than it was asked for; nothing if that is all it holds.

    A store that is too small, or that filters before it searches, returns as many for every query.

    Example:
        >>> functions = RetrieverFunctions(n_requested=3)
        >>> note = short_answers_note({"q1": ["a", "b", "c"], "q2": ["a"], "q3": ["b", "c"]}, functions)
        >>> note.partition(":")[0]
        "2 of 3 queries got fewer than k=3, for example 'q2' 1"
        >>> short_answers_note({"q1": ["a"], "q2": ["b"]}, functions)
        ''
    """
    n_requested = functions.n_requested
    if n_requested is None:
        return ""
    lengths = {query: len(ranking) for query, ranking in rankings.items()}
    short = [query for query, length in lengths.items() if length < n_requested]
    if not short or len(set(lengths.values())) == 1:
        return ""
    option = functions.candidate_option and f" ({functions.candidate_option})"
    return (
        f"{len(short)} of {numbers.format_query_count(len(lengths))}{system_note} got fewer than k={n_requested}, for "
        f"example {short[0]!r} {lengths[short[0]]}: the filter or the index of the store left no more of what it "
        f"looked at; let it look at more{option}, or filter before the search"
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
        "a retriever must be a function of the text of a query, or a retriever of an installed host; got "
        f"{type(retriever).__name__}{hint}"
    )


class AnswerRankings(NamedTuple):
    """The answer of a retriever: ids, ids with scores, or items, best first; and its stages, if it tells any."""

    ranking: Ranking
    stages: StageRankings


def read_answer(
    answer: Any, query: QueryId, convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None
) -> AnswerRankings:
    """Return what the answer of a retriever holds.

    Raises:
        TypeError: If it is no ranking.
        ValueError: If a score is not finite.
    """
    if answer is not None and convert is not None and not isinstance(answer, StageRankings):
        answer = convert(answer)
    stages = StageRankings()
    if isinstance(answer, StageRankings) or is_stage_mapping(answer):
        require_separate_stages(answer)
        stages = StageRankings((name, _read_stage(ranking, name, query)) for name, ranking in answer.items())
        answer = stages.answer
    if answer is None:
        raise TypeError(
            f"the retriever returned None for query {query!r}; does it lack a return statement? If nothing was found, "
            "return an empty list"
        )
    if stages:  # its rankings were read already
        return AnswerRankings(answer, stages)
    return AnswerRankings(_read_ranking(answer, query), stages)


def _read_stage(ranking: Any, name: str, query: QueryId) -> Ranking | None:
    """Return the ranking of a stage; None if the question did not reach it."""
    if ranking is None:
        return None
    try:
        return _read_ranking(ranking, query)
    except (TypeError, ValueError) as error:
        error.add_note(f"that is what it held after {name!r}")
        raise


def _read_ranking(answer: Any, query: QueryId) -> Ranking:
    if isinstance(answer, Mapping):
        _require_scores(answer, query)
        return answer
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], (list, tuple)):
        _refuse_pairs(answer[0], query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], Mapping):
        raise TypeError(f"the retriever returned {describe_keys(answer[0])} for query {query!r}; return {ITEMS_HINT}")
    ranking = as_list(answer, query)
    if not ranking or all(isinstance(item, Retrieved) for item in ranking):
        return ranking
    first = ranking[0]
    if not isinstance(first, (str, Integral)):
        host = find_host(first)
        if host is not None:
            return list(host.convert_items(ranking))
        if not isinstance(first, Retrieved):
            raise TypeError(
                f"the retriever returned objects of type {type(first).__name__} for query {query!r}; return the ids of "
                "the documents, best first, or items: [rm.Retrieved(id, text=...) for ... in found]"
            )
    common_id_type(set(map(type, ranking)), f"the document ids retrieved for query {query!r}")
    return ranking


def _require_scores(answer: Mapping[Any, Any], query: QueryId) -> None:
    for name, value in answer.items():
        if not isinstance(value, Real):
            raise TypeError(
                f"the retriever returned a mapping for query {query!r} with a {type(value).__name__} under "
                f"{name!r}; a mapping must map document ids to scores, or steps to rankings, so return only the "
                "documents in it"
            )
    common_id_type(set(map(type, answer)), f"the document ids retrieved for query {query!r}")
    require_finite_scores(answer, query)


def _refuse_pairs(pair: Sequence[Any], query: QueryId) -> NoReturn:
    if is_list_of_ids(pair) and all(isinstance(part, (str, Integral)) for part in pair):
        raise TypeError(
            f"the retriever returned lists such as {pair!r} for query {query!r}; return one list of ids, best first"
        )
    if pair and isinstance(pair[0], (str, Integral)):
        example = repr(pair)
        remedy = "dict(found), which is ids with scores"
    else:
        example = f"({', '.join(type(part).__name__ for part in pair)})"
        remedy = "[document for document, score in found]"
    raise TypeError(f"the retriever returned pairs such as {example} for query {query!r}; return {remedy}")


class StoredAnswer(NamedTuple):
    """An answer in the journal, with the stages that led to it, if there are any."""

    ranking: Ranking
    stages: StageRankings
    seconds: float

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> StoredAnswer:
        """Read an entry without a failure."""
        ranking = decode_ranking(entry)
        return cls(ranking, decode_stages(entry, ranking), float(entry["seconds"]))


class AnswerLog:
    """A journal of answers; the last answer to a query counts."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path; the first answer creates the file."""
        self._log = AppendLog(path, RUN_LOG_KIND)

    def stored(self, texts: Mapping[Any, str]) -> dict[Any, StoredAnswer]:
        """Return the answer to each answered query, except those whose text has changed."""
        answers: dict[Any, StoredAnswer] = {}

        def read_entry(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry and query in texts and entry["question"] == question_fingerprint(texts[query]):
                answers[query] = StoredAnswer.from_entry(entry)

        self._read(read_entry)
        return answers

    def run(self) -> RetrievedRun:
        """Return all answers, and the failures without a later answer."""
        rankings: dict[Any, Ranking] = {}
        errors: dict[Any, Exception] = {}
        seconds: dict[Any, float] = {}
        stages: dict[Any, StageRankings] = {}

        def read_entry(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry:
                answer = StoredAnswer.from_entry(entry)
                rankings[query] = answer.ranking
                stages[query] = answer.stages
                errors.pop(query, None)
            elif not rankings.get(query):
                rankings[query] = []
                errors[query] = decode_error(entry)
            seconds[query] = float(entry["seconds"])

        self._read(read_entry)
        return RetrievedRun(rankings, errors, seconds, stages=stages_to_runs(stages))

    def _read(self, read_entry: Callable[[dict[str, Any]], None]) -> None:
        for line, entry in enumerate(self._log.read_entries(), start=2):  # the first line says what the file is
            try:
                read_entry(entry)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{self._log.path}, line {line}, holds no answer: {error!r}") from error

    def store(self, query: QueryId, text: str, answer: Mapping[str, Any], seconds: float) -> None:
        """Append an answer of `encode_ranking`, or a failure of `encode_error`, for which the query is asked again."""
        question = question_fingerprint(text)
        self._log.append({"query": encode_id(query), "question": question, **answer, "seconds": seconds})


class Judgeable:
    """Checks that rankings can be judged: that they have what the judgments are compared with."""

    def __init__(self, qrels: Qrels, match: MatchBy) -> None:
        """Set the judgments, and what their ids are compared with; judge that nothing was retrieved."""
        empty_run: Any = dict.fromkeys(qrels.queries, ())
        judge(qrels, empty_run, match, TIES_BY_ID)
        self._qrels = qrels
        self._key = get_match_key(match)
        self._match_by = match if isinstance(match, str) or callable(match) else match.by

    def check(self, ranking: Ranking, query: QueryId) -> None:
        """Raise if a ranking cannot be judged.

        Raises:
            TypeError: If it holds only ids where more is needed, or ids of another type than those of the judgments.
            ValueError: If it holds items without the values to compare.
        """
        keys = self._read_keys(ranking, query)
        key_type = common_id_type({type(key) for key in keys}, f"the document ids retrieved for query {query!r}")
        require_same_id_type(
            self._qrels.document_kind, "document ids in the judgments", key_type, "those that were retrieved"
        )

    def _read_keys(self, ranking: Any, query: QueryId) -> list[Any]:
        """Return what the judgments are compared with."""
        has_items = not isinstance(ranking, Mapping) and all(isinstance(item, Retrieved) for item in islice(ranking, 1))
        if not has_items:
            if ranking and (self._qrels.has_pieces or self._match_by != "id"):
                raise TypeError(
                    f"the retriever returned only ids for query {query!r}, but the judgments or match= need more; "
                    "return rm.Retrieved(id, text=..., source=...) for every document"
                )
            return list(ranking)
        if self._qrels.document_kind is None:
            return []
        keys = []
        for item in ranking:
            key = self._key(item)
            if key is not None:
                keys.append(key)
        if self._match_by == "id" and len(keys) < len(ranking):
            raise ValueError(
                f"{len(ranking) - len(keys)} of {len(ranking)} documents retrieved for query {query!r} have no id, and "
                "the judgments are ids; store the documents with their ids, match by 'source', 'metadata:<name>' or a "
                "callable, or judge by Quote, Text or Span"
            )
        if ranking and not keys:
            self._refuse_without_keys(ranking[0], query)
        return keys

    def _refuse_without_keys(self, first: Retrieved, query: QueryId) -> NoReturn:
        from difflib import get_close_matches

        metadata = first.metadata or {}
        names = ", ".join(map(repr, metadata)) or "nothing"
        close = get_close_matches(str(self._match_by), [f"metadata:{name}" for name in metadata], n=1)
        hint = f"; write match={close[0]!r}" if close else ""
        raise ValueError(
            f"no document retrieved for query {query!r} has a value for match={self._match_by!r}; the metadata of the "
            f"first has {names}{hint}"
        )
