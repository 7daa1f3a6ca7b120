"""A model to ask: any function of a prompt, with its name, the cache of its replies, and the limits of its calls."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.datasets.call_budget import Calls, Spending
from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.retrieval.call_policy import FunctionCaller
from retrieval_metrics.retrieval.sync_async import choose_function

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike


# The keyword argument with which a model is passed the JSON schema of its reply, if it takes one.
SCHEMA = "schema"

# The attributes in which the models of frameworks keep the name of the model that they call.
NAME_ATTRIBUTES = ("model_name", "model", "model_id", "name")


@dataclass(frozen=True)
class Model:
    """A model, with its name, the cache of its replies, and the limits of its calls.

    Functions that take a model take a `Model`, or anything that `ask` can be.

    Attributes:
        ask: A function from a prompt to a reply, synchronous or not, or a chat model or LLM of an installed host.
        name: Its name, for the cache and the provenance; None takes its own.
        cache: A file such as `replies.jsonl` to which every reply is written as it arrives, and from which it is read
            next time: a second run makes no calls, and an interrupted one continues where it stopped.
        workers: How many calls may run at once.
        timeout: Seconds that one attempt of a call may take; None sets no limit.
        retries: How many times a failed call is repeated: after 0.5 seconds, then 1, 2, 4 ... and at most 30. The
            model waits as long as a rate limit lasts, up to 20 refusals in a row, and warns; with 0 it does not.
        budget: The largest number of calls by each function it is passed to, retries included; replies from the cache
            are free.
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
                "cache= requires name=, which separates the replies of different models. Write "
                "Model(ask, 'its name', cache=...)"
            )
        FunctionCaller(
            choose_prompt_function(self.ask), name="model", timeout=self.timeout, retries=self.retries, is_patient=True
        )
        positive_integer(self.workers, "workers")
        Spending(Calls(), self.budget, self.token_budget, self.count_tokens)


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
        "a model must be a function of a prompt that returns its reply, synchronous or not, or a model of a "
        f"framework whose integration is installed, got {model!r}"
    )


def takes_schema(prompt_function: Callable[..., Any]) -> bool:
    """Return whether a function to call with a prompt can be asked for a reply of a JSON schema."""
    try:
        return SCHEMA in inspect.signature(prompt_function).parameters
    except (TypeError, ValueError):  # the function has no signature
        return False


def find_model_name(model: Any) -> str | None:
    """Return the name of a model, or None if it has none; a function has none, because it may call any model."""
    for attribute in NAME_ATTRIBUTES:
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name.strip():
            return name
    return None
