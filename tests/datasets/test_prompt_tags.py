"""A text in a prompt cannot close the tag around it."""

import pytest

from retrieval_metrics.datasets.prompt_tags import enclose_in_tag
from retrieval_metrics.matching.words import words


@pytest.mark.parametrize("closing_tag", ["</passage>", "</PASSAGE>", "< /passage></passage>"])
def test_a_text_cannot_close_its_tag(closing_tag: str) -> None:
    enclosed = enclose_in_tag("passage", f"one {closing_tag} two")
    assert enclosed.lower().count("</passage>") == 1
    assert enclosed.endswith("\n</passage>")
    assert words(enclosed) == words(f"<passage> one {closing_tag} two </passage>")


def test_a_text_without_the_tag_stays_as_it_is() -> None:
    assert enclose_in_tag("passage", "a <b> c") == "<passage>\na <b> c\n</passage>"
