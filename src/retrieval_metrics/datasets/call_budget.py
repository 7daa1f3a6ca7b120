"""Count the calls and tokens of a model, and stop when a budget is spent."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable


# If no function counts tokens: about that of tokenizers on English text.
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
        failed_note = f", {self.failed:,} prompts failed" if self.failed else ""
        return (
            f"{self.made:,} calls of the model, {self.cached:,} replies from the cache{failed_note}; "
            f"about {tokens:,} tokens"
        )


class BudgetSpentError(RuntimeError):
    """The budget is spent, so no call was made."""


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

    def start(self, prompt: str) -> None:
        """Count a call before it is made."""
        tokens = self._count_and_check(prompt)
        if self._budget is not None and self._calls.made >= self._budget:
            raise BudgetSpentError(f"the budget of {self._budget:,} calls is spent")
        if self._token_budget is not None and self._tokens + tokens > self._token_budget:
            raise BudgetSpentError(
                f"of the budget of {self._token_budget:,} tokens {self._tokens:,} are spent, and the prompt has "
                f"{tokens:,}"
            )
        self._calls.made += 1
        self._calls.prompt_tokens += tokens

    def end(self, reply: str) -> None:
        """Count the tokens of a reply."""
        self._calls.reply_tokens += self._count_and_check(reply)

    def _count_and_check(self, text: str) -> int:
        count = self._count_tokens(text)
        if isinstance(count, bool) or not isinstance(count, Real) or not count >= 0:
            raise TypeError(f"count_tokens must return the number of tokens of a text, got {count!r}")
        return count

    @property
    def _tokens(self) -> int:
        return self._calls.prompt_tokens + self._calls.reply_tokens


def _read_budget(budget: int | None, argument: str) -> int | None:
    return None if budget is None else positive_integer(budget, argument, or_none=True)


def _estimate_tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
