"""Pieces are equal by their values, and refuse values that they cannot have."""

import pytest

from retrieval_metrics import Metadata


class TestMetadata:
    def test_it_is_equal_by_its_values_whatever_their_order(self) -> None:
        assert Metadata(page=3, source="a") == Metadata(source="a", page=3)
        assert repr(Metadata(source="a", page=3)) == "Metadata(page=3, source='a')"

    def test_it_needs_values_that_can_be_keys(self) -> None:
        with pytest.raises(ValueError, match="at least one value"):
            Metadata()
        with pytest.raises(TypeError, match=r"the value of 'pages' in Metadata must be hashable, got \[3\]"):
            Metadata(pages=[3])
