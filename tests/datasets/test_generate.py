"""Nothing gets into a generated set that its corpus does not bear out, whatever the model does."""

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
import pytest

import retrieval_metrics as rm
from corpus import topics
from fake_models import Service, fake_models
from retrieval_metrics.retrieval import call_pacer, call_policy
from scripted_model import ScriptedModel, Told
from told_questions import (
    ANSWERS,
    NIGHT,
    ON_ONE_WORKER,
    OPENED,
    RULES,
    WRITE,
    find_unverifiable,
    generate_one,
    list_groups,
    qrels_of,
)


@pytest.mark.thorough
@ON_ONE_WORKER
def test_of_a_thousand_judgments_of_a_lying_model_none_is_unverifiable(
    generated_by_liar: tuple[rm.types.GeneratedQuestions, ScriptedModel],
) -> None:
    generated, model = generated_by_liar
    n_questions = len(generated)
    assert n_questions in {120, 380}
    assert sum(map(len, list_groups(generated))) >= 1000 / 380 * n_questions
    assert find_unverifiable(generated, topics()) == []
    fewest = 100 / 380 * n_questions
    assert model.done["lied"] > fewest
    assert model.done["lied of others"] > fewest
    assert min(model.done["broken"], model.done["failed"]) > fewest


@ON_ONE_WORKER
def test_the_lint_finds_no_fault_with_the_judgments_of_a_lying_model(
    generated_by_liar: tuple[rm.types.GeneratedQuestions, ScriptedModel],
) -> None:
    lint = generated_by_liar[0].questions.lint(topics())
    about_how_hard_they_are = {"easy", "unanswered", "too_few_questions", "few_sources"}
    assert {*lint.counts} <= about_how_hard_they_are


def cut_topics(size: int, step: int) -> list[rm.Retrieved]:
    chunks = []
    for name, text in topics().items():
        for start in range(0, len(text), step):
            chunks.append(rm.Retrieved(f"{name}@{start}", text[start : start + size], name, start))
    return chunks


def list_spans(groups: list[list[Any]]) -> list[rm.Span]:
    spans: list[rm.Span] = []
    for group in groups:
        spans += [judged for judged in group if isinstance(judged, rm.Span)]
    return spans


def overlaps(chunk: rm.Retrieved, span: rm.Span) -> bool:
    return chunk.source == span.source and (chunk.start or 0) < span.end and (chunk.end or 0) > span.start


def keep_quotes(groups: list[list[Any]]) -> list[list[rm.Quote]]:
    groups_of_quotes = []
    for group in groups:
        groups_of_quotes.append([judged for judged in group if isinstance(judged, rm.Quote)])
    return groups_of_quotes


@ON_ONE_WORKER
@pytest.mark.parametrize(("size", "step"), [(300, 300), (700, 600), (4000, 4000)])
def test_every_judgment_resolves_in_any_chunking(
    generated_by_liar: tuple[rm.types.GeneratedQuestions, ScriptedModel], size: int, step: int
) -> None:
    generated = generated_by_liar[0]
    chunks = cut_topics(size, step)
    run: dict[Any, list[rm.Retrieved]] = {}
    without_spans = {}
    for query, groups in qrels_of(generated).items():
        run[query] = []
        spans = list_spans(groups)
        for chunk in chunks:
            run[query] += [chunk for span in spans if overlaps(chunk, span)]
        without_spans[query] = keep_quotes(groups)
    assert rm.evaluate(generated.questions, run, "recall").means["recall"] == 1.0
    quoted = rm.evaluate(without_spans, run, "recall").means["recall"]
    assert quoted < 1.0 or size == 4000, "cuts run through some quotes, and through no span"


@pytest.mark.thorough
def test_a_rerun_makes_no_call_and_gives_the_same(tmp_path: Path) -> None:
    def make() -> tuple[rm.types.GeneratedQuestions, ScriptedModel]:
        model = ScriptedModel(lies=0.3, fails=0.1, repeats=0.1)
        return rm.generate_questions(topics(), rm.Model(model, cache=tmp_path / "replies.jsonl"), 40), model

    first, _ = make()
    again, model = make()
    assert not model.prompts
    assert again.calls.made == 0
    assert again.calls.cached > 0
    assert again.questions == first.questions
    assert again.rejected == first.rejected


def test_replies_that_were_cut_off_are_asked_for_again_and_kept_for_reading(tmp_path: Path) -> None:
    cache = tmp_path / "replies.jsonl"
    short = rm.generate_questions(RULES, rm.Model(cut_off, cache=cache, name="m"), 3, kinds="one_passage", checks=())
    assert len(short) == 0
    assert short.stop_reason is not None
    assert "10 consecutive replies were unusable" in short.stop_reason
    assert "Who open" in short.stop_reason
    assert short.calls.made < 20
    assert "unusable" in cache.read_text()
    complete = ScriptedModel()
    generated = rm.generate_questions(
        RULES, rm.Model(complete, cache=cache, name="m"), 3, kinds="one_passage", checks=()
    )
    assert len(generated) == 3
    assert generated.calls.cached == 0


def cut_off(prompt: str) -> str:
    return '{"question": "Who opens the vault at night?", "quotes": ["The vault may be'


class Limited(ScriptedModel):
    """Allows four calls in a window of time, as services do."""

    def __init__(self, window: float, error: Callable[[float], Exception]) -> None:
        super().__init__()
        self.window = window
        self.error = error
        self.times: list[float] = []
        self.refused = 0

    def __call__(self, prompt: str) -> str:
        now = time.monotonic()
        with self._lock:
            recent = [start for start in self.times if start > now - self.window]
            if len(recent) >= 4:
                self.refused += 1
                raise self.error(recent[0] + self.window - now)
            self.times.append(now)
        return super().__call__(prompt)


class RateLimitError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__("slow down")
        self.response = SimpleNamespace(status_code=429, headers={"Retry-After": str(seconds)})


class TooManyRequests(Exception):  # noqa: N818  (named as that of a client)
    pass


@pytest.mark.parametrize(
    "error",
    [
        RateLimitError,
        lambda seconds: TooManyRequests(f"try again in {seconds * 1000:.0f}ms"),
        lambda _: TooManyRequests("no"),
    ],
    ids=["header", "words", "nothing said"],
)
def test_a_rate_limit_is_waited_for_by_all_together(
    error: Callable[[float], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_pacer, "FIRST_PAUSE", 0.03)
    model = Limited(0.1, error)
    generated = rm.generate_questions(topics(), model, 8)
    assert len(generated) == 8
    assert generated.calls.failed == 0
    n_needed = len(model.times)
    assert n_needed < n_needed + model.refused <= 1.5 * n_needed


def test_a_question_whose_check_got_no_reply_is_checked_again() -> None:
    class Unreached(ScriptedModel):
        def __call__(self, prompt: str) -> str:
            if "<text>" in prompt and self.prompts[prompt] == 0:
                self.prompts[prompt] += 1
                raise ConnectionError("the line is dead")
            return super().__call__(prompt)

    generated = rm.generate_questions(
        RULES, rm.Model(Unreached(), retries=0), 3, kinds="one_passage", checks=["answerable"]
    )
    assert len(generated) == 3
    assert "not checked" not in generated.reasons


@pytest.mark.thorough
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    uninterrupted = ScriptedModel()
    expected = rm.generate_questions(topics(), rm.Model(uninterrupted, workers=4), 30)

    class Interrupted(ScriptedModel):
        def __call__(self, prompt: str) -> Any:
            if self.prompts.total() == 50:
                raise KeyboardInterrupt
            return super().__call__(prompt)

    first = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        rm.generate_questions(topics(), rm.Model(first, workers=4, cache=tmp_path / "replies.jsonl"), 30)
    second = ScriptedModel()
    second.answers = first.answers  # what a real model knows does not go with the process
    generated = rm.generate_questions(topics(), rm.Model(second, workers=4, cache=tmp_path / "replies.jsonl"), 30)
    assert generated.questions == expected.questions
    assert first.prompts.total() + second.prompts.total() <= uninterrupted.prompts.total() + 4


@pytest.mark.asyncio
async def test_the_asynchronous_twin_takes_an_asynchronous_model() -> None:
    script = ScriptedModel()

    async def model(prompt: str) -> Any:
        await asyncio.sleep(0)
        return script(prompt)

    generated = await rm.agenerate_questions(topics(), model, 8)
    assert generated.questions.queries == rm.generate_questions(topics(), ScriptedModel(), 8).questions.queries
    assert {provenance.model for provenance in generated.questions.provenance.values()} == {None}


def test_a_question_of_several_passages_is_all_or_nothing() -> None:
    generated = rm.generate_questions(topics(), ScriptedModel(), 1, kinds="several_passages")
    ((query, groups),) = qrels_of(generated).items()
    quotes = [group_of_quotes[0].text for group_of_quotes in keep_quotes(groups)]
    items = [rm.Retrieved(number, quote) for number, quote in enumerate(quotes)]
    half = rm.evaluate(generated.questions, {query: items[:1]}, ["recall", "full_recall"]).means
    assert half == {"recall": 0.5, "full_recall": 0.0}
    assert rm.evaluate(generated.questions, {query: items}, "full_recall").means["full_recall"] == 1.0


def test_other_words_are_bounded() -> None:
    generated = rm.generate_questions(topics(), ScriptedModel(), 10, kinds="other_words", most_overlap=0.4)
    assert all(overlap <= 0.4 for overlap in generated.questions.provenance_values("overlap").values())
    overlapping = {**NIGHT, "question": "Who has the vault under lock and key in the dark at night?"}
    model = Told(("Write one question", overlapping), ANSWERS)
    none = rm.generate_questions({"vault": RULES["vault"]}, model, 1, kinds="other_words", most_overlap=0.3)
    assert none.reasons == {"too close to the passage": 3}
    assert "40% of the content words" in none.rejected[0].message
    assert len(rm.generate_questions({"vault": RULES["vault"]}, model, 1, kinds="other_words", most_overlap=0.4)) == 1
    assert "fewer than requested" in str(none)


def test_nearly_the_same_question_is_dropped_and_the_check_can_be_left_out() -> None:
    def write(prompt: str) -> dict[str, Any]:
        if OPENED in prompt:
            return NIGHT
        quote = re.findall(r"<passage>\n(.{40}\w*)", prompt)[0]
        return {"question": "Please, who gets into the strong room after hours?", "quotes": [quote]}

    write_both = ("Write one question", write)
    generated = rm.generate_questions(RULES, Told(write_both), 2, kinds="one_passage", checks=["duplicates"])
    assert len(generated) == 1
    assert generated.reasons["near duplicate question"] >= 1
    unchecked = rm.generate_questions(RULES, Told(write_both), 2, kinds="one_passage", checks=[])
    assert len(unchecked) == 2


def test_a_spent_budget_ends_the_work_and_nothing_unchecked_gets_in() -> None:
    model = ScriptedModel()
    generated = rm.generate_questions(topics(), rm.Model(model, budget=30), 20)
    assert model.prompts.total() == generated.calls.made == 30
    assert len(generated) > 0 or generated.reasons["not checked"] > 0
    assert len(generated) < 20
    assert generated.stop_reason == "the budget of 30 calls is spent"
    tokens = rm.generate_questions(topics(), rm.Model(ScriptedModel(), token_budget=5000), 20)
    assert tokens.calls.prompt_tokens + tokens.calls.reply_tokens < 5000 + 8 * 200
    assert "5,000 tokens" in (tokens.stop_reason or "")


NO_MODEL = Told()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be"),
        ({"n": 1.5}, TypeError, "n must be"),
        ({"n": 999}, ValueError, "at most 3 of a kind are made from one"),
        ({"kinds": "riddles"}, ValueError, "'one_passage', .* got 'riddles'"),
        ({"kinds": []}, ValueError, "got none"),
        ({"kinds": 3}, TypeError, "kinds must be"),
        ({"kinds": {"keywords": -1}}, ValueError, "the share of 'keywords'"),
        ({"checks": "needed"}, TypeError, "the bare string 'needed'"),
        ({"checks": ["truth"]}, ValueError, "checks must be among"),
        ({"evidence": "vibes"}, ValueError, "evidence must be among"),
        ({"most_overlap": 2}, ValueError, "most_overlap"),
        ({"depth": 0}, ValueError, "depth"),
        ({"passage_length": 10}, ValueError, "at least 200"),
        ({"model": None}, TypeError, "a model must be a function"),
        ({"corpus": {"d1": RULES["vault"]}, "kinds": "several_passages"}, ValueError, "the corpus is one passage"),
    ],
)
def test_bad_options_are_refused_before_the_first_call(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.generate_questions(**{"corpus": RULES, "model": NO_MODEL, "n": 1, **options})
    assert not NO_MODEL.prompts


def test_one_document_needs_no_several_passages() -> None:
    generated = rm.generate_questions({"vault": RULES["vault"]}, Told(WRITE, ANSWERS, ("search box", NIGHT)), 1)
    assert len(generated) == 1
    assert "several_passages" not in str(generated)


def test_a_model_that_returns_none_costs_one_call() -> None:
    prompts: list[str] = []
    with pytest.raises(TypeError, match="must reply with a text, got None"):
        rm.generate_questions(RULES, prompts.append, 3)
    assert len(prompts) == 1


def test_a_model_that_is_not_there_is_given_up() -> None:
    calls = Counter[str]()
    lock = threading.Lock()

    def model(prompt: str) -> str:
        with lock:
            calls[prompt] += 1
        raise ConnectionError("no such host")

    with pytest.raises(ConnectionError, match="no such host"):
        rm.generate_questions(topics(), rm.Model(model, retries=1), 50)
    assert calls.total() == 6


def test_progress_is_shown_for_what_is_asked_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    generate_one(Told(WRITE, ANSWERS), show_progress=True)
    shown = capsys.readouterr().err
    assert "writing questions" in shown
    assert "checking quotes" in shown
    assert "0/0" not in shown


FAULTS = {0: "429", 1: "500", 2: "slow", 3: "cut"}


def fault(prompt: str, attempt: int) -> str | None:
    """Every fifth prompt or so fails the first time it is sent, in one way or another."""
    # A reply that is asked for again is whole: one that is cut twice is rejected, and asked for in the second run.
    if attempt > 1 or "That cannot be used" in prompt:
        return None
    return FAULTS.get(sum(prompt.encode()) % 20)


@pytest.mark.thorough
def test_sixty_questions_in_spite_of_limits_errors_timeouts_and_cut_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_policy, "PAUSE", 0.0)
    monkeypatch.setattr(call_pacer, "MARGIN", 0.0)  # calls begin at intervals of what a refusal asks for, and this
    service = Service(ScriptedModel(), fault)
    with fake_models(service) as environment:
        client = openai.OpenAI(base_url=environment["OPENAI_BASE_URL"], api_key="none", max_retries=0)

        def ask(prompt: str) -> str:
            messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
            patience = 0.1 if service.next_fault(prompt) == "slow" else 60.0  # what replies may take its time
            completion = client.chat.completions.create(
                model="fake", messages=messages, temperature=0, timeout=patience
            )
            return completion.choices[0].message.content or ""

        def make() -> rm.types.GeneratedQuestions:
            return rm.generate_questions(
                topics(), rm.Model(ask, cache=tmp_path / "replies.jsonl", name="fake"), 60, kinds="one_passage"
            )

        generated = make()
        n_replies = service.done["replied"]
        again = make()
        client.close()
    assert len(generated) == 60
    assert generated.stop_reason is None
    assert all(service.done[kind] > 3 for kind in FAULTS.values())
    assert "model calls" in str(generated)
    assert again.questions == generated.questions
    assert again.calls.made == 0
    assert service.done["replied"] == n_replies
