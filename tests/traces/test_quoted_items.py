"""Which items a model has read, by their texts in its input."""

import json

import pytest

from retrieval_metrics import Retrieved
from retrieval_metrics.traces.quoted_items import find_quoted_items

TEXT = 'Refunds take "5 days".\nWrite to caf\u00e9@example.org.'
ITEM = Retrieved("d1", text=TEXT)


@pytest.mark.parametrize(
    "read_text",
    [
        f"Context: {TEXT} Answer!",
        json.dumps({"context": TEXT}),
        json.dumps({"context": TEXT}, ensure_ascii=False),
        TEXT.replace("\n", "\n\n    "),
    ],
    ids=["as it is", "ASCII JSON", "JSON", "other white space"],
)
def test_a_whole_text_is_found_however_it_is_written(read_text: str) -> None:
    assert list(find_quoted_items(read_text, [ITEM])) == [ITEM]


def test_a_part_of_a_text_is_not_enough() -> None:
    assert list(find_quoted_items(TEXT[:-2], [ITEM])) == []


def test_a_text_that_begins_like_another_is_told_from_it() -> None:
    beginning = "Opening hours of the library: "
    items = [Retrieved("sunday", text=beginning + "closed"), Retrieved("monday", text=beginning + "9 to 5")]

    assert list(find_quoted_items(f"{items[1].text}\n{beginning}unknown", items)) == [items[1]]


def test_items_are_yielded_in_their_own_order() -> None:
    items = [Retrieved("second", text="text two"), Retrieved("first", text="text one")]

    assert list(find_quoted_items("text one, text two", items)) == items
