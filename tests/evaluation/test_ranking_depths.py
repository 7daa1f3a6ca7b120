"""Where rankings end: what is counted, merged, kept and told, and when nothing is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import retrieval_metrics as rm

if TYPE_CHECKING:
    from pathlib import Path

NOTE = "12 of 15 rankings end at rank 4, so recall@10 covers only 4 results there; retrieve 10 or more"


def evaluate_lengths(lengths: list[int], metrics: Any = "recall@10", first: int = 0) -> rm.Evaluation:
    """Return the evaluation of one ranking of each length, whose first document is relevant."""
    run: dict[str, list[str]] = {}
    for number, length in enumerate(lengths, start=first):
        run[f"q{number}"] = [f"d{rank}" for rank in range(length)]
    return rm.evaluate({query: ["d0"] for query in run}, run, metrics)


def find_depth_lines(result: Any) -> list[str]:
    return [line for line in str(result).splitlines() if "rankings end" in line]


def test_most_rankings_end_early() -> None:
    result = evaluate_lengths([4] * 12 + [10, 12, 20])
    counts = result.counts
    assert (counts["rankings"], counts["cut_rankings"], counts["cut_rank"]) == (15, 12, 4)
    assert counts["longest_ranking"] == 20
    assert find_depth_lines(result) == [NOTE]


@pytest.mark.parametrize(
    ("lengths", "metrics"),
    [
        ([10] * 12 + [4, 4, 4], "recall@10"),
        ([4] * 12 + [10] * 3, "recall@5"),  # one result less, as after a duplicate was removed
        ([1] * 12 + [2] * 3, "recall@2"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 12], "recall@10"),  # a score threshold
        ([7, 8, 8, 9, 8, 7, 9, 8, 11, 12], "recall@10"),  # a token budget
        ([300, 850, 912, 930, 990, 1100, 1200], "recall@1000"),  # every document that has a word of the query
        ([0] * 12 + [10] * 3, "recall@10"),
        ([4] * 12 + [20] * 3, ["mrr", "recall@4"]),
    ],
)
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_rankings_of_many_lengths_or_deep_enough_are_not_told(lengths: list[int], metrics: Any) -> None:
    assert find_depth_lines(evaluate_lengths(lengths, metrics)) == []


@pytest.mark.parametrize("split", [3, 12, 14])
def test_merged_evaluations_count_as_one(split: int) -> None:
    lengths = [4] * 12 + [10, 12, 20]
    parts = [evaluate_lengths(lengths[:split]), evaluate_lengths(lengths[split:], first=split)]
    undivided = evaluate_lengths(lengths)
    for merged in (rm.merge(parts), rm.merge([part.totals() for part in parts])):
        assert merged.counts == undivided.counts
        assert find_depth_lines(merged) == [NOTE]


def test_a_part_whose_longest_early_ranking_is_shorter_adds_none() -> None:
    parts = [evaluate_lengths([3, 3, 3, 10]), evaluate_lengths([4, 10], first=4)]
    counts = rm.merge(parts).counts
    assert counts == evaluate_lengths([3, 3, 3, 10, 4, 10]).counts
    assert (counts["cut_rank"], counts["cut_rankings"]) == (4, 1)


def test_slices_and_saved_files_and_explanations_know_it(tmp_path: Path) -> None:
    lengths = [4] * 12 + [10, 12, 20]
    result = evaluate_lengths(lengths)
    result.save(tmp_path / "result.json")
    assert find_depth_lines(rm.load(tmp_path / "result.json")) == [NOTE]
    slices = result.group_by(lambda query: "even" if int(query[1:]) % 2 == 0 else "odd")
    assert slices["odd"].counts["cut_rankings"] == 6
    run: dict[str, list[str]] = {f"q{number}": list("abcdefghijkl")[:length] for number, length in enumerate(lengths)}
    missing = rm.evaluate({query: ["a", "z"] for query in run}, run, "recall@10")
    assert find_depth_lines(missing.worst("recall@10", 1)) == [NOTE]


def make_questions(corpus: list[str]) -> Any:
    queries = {f"q{number}": f"Question {number}?" for number in range(6)}
    return rm.EvaluationSet(
        queries=queries, qrels={query: ["d0"] for query in queries}, corpus=dict.fromkeys(corpus, "text")
    )


def find_advice(result: Any) -> list[str]:
    return [line.rpartition("; ")[2] for line in str(result).splitlines() if "no ranking" in line]


def test_after_documents_are_left_out_as_many_more_are_asked_for_and_that_is_enough(tmp_path: Path) -> None:
    qrels = {f"q{number}": ["d0"] for number in range(6)}
    listed: list[tuple[int, Any]] = [(1, "query_id"), (3, {query: [query, "d1", "d2"] for query in qrels})]
    for n_listed, exclude in listed:
        options: dict[str, Any] = {"metrics": "ndcg@10", "exclude": exclude}
        for n_results in (10, 10 + n_listed):
            run = {query: [query, *[f"d{rank}" for rank in range(n_results - 1)]] for query in qrels}
            result = rm.evaluate(qrels, run, **options)
            assert result.counts["most_excluded"] == n_listed
            expected = [f"retrieve {10 + n_listed} or more"] if n_results == 10 else []
            result.save(tmp_path / "result.json")
            for evaluation in (result, rm.load(tmp_path / "result.json"), rm.merge([result])):
                assert find_advice(evaluation) == expected
        assert result.group_by(dict.fromkeys(qrels, "all"))["all"].counts["most_excluded"] == n_listed
    assert "most_excluded" not in evaluate_lengths([4]).counts


def test_no_more_is_asked_for_than_the_corpus_holds() -> None:
    corpus = [f"d{rank}" for rank in range(8)]
    questions = make_questions(corpus)
    for n_results, advice in ((5, "retrieve all 8 documents"), (8, "the corpus has only 8 documents")):
        run = dict.fromkeys(questions.qrels, corpus[:n_results])
        result = rm.evaluate(questions, run, "ndcg@10")
        assert result.counts["corpus_size"] == 8
        assert find_advice(result) == [advice]
    # With the query itself, 9 documents can be ranked; and of chunks, no one knows how many there are.
    questions = make_questions([*corpus, *questions.qrels])
    run = {query: [query, *corpus[:4]] for query in questions.qrels}
    assert find_advice(rm.evaluate(questions, run, "ndcg@20", exclude="query_id")) == ["retrieve all 14 documents"]
    chunks = {query: [f"{document}#0" for document in corpus[:4]] for query in questions.qrels}
    with pytest.warns(rm.RetrievalWarning):
        result = rm.evaluate(questions, chunks, "ndcg@20")
    assert find_advice(result) == ["retrieve 20 or more"]


def test_the_size_of_a_corpus_says_nothing_of_chunks_or_of_documents_retrieved_twice() -> None:
    corpus = [f"d{rank}" for rank in range(8)]
    questions = make_questions(corpus)
    chunks = []
    for document in corpus[:4]:
        chunks += [rm.Retrieved(f"{document}#{number}", source=document) for number in range(3)]
    whole_documents = [rm.Retrieved(document, source=document) for document in corpus[:5]]
    rankings: list[tuple[list[Any], str]] = [
        (chunks, "retrieve 20 or more"),
        (chunks[::3], "retrieve 20 or more"),  # one chunk of each document
        (corpus[:5] * 2, "retrieve 20 or more"),
        (whole_documents, "retrieve all 8 documents"),
    ]
    for ranking, advice in rankings:
        match = "source" if isinstance(ranking[0], rm.Retrieved) else "id"
        result = rm.evaluate(questions, dict.fromkeys(questions.qrels, ranking), "ndcg@20", match=match)
        assert find_advice(result) == [advice]
    # All rankings are looked at, and not the first alone.
    mixed: dict[str, Any] = dict.fromkeys(questions.qrels, corpus[:5])
    mixed[list(mixed)[-1]] = ["other", *corpus[:4]]
    assert find_advice(rm.evaluate(questions, mixed, "ndcg@20")) == ["retrieve 20 or more"]


def test_the_documents_passed_and_a_small_corpus_of_a_beir_folder_are_known(tmp_path: Path) -> None:
    ids = [f"d{rank}" for rank in range(8)]
    questions = make_questions([])
    run = dict.fromkeys(questions.qrels, ids)
    texts = dict.fromkeys(ids, "text")
    as_items = [rm.Retrieved(document, "text", source="one file") for document in ids]
    for documents in (texts, as_items):
        result = rm.evaluate(questions, run, "ndcg@10", documents=documents)
        assert result.counts["corpus_size"] == 8
        assert "the corpus has only 8 documents" in str(result)
    questions.to_beir(tmp_path, texts)
    folder = rm.read_questions(tmp_path)
    assert folder.corpus == texts
    assert rm.evaluate(folder, run, "ndcg@10").counts["corpus_size"] == 8
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d0", "text": "' + 1_000_000 * "x" + '"}\n')
    assert rm.read_questions(tmp_path).corpus == {}
