"""Items derive attributes from their values, and refuse values that contradict each other."""

import pytest

from retrieval_metrics import Retrieved


class TestItems:
    def test_an_end_follows_from_start_and_text(self) -> None:
        assert Retrieved("c", "four", start=3).end == 7

    def test_offsets_that_are_no_stretch_are_refused(self) -> None:
        for values, message in (
            ({"end": 4}, "ends at 4 but has no start"),
            ({"start": 5, "end": 4}, "needs 0 <= start <= end, got 5 and 4"),
            ({"start": -1, "text": "x"}, "needs 0 <= start, got -1"),
        ):
            with pytest.raises(ValueError, match=message):
                Retrieved("c", **values)

    def test_texts_and_offsets_of_another_type_are_refused(self) -> None:
        with pytest.raises(TypeError, match="the text of retrieved item 'c' must be a str or None, got bytes"):
            Retrieved("c", b"text")  # type: ignore[arg-type]  # what a user may do
        with pytest.raises(TypeError, match="the offsets of retrieved item 'c' must be int or None, got '3' and None"):
            Retrieved("c", "text", start="3")  # type: ignore[arg-type]  # likewise

    def test_they_are_hashable_whatever_their_metadata(self) -> None:
        assert len({Retrieved("c", metadata={"a": []}), Retrieved("c", metadata={"a": []})}) == 1
