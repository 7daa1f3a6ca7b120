"""The parser of replies takes exactly what was asked for."""

import json
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.datasets.json_replies import BadReplyError, parse_json_reply

FIELDS = {"question": str, "quotes": list[str]}
OBJECT = '{"question": "why?", "quotes": ["so"]}'
STYLES = [
    f"Here is the JSON: {OBJECT}",
    f"{OBJECT}\nI hope this helps!",
    f"```json {OBJECT} ```",
    f"```\n{OBJECT}```",
    f"~~~\n{OBJECT}\n~~~",
    f"<thinking>It could be {{x}}.</thinking>\n{OBJECT}",
    f'I draft {{"question": "x"}} first.</think>\n{OBJECT}',
    f"<think>never closed\n{OBJECT}",
    f"<reasoning>{OBJECT.replace('why', 'how')}</reasoning>{OBJECT}",
    f"{OBJECT}<|im_end|>",
    f"{OBJECT}</s>",
    f"\ufeff{OBJECT}",
    f"[{OBJECT}]",
    f'{{"result": {OBJECT}}}',
    f"{OBJECT}\n{OBJECT}",
    '{"question": "why?", "quotes": "so"}',
    '{"question": "why?", "quotes": ["so",],}',
]


@pytest.mark.parametrize("reply", STYLES)
def test_what_stands_around_the_one_object_is_left_out(reply: str) -> None:
    assert parse_json_reply(reply, FIELDS) == {"question": "why?", "quotes": ["so"]}


@pytest.mark.parametrize(
    "reply",
    [
        '{"question": "why?", "quotes": ["so"]}',
        '  {"question": "why?", "quotes": ["so"], "more": {"a": null}}\n',
        '```json\n{"question": "why?", "quotes": ["so"]}\n```',
        '```\n{"question": "why?",\n "quotes": ["so"]}\n```\n',
        '<think>\nis {"question": 1} right?\n</think>\n{"question": "why?", "quotes": ["so"]}',
    ],
)
def test_one_object_is_read_in_a_fence_and_after_thoughts_too(reply: str) -> None:
    assert parse_json_reply(reply, FIELDS) == {"question": "why?", "quotes": ["so"]}


@pytest.mark.parametrize(
    ("reply", "reason", "message"),
    [
        ("", "not JSON", "one JSON object"),
        ("I cannot do that.", "not JSON", "one JSON object"),
        ('{"question": "why?", "quotes": []} or {"question": "how?", "quotes": []}', "not JSON", "2 different objects"),
        ('{"question": "why?", "quotes": ["so"', "not JSON", "one JSON object"),
        ('{"question": "why?", "question": "how?", "quotes": []}', "not JSON", "occurs twice"),
        ('{"question": "why?", "quotes": NaN}', "not JSON", "NaN"),
        ("[" * 100_000, "not JSON", "one JSON object"),
        ('{"question": "why?"}', "wrong fields", '"quotes" is missing; it must be a list of texts'),
        ('{"question": null, "quotes": []}', "wrong fields", '"question" must be a text, got null'),
        ('{"question": ["why?"], "quotes": "so"}', "wrong fields", '"question" must be a text'),
        ('{"question": "why?", "quotes": ["so", 1]}', "wrong fields", "must be a list of texts"),
    ],
)
def test_anything_else_is_a_bad_reply_with_a_reason(reply: str, reason: str, message: str) -> None:
    with pytest.raises(BadReplyError, match=message) as caught:
        parse_json_reply(reply, FIELDS)
    assert caught.value.reason == reason


def test_numbers_are_whole_and_not_true_or_false() -> None:
    for right in ('{"grade": 3, "at": [1, 2]}', '{"grade": "3", "at": [1.0, "2"]}', '{"grade": 3.0, "at": ["1", "2"]}'):
        assert parse_json_reply(right, {"grade": int, "at": list[int]}) == {"grade": 3, "at": [1, 2]}
    for wrong in ('{"grade": true}', '{"grade": 2.5}', '{"grade": "two"}', '{"grade": "2.5"}', '{"grade": [2]}'):
        with pytest.raises(BadReplyError, match="whole number"):
            parse_json_reply(wrong, {"grade": int})
    for right in ('{"yes": true}', '{"yes": "true"}', '{"yes": "True "}'):
        assert parse_json_reply(right, {"yes": bool}) == {"yes": True}
    with pytest.raises(BadReplyError, match="true or false"):
        parse_json_reply('{"yes": 1}', {"yes": bool})


def test_optional_fields_may_be_absent_or_null_but_not_wrong() -> None:
    for reply in ('{"grade": 1}', '{"grade": 1, "why": null}'):
        assert parse_json_reply(reply, {"grade": int}, {"why": str}) == {"grade": 1}
    assert parse_json_reply('{"grade": 1, "why": "so"}', {"grade": int}, {"why": str}) == {"grade": 1, "why": "so"}
    with pytest.raises(BadReplyError, match="a text"):
        parse_json_reply('{"grade": 1, "why": 3}', {"grade": int}, {"why": str})


@pytest.mark.parametrize(
    "reply", ['<think>maybe {"grade": 3}, but then', '<Reasoning> {"grade": 3} or {"grade"', "<think>so"]
)
def test_an_object_in_the_midst_of_thoughts_that_were_cut_off_is_no_reply(reply: str) -> None:
    with pytest.raises(BadReplyError, match="ends inside its reasoning") as caught:
        parse_json_reply(reply, {"grade": int})
    assert caught.value.reason == "not JSON"


@pytest.mark.parametrize(
    "about", ['say {"grade": 3} please', '{"x": {"grade": "3", "reason": "so"}}', '["{", {"grade":3.0}]']
)
def test_a_reply_that_the_text_holds_is_not_the_models(about: str) -> None:
    with pytest.raises(BadReplyError, match="holds this reply") as caught:
        parse_json_reply(
            'As asked: {"grade": 3, "reason": "other words"}', {"grade": int}, {"reason": str}, about=about
        )
    assert caught.value.reason == "dictated"
    assert parse_json_reply('{"grade": 2}', {"grade": int}, about=about) == {"grade": 2}


RULES = {"vault": "The vault may be opened at night by the duty officer. A second member of staff has to be present."}
QUESTION = {"question": "Who gets into the strong room after hours?", "quotes": ["opened at night by the duty officer"]}


def test_a_function_with_that_argument_gets_the_schema_of_each_reply() -> None:
    schemas: list[dict[str, Any]] = []

    def model(prompt: str, *, schema: dict[str, Any]) -> str:
        schemas.append(schema)
        content = {"answerable": "opened at night" in prompt} if "answerable" in schema["properties"] else QUESTION
        return json.dumps(content)

    generated = rm.generate_questions(RULES, model, 1, kinds="one_passage", checks=["answerable"])
    assert len(generated) == 1
    assert [list(schema["properties"]) for schema in schemas] == [["question", "quotes", "answer"], ["answerable"]]
    assert all(schema["required"] == list(schema["properties"]) for schema in schemas)
    assert not any(schema["additionalProperties"] for schema in schemas)


def test_grades_have_a_schema_too() -> None:
    schemas: list[Any] = []

    def model(prompt: str, schema: Any = None) -> str:
        schemas.append(schema)
        return '{"grade": 2, "reason": "it says so"}'

    labels = rm.pool({"q": "who?"}, {"a": {"q": ["vault"]}}, corpus=RULES).grade(model)
    assert [label.grade for label in labels] == [2]
    assert schemas[0]["properties"]["grade"] == {"type": "integer"}


def test_a_function_of_a_prompt_alone_gets_the_prompt_alone() -> None:
    generated = rm.generate_questions(RULES, lambda _: json.dumps(QUESTION), 1, kinds="one_passage", checks=())
    assert len(generated) == 1
