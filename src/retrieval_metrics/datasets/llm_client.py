"""Ask a model many prompts at a time, parse its replies, and stop when too many fail or a budget is spent."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from retrieval_metrics._internal.redaction import describe_error
from retrieval_metrics.datasets.call_budget import BudgetSpentError, Calls, Spending
from retrieval_metrics.datasets.json_replies import FORMAT_ERRORS, BadReplyError, reply_schema
from retrieval_metrics.datasets.llm_model import SCHEMA, Model, choose_prompt_function, takes_schema
from retrieval_metrics.datasets.reply_cache import ReplyCache
from retrieval_metrics.reports.progress import progress
from retrieval_metrics.retrieval.call_policy import FunctionCaller, run_concurrently

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping


KeyT = TypeVar("KeyT")
Parsed = TypeVar("Parsed")

# How many prompts may fail before a model that has never replied is given up.
MAX_FAILED_BEFORE_REPLY = 3

# After so many failures in a row, the model is not asked again: failed calls, or replies in another form than asked.
MAX_FAILED_IN_A_ROW = 10

# After so many failed calls or unusable replies in a row, whatever the reasons, the model is not asked again.
MAX_UNUSABLE = 50

# How many characters of an unusable reply the model is shown when it is asked again; more would only cost tokens.
MAX_SHOWN_AGAIN = 4_000

# How many characters of an unusable reply `stop_reason` shows.
_SHOWN_LENGTH = 300

# The reasons of failures that are calls without a text.
_FAILED_CALLS = frozenset({"call failed", "timed out", "no text"})


def repeat_prompt(prompt: str, reply: str, error: BadReplyError) -> str:
    """Return a prompt that repeats another, shows the reply to it, and says why that cannot be used."""
    shown_reply = reply
    if len(reply) > MAX_SHOWN_AGAIN:
        shown_reply = f"{reply[:MAX_SHOWN_AGAIN]} [...]"
    return f"{prompt}\n\nYou replied:\n{shown_reply}\n\nThat cannot be used: {error}\nReply again as asked above."


@dataclass(frozen=True, slots=True)
class Failure:
    """A prompt without a usable reply.

    Attributes:
        reason: A few words by which failures are counted: that of a `BadReplyError`, or one of `call failed`,
            `timed out`, `no text`, `budget spent` and `stopped early`.
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


class LlmClient:
    """Asks a model, and counts its calls and their cost.

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
        self._caller = FunctionCaller(
            prompt_function, name="model", timeout=settings.timeout, retries=settings.retries, is_patient=True
        )
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
        """Return the parsed reply; tell the model why a reply cannot be used, and ask once more."""
        parsed_or_error, reply = await self._get_reply(prompt, parse, options)
        if not isinstance(parsed_or_error, BadReplyError):
            return parsed_or_error
        retry_result, reply = await self._get_reply(repeat_prompt(prompt, reply, parsed_or_error), parse, options)
        if isinstance(retry_result, BadReplyError):
            raise _FailedError(retry_result.reason, str(retry_result), reply) from retry_result
        # The cache holds no reply to the first prompt. This one stands for it, so that a second run makes no call.
        if parsed_or_error.reason in FORMAT_ERRORS:
            self._cache.store(self.model_name, prompt, reply)
        return retry_result

    async def _get_reply(
        self, prompt: str, parse: Callable[[str], Parsed], options: Mapping[str, Any]
    ) -> tuple[Parsed | BadReplyError, str]:
        """Return the parsed reply, or why it cannot be used, and its text; from the cache or from the model."""
        async with self._lock_by_prompt.setdefault(prompt, asyncio.Lock()):
            cached_reply = self._cache.get(self.model_name, prompt)
            if cached_reply is not None:
                self.calls.cached += 1
                return _parse_or_error(parse, cached_reply), cached_reply
            self._cache.require_writable()
            reply = await self._call(prompt, options)
            parsed = _parse_or_error(parse, reply)
            if isinstance(parsed, BadReplyError):
                self._count_unusable(parsed.reason, str(parsed), reply)
            else:
                self._n_failed_in_a_row = 0
                self._n_unusable = 0
            if isinstance(parsed, BadReplyError) and parsed.reason in FORMAT_ERRORS:
                self._cache.store_unusable(self.model_name, prompt, reply, parsed.reason)
            else:  # also a reply that is rejected for what it says: a second run rejects it again without a call
                self._cache.store(self.model_name, prompt, reply)
        return parsed, reply

    def _count_unusable(self, reason: str, message: str, reply: object = None) -> None:
        """Count a failed call or an unusable reply, and set `stop_reason` after too many in a row."""
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
        reply_note = ""
        if reply is not None:
            shown_reply = repr(str(reply)[:_SHOWN_LENGTH])
            if shown_reply not in message:
                reply_note = f"; the reply was {shown_reply}"
        self.stop_reason = f"{limit} consecutive replies were unusable; last error: {message}{reply_note}"

    async def _call(self, prompt: str, options: Mapping[str, Any]) -> str:
        if self.stop_reason is not None:
            reason = "budget spent" if self._n_unusable == 0 else "stopped early"
            raise _FailedError(reason, self.stop_reason)
        try:
            reply = await self._caller.call(
                prompt, before=partial(self._spending.count_call, prompt), after=self._add_seconds, **options
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
            message = describe_error(error)
            self._count_unusable(reason, message)
            raise _FailedError(reason, message) from error
        if isinstance(reply, str) and reply.strip():
            self._has_replied = True
            self._spending.count_reply(reply)
            return reply
        if not self._has_replied and not isinstance(reply, str):
            raise TypeError(f"a model must reply with a text, got {reply!r} ({type(reply).__name__})")
        self.calls.failed += 1
        self._count_unusable("no text", "the model sent no text", reply)
        raise _FailedError("no text", f"the model replied with {reply!r}")

    def _add_seconds(self, seconds: float) -> None:
        self.calls.seconds += seconds


class _FailedError(Exception):
    """A prompt that got no usable reply, with the failure to report."""

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
