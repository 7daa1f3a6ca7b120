import pytest

from retrieval_metrics.inputs.id_checks import (
    describe_invalid_id,
    holds_a_list,
    may_hold_invalid_id,
    require_valid_ids,
)

VALID = [
    *("d1", "1", "a b", "a  b", "a\tb", "a\nb", "f(x)", "report [2].pdf", "[1]", "(a)", "{}"),
    *("é", "e\u0301", "x\u200by", "\ud800"),
]
INVALID = {
    "": "is empty",
    " ": "is blank",
    "\n": "is blank",
    " d": "begins or ends with whitespace; write 'd'",
    "d\u00a0": "begins or ends with whitespace",
    "d\x00e": r"control character '\x00'",
    "d\x7fe": "control character",
    "\x93AGB\x94": "control character",
    "['d1', 'd2']": "list that was written as text",
    '["d1"]': "list that was written as text",
    "('d1',)": "list that was written as text",
    "{'d1': 1}": "list that was written as text",
}


@pytest.mark.parametrize("document", VALID)
def test_an_ordinary_id_is_valid(document: str) -> None:
    assert describe_invalid_id(document) is None
    require_valid_ids([document, 1, None], str)


@pytest.mark.parametrize("document", INVALID)
def test_an_invalid_id_is_named_with_what_to_do(document: str) -> None:
    assert INVALID[document].replace(r"\x00", "\\x00") in str(describe_invalid_id(document))
    assert may_hold_invalid_id(["d1", document, "d2"])
    assert may_hold_invalid_id([document])
    with pytest.raises(ValueError, match=r"^id 1 "):
        require_valid_ids(["d0", document, "d2"], lambda position: f"id {position}")


def test_ordinary_ids_are_not_looked_at_singly() -> None:
    assert not may_hold_invalid_id(["d1", "f(x)", "a b", "é.pdf"])


def test_blanks_that_are_allowed_hide_nothing_else() -> None:
    for document in (" d", "d\n", "  ", ""):
        assert describe_invalid_id(document, allow={"blanks"}) is None
    assert describe_invalid_id(" d\x00e", allow={"blanks"}) is not None


def test_a_list_is_recognised_by_how_python_and_json_print_it() -> None:
    printed = ["[1, 2]", " ['d1'] ", '["d1", "d2"]', "['d1' 'd2']", "{'d1', 'd2'}"]
    assert all(map(holds_a_list, printed))
    assert not any(map(holds_a_list, ["[a, b]", "[draft] it's", "d1, d2", "[1]", "[['"]))
