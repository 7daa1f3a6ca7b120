"""Count the calls and tokens of a model, and stop when a budget is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Callable


# The average of tokenizers on English text, by which tokens are estimated if no function counts them.
CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Calls:
    """The calls of a model.

    Attributes:
        made: Calls made, repeated ones included.
        cached: Replies that came from the cache and cost no call.
        failed: Prompts for which the last attempt failed too, or returned no text.
        prompt_tokens: The tokens of the prompts of the calls made.
        reply_tokens: The tokens of their replies.
        seconds: The total duration of the calls; calls under way at once all count.
    """

    made: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        tokens = self.prompt_tokens + self.reply_tokens
        calls = numbers.format_count(self.made, "model call")
        cached = numbers.format_count(self.cached, "reply", "replies")
        failed_note = f", {numbers.format_count(self.failed, 'prompt')} failed" if self.failed else ""
        return f"{calls}, {cached} from the cache{failed_note}; about {tokens:,} tokens"


class BudgetSpentError(RuntimeError):
    """A call that was not made, because a budget is spent."""


class Spending:
    """Counts calls and tokens, and refuses calls once the budget is spent."""

    def __init__(
        self, calls: Calls, budget: int | None, token_budget: int | None, count_tokens: Callable[[str], int] | None
    ) -> None:
        """Set the budgets; None sets no limit."""
        self._calls = calls
        self._budget = _read_budget(budget, "budget")
        self._token_budget = _read_budget(token_budget, "token_budget")
        if count_tokens is not None and not callable(count_tokens):
            raise TypeError(f"count_tokens must return the number of tokens of a text, got {count_tokens!r}")
        self._count_tokens = count_tokens or _estimate_tokens

    def count_call(self, prompt: str) -> None:
        """Count a call and the tokens of its prompt, before it is made.

        Raises:
            BudgetSpentError: If the call would exceed a budget.
        """
        tokens = self._count_valid_tokens(prompt)
        if self._budget is not None and self._calls.made >= self._budget:
            raise BudgetSpentError(f"the budget of {self._budget:,} calls is spent")
        if self._token_budget is not None and self._n_tokens + tokens > self._token_budget:
            raise BudgetSpentError(
                f"{self._n_tokens:,} of the budget of {self._token_budget:,} tokens are spent, and the prompt has "
                f"{tokens:,}"
            )
        self._calls.made += 1
        self._calls.prompt_tokens += tokens

    def count_reply(self, reply: str) -> None:
        """Count the tokens of a reply."""
        self._calls.reply_tokens += self._count_valid_tokens(reply)

    def _count_valid_tokens(self, text: str) -> int:
        count = self._count_tokens(text)
        if isinstance(count, bool) or not isinstance(count, Real) or not count >= 0:
            raise TypeError(f"count_tokens must return the number of tokens of a text, got {count!r}")
        return count

    @property
    def _n_tokens(self) -> int:
        return self._calls.prompt_tokens + self._calls.reply_tokens


def _read_budget(budget: int | None, argument: str) -> int | None:
    return None if budget is None else positive_integer(budget, argument, or_none=True)


def _estimate_tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
