"""Run a retriever over many queries, read its answers, and keep a record of them and of failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics._internal.validation import (
    common_id_type,
    format_argument,
    forward_arguments,
    positive_integer,
    require_same_id_type,
    takes_arguments_of,
    warn,
)
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.inputs.items import Retrieved, get_match_key
from retrieval_metrics.inputs.json_codec import encode_id
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
from retrieval_metrics.retrieval.sync_async import RetrieverFunctions, choose_function, run_until_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.hosts import HostAdapter
    from retrieval_metrics.inputs.items import QueryTexts, Ranking, RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.ranking_order import MatchBy


WORKERS = 8


async def aretrieve(
    retriever: Any,
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
    # Imported here, because it imports asyncio, which takes as long as numpy.

    asking = RetrievalTask(
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
    (run,) = await run_retrieval([asking], show_progress=show_progress)
    return run


@takes_arguments_of(aretrieve)
def retrieve(*args: Any, **options: Any) -> RetrievedRun:  # noqa: D417  (they are those of aretrieve)
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

FAILURES_ALIKE = 3
"""Failures with the same words, before any answer, after which no further query is asked."""


class RetrievalTask:
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
        convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None,
        name: str = "",
        resume: str | PathLike[str] | None = None,
    ) -> None:
        """Take the arguments of `retrieve`, and check them before anything is asked."""
        ask, host, self._ways = how_to_ask(retriever)
        self._items = host.convert_items if convert is None and host is not None else convert
        self.texts = question_texts(questions)
        self._judgeable = _judgeable(questions, match) if isinstance(questions, Questions) and self.texts else None
        self._workers = positive_integer(workers, "workers")
        self._caller = FunctionCaller(ask, what="retriever", timeout=timeout, retries=retries)
        self._raise_on_error = raise_on_error
        self._check = check
        self.name = name
        self._sound = False
        self._rankings: dict[Any, Ranking] = {}
        self._errors: dict[Any, Exception] = {}
        self._seconds: dict[Any, float] = {}
        self._steps: dict[Any, StageRankings] = {}
        self._answers = None if resume is None else AnswerLog(resume)
        if self._answers is not None:
            self._take(self._answers.stored(self.texts))
        self._waiting = iter([(query, text) for query, text in self.texts.items() if query not in self._rankings])

    def _take(self, known: Mapping[Any, StoredAnswer]) -> None:
        """Take the answers from an earlier run, and check them like new ones."""
        for query, (ranking, steps, seconds) in known.items():
            try:
                self._keep(query, *self._read(query, steps or ranking, None))
            except Exception as error:
                error.add_note(f"this is the saved answer for query {query!r}; delete the file to ask again")
                raise
            self._seconds[query] = seconds

    @property
    def done(self) -> int:
        """How many queries have been asked."""
        return len(self._rankings) + len(self._errors)

    async def first(self) -> None:
        """Ask the first query alone, so that an error in every answer costs one query; after a failure, the next."""
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
        if is_event_loop_error(error):
            error.add_note(TWO_LOOPS_HINT)
        raise error

    async def remaining(self, advance: Callable[[], None]) -> None:
        """Ask the other queries, several at a time."""

        async def work(question: tuple[QueryId, str]) -> None:
            await self._ask_one(*question)
            advance()

        await run_concurrently(self._waiting, work, min(self._workers, len(self.texts) - self.done))

    def run(self) -> RetrievedRun:
        """Return the rankings in the order of the queries."""
        if self.texts and len(self._errors) == len(self.texts):
            self._raise_first(
                f"all {numbers.format_query_count(len(self.texts))} failed, so there is nothing to evaluate"
            )
        if lost := [query for query, error in self._errors.items() if is_event_loop_error(error)]:
            warn(
                f"{len(lost)} of {numbers.format_query_count(len(self.texts))} failed{self._of_system()}, for example "
                f"{lost[0]!r}: {TWO_LOOPS_HINT}",
            )
        if said := said_of_short_answers(self._rankings, self._ways, self._of_system()):
            warn(said)
        order = list(self.texts)
        return RetrievedRun(
            {query: self._rankings.get(query, []) for query in order},
            {query: self._errors[query] for query in order if query in self._errors},
            {query: self._seconds[query] for query in order},
            stages=stages_to_runs({query: self._steps[query] for query in order if query in self._steps}),
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
            ranking, steps = self._read(query, answer, self._items)
            if self._answers is not None:
                said = encode_ranking(ranking, query) | encode_stages(steps, ranking, query)
        except Exception as error:
            if not sound:
                error.add_note(f"this is the first answer{self._of_system()}, for query {query!r}: {text!r}")
                raise
            self._failed(query, text, error)
            return
        if self._answers is not None:
            self._answers.store(query, text, said, self._seconds[query])
        self._keep(query, ranking, steps)

    def _keep(self, query: QueryId, ranking: Ranking, stages: StageRankings) -> None:
        self._rankings[query] = ranking
        if stages:
            self._steps[query] = stages

    def _read(
        self, query: QueryId, answer: Any, convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None
    ) -> tuple[Ranking, StageRankings]:
        ranking, steps = as_answer(answer, query, convert)
        if self._judgeable is not None:
            self._judgeable.check(ranking, query)
        if not self._sound and len(ranking):
            if self._check is not None:
                run: dict[Any, Ranking] = {query: ranking}
                self._check(run)
            self._sound = True
        return ranking, steps

    def _failed(self, query: QueryId, text: str, error: Exception) -> None:
        if self._answers is not None:
            self._answers.store(query, text, encode_error(error), self._seconds[query])
        if self._raise_on_error:
            error.add_note(f"while retrieving for query {query!r}{self._of_system()}")
            raise error
        self._errors[query] = error

    def _of_system(self) -> str:
        return f" of the system {self.name!r}" if self.name else ""


async def run_retrieval(askings: Sequence[RetrievalTask], *, show_progress: bool) -> list[RetrievedRun]:
    """Ask several retrievers one after the other; all first queries come before any second one."""
    total = sum(len(asking.texts) for asking in askings)
    with progress("retrieving", total, enabled=show_progress) as show:

        def advance() -> None:
            show(sum(asking.done for asking in askings))

        try:
            for asking in askings:
                await asking.first()
                advance()
            for asking in askings:
                await asking.remaining(advance)
        finally:
            for asking in askings:
                asking.end()
    return [asking.run() for asking in askings]


def _without(error: Exception, query: QueryId, text: str) -> str:
    """Return what an error says, without the query and without numbers, such as those of a request."""
    return re.sub(r"[\da-f-]*\d[\da-f-]*", "", str(error).replace(text, "").replace(repr(query), ""))


def _judgeable(questions: Questions, match: MatchBy) -> Judgeable:
    truth = as_qrels(questions.qrels)
    return Judgeable(truth, with_source_texts(match, None, truth, questions))


def said_of_short_answers(rankings: Mapping[Any, Ranking], ways: RetrieverFunctions, of_system: str = "") -> str:
    """Return for how many queries a store found fewer than it was asked for; nothing if that is all it holds.

    A store that is too small, or that filters before it searches, returns as many for every query.

    Example:
        >>> of_three = RetrieverFunctions(n_requested=3)
        >>> said_of_short_answers({"q1": ["a", "b", "c"], "q2": ["a"], "q3": ["b", "c"]}, of_three).partition(":")[0]
        "2 of 3 queries got fewer than k=3, for example 'q2' 1"
        >>> said_of_short_answers({"q1": ["a"], "q2": ["b"]}, of_three)
        ''
    """
    found = {query: len(ranking) for query, ranking in rankings.items()}
    few = [query for query, number in found.items() if ways.n_requested is not None and number < ways.n_requested]
    if not few or len(set(found.values())) == 1:
        return ""
    return (
        f"{len(few)} of {numbers.format_query_count(len(found))}{of_system} got fewer than k={ways.n_requested}, for example "
        f"{few[0]!r} {found[few[0]]}: the filter or the index of the store left no more of what it looked at; let it "
        f"look at more{ways.candidate_option and f' ({ways.candidate_option})'}, or filter before the search"
    )


def how_to_ask(retriever: Any) -> tuple[Callable[[str], Any], HostAdapter | None, RetrieverFunctions]:
    """Return the function to call with the text of a query, the host that converts its answers, and the ways."""
    host = find_host(retriever)
    ask = None if host is None else host.resolve_retriever(retriever)
    if ask is None and (callable(retriever) or isinstance(retriever, RetrieverFunctions)):
        ask, host = retriever, None
    if ask is not None:
        return choose_function(ask), host, ask if isinstance(ask, RetrieverFunctions) else RetrieverFunctions(ask)
    hint = "; write as_retriever() behind it" if hasattr(retriever, "as_retriever") else ""
    if isinstance(retriever, (Mapping, list)):
        hint = "; retrieve(retriever, questions) takes the retriever first"
    raise TypeError(
        "a retriever must be a function of the text of a query, or a retriever of an installed host; got "
        f"{type(retriever).__name__}{hint}"
    )


def as_answer(
    answer: Any, query: QueryId, convert: Callable[[Any], Sequence[Retrieved] | StageRankings] | None = None
) -> tuple[Ranking, StageRankings]:
    """Return the answer of a retriever as a ranking of ids, ids with scores, or items, and its steps, if it has any."""
    if answer is not None and convert is not None and not isinstance(answer, StageRankings):
        answer = convert(answer)
    if isinstance(answer, StageRankings) or is_stage_mapping(answer):
        require_separate_stages(answer)
        steps = StageRankings((name, None if one is None else _step(one, name, query)) for name, one in answer.items())
        answer, found = steps.answer, steps
    else:
        found = StageRankings()
    if answer is None:
        raise TypeError(
            f"the retriever returned None for query {query!r}; does it lack a return statement? If nothing was found, "
            "return an empty list"
        )
    return (answer if found else _ranking(answer, query)), found


def _step(ranking: Any, name: str, query: QueryId) -> Ranking:
    try:
        return _ranking(ranking, query)
    except (TypeError, ValueError) as error:
        error.add_note(f"that is what it held after {name!r}")
        raise


def _ranking(answer: Any, query: QueryId) -> Ranking:
    if isinstance(answer, Mapping):
        return _scored(answer, query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], (list, tuple)):
        _refuse_pairs(answer[0], query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], Mapping):
        raise TypeError(f"the retriever returned {describe_keys(answer[0])} for query {query!r}; return {ITEMS_HINT}")
    ranked = as_list(answer, query)
    if not ranked or all(isinstance(item, Retrieved) for item in ranked):
        return ranked
    first = ranked[0]
    if not isinstance(first, (str, Integral)) and (found := find_host(first)) is not None:
        return list(found.convert_items(ranked))
    if not isinstance(first, (str, Integral, Retrieved)):
        raise TypeError(
            f"the retriever returned objects of type {type(first).__name__} for query {query!r}; return the ids of the "
            "documents, best first, or items: [rm.Retrieved(id, text=...) for ... in found]"
        )
    common_id_type(set(map(type, ranked)), f"the document ids retrieved for query {query!r}")
    return ranked


def _scored(answer: Mapping[Any, Any], query: QueryId) -> Ranking:
    for name, value in answer.items():
        if not isinstance(value, Real):
            raise TypeError(
                f"the retriever returned a mapping for query {query!r} with a {type(value).__name__} under "
                f"{name!r}; a mapping must map document ids to scores, or steps to rankings, so return only the "
                "documents in it"
            )
    common_id_type(set(map(type, answer)), f"the document ids retrieved for query {query!r}")
    require_finite_scores(answer, query)
    return answer


def _refuse_pairs(pair: Sequence[Any], query: QueryId) -> None:
    if is_list_of_ids(pair) and all(isinstance(part, (str, Integral)) for part in pair):
        raise TypeError(
            f"the retriever returned lists such as {pair!r} for query {query!r}; return one list of ids, best first"
        )
    of_ids = bool(pair) and isinstance(pair[0], (str, Integral))
    first = repr(pair) if of_ids else f"({', '.join(type(part).__name__ for part in pair)})"
    instead = "dict(found), which is ids with scores" if of_ids else "[document for document, score in found]"
    raise TypeError(f"the retriever returned pairs such as {first} for query {query!r}; return {instead}")


RUN_LOG_KIND = "journal of a run"


class StoredAnswer(NamedTuple):
    """An answer in the journal, with the steps that led to it, if there are any."""

    ranking: Ranking
    stages: StageRankings
    seconds: float

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> StoredAnswer:
        """Read an entry without a failure."""
        ranking = decode_ranking(entry)
        return cls(ranking, decode_stages(entry, ranking), float(entry["seconds"]))


class AnswerLog:
    """A journal of answers; the last answer to a query counts."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path; the first answer creates the file."""
        self._journal = AppendLog(path, RUN_LOG_KIND)

    def stored(self, texts: Mapping[Any, str]) -> dict[Any, StoredAnswer]:
        """Return the answer to each answered query, except those whose text has changed."""
        found: dict[Any, StoredAnswer] = {}

        def take(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry and query in texts and entry["question"] == question_fingerprint(texts[query]):
                found[query] = StoredAnswer.of(entry)

        self._read(take)
        return found

    def run(self) -> RetrievedRun:
        """Return all answers, and the failures without a later answer."""
        rankings: dict[Any, Ranking] = {}
        errors: dict[Any, Exception] = {}
        seconds: dict[Any, float] = {}
        steps: dict[Any, StageRankings] = {}

        def take(entry: dict[str, Any]) -> None:
            query = entry["query"]
            if "error" not in entry:
                rankings[query], steps[query], _ = StoredAnswer.of(entry)
                errors.pop(query, None)
            elif not rankings.get(query):
                rankings[query], errors[query] = [], decode_error(entry)
            seconds[query] = float(entry["seconds"])

        self._read(take)
        return RetrievedRun(rankings, errors, seconds, stages=stages_to_runs(steps))

    def _read(self, take: Callable[[dict[str, Any]], None]) -> None:
        for number, entry in enumerate(self._journal.read_entries(), start=2):
            try:
                take(entry)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{self._journal.path}, line {number}, holds no answer: {error!r}") from error

    def store(self, query: QueryId, text: str, said: Mapping[str, Any], seconds: float) -> None:
        """Append an answer of `encode_ranking`, or a failure of `encode_error`, after which the query is asked again."""
        question = question_fingerprint(text)
        self._journal.append({"query": encode_id(query), "question": question, **said, "seconds": seconds})


class Judgeable:
    """Checks that rankings can be judged: that they have what the judgments are compared with."""

    def __init__(self, qrels: Qrels, match: MatchBy) -> None:
        """Set the judgments, and what their ids are compared with; judge that nothing was retrieved."""
        nothing: Any = dict.fromkeys(qrels.queries, ())
        judge(qrels, nothing, match, TIES_BY_ID)
        self._qrels = qrels
        self._key = get_match_key(match)
        self._by = match if isinstance(match, str) or callable(match) else match.by

    def check(self, ranking: Ranking, query: QueryId) -> None:
        """Raise if a ranking cannot be judged.

        Raises:
            TypeError: If it holds only ids where more is needed, or ids of another type than those of the judgments.
            ValueError: If it holds items without the values to compare.
        """
        keys = self._keys(ranking, query)
        kind = common_id_type({type(key) for key in keys}, f"the document ids retrieved for query {query!r}")
        require_same_id_type(
            self._qrels.document_kind, "document ids in the judgments", kind, "those that were retrieved"
        )

    def _keys(self, ranking: Any, query: QueryId) -> list[Any]:
        if isinstance(ranking, Mapping) or not all(isinstance(item, Retrieved) for item in islice(ranking, 1)):
            if ranking and (self._qrels.has_pieces or self._by != "id"):
                raise TypeError(
                    f"the retriever returned only ids for query {query!r}, but the judgments or match= need more; "
                    "return rm.Retrieved(id, text=..., source=...) for every document"
                )
            return list(ranking)
        if self._qrels.document_kind is None:
            return []
        keys = [key for item in ranking if (key := self._key(item)) is not None]
        if self._by == "id" and len(keys) < len(ranking):
            raise ValueError(
                f"{len(ranking) - len(keys)} of {len(ranking)} documents retrieved for query {query!r} have no id, and "
                "the judgments are ids; store the documents with their ids, match by 'source', 'metadata:<name>' or a "
                "callable, or judge by Quote, Text or Span"
            )
        if ranking and not keys:
            from difflib import get_close_matches  # noqa: PLC0415  (needed only if a name is wrong)

            there = ", ".join(map(repr, ranking[0].metadata or ())) or "nothing"
            near = get_close_matches(str(self._by), [f"metadata:{name}" for name in ranking[0].metadata or ()], n=1)
            raise ValueError(
                f"no document retrieved for query {query!r} has a value for match={self._by!r}; the metadata of the "
                f"first has {there}" + "".join(f"; write {format_argument('match', one)}" for one in near)
            )
        return keys
