"""Which queries belong together, and what that does to intervals, merging and totals."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.clusters import Clusters, find_clusters

QUERIES = [f"q{index}" for index in range(40)]
BY_DOCUMENT = {query: index // 2 for index, query in enumerate(QUERIES)}
QRELS = {query: ["d"] for query in QUERIES}
RUN = {query: ["d"] if index // 2 % 3 else ["x", "d"] for index, query in enumerate(QUERIES)}


def spans(sources: list[str]) -> dict[str, Any]:
    return {
        f"q{number}": [rm.Span(source, 0, 10) for source in names.split("+")] for number, names in enumerate(sources)
    }


def labels(qrels: Any, by: Any = "source") -> list[int] | None:
    clusters = find_clusters(qrels, rm.Qrels(qrels), by)
    return None if clusters is None or clusters.labels is None else clusters.labels.tolist()


def test_questions_about_one_source_are_a_cluster_by_default() -> None:
    assert labels(spans(["a", "b", "a", "c"])) == [0, 1, 0, 2]
    assert labels({"q0": [rm.Metadata(source="a", page=1)], "q1": [rm.Metadata(source="a")], "q2": ["d"]}) == [0, 0, 1]


def test_a_question_of_several_sources_joins_their_clusters() -> None:
    assert labels(spans(["a", "b", "c", "a+b"])) == [0, 0, 1, 0]


def test_where_no_source_is_shared_or_all_is_of_one_or_nothing_is_known_queries_are_independent() -> None:
    assert labels(spans(["a", "b", "c"])) is None
    assert labels(spans(["a", "a", "a"])) is None
    assert labels(QRELS) is None
    assert labels(rm.EvaluationSet({query: query for query in QRELS}, QRELS)) is None
    assert labels(spans(["a", "a", "b"]), None) is None


def test_questions_that_know_their_source_say_so() -> None:
    sources = {"q0": "a.md", "q1": "b.md", "q2": "a.md"}
    texts = {f"q{number}": f"question {number}" for number in range(4)}
    provenance: dict[str | int, rm.Provenance] = {
        query: rm.Provenance(source=source) for query, source in sources.items()
    }
    questions = rm.EvaluationSet(texts, {query: ["d"] for query in texts}, provenance)
    assert labels(questions) == [0, 1, 0, 2]


@pytest.mark.parametrize("by", [BY_DOCUMENT, BY_DOCUMENT.get, {query: {index} for query, index in BY_DOCUMENT.items()}])
def test_a_mapping_and_a_function_are_the_same(by: Any) -> None:
    assert (
        rm.evaluate(QRELS, RUN, "mrr", clusters=by).intervals()
        == rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT).intervals()
    )


def test_the_result_says_which_it_was() -> None:
    text = str(rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT))
    assert "clustered CIs: 20 clusters, user-defined" in text
    assert "design effect: mrr 2.1" in text
    assert "cluster" not in str(rm.evaluate(QRELS, RUN, "mrr"))
    items = {query: [rm.Retrieved("c", source=f"s{number}", start=0, end=9)] for query, number in BY_DOCUMENT.items()}
    truth = {query: [rm.Span(f"s{number}", 0, 9)] for query, number in BY_DOCUMENT.items()}
    assert "20 clusters by source of the judgments (clusters=None disables clustering)" in str(
        rm.evaluate(truth, items, "mrr")
    )
    assert "cluster" not in str(rm.evaluate(truth, items, "mrr", clusters=None))


def test_few_clusters_are_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="only 10 clusters: CIs from fewer than 20 are approximate"):
        result = rm.evaluate(QRELS, RUN, "mrr", clusters=lambda query: int(query[1:]) // 4)
    assert "only 10 clusters" in str(result)


def test_clusters_cost_width_and_move_no_mean() -> None:
    alone = rm.evaluate(QRELS, RUN, "mrr")
    together = rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT)
    assert together.means == alone.means
    assert together.n == alone.n
    (low, high), (lower, higher) = alone.intervals()["mrr"], together.intervals()["mrr"]
    assert lower < low < high < higher


def test_merging_evaluations_keeps_clusters_to_the_bit(tmp_path: Path) -> None:
    evaluation = rm.evaluate(QRELS, RUN, ["mrr", "hit_rate@1"], clusters=BY_DOCUMENT)
    parts = []
    for chosen in (QUERIES[:15], QUERIES[15:]):  # query 14 and 15 are of one document
        qrels = {query: QRELS[query] for query in chosen}
        run = {query: RUN[query] for query in chosen}
        with pytest.warns(rm.RetrievalWarning, match="only .* clusters"):
            parts.append(rm.evaluate(qrels, run, ["mrr", "hit_rate@1"], clusters=BY_DOCUMENT))
    parts[0].save(tmp_path / "numbers.json", rankings=False)
    saved = rm.load(tmp_path / "numbers.json")
    for first_part in (parts[0], saved):
        assert rm.merge([first_part, parts[1]]).intervals() == evaluation.intervals()
        assert str(rm.merge([first_part, parts[1]])) == str(evaluation)


def test_what_totals_cannot_hold_is_refused_by_name() -> None:
    clustered = rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT)
    with pytest.raises(ValueError, match=r"totals cannot hold the clusters.*clusters=None"):
        clustered.totals()
    other = rm.evaluate({"z": ["d"]}, {"z": ["d"]}, "mrr")
    with pytest.raises(ValueError, match="totals cannot hold the clusters"):
        rm.merge([clustered, other.totals()])
    with pytest.raises(ValueError, match="some parts have clusters and others do not"):
        rm.merge([clustered, other])


def test_a_slice_keeps_its_clusters() -> None:
    evaluation = rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT)
    half = evaluation.group_by(lambda query: int(query[1:]) < 20)[True]
    assert isinstance(half.scores.clusters, Clusters)
    assert half.scores.clusters.count == 10


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        (7, TypeError, "clusters must be a mapping, a function"),
        ("document", ValueError, "clusters must be .* \"source\" or None, got 'document'"),
        ({"other": 1}, ValueError, "none of the judged queries, such as 'q0'"),
        (lambda _: 1, ValueError, "all queries into one cluster"),
    ],
)
def test_clusters_that_make_no_sense_are_refused(by: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate(QRELS, RUN, "mrr", clusters=by)


def test_systems_that_disagree_on_a_cluster_are_refused() -> None:
    first = rm.evaluate(QRELS, RUN, "mrr", clusters=BY_DOCUMENT)
    second = rm.evaluate(QRELS, RUN, "mrr", clusters={query: -number for query, number in BY_DOCUMENT.items()})
    with pytest.raises(ValueError, match="query 'q2' is in cluster"):
        rm.compare({"a": first, "b": second})


def test_hidden_names_are_the_same_clusters() -> None:
    names: list[tuple[Any, ...]] = [("/a.md", "/b.md"), ("/b.md",), (1,), (1.0,), (float("nan"),), (("a", 2),), ()]
    queries = [f"q{number}" for number in range(len(names))]
    clusters = Clusters(queries, names, by_source=True)
    hidden = clusters.hide_names()
    assert ".md" not in str(hidden.names)
    assert clusters.labels is not None
    assert hidden.labels is not None
    assert hidden.labels.tolist() == clusters.labels.tolist()
    assert hidden.hide_names().names == hidden.names
    without_names = Clusters(["z"], [()], by_source=True)
    for merged in (clusters.merge(hidden), hidden.merge(clusters), without_names.merge(hidden)):
        assert [names for names in merged.names if names] == hidden.names[:-1]
