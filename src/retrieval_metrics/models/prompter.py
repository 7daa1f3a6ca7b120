"""Ask a model many prompts, and lose neither a reply nor a failure."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.inputs.calling import Caller, several_at_a_time
from retrieval_metrics.inputs.progress import progress
from retrieval_metrics.models.cache import ReplyCache
from retrieval_metrics.models.calls import BudgetSpentError, Calls, Spending
from retrieval_metrics.models.json_reply import BadReplyError
from retrieval_metrics.models.model import how_to_prompt, name_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
    from os import PathLike

Key = TypeVar("Key")
Parsed = TypeVar("Parsed")

UNHEARD = 3
"""Prompts that may fail, each at all attempts, before a model that has never replied is given up."""


def once_more(prompt: str, reply: str, error: BadReplyError) -> str:
    """Return the prompt that tells a model what was wrong with its reply."""
    return f"{prompt}\n\nYou replied:\n{reply}\n\nThat cannot be used: {error}\nReply again as asked above."


@dataclass(frozen=True, slots=True)
class Failure:
    """A prompt that got no reply one can use.

    Attributes:
        reason: A few words by which failures are counted: that of a `BadReplyError`, or one of `call failed`,
            `timed out`, `no text` and `budget spent`.
        message: What was wrong.
        reply: The last reply, if there was one.
    """

    reason: str
    message: str
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class Replies(Generic[Key, Parsed]):
    """What became of the prompts; every key is in one of the two, in the order of the prompts.

    Attributes:
        parsed: What the replies were parsed to.
        failures: What failed.
    """

    parsed: dict[Key, Parsed] = field(default_factory=dict)
    failures: dict[Key, Failure] = field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, int]:
        """How many failed for each reason, the most frequent first."""
        return dict(Counter(failure.reason for failure in self.failures.values()).most_common())


class Prompter:
    """A model, the replies it has given so far, and what they cost.

    Attributes:
        model_name: The name of the model; None if nobody says it.
        calls: The calls so far.
        budget_spent: Which budget was spent when a call was refused; None as long as none was.

    Example:
        >>> from retrieval_metrics.inputs.event_loop import run_until_complete
        >>> prompter = Prompter(lambda prompt: prompt.upper())
        >>> replies = run_until_complete(prompter.ask({1: "yes", 2: "no"}, lambda key, reply: f"{key} {reply}"))
        >>> replies.parsed
        {1: '1 YES', 2: '2 NO'}
        >>> prompter.calls.made, prompter.calls.cached
        (2, 0)
    """

    def __init__(
        self,
        model: Any,
        *,
        model_name: str | None = None,
        cache: str | PathLike[str] | None = None,
        workers: int = 8,
        timeout: float | None = None,
        retries: int = 2,
        budget: int | None = None,
        token_budget: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        """Take a model, and complain about everything else before it is asked.

        Args:
            model: A function of a prompt that returns its reply, synchronous or not, or a model of an installed host.
                Synchronous functions run in threads.
            model_name: The name by which replies are cached; None takes what the model says of itself.
            cache: The file that every reply is written to as it comes, and in which it is found the next time. What
                failed is not in it. None keeps replies as long as the prompter lives.
            workers: How many prompts may be under way at once.
            timeout: Seconds that one attempt may take; None sets no limit.
            retries: How often a call that fails is repeated, after 0.5 seconds, then 1, 2, 4 ... and at most 30.
            budget: How many calls may be made, repeated ones included; replies from the cache cost nothing.
            token_budget: How many tokens prompts and replies may have together. No call begins after it is spent, so
                the replies under way then come on top of it.
            count_tokens: Counts the tokens of a text; None takes a token for every four characters.

        Raises:
            TypeError: If `model` is no model, or a number is none.
            ValueError: If a number is not positive, `retries` is negative, the cache is another file, or there is a
                cache and nobody says the name of the model.
            ImportError: If the model is of a host whose integration is not installed.
        """
        self._caller = Caller(how_to_prompt(model), what="model", timeout=timeout, retries=retries)
        self.model_name = name_of(model) if model_name is None else model_name
        if cache is not None and not self.model_name:
            raise ValueError(
                "a cache needs the name of the model, so that no other model's replies are found in it: "
                "model_name='...'"
            )
        self._cache = ReplyCache(cache)
        self._workers = positive_integer(workers, "workers")
        self.calls = Calls()
        self._spending = Spending(self.calls, budget, token_budget, count_tokens)
        self._under_way: dict[str, asyncio.Lock] = {}
        self._heard = False
        self.budget_spent: str | None = None

    async def ask(
        self,
        prompts: Mapping[Key, str],
        parse: Callable[[Key, str], Parsed],
        *,
        again: Callable[[str, str, BadReplyError], str] | None = once_more,
        label: str = "asking the model",
        show_progress: bool = False,
    ) -> Replies[Key, Parsed]:
        """Ask every prompt and parse the replies; `run_until_complete` does it for callers that are not asynchronous.

        Prompts are asked one at a time until the model has replied once, then several at a time. Two prompts that are
        the same to the letter are one call. Cancelling it cancels the calls that are under way.

        Args:
            prompts: The prompts, by a key of your own.
            parse: `parse(key, reply)` returns what the reply says, or raises `BadReplyError`.
            again: `again(prompt, reply, error)` returns the prompt for one more attempt after a `BadReplyError`; None
                makes no other attempt.
            label: What is being done, for the progress bar.
            show_progress: Show a progress bar on stderr; needs rich.

        Returns:
            What the replies were parsed to, and the failures.

        Raises:
            Exception: The failure of a model that failed for the first prompts and has never replied.
            TypeError: If the first reply is not a text.
            OSError: If the cache cannot be written.
            ImportError: If a progress bar is wanted and rich is not installed.
        """
        parsed: dict[Key, Parsed] = {}
        failures: dict[Key, Failure] = {}
        waiting = iter(prompts.items())
        with progress(label, len(prompts), enabled=show_progress and bool(prompts)) as show:

            async def one(asked: tuple[Key, str]) -> None:
                key, prompt = asked
                try:
                    parsed[key] = await self._one(key, prompt, parse, again)
                except _FailedError as failed:
                    failures[key] = failed.failure
                show(len(parsed) + len(failures))

            try:
                await self._first(waiting, one)
                await several_at_a_time(waiting, one, min(self._workers, len(prompts)))
            finally:
                self._caller.end()
        return Replies(_in_order(parsed, prompts), _in_order(failures, prompts))

    async def _first(
        self, waiting: Iterator[tuple[Key, str]], one: Callable[[tuple[Key, str]], Awaitable[None]]
    ) -> None:
        """Ask one prompt after the other until the model has replied, so that a useless one costs few calls."""
        while not self._heard and (asked := next(waiting, None)) is not None:
            await one(asked)

    async def _one(
        self,
        key: Key,
        prompt: str,
        parse: Callable[[Key, str], Parsed],
        again: Callable[[str, str, BadReplyError], str] | None,
    ) -> Parsed:
        reply = await self._reply(prompt)
        try:
            return parse(key, reply)
        except BadReplyError as error:
            if again is None:
                raise _FailedError(error.reason, str(error), reply) from error
            prompt = again(prompt, reply, error)
        reply = await self._reply(prompt)
        try:
            return parse(key, reply)
        except BadReplyError as error:
            raise _FailedError(error.reason, str(error), reply) from error

    async def _reply(self, prompt: str) -> str:
        async with self._under_way.setdefault(prompt, asyncio.Lock()):
            if (known := self._cache.get(self.model_name, prompt)) is not None:
                self.calls.cached += 1
                return known
            reply = await self._call(prompt)
            self._cache.keep(self.model_name, prompt, reply)
        return reply

    async def _call(self, prompt: str) -> str:
        try:
            reply = await self._caller.call(prompt, before=partial(self._spending.start, prompt), after=self._took)
        except BudgetSpentError as error:
            self.budget_spent = str(error)
            raise _FailedError("budget spent", str(error)) from error
        except Exception as error:
            self.calls.failed += 1
            if not self._heard and self.calls.failed >= UNHEARD:
                error.add_note(f"the model has not replied to any of {self.calls.made} calls")
                raise
            reason = "timed out" if isinstance(error, TimeoutError) else "call failed"
            raise _FailedError(reason, f"{type(error).__name__}: {error}") from error
        if isinstance(reply, str) and reply.strip():
            self._heard = True
            self._spending.end(reply)
            return reply
        if not self._heard and not isinstance(reply, str):
            raise TypeError(f"a model must reply with a text, got {reply!r} ({type(reply).__name__})")
        self.calls.failed += 1
        raise _FailedError("no text", f"the model replied with {reply!r}")

    def _took(self, seconds: float) -> None:
        self.calls.seconds += seconds


class _FailedError(Exception):
    def __init__(self, reason: str, message: str, reply: str | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(reason, message, reply)


def _in_order(found: Mapping[Key, Any], keys: Iterable[Key]) -> dict[Key, Any]:
    return {key: found[key] for key in keys if key in found}
