"""What speaks against the data: said where it is shown, refused where it decides, and never said of ordinary data."""

import random
import re
import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.data_warnings import (
    SYSTEM_WIDE,
    find_data_warnings,
    require_judged_documents,
    system_wide_warnings,
)

QRELS: Any = {f"q{at}": ["a"] for at in range(20)}
NEAREST_FIRST: Any = {query: {"a": 0.11, "b": 0.34, "c": 0.58} for query in QRELS}


def kinds(qrels: Any, run: Any, metrics: str = "mrr", **options: Any) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {one.kind: one.message for one in find_data_warnings(rm.evaluate(qrels, run, metrics, **options).scores)}


class TestDistances:
    def test_the_cure_is_named_and_cures(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match=r"if they are distances, pass \{id: -distance\}, or a list"):
            assert rm.evaluate(QRELS, NEAREST_FIRST, "mrr").means["mrr"] == pytest.approx(1 / 3)
        negated = {query: {doc: -distance for doc, distance in found.items()} for query, found in NEAREST_FIRST.items()}
        for cured in (negated, {query: list(found) for query, found in NEAREST_FIRST.items()}):
            assert kinds(QRELS, cured) == {}
            assert rm.evaluate(QRELS, cured, "mrr").means["mrr"] == 1.0

    @pytest.mark.parametrize(
        ("run", "seen"),
        [
            ({"q0": {"a": 1, **{str(at): at for at in range(2, 8)}}}, True),  # one order of 7! = 5040
            ({"q0": {"a": 1, **{str(at): at for at in range(2, 6)}}}, False),  # of 120: by chance
            ({query: {"a": 0.1, "b": 0.2} for query in QRELS}, True),  # of 2 ** 20
            ({query: {"a": 0.1, "b": 0.1, "c": 0.3} for query in QRELS}, True),  # some tie
            ({query: {"a": 0.5, "b": 0.5, "c": 0.5} for query in QRELS}, False),  # all tie
            ({**NEAREST_FIRST, "q19": {"a": 0.2, "b": 0.1}}, False),  # one falls
            ({query: {"a": 1.0} for query in QRELS}, False),
        ],
    )
    def test_only_orders_that_are_no_accident_alarm(self, run: Any, seen: bool) -> None:  # noqa: FBT001  (a parameter)
        assert ("distances" in kinds(QRELS, run)) is seen

    def test_scores_sorted_upwards_put_what_is_relevant_last_and_do_not_alarm(self) -> None:
        upwards = {query: {"c": 0.11, "b": 0.34, "a": 0.58} for query in QRELS}  # as argsort gives them
        assert kinds(QRELS, upwards) == {}
        assert "distances" in kinds({query: ["c"] for query in QRELS}, upwards)
        assert list(kinds({query: ["z"] for query in QRELS}, upwards)) == ["no_common_ids", "distances"]

    def test_a_comparison_begins_with_it(self) -> None:
        runs = {"dense": NEAREST_FIRST, "bm25": {query: ["a", "b"] for query in QRELS}}
        with pytest.warns(rm.RetrievalWarning, match="dense: the scores of the run rise"):
            comparison = rm.compare(QRELS, runs, "mrr")
        assert comparison.summary[0].startswith("dense: the scores of the run rise")


class TestIdsThatNeverMeet:
    def test_of_both_sides_each_is_shown_once(self) -> None:
        run = {query: ["x", "y", "x"] for query in QRELS}
        assert (
            "; the judgments have 'a', the run 'x' and 'y'; is the retriever broken" in kinds(QRELS, run)["no_common_ids"]
        )
        many = kinds({f"q{at}": [f"d{at}"] for at in range(5)}, run)
        assert "the judgments have 'd0', 'd1', 'd2' and 2 more, the run 'x' and 'y'" in many["no_common_ids"]

    @pytest.mark.parametrize(
        ("found", "cure"),
        [
            (rm.Retrieved("x", source="a.md"), "has the judged id 'a.md': pass match='source'"),
            (rm.Retrieved("x", metadata={"file_name": "a.md"}), "pass match='metadata:file_name'"),
            (rm.Retrieved("x", source="/docs/a.md"), "pass match=lambda item: item.source.rpartition('/')[2]"),
            (
                rm.Retrieved("x", metadata={"path": r"C:\a.md"}),
                r"pass match=lambda item: item.metadata['path'].rpartition('\\')[2]",
            ),
            (rm.Retrieved("a.md#3"), "pass match=lambda item: item.id.rpartition('#')[0]"),
            ("a.md#3", "a part of 'a.md#3' is a judged id: write id.rpartition('#')[0] for each id"),
            ("docs/a.md", "write id.rpartition('/')[2] for each id"),
            ("A.md ", "'A.md ' and 'a.md' differ only in case or blanks"),
            ("b.md", "'b.md' is judged, but for another query: do the query ids of both mean the same questions?"),
            ("c", "are the ids of chunks compared with the ids of documents?"),
        ],
    )
    def test_what_to_write_is_said(self, found: Any, cure: str) -> None:
        qrels: Any = {"q1": ["a.md"], "q2": ["b.md"]}
        run: Any = {"q1": [found]}
        said = kinds(qrels, run)["no_common_ids"]
        assert said.endswith(cure)
        if written := re.search(r"pass match=(.*)$", said):
            run["q2"] = [rm.Retrieved("x", source="x", metadata={"file_name": "x", "path": "x"})]
            result = rm.evaluate(qrels, run, "mrr", match=eval(written[1]))  # noqa: S307  (ours)
            assert result.per_query["mrr"]["q1"] == 1.0

    def test_names_are_told_apart_from_judged_paths(self) -> None:
        cure = "'a.md' is the last part of the judged id 'docs/a.md': write name.rpartition('/')[2] for each judged id"
        assert kinds({"q": ["docs/a.md"]}, {"q": ["a.md"]})["no_common_ids"].endswith(cure)
        item: Any = rm.Retrieved("n1", metadata={"path": "/c/docs/a.md", "name": "a.md"})
        said = kinds({"q": ["docs/a.md"]}, {"q": [item]})["no_common_ids"]
        assert said.endswith(f"{cure}, and pass match='metadata:name'")

    def test_items_are_shown_as_they_were_compared(self) -> None:
        found = rm.Retrieved("x", source="uuid", metadata={"file_name": "a.md"})
        said = kinds({"q": ["a.md"]}, {"q": [found]}, match="source")["no_common_ids"]
        assert "the run 'uuid'; what was retrieved has the judged id 'a.md': pass match='metadata:file_name'" in said

    def test_nothing_is_decided_where_no_system_meets_a_judgment(self) -> None:
        runs: Any = {"one": {query: ["x"] for query in QRELS}, "other": {query: ["y"] for query in QRELS}}
        decisions: list[Any] = [
            lambda: rm.compare(QRELS, runs, "mrr"),
            lambda: rm.compare({name: rm.evaluate(QRELS, run, "mrr") for name, run in runs.items()}),
            lambda: rm.compare_retrievers({"one": lambda _: ["x"], "other": lambda _: ["y"]}, QRELS, "mrr"),
            lambda: rm.tune(runs, QRELS, "mrr", default="one"),
        ]
        for decide in decisions:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(ValueError, match=r"nothing can be decided on this data. In 'one': none of the"):
                    decide()

    def test_where_one_meets_none_the_conclusions_and_the_report_begin_with_it(self, tmp_path: Path) -> None:
        runs: Any = {"old": {query: ["x"] for query in QRELS}, "new": {query: ["a"] for query in QRELS}}
        with pytest.warns(rm.RetrievalWarning, match="old: none of the retrieved"):
            comparison = rm.compare(QRELS, runs, "mrr")
        assert comparison.summary[0].startswith("old: none of the retrieved documents is judged for its query")
        assert comparison.summary[0].endswith("documents?")
        for name, shown in {"comparison": comparison, "evaluation": comparison.evaluations["old"]}.items():
            shown.report(tmp_path / name)  # type: ignore[attr-defined]  # both have it
            page = (tmp_path / name).read_text(encoding="utf-8").partition("<body")[2]
            assert 0 < page.index("none of the retrieved documents") < page.index("mrr")
        assert "none of the retrieved documents" in comparison.evaluations["old"]._repr_html_()

    def test_a_system_that_retrieved_nothing_is_said_first_and_decides_nothing_alone(self) -> None:
        runs: Any = {"old": {query: [] for query in QRELS}, "new": {query: ["a"] for query in QRELS}}
        with pytest.warns(rm.RetrievalWarning, match="old: nothing was retrieved for 20 of 20"):
            comparison = rm.compare(QRELS, runs, "mrr")
        assert comparison.summary[0].startswith("old: nothing was retrieved for 20 of 20 judged queries")
        with pytest.raises(ValueError, match=r"nothing can be decided on this data\. In 'old': nothing was retrieved"):
            require_judged_documents({"old": comparison.scores["old"]})
        require_judged_documents(comparison.scores)

    @pytest.mark.parametrize("judgments", [[], {"z": 0}, {"z": -1}])
    def test_where_nothing_is_relevant_nothing_has_to_meet(self, judgments: Any) -> None:
        assert kinds(dict.fromkeys(QRELS, judgments), {query: ["x"] for query in QRELS}) == {}

    def test_given_scores_have_no_ids_and_are_compared(self) -> None:
        given = {name: rm.Evaluation.from_scores({"mrr": dict.fromkeys(QRELS, 0.0)}) for name in ("old", "new")}
        assert {one.kind for one in rm.compare(given).conclusions} == {"identical"}
        assert system_wide_warnings({name: one.scores for name, one in given.items()}) == []


JUDGED: Any = {f"q{at}": {"a": 1, "b": 0, "c": 2} for at in range(10)}
FOUND: Any = {f"q{at}": {name: 12.25 - 1.1 * rank - at / 7 for rank, name in enumerate("xbaycz")} for at in range(10)}
SORTED: Any = {f"q{at}": {f"d{rank}": (9 - rank // 2) / 10 for rank in range(16)} for at in range(3)}


class TestExchanged:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (FOUND, JUDGED),
            ({"q1": {"a": 0.83, "b": 0.71}, "q2": {"c": 0.6}}, {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}),
            ({"q1": {"a": 12.3, "b": 11.1}}, {"q1": {"a": 1, "b": 0}}),
            ({"q1": {"a": 12.3, "b": 11.1}}, {"q1": {"a": 1}}),
            (FOUND, {query: ["a", "c"] for query in JUDGED}),
        ],
    )
    def test_it_is_said_with_the_call_and_not_of_the_right_order(self, first: Any, second: Any) -> None:
        with pytest.warns(rm.RetrievalWarning, match=r"exchanged: grades such as .* evaluate\(qrels, run\) takes the"):
            rm.evaluate(first, second, "ndcg@10")
        assert "swapped_arguments" not in kinds(second, first)

    def test_scores_of_few_values_betray_themselves_by_falling(self) -> None:
        fused = {f"q{at}": {"a": 1 / 61, "b": 1 / 62, "c": 1 / 63} for at in range(4)}  # 3! ** 4 orders: one falls
        judged: Any = {query: {"b": 1, "c": 0} for query in fused}
        assert "swapped_arguments" in kinds(fused, judged)
        mixed = {query: dict(sorted(of.items(), reverse=query == "q3")) for query, of in fused.items()}
        assert "swapped_arguments" not in kinds(mixed, judged)

    @pytest.mark.parametrize(
        ("qrels", "run"),
        [
            ({"q1": {"a": 0.5, "b": 0.25}, "q2": {"a": 0.75, "b": 0.5}}, {"q1": ["a"], "q2": ["a"]}),  # a fine scale
            (FOUND, {query: {"a": 3, "b": 2, "c": 1} for query in FOUND}),  # a model's grades, and ranks for scores
            ({"q1": {"a": 0.5, "b": 1, "c": 0}}, {"q1": {"a": 1, "b": 1, "c": 0}}),  # some grades are whole
            (FOUND, {query: list("abcdefghi") for query in FOUND}),  # deeper than the judgments
            ({query: dict(reversed(of.items())) for query, of in FOUND.items()}, {query: ["a"] for query in FOUND}),
            (SORTED, {query: list("abcd") for query in SORTED}),  # which tie, as scores seldom do
        ],
    )
    def test_judgments_with_fractions_are_judgments(self, qrels: Any, run: Any) -> None:
        assert "swapped_arguments" not in kinds(qrels, run, "ndcg")

    @pytest.mark.parametrize("scale", [1, 100])
    @pytest.mark.parametrize("whole", [[1], [1, 2], [0, 1, 2, 3], [1, 2, 3, 4, 5]])
    @pytest.mark.parametrize("order", ["falling", "any"])
    def test_fine_grades_beside_whole_scores_are_no_exchange(self, scale: int, whole: Any, order: str) -> None:
        rng = random.Random(scale)

        def ranking(depth: int, score: Any, *, falling: bool) -> dict[str, float]:
            found = {f"d{at}": score() for at in rng.sample(range(30), depth)}
            return dict(sorted(found.items(), key=lambda one: -one[1])) if falling else found

        def fine() -> float:
            return scale * rng.random()

        for pooled in (5, 20):
            graded = {f"q{at}": ranking(pooled, fine, falling=False) for at in range(10)}
            counted = {query: ranking(8, lambda: rng.choice(whole), falling=order == "falling") for query in graded}
            assert "swapped_arguments" not in kinds(graded, counted)
        if order == "falling" and whole[0] and len(whole) > 1:  # both in falling order, as runs are
            best_first = {query: ranking(20, fine, falling=True) for query in graded}
            assert "swapped_arguments" not in kinds(best_first, counted)

    @pytest.mark.parametrize("nothing", [{}, []])
    def test_a_run_in_which_nothing_was_retrieved_is_no_exchange(self, nothing: Any) -> None:
        falling = {f"q{at}": {f"d{rank}": 0.9 - rank / 100 for rank in range(30)} for at in range(30)}
        assert "swapped_arguments" not in kinds(falling, dict.fromkeys(falling, nothing))

    def test_files_have_the_same_guard(self, tmp_path: Path) -> None:
        rows = ["query,document,score", *(f"{q},{d},{s}" for q, of in FOUND.items() for d, s in of.items())]
        (tmp_path / "run.csv").write_text("\n".join(rows))
        rm.write_qrels(JUDGED, tmp_path / "qrels.csv")
        right = rm.read_qrels(tmp_path / "qrels.csv"), rm.read_run(tmp_path / "run.csv")
        assert "swapped_arguments" not in kinds(*right)
        columns = {"score": "grade"}
        wrong = rm.read_qrels(tmp_path / "run.csv"), rm.read_run(tmp_path / "qrels.csv", columns=columns)
        assert "swapped_arguments" in kinds(*wrong)


class TestSilence:
    QRELS: ClassVar[Any] = {"answerable": ["a"], "missed": ["b"], "silent": [], "judged 0": {"z": 0}}

    def test_it_is_right_where_nothing_is_relevant(self) -> None:
        run: Any = {"answerable": ["a"], "missed": [], "silent": [], "judged 0": []}
        with pytest.warns(rm.RetrievalWarning) as caught:
            result = rm.evaluate(self.QRELS, run, "mrr")
        (said,) = [str(one.message) for one in caught]
        assert said == "nothing was retrieved for 1 of 2 answerable judged queries, for example 'missed'; they score 0"
        assert result.counts["missing"] == 1
        assert "1 with nothing retrieved, scored 0\n2 without a relevant document" in str(result)
        assert kinds(self.QRELS, run | {"missed": ["b"]}) == {}

    def test_a_failure_is_counted_whatever_was_to_be_found(self) -> None:
        run = rm.RetrievedRun({"answerable": ["a"], "missed": ["b"], "silent": []}, {"silent": TimeoutError("slow")})
        with pytest.warns(rm.RetrievalWarning, match="1 of 3 answerable .* 'silent'.*TimeoutError: slow"):
            counts = rm.evaluate(self.QRELS, run, "mrr").counts
        assert (counts["missing"], counts["failed"]) == (1, 1)


def ordinary(seed: int) -> tuple[Any, Any]:
    """Judgments and a run of any ordinary shape: what is relevant comes rather early, ids are shared."""
    rng = random.Random(seed)
    depth, queries = rng.choice([1, 2, 3, 5, 10, 40]), rng.choice([1, 2, 5, 20, 60])
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    shape = rng.choice(["best first", "any order", "upwards", "tied", "whole", "list", "items", "columns", "ranks"])
    scale: list[float] = rng.choice([[1], [0, 1], [0, 1, 2, 3], [0, 0.5, 1], [0.25, 0.5, 0.75]])
    for number in range(queries):
        documents = [f"d{number}-{at}" for at in range(max(depth, 4))]
        qrels[f"q{number}"] = {doc: rng.choice(scale) for doc in rng.sample(documents[: max(depth, 4)], 3)}
        worth = {doc: rng.gauss(2 * qrels[f"q{number}"].get(doc, 0), 1) for doc in rng.sample(documents, depth)}
        found = dict(sorted(worth.items(), key=lambda one: -one[1]))
        if shape == "any order":
            found = worth
        elif shape == "upwards":
            found = dict(reversed(found.items()))
        elif shape == "tied":
            found = dict.fromkeys(found, 1.0)
        elif shape == "whole":
            found = {doc: float(round(score)) for doc, score in found.items()}
        elif shape == "ranks":
            found = {doc: float(depth - at) for at, doc in enumerate(found)}
        run[f"q{number}"] = found
        if shape in {"list", "items"}:
            run[f"q{number}"] = [rm.Retrieved(doc) if shape == "items" else doc for doc in found]
    if shape == "columns":
        rows = [(query, doc, score) for query, found in run.items() for doc, score in found.items()]
        return qrels, rm.Run.from_frame(dict(zip(("query", "document", "score"), zip(*rows, strict=True), strict=True)))
    return qrels, run


def test_ordinary_runs_of_all_shapes_raise_no_alarm() -> None:
    alarms = {}
    for seed in range(500):
        qrels, run = ordinary(seed)
        found = kinds(qrels, run, "ndcg@10")
        meet = any(doc in of for query, of in qrels.items() for doc in _ids(run[query]))
        wrong = [kind for kind in SYSTEM_WIDE if kind in found and (kind != "no_common_ids" or meet)]
        if wrong:
            alarms[seed] = wrong
    assert not alarms


def _ids(ranking: Any) -> list[Any]:
    return [one.id if isinstance(one, rm.Retrieved) else one for one in ranking]


@pytest.mark.parametrize("run", ["bm25", "minilm_int8", "tfidf_nosat"])
@pytest.mark.parametrize("qrels", ["graded", "binary"])
def test_cranfield_raises_no_alarm(shared_data: Path, qrels: str, run: str) -> None:
    truth = rm.read_qrels(shared_data / f"cranfield/qrels.{qrels}.trec")
    found = rm.read_run(shared_data / f"cranfield/run.{run}.trec")
    as_dicts: Any = {query: dict(ranking) for query, ranking in found.items()}
    for given in (found, as_dicts):
        assert not kinds(truth, given).keys() & set(SYSTEM_WIDE)
