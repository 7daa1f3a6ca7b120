"""A model that can be asked for a JSON schema is, and no other."""

import json
from typing import Any

import retrieval_metrics as rm

RULES = {"vault": "The vault may be opened at night by the duty officer. A second member of staff has to be present."}
QUESTION = {"question": "Who gets into the strong room after hours?", "quotes": ["opened at night by the duty officer"]}


def test_a_function_with_that_argument_gets_the_schema_of_each_reply() -> None:
    schemas: list[dict[str, Any]] = []

    def model(prompt: str, *, schema: dict[str, Any]) -> str:
        schemas.append(schema)
        said = {"answerable": "opened at night" in prompt} if "answerable" in schema["properties"] else QUESTION
        return json.dumps(said)

    made = rm.generate_questions(RULES, model, 1, kinds="one_passage", checks=["answerable"])
    assert len(made) == 1
    assert [list(schema["properties"]) for schema in schemas] == [["question", "quotes", "answer"], ["answerable"]]
    assert all(schema["required"] == list(schema["properties"]) for schema in schemas)
    assert not any(schema["additionalProperties"] for schema in schemas)


def test_grades_have_a_schema_too() -> None:
    schemas: list[Any] = []

    def model(prompt: str, schema: Any = None) -> str:  # noqa: ARG001  (one grade for all)
        schemas.append(schema)
        return '{"grade": 2, "reason": "it says so"}'

    labels = rm.pool({"q": "who?"}, {"a": {"q": ["vault"]}}, corpus=RULES).grade(model)
    assert [label.grade for label in labels] == [2]
    assert schemas[0]["properties"]["grade"] == {"type": "integer"}


def test_a_function_of_a_prompt_alone_gets_the_prompt_alone() -> None:
    made = rm.generate_questions(RULES, lambda _: json.dumps(QUESTION), 1, kinds="one_passage", checks=())
    assert len(made) == 1
