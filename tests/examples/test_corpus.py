"""The example corpus: cut without loss, without repeats, and never through a paragraph."""

import re
from dataclasses import FrozenInstanceError
from itertools import pairwise

import pytest

from chunking import HEADING
from corpus import Passage, normalised, passages, topics

SIZES = [1, 40, 100, 180, 400, 5000]


def paragraphs(text: str) -> list[str]:
    blocks = (block.strip("\n") for block in re.split(r"\n[ \t]*\n", text))
    return [block for block in blocks if block.strip() and not HEADING.fullmatch(block.strip())]


def gaps(topic: str, pieces: list[Passage]) -> list[str]:
    text = topics()[topic]
    edges = [0, *(edge for piece in pieces if piece.topic == topic for edge in (piece.start, piece.end)), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


@pytest.mark.parametrize("size", SIZES)
def test_a_passage_is_the_text_at_its_place(size: int) -> None:
    texts = topics()
    for piece in passages(size):
        assert piece.text == texts[piece.topic][piece.start : piece.end]
        assert piece.text.strip()


@pytest.mark.parametrize("size", SIZES)
def test_ids_are_unique_and_count_the_passages_of_a_topic(size: int) -> None:
    pieces = passages(size)
    assert len({piece.id for piece in pieces}) == len(pieces)
    for topic in topics():
        ids = [piece.id for piece in pieces if piece.topic == topic]
        assert ids == [f"{topic}#{number}" for number in range(1, len(ids) + 1)]


@pytest.mark.parametrize("size", SIZES)
def test_passages_of_a_topic_follow_each_other_without_overlap(size: int) -> None:
    for before, after in pairwise(passages(size)):
        assert before.topic <= after.topic
        assert before.topic != after.topic or before.end <= after.start


@pytest.mark.parametrize("size", SIZES)
def test_what_a_topic_leaves_out_stands_in_a_passage_of_another_topic(size: int) -> None:
    pieces = passages(size)
    text_by_topic = {topic: normalised("\n".join(p.text for p in pieces if p.topic == topic)) for topic in topics()}
    left_out = [(topic, block) for topic in topics() for gap in gaps(topic, pieces) for block in paragraphs(gap)]
    assert left_out, "chapters hold topics of their own, so something must be left out"
    for topic, block in left_out:
        assert any(normalised(block) in content for other, content in text_by_topic.items() if other != topic), block


def test_no_long_paragraph_is_retrieved_from_two_topics() -> None:
    homes: dict[str, set[str]] = {}
    for piece in passages():
        for block in paragraphs(piece.text):
            homes.setdefault(normalised(block), set()).add(piece.topic)
    repeated = {block: names for block, names in homes.items() if len(names) > 1 and len(block.split()) > 20}
    assert repeated == {}


@pytest.mark.parametrize("size", SIZES)
def test_cuts_fall_between_paragraphs_or_rows_of_a_table(size: int) -> None:
    texts = topics()
    for piece in passages(size):
        before = texts[piece.topic][: piece.start]
        after = texts[piece.topic][piece.end :]
        cut_through_table = re.search(r"\+[-+]{3,}\n\Z", before) or re.search(r"\+[-+]{3,}\Z", piece.text)
        assert not before or before.endswith("\n\n") or cut_through_table, piece.id
        assert not after.strip() or after.startswith("\n\n") or cut_through_table, piece.id


def test_an_introduction_or_a_heading_is_never_the_end_of_a_passage() -> None:
    for piece in passages():
        last = re.split(r"\n[ \t]*\n", piece.text)[-1].strip()
        assert not HEADING.fullmatch(last), piece.id
        following = topics()[piece.topic][piece.end :].lstrip("\n")
        assert not last.endswith(":") or not following or HEADING.match(following), piece.id


def test_a_continued_sentence_stays_with_its_beginning() -> None:
    continued = ("is equivalent to", "is semantically equivalent", "is roughly equivalent", "was translated to")
    assert not [piece.id for piece in passages() if piece.text.lstrip().startswith(continued)]
    assert [piece.id for piece in passages() if "\nis semantically equivalent to:" in piece.text]


def test_default_passages_are_of_about_100_to_200_words() -> None:
    words = sorted(len(piece.text.split()) for piece in passages())
    assert 350 <= len(words) <= 700
    assert words[0] >= 15
    assert 80 <= words[len(words) // 4] <= words[len(words) // 2] <= words[3 * len(words) // 4] <= 180
    assert words[-1] <= 2.5 * 180, "a paragraph or a part of a table of up to twice the size, with what introduces it"


def test_a_larger_size_gives_fewer_passages() -> None:
    counts = [len(passages(size)) for size in SIZES]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(SIZES)


def test_a_section_of_several_topics_is_kept_in_the_shortest() -> None:
    pieces = passages()
    by_topic = {topic: normalised(" ".join(p.text for p in pieces if p.topic == topic)) for topic in topics()}
    quote = "The context manager handles the entry into, and the exit from, the desired runtime context"
    assert quote in normalised(topics()["specialnames"])
    assert [topic for topic, content in by_topic.items() if quote in content] == ["context-managers"]
    assert by_topic["if"]
    assert not by_topic["else"], "the same page as that of if"


def test_the_title_is_the_nearest_heading() -> None:
    titles = {piece.id: piece.title for piece in passages()}
    assert titles["with#1"] == titles["with#2"] == 'The "with" statement'
    assert titles["comparisons#1"] == "Comparisons"


def test_a_passage_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        passages()[0].text = "something else"  # type: ignore[misc]  # what mypy forbids must fail at run time too


@pytest.mark.parametrize("size", [0, -180])
def test_a_size_below_one_word_is_an_error_that_names_it(size: int) -> None:
    with pytest.raises(ValueError, match=rf"size must be a positive number of words, got {size}"):
        passages(size)


def test_topics_cannot_be_damaged_by_a_reader() -> None:
    topics().clear()
    assert "with" in topics()
