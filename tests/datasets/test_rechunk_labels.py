"""Judgments carried over to another chunking, and what is said of each label."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import retrieval_metrics as rm
from retrieval_metrics import Matching, Quote, Retrieved, Span
from span_collection import SPLITTERS, chunked, corpora_in, questions_in, shared

LETTERS = "abcdefghij" * 20


def cut(size: int, overlap: int = 0, *, name: str = "c", text: str | None = LETTERS) -> list[Retrieved]:
    chunks = []
    for start in range(0, 200 - size + 1, size - overlap):
        chunk_text = None if text is None else text[start : start + size]
        chunks.append(Retrieved(f"{name}{start}", chunk_text, "s", start, start + size))
    return chunks


def relabel_one(label: str, old: list[Retrieved], new: list[Retrieved], match: Matching | None = None) -> Any:
    (result,) = rm.relabel({"q": [label]}, old, new, match=match).labels
    return result


class TestStatus:
    def test_the_same_chunk_under_the_same_id_is_kept(self) -> None:
        assert relabel_one("c20", cut(20), cut(20)).status == "kept"

    def test_another_id_or_slightly_other_edges_are_a_move(self) -> None:
        label = relabel_one("c20", cut(20), cut(20, name="n"))
        assert (label.status, label.new_ids, label.coverage) == ("moved", ("n20",), 1)
        shifted = [Retrieved("n", source="s", start=22, end=41)]
        assert relabel_one("c20", cut(20), shifted).status == "moved"

    def test_smaller_chunks_split_it_largest_part_first(self) -> None:
        label = relabel_one("c50", cut(50), cut(30, name="n"))
        assert (label.status, label.new_ids) == ("split", ("n60", "n30", "n90"))

    def test_split_labels_are_said_to_favour_long_chunks(self) -> None:
        labels: dict[str, list[Any]] = {"q": [chunk.id for chunk in cut(50)]}
        assert "compare by coverage@2000chars" in str(rm.relabel(labels, cut(50), cut(30, name="n")))
        assert "coverage" not in str(rm.relabel(labels, cut(50), cut(50, name="n")))

    @pytest.mark.parametrize(("n_split", "is_noted"), [(0, False), (1, False), (2, True)])
    def test_that_is_said_where_more_than_a_tenth_is_split(self, n_split: int, *, is_noted: bool) -> None:
        labels: dict[str, list[Any]] = {"q": [chunk.id for chunk in cut(20)]}
        result = rm.relabel(labels, cut(20), cut(20)[n_split:] + cut(10, name="n")[: 2 * n_split])
        assert (len(result.labels), result.counts["split"]) == (10, n_split)
        assert ("coverage" in str(result)) is is_noted

    def test_without_a_label_nothing_is_said_of_split_ones(self) -> None:
        result = rm.relabel({"q": [Quote("a quote that stays")]}, cut(20), cut(30, name="n"))
        assert not result.labels
        assert "coverage" not in str(result)

    def test_larger_chunks_merge_it_with_its_neighbour(self) -> None:
        label = relabel_one("c20", cut(20), cut(40, name="n"))
        assert (label.status, label.new_ids) == ("merged", ("n0",))

    def test_a_text_that_differs_in_its_first_letter_alone_is_another(self) -> None:
        other = f"A{LETTERS[1:]}"
        assert relabel_one("c0", cut(20), cut(20, text=other)).status == "lost"
        assert relabel_one("c20", cut(20), cut(20, text=other)).status == "kept"

    def test_what_less_than_the_share_is_left_of_is_lost_and_stays_true(self) -> None:
        new = [Retrieved("n", source="s", start=20, end=35)]
        result = rm.relabel({"q": ["c20"]}, cut(20), new)
        assert (result.labels[0].status, result.labels[0].coverage) == ("lost", 0.75)
        assert list(result.qrels["q"]) == [Span("s", 20, 40)]
        assert "lost: 'c20' of query 'q', 75% covered" in str(result)

    def test_exactly_the_share_is_enough(self) -> None:
        for end, status, coverage in ((36, "moved", 0.8), (35, "lost", 0.75)):
            label = relabel_one("c20", cut(20), [Retrieved("n", source="s", start=20, end=end)])
            assert (label.status, label.coverage) == (status, coverage)
        for end, status in ((45, "moved"), (46, "merged")):  # 20 of 25 characters are of the old chunk, or of 26
            old = [*cut(20), Retrieved("next", source="s", start=40, end=46)]
            assert relabel_one("c20", old, [Retrieved("n", source="s", start=20, end=end)]).status == status

    def test_an_unknown_label_stays_an_id_and_is_lost(self) -> None:
        result = rm.relabel({"q": ["nobody", "c20"]}, cut(20), cut(20))
        assert result.qrels["q"] == {"nobody": 1, Span("s", 20, 40): 1}
        assert result.counts == {"kept": 1, "moved": 0, "split": 0, "merged": 0, "lost": 1}
        assert "'nobody' of query 'q', 0% covered; position unknown, kept as an ID" in str(result)

    def test_an_edited_source_is_not_matched_by_its_offsets(self) -> None:
        assert relabel_one("c20", cut(20), cut(20, text=LETTERS[1:] + "x")).status == "lost"
        assert relabel_one("c20", cut(20), cut(20, text=None)).status == "kept"

    def test_white_space_that_a_splitter_drops_is_no_loss(self) -> None:
        source = "words" + " " * 15 + "words"
        old = [Retrieved("a", source, "s", 0, 25)]
        new = [Retrieved("b", "words", "s", 0, 5), Retrieved("c", "words", "s", 20, 25)]
        assert relabel_one("a", old, new).status == "lost"
        assert relabel_one("a", old, new, Matching(sources={"s": source})).status == "split"

    def test_chunks_without_offsets_are_located(self) -> None:
        text = "".join(f"<{number}>" for number in range(60))
        old = [Retrieved(f"o{start}", text[start : start + 30], "s") for start in range(0, 150, 30)]
        new = [Retrieved(f"n{start}", text[start : start + 60], "s") for start in range(0, 180, 60)]
        assert relabel_one("o30", old, new, Matching(sources={"s": text})).new_ids == ("n0",)
        assert relabel_one("o30", old, new).status == "lost"

    def test_two_old_chunks_with_one_id_are_refused(self) -> None:
        with pytest.raises(ValueError, match="two old chunks have the ID 'a'"):
            rm.relabel({"q": ["a"]}, [Retrieved("a"), Retrieved("a")], [])


class TestJudgments:
    def test_grades_groups_and_pieces_stay(self) -> None:
        qrels: Any = {"flat": {"c0": 3, "c20": 0}, "groups": [{"c0": 2, "c40": 1}, {Quote("a quote that stays"): 1}]}
        result = rm.relabel(qrels, cut(20), cut(40)).qrels
        assert result["flat"] == [{Span("s", 0, 20): 3}, {Span("s", 20, 40): 0}]
        assert result["groups"] == [{Span("s", 0, 20): 2, Span("s", 40, 60): 1}, {Quote("a quote that stays"): 1}]
        for group in result["flat"]:
            assert all(span.uncertain for span in group)

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # where the one label is lost
    @given(
        labels=st.lists(st.sampled_from(range(0, 200, 20)), min_size=1, max_size=5, unique=True),
        size=st.integers(3, 60),
        overlap=st.integers(0, 2),
    )
    def test_whoever_retrieves_everything_finds_every_label_that_is_not_lost(
        self, labels: list[int], size: int, overlap: int
    ) -> None:
        new = cut(size, overlap, name="n")
        result = rm.relabel({"q": [f"c{label}" for label in labels]}, cut(20), new)
        recall = rm.evaluate(result.qrels, {"q": new}, "recall").means["recall"]
        assert recall == pytest.approx(1 - result.counts["lost"] / len(labels))

    def test_the_report_can_be_shown(self) -> None:
        result = rm.relabel({"q": ["c0", "c20"]}, cut(20), cut(40))
        assert repr(result) == "<RelabelResult of 2 labels: 0 lost>"
        assert str(result).splitlines()[4].split()[:1] == ["merged:"]
        assert "<table>" in result._repr_html_()

    def test_the_report_prints_like_every_other_result_and_becomes_a_dataframe(self) -> None:
        result = rm.relabel({"q": ["c0", "nobody"]}, cut(20), cut(20))
        console = Console(file=StringIO(), width=100)
        console.print(result)
        assert "kept: same chunk, same ID" in console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
        assert "| kept: same chunk, same ID | 1 |" in result.to_markdown()
        frame = result.to_pandas()
        assert list(frame.columns) == ["query", "old_id", "status", "span", "new_ids", "coverage"]
        assert frame["status"].tolist() == ["kept", "lost"]
        assert frame["new_ids"].tolist() == [("c0",), ()]


@given(
    st.lists(st.tuples(st.integers(0, 80), st.integers(1, 60)), min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(0, 80), st.integers(1, 60)), max_size=20),
)
def test_chunks_of_any_order_and_length_hold_what_they_overlap(
    old: list[tuple[int, int]], new: list[tuple[int, int]]
) -> None:
    labels = rm.relabel({"q": list(range(len(old)))}, numbered_chunks(old), numbered_chunks(new)).labels
    for label, (start, length) in zip(labels, old, strict=True):
        common = {}
        for number, (new_start, new_length) in enumerate(new):
            common[number] = min(new_start + new_length, start + length) - max(new_start, start)
        holders = [number for number, n_characters in common.items() if n_characters > 0]
        assert label.new_ids == tuple(sorted(holders, key=common.__getitem__, reverse=True))


def numbered_chunks(stretches: list[tuple[int, int]]) -> list[Retrieved]:
    return [Retrieved(number, None, "s", start, start + length) for number, (start, length) in enumerate(stretches)]


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_labels_on_512_characters_are_carried_over_without_a_loss(shared_data: Path, splitter: str) -> None:
    corpora = corpora_in(shared_data)
    questions = questions_in(shared_data)
    old = chunked(corpora, "512")
    labels: dict[str, list[Any]] = {query: [] for query in questions}
    for query, spans in questions.items():
        for chunk in old:
            for span in spans:
                if chunk.source == span.source and shared(chunk, span):
                    labels[query].append(chunk.id)
    new = chunked(corpora, splitter)
    result = rm.relabel(labels, old, new, match=rm.Matching(sources=corpora))
    assert result.counts["lost"] == 0
    assert len(result.labels) == sum(len(set(ids)) for ids in labels.values()) == 814
    statuses = {status for status, count in result.counts.items() if count}
    expected = {"512": {"kept"}, "256": {"split"}, "1024": {"merged"}}
    assert statuses <= expected.get(splitter, {"kept", "moved", "split", "merged"})
    # Whoever retrieves the new chunks of every label finds all that is relevant.
    by_id = {chunk.id: chunk for chunk in new}
    run: dict[str, list[Retrieved]] = {query: [] for query in questions}
    for label in result.labels:
        run[str(label.query)] += [by_id[new_id] for new_id in label.new_ids]
    recall = rm.evaluate(result.qrels, run, ["recall", "hit_rate"], match=rm.Matching(sources=corpora)).means
    assert dict(recall) == {"recall": 1, "hit_rate": 1}
