"""Ask a model: any callable, several at a time, with its answers kept."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.datasets.call_budget import BudgetSpentError, Calls, Spending
from retrieval_metrics.datasets.json_replies import FORMAT_ERRORS, BadReplyError, reply_schema
from retrieval_metrics.datasets.reply_cache import ReplyCache
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.reports.progress import progress
from retrieval_metrics.retrieval.call_policy import FunctionCaller, run_concurrently
from retrieval_metrics.retrieval.sync_async import choose_function

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
    from os import PathLike


KeyT = TypeVar("KeyT")
Parsed = TypeVar("Parsed")

# How many prompts may fail before a model that has never replied is given up.
MAX_FAILED_BEFORE_REPLY = 3

# Failures in a row after which no more is spent: calls that fail, or replies that are not of the form asked for.
MAX_FAILED_IN_A_ROW = 10

# Failed calls and replies in a row that cannot be used for whatever reason, after which no more is spent.
MAX_UNUSABLE = 50

# Characters of an unusable reply that the model is shown again: what is longer costs tokens and helps nobody.
MAX_SHOWN_AGAIN = 4_000

# Characters of an unusable reply in the message that no more is asked.
_SHOWN_LENGTH = 300


def repeat_prompt(prompt: str, reply: str, error: BadReplyError) -> str:
    """Return a prompt that repeats the first and tells the model what was wrong with its reply."""
    shown_reply = reply
    if len(reply) > MAX_SHOWN_AGAIN:
        shown_reply = f"{reply[:MAX_SHOWN_AGAIN]} [...]"
    return f"{prompt}\n\nYou replied:\n{shown_reply}\n\nThat cannot be used: {error}\nReply again as asked above."


@dataclass(frozen=True, slots=True)
class Failure:
    """A prompt without a usable reply.

    Attributes:
        reason: A few words by which failures are counted: that of a `BadReplyError`, or one of `call failed`,
            `timed out`, `no text`, `budget spent` and `given up`.
        message: What was wrong.
        reply: The last reply, if there was one.
    """

    reason: str
    message: str
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedReplies(Generic[KeyT, Parsed]):
    """The parsed replies and the failures; each key is in one of the two, in the order of the prompts.

    Attributes:
        parsed: The parsed replies.
        failures: The prompts that failed.
    """

    parsed: dict[KeyT, Parsed] = field(default_factory=dict)
    failures: dict[KeyT, Failure] = field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, int]:
        """The number of failures for each reason, the most frequent first."""
        return dict(Counter(failure.reason for failure in self.failures.values()).most_common())


@dataclass(frozen=True)
class Model:
    """A model with all that a function needs to call it: its name, where replies are kept, and what it may cost.

    Wherever a model is taken, it is this, or just what `ask` can be.

    Attributes:
        ask: A function from a prompt to a reply, synchronous or not, or a chat model or LLM of an installed host.
        name: Its name, for the cache and the provenance; None takes its own.
        cache: A file such as `replies.jsonl` to which every reply is written as it arrives, and from which it is read
            next time: a second run makes no calls, and an interrupted one continues where it stopped.
        workers: How many calls may be under way at once.
        timeout: Seconds that one attempt of a call may take; None sets no limit.
        retries: How often a failed call is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30.
        budget: The largest number of calls of a function it is given to, retries included; replies from the cache are
            free.
        token_budget: Likewise, the largest number of tokens in prompts and replies together.
        count_tokens: Returns the number of tokens of a text; None counts one token for every four characters.

    Raises:
        TypeError: If it is not a model, or an option has another type.
        ValueError: If an option is out of range, or there is a cache but no name.

    Example:
        >>> Model(lambda prompt: "yes", "an echo", budget=100).budget
        100
    """

    ask: Any
    name: str | None = None
    cache: str | PathLike[str] | None = None
    workers: int = 8
    timeout: float | None = None
    retries: int = 2
    budget: int | None = None
    token_budget: int | None = None
    count_tokens: Callable[[str], int] | None = None

    def __post_init__(self) -> None:
        if self.name is not None and (not isinstance(self.name, str) or not self.name.strip()):
            raise TypeError(f"the name of a model must be a text, got {self.name!r}")
        object.__setattr__(self, "name", find_model_name(self.ask) if self.name is None else self.name)
        if self.cache is not None and not self.name:
            raise ValueError(
                "a cache needs the name of the model, which keeps the replies of different models apart; write "
                "Model(ask, 'its name', cache=...)"
            )
        FunctionCaller(choose_prompt_function(self.ask), name="model", timeout=self.timeout, retries=self.retries)
        positive_integer(self.workers, "workers")
        Spending(Calls(), self.budget, self.token_budget, self.count_tokens)


class LlmClient:
    """Asks a model, and holds what that has cost.

    Attributes:
        model_name: The name of the model; None if it is unknown.
        calls: The calls so far.
        stop_reason: Why no more calls are made, as when a budget is spent, or too many replies in a row were unusable;
            else None.

    Example:
        >>> from retrieval_metrics.retrieval.event_loop import run_until_complete
        >>> client = LlmClient(lambda prompt: prompt.upper())
        >>> replies = run_until_complete(client.ask({1: "yes", 2: "no"}, lambda key, reply: f"{key} {reply}"))
        >>> replies.parsed
        {1: '1 YES', 2: '2 NO'}
        >>> client.calls.made, client.calls.cached
        (2, 0)
    """

    def __init__(self, model: Any) -> None:
        settings = model if isinstance(model, Model) else Model(model)
        prompt_function = choose_prompt_function(settings.ask)
        self._takes_schema = takes_schema(prompt_function)
        self._caller = FunctionCaller(prompt_function, name="model", timeout=settings.timeout, retries=settings.retries)
        self.model_name = settings.name
        self._cache = ReplyCache(settings.cache)
        self._workers = settings.workers
        self.calls = Calls()
        self._spending = Spending(self.calls, settings.budget, settings.token_budget, settings.count_tokens)
        self._lock_by_prompt: dict[str, asyncio.Lock] = {}
        self._has_replied = False
        self._n_failed_in_a_row = 0
        self._n_unusable = 0
        self.stop_reason: str | None = None

    async def ask(
        self,
        prompts: Mapping[KeyT, str],
        parse: Callable[[KeyT, str], Parsed],
        *,
        fields: Callable[[KeyT], Mapping[str, Any]] | None = None,
        label: str = "asking the model",
        show_progress: bool = False,
    ) -> ParsedReplies[KeyT, Parsed]:
        """Send every prompt and parse the replies; synchronous callers use `run_until_complete`."""
        parsed: dict[KeyT, Parsed] = {}
        failures: dict[KeyT, Failure] = {}
        waiting = iter(prompts.items())
        with progress(label, len(prompts), enabled=show_progress and bool(prompts)) as show:

            async def ask_once(key_and_prompt: tuple[KeyT, str]) -> None:
                key, prompt = key_and_prompt
                options: dict[str, Any] = {}
                if fields is not None and self._takes_schema:
                    options[SCHEMA] = reply_schema(fields(key))
                try:
                    parsed[key] = await self._ask_and_parse(prompt, partial(parse, key), options)
                except _FailedError as error:
                    failures[key] = error.failure
                show(len(parsed) + len(failures))

            try:
                await self._ask_until_reply(waiting, ask_once)
                await run_concurrently(waiting, ask_once, min(self._workers, len(prompts)))
            finally:
                self._caller.end()
        return ParsedReplies(_in_order(parsed, prompts), _in_order(failures, prompts))

    async def _ask_until_reply(
        self, waiting: Iterator[tuple[KeyT, str]], ask_once: Callable[[tuple[KeyT, str]], Awaitable[None]]
    ) -> None:
        """Send one prompt after the other until the model has replied, so that a broken one costs few calls."""
        while not self._has_replied:
            key_and_prompt = next(waiting, None)
            if key_and_prompt is None:
                return
            await ask_once(key_and_prompt)

    async def _ask_and_parse(self, prompt: str, parse: Callable[[str], Parsed], options: Mapping[str, Any]) -> Parsed:
        """Return the parsed reply; where it cannot be used, the model is told why and asked once more."""
        parsed_or_error, reply = await self._get_reply(prompt, parse, options)
        if not isinstance(parsed_or_error, BadReplyError):
            return parsed_or_error
        retry_result, reply = await self._get_reply(repeat_prompt(prompt, reply, parsed_or_error), parse, options)
        if isinstance(retry_result, BadReplyError):
            raise _FailedError(retry_result.reason, str(retry_result), reply) from retry_result
        # The first reply was not kept, so this one is kept for the first prompt, and a second run makes no call.
        if parsed_or_error.reason in FORMAT_ERRORS:
            self._cache.store(self.model_name, prompt, reply)
        return retry_result

    async def _get_reply(
        self, prompt: str, parse: Callable[[str], Parsed], options: Mapping[str, Any]
    ) -> tuple[Parsed | BadReplyError, str]:
        """Return a reply, parsed or with what is wrong with it, and as it was; from the cache or from the model."""
        async with self._lock_by_prompt.setdefault(prompt, asyncio.Lock()):
            cached_reply = self._cache.get(self.model_name, prompt)
            if cached_reply is not None:
                self.calls.cached += 1
                return _parse_or_error(parse, cached_reply), cached_reply
            reply = await self._call(prompt, options)
            parsed = _parse_or_error(parse, reply)
            if isinstance(parsed, BadReplyError):
                self._count_unusable(parsed.reason, str(parsed), reply)
            else:
                self._n_failed_in_a_row = 0
                self._n_unusable = 0
            if isinstance(parsed, BadReplyError) and parsed.reason in FORMAT_ERRORS:
                self._cache.store_unusable(self.model_name, prompt, reply, parsed.reason)
            else:  # what the model says is of use for a rerun, which then rejects it for the same reason
                self._cache.store(self.model_name, prompt, reply)
        return parsed, reply

    def _count_unusable(self, reason: str, message: str, reply: object = None) -> None:
        """Count a reply or a call that is of no use, and stop asking where there are too many in a row."""
        self._n_unusable += 1
        if reason in FORMAT_ERRORS or reason in _FAILED_CALLS:
            self._n_failed_in_a_row += 1
        else:
            self._n_failed_in_a_row = 0
        if self.stop_reason is not None:
            return
        if self._n_failed_in_a_row >= MAX_FAILED_IN_A_ROW:
            limit = MAX_FAILED_IN_A_ROW
        elif self._n_unusable >= MAX_UNUSABLE:
            limit = MAX_UNUSABLE
        else:
            return
        reply_note = "" if reply is None else f"; it replied {str(reply)[:_SHOWN_LENGTH]!r}"
        self.stop_reason = f"{limit} replies in a row could not be used, the last because {message}{reply_note}"

    async def _call(self, prompt: str, options: Mapping[str, Any]) -> str:
        if self.stop_reason is not None:
            reason = "budget spent" if self._n_unusable == 0 else "given up"
            raise _FailedError(reason, self.stop_reason)
        try:
            reply = await self._caller.call(
                prompt, before=partial(self._spending.start, prompt), after=self._add_seconds, **options
            )
        except BudgetSpentError as error:
            self.stop_reason = str(error)
            raise _FailedError("budget spent", str(error)) from error
        except Exception as error:
            self.calls.failed += 1
            if not self._has_replied and self.calls.failed >= MAX_FAILED_BEFORE_REPLY:
                error.add_note(f"the model has not replied to any of {self.calls.made} calls")
                raise
            reason = "timed out" if isinstance(error, TimeoutError) else "call failed"
            message = f"{type(error).__name__}: {error}"
            self._count_unusable(reason, message)
            raise _FailedError(reason, message) from error
        if isinstance(reply, str) and reply.strip():
            self._has_replied = True
            self._spending.end(reply)
            return reply
        if not self._has_replied and not isinstance(reply, str):
            raise TypeError(f"a model must reply with a text, got {reply!r} ({type(reply).__name__})")
        self.calls.failed += 1
        self._count_unusable("no text", "the model sent no text", reply)
        raise _FailedError("no text", f"the model replied with {reply!r}")

    def _add_seconds(self, seconds: float) -> None:
        self.calls.seconds += seconds


_FAILED_CALLS = frozenset({"call failed", "timed out", "no text"})


class _FailedError(Exception):
    def __init__(self, reason: str, message: str, reply: str | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(reason, message, reply)


def _in_order(value_by_key: Mapping[KeyT, Any], keys: Iterable[KeyT]) -> dict[KeyT, Any]:
    return {key: value_by_key[key] for key in keys if key in value_by_key}


def _parse_or_error(parse: Callable[[str], Parsed], reply: str) -> Parsed | BadReplyError:
    try:
        return parse(reply)
    except BadReplyError as error:
        return error


# Models: anything that turns a prompt into a reply.

# The argument by which a model takes the JSON schema of its reply.
SCHEMA = "schema"

# The attributes in which models of frameworks have the name of the model they call.
NAME_ATTRIBUTES = ("model_name", "model", "model_id", "name")


def choose_prompt_function(model: Any) -> Callable[[str], Any]:
    """Return the function to call with a prompt, synchronous or not."""
    host = find_host(model)
    if host is not None and host.model is not None:
        host_function = host.model(model)
        if host_function is not None:
            return choose_function(host_function)
    if callable(model) and not isinstance(model, type):
        function: Callable[[str], Any] = model
        return function
    raise TypeError(
        "a model must be a function of a prompt that returns its reply, synchronous or not, or a model of an installed "
        f"host, got {model!r}"
    )


def takes_schema(prompt_function: Callable[..., Any]) -> bool:
    """Return whether a function to call with a prompt can be asked for a reply of a JSON schema."""
    try:
        return SCHEMA in inspect.signature(prompt_function).parameters
    except (TypeError, ValueError):  # of a function without a signature
        return False


def find_model_name(model: Any) -> str | None:
    """Return the name of a model, or None if it has none; a function has none, because it may call any model."""
    for attribute in NAME_ATTRIBUTES:
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name.strip():
            return name
    return None
