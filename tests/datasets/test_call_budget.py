"""The calls and tokens of a model are counted, and no call is made beyond the budget."""

from typing import Any

import pytest

import retrieval_metrics as rm
from prompt_length_model import PROMPTS, Model, ask
from retrieval_metrics.datasets.llm_client import LlmClient


def test_a_budget_of_calls_holds_and_repeated_calls_count() -> None:
    model = Model({"prompt 2": 1})
    client = LlmClient(rm.Model(model, budget=5, workers=4))
    replies = ask(client, PROMPTS)
    assert model.prompts.total() == client.calls.made == 5
    assert len(replies.parsed) == 4
    assert replies.reasons == {"budget spent": 16}
    assert client.calls.failed == 0


def test_a_budget_of_tokens_holds_but_for_the_replies_under_way() -> None:
    client = LlmClient(
        rm.Model(Model(), token_budget=100, count_tokens=lambda text: 10 if "prompt" in text else 1, workers=2)
    )
    replies = ask(client, PROMPTS)
    assert len(replies.parsed) == 9
    assert client.calls.prompt_tokens + client.calls.reply_tokens <= 100
    assert set(replies.reasons) == {"budget spent"}
    assert "tokens" in replies.failures[19].message


def test_a_prompt_that_just_fits_into_the_budget_of_tokens_is_asked() -> None:
    model = rm.Model(Model(), token_budget=20, count_tokens=lambda text: 10 if "prompt" in text else 0, workers=1)
    assert len(ask(LlmClient(model), PROMPTS).parsed) == 2


@pytest.mark.parametrize("count", ["a", -5, float("nan"), None, True])
def test_a_count_of_tokens_that_is_none_is_refused_before_a_call_is_made(count: Any) -> None:
    model = Model()
    with pytest.raises(TypeError, match="count_tokens must return the number of tokens of a text, got"):
        ask(LlmClient(rm.Model(model, count_tokens=lambda _: count, token_budget=10)), PROMPTS)
    assert model.prompts.total() == 0
