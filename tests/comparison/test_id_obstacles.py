"""Nothing is concluded about a system whose ids do not, or nearly do not, match the judgments."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently
from retrieval_metrics.comparison.comparison_charts import main_pair_changes, sorted_changes
from retrieval_metrics.comparison.id_obstacles import find_unmeasured
from retrieval_metrics.comparison.system_ranking import choose_main_pair
from retrieval_metrics.evaluation.data_warnings import find_near_misses_note
from run_shapes import in_columns, with_items

QRELS: Any = {f"q{number}": [f"doc{number}.pdf"] for number in range(30)}
IDS = [f"doc{number}.pdf" for number in range(30)]
GOOD: Any = {f"q{number}": (IDS[number:] + IDS)[:3] for number in range(30)}


def cut_into_chunks(run: Any, n_whole: int = 1) -> Any:
    """Return the same ranking by the ids of chunks, but for the first documents, which were not cut."""
    whole = {f"doc{number}.pdf" for number in range(n_whole)}
    chunks = {}
    for query, documents in run.items():
        chunks[query] = [document if document in whole else f"{document}#0" for document in documents]
    return chunks


def compare(runs: Any, metrics: Any = "mrr", qrels: Any = QRELS) -> rm.Comparison:
    evaluations = {name: evaluate_silently(qrels, run, metrics) for name, run in runs.items()}
    return rm.compare(evaluations)


def find_outcome(runs: Any, qrels: Any = QRELS) -> tuple[str, str]:
    (conclusion,) = compare(runs, qrels=qrels).conclusions
    return conclusion.kind, conclusion.details.obstacle


@pytest.mark.parametrize("n_whole", [1, 10])
def test_the_same_ranking_under_ids_of_chunks_is_not_worse(n_whole: int) -> None:
    runs = {"old": GOOD, "new": cut_into_chunks(GOOD, n_whole)}
    assert find_outcome(runs) == ("not_comparable", "near_misses")
    comparison = compare(runs)
    assert not comparison.differences[0].significant
    assert comparison.evaluations["new"].counts["near_misses"] == 30 - n_whole
    assert "doc" in comparison.conclusions.caveats[0]


def test_near_misses_that_cannot_change_the_sign_leave_the_conclusion() -> None:
    worse: Any = {query: ["x", "y", *documents] for query, documents in GOOD.items()}
    runs = {"old": GOOD, "new": worse | {"q1": ["doc1.pdf\u200b"], "q2": ["doc2.pdf\u200b"]}}
    assert find_outcome(runs)[0] == "worse"
    assert compare(runs).conclusions.caveats


# Of 12 of 30 queries, the relevant document comes second.
SECOND: Any = {query: ["x", *GOOD[query]] for query in list(GOOD)[:12]}
NEW: Any = GOOD | SECOND
SLIGHTLY_BETTER: Any = NEW | {query: GOOD[query] for query in list(GOOD)[:3]}


def spell_otherwise(run: Any, n_documents: int) -> Any:
    """Return the run with the last documents under ids in upper case."""
    others = {document: document.upper() for document in IDS[len(IDS) - n_documents :]}
    return {query: [others.get(document, document) for document in documents] for query, documents in run.items()}


def test_a_significant_difference_that_would_not_be_one_with_near_misses_is_no_conclusion() -> None:
    assert find_outcome({"old": NEW, "new": SLIGHTLY_BETTER})[0] == "not_significant"
    assert find_outcome({"old": spell_otherwise(NEW, 12), "new": SLIGHTLY_BETTER}) == ("not_comparable", "near_misses")
    # With the near misses, the new system would still be better.
    assert find_outcome({"old": spell_otherwise(NEW, 2), "new": GOOD})[0] == "better"


def test_a_difference_that_is_not_significant_may_hide_one() -> None:
    late: Any = {query: ["x", *documents] for query, documents in GOOD.items()}
    runs = {"old": late, "new": {query: ["x", documents[0]] for query, documents in cut_into_chunks(GOOD, 29).items()}}
    assert find_outcome(runs)[0] in ("not_significant", "not_comparable")
    half = {"old": {query: ["x", documents[0]] for query, documents in GOOD.items()}, "new": cut_into_chunks(GOOD, 15)}
    assert find_outcome(half) == ("not_comparable", "near_misses")


OLD: Any = {f"q{number}": [f"old-{number}"] for number in range(30)}
REBUILT: Any = {query: ["y", f"new{documents[0]}"] for query, documents in OLD.items()}
MEASURED: Any = {query: ["x", documents[0]] for query, documents in OLD.items()}
SHARED: Any = {query: ["x"] for query in OLD}
LATE: Any = {query: ["x", "z", documents[0]] for query, documents in OLD.items()}
# Known documents, none of them relevant, and not those of the query before or after.
OTHERS: Any = {f"q{number}": [f"old-{(number + 7) % 30}"] for number in range(30)}


@pytest.mark.parametrize("shape", [dict, in_columns, with_items])
@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (REBUILT, ("not_comparable", "foreign_ids")),
        (SHARED, ("worse", "budget")),
        (OTHERS, ("worse", "budget")),
    ],
)
def test_foreign_ids_are_not_measured_and_known_documents_are(run: Any, outcome: tuple[str, str], shape: Any) -> None:
    assert find_outcome({"a": shape(MEASURED), "b": shape(run)}, OLD) == outcome


@pytest.mark.parametrize("empty", [{"q0": []}, {query: [] for query in OLD}])
def test_a_system_that_retrieves_nothing_is_not_measured(empty: Any) -> None:
    assert find_outcome({"a": MEASURED, "b": empty}, OLD) == ("not_comparable", "no_results")
    comparison = compare({"a": MEASURED, "b": empty, "c": LATE}, qrels=OLD)
    assert comparison.conclusions.get("mrr", "c", "a").kind == "worse"
    with pytest.raises(ValueError, match="one of them retrieved nothing"):
        rm.plan(0.05, "mrr", pilot=comparison.difference("mrr", "b", "a"))


def test_a_system_that_retrieves_nothing_where_nothing_is_relevant_is_measured() -> None:
    unanswerable: Any = {query: {"x": 0} for query in OLD}
    scores = {name: evaluate_silently(unanswerable, {query: [] for query in OLD}).scores for name in ("a", "b")}
    assert find_unmeasured(scores) == {}


def test_spans_that_cannot_be_looked_for_are_not_measured() -> None:
    qrels: Any = {f"q{number}": [rm.Span("a.md", number, number + 1)] for number in range(10)}
    located: Any = {query: [rm.Retrieved("c", source="a.md", start=0, end=50)] for query in qrels}
    unlocated: Any = {query: [rm.Retrieved("c", source="a.md")] for query in qrels}
    assert find_outcome({"a": located, "b": unlocated}, qrels) == ("not_comparable", "unlocated")


def test_three_systems_of_which_one_is_foreign() -> None:
    comparison = compare({"a": MEASURED, "b": REBUILT, "c": LATE}, qrels=OLD)
    kinds = {(conclusion.system, conclusion.baseline): conclusion.kind for conclusion in comparison.conclusions}
    assert kinds == {("b", "a"): "not_comparable", ("c", "a"): "worse", ("c", "b"): "not_comparable"}


class TestWhatIsShown:
    """Of systems that were not measured, the means stand alone: a difference would be taken for a result."""

    runs: Any = {"old": MEASURED, "rebuilt": REBUILT}

    def test_tables_have_no_difference(self) -> None:
        comparison = compare(self.runs, ["mrr", "recall@5"], OLD)
        pair_table = comparison.tables[0]
        assert [row[1:] for row in pair_table.rows] == [
            ["0.500", "0.000", "-", "-", "-", "-", "30"],
            ["1.000", "0.000", "-", "-", "-", "-", "30"],
        ]
        details = comparison.details.tables[1]
        assert [set(row[1:]) for row in details.rows] == [{"-"}, {"-"}]
        assert details.notes == []
        assert "Randomisation test" not in str(comparison)
        assert "not comparable" in repr(comparison.differences[0])

    def test_little_is_judged_because_of_the_ids_so_that_is_no_caveat_of_its_own(self) -> None:
        qrels: Any = {query: {**dict.fromkeys(documents, 1), "x": 0} for query, documents in OLD.items()}
        comparison = compare(self.runs, qrels=qrels)
        assert comparison.judged_coverage is not None
        assert comparison.judged_coverage.is_unbalanced
        (caveat,) = comparison.conclusions.caveats
        assert caveat.startswith("rebuilt: no retrieved document is judged")

    def test_a_system_that_was_not_measured_does_not_stand_above_those_that_were(self) -> None:
        ranking = compare({**self.runs, "late": LATE, "good": OLD}, qrels=OLD).ranking
        places = [(place.system, place.status) for place in ranking.by_metric["mrr"]]
        assert places == [("good", "best"), ("old", "worse"), ("late", "worse"), ("rebuilt", "undetermined")]

    def test_other_pairs_keep_their_numbers(self) -> None:
        comparison = compare({**self.runs, "other": LATE}, qrels=OLD)
        rows = {pair: table.table().rows[0] for pair, table in comparison.differences.by_pair.items()}
        assert rows["rebuilt", "old"] == ["mrr", "-", "-", "-", "-"]
        assert rows["other", "old"][1] == "-0.167"
        assert comparison.ranking.cheapest_noninferior(0.5, dict.fromkeys(comparison.systems, 1)) is None

    def test_charts_show_comparable_systems_first_and_no_mean_of_others(self) -> None:
        comparison = compare({"rebuilt": REBUILT, "old": MEASURED, "late": LATE}, qrels=OLD)
        assert choose_main_pair(comparison, rm.Metric.parse("mrr")) == ("late", "old")
        assert main_pair_changes(compare(self.runs, qrels=OLD), rm.Metric.parse("mrr")) is None
        changes = sorted_changes(comparison.difference("mrr", "old", "rebuilt"))
        assert changes.label == ""

    def test_what_to_judge_is_what_comparable_systems_retrieved(self) -> None:
        three = compare({**self.runs, "late": LATE}, "mrr@3", OLD)
        assert {name for document in three.to_judge(99) for name in document.ranks} == {"old", "late"}
        near = compare({"a": SLIGHTLY_BETTER, "b": NEW, "near": spell_otherwise(NEW, 12)}, "mrr@3")
        assert {name for document in near.to_judge(99) for name in document.ranks} == {"a", "b"}
        with pytest.raises(ValueError, match="no two systems are comparable"):
            compare(self.runs, "mrr@3", OLD).to_judge()

    def test_it_is_no_pilot_of_a_plan(self) -> None:
        comparison = compare({"old": OLD, "rebuilt": {**REBUILT, "q0": ["x"]}}, qrels=OLD)
        with pytest.raises(ValueError, match="the pilot does not show how rebuilt and old differ: the IDs of one"):
            rm.plan(0.05, "mrr", pilot=comparison)

    def test_machine_formats_have_no_number_that_would_be_taken_for_a_result(self) -> None:
        comparison = compare({**self.runs, "late": LATE}, qrels=OLD)
        frame = comparison.to_pandas().set_index(["system", "baseline"])
        assert frame["conclusion"].tolist() == ["not_comparable", "worse", "not_comparable"]
        columns = ["difference", "ci_low", "ci_high_uncorrected", "p_corrected", "p_uncorrected", "p_t", "wins", "mde"]
        assert frame.loc[("rebuilt", "old"), columns].isna().all()
        assert not frame.loc[("late", "old"), columns].isna().any()
        conclusion = comparison.conclusions.get("mrr", "rebuilt", "old").as_dict()
        assert {conclusion[name] for name in ("difference", "p_corrected", "p_uncorrected")} == {None}
        assert (conclusion["interval"], conclusion["n"]) == (None, 30)
        assert comparison.means["mrr"]["rebuilt"] == 0

    def test_of_a_budget_that_one_does_not_fill_the_measured_difference_stays(self) -> None:
        def with_texts(ranking: list[str]) -> list[rm.Retrieved]:
            return [rm.Retrieved(document, text="a" * 400) for document in ranking]

        full = {query: with_texts(["v", "w", "x", "y", *documents]) for query, documents in OLD.items()}
        short = {query: with_texts(documents) for query, documents in OLD.items()}
        comparison = compare({"full": full, "short": short}, "mrr@2000chars", OLD)
        (conclusion,) = comparison.conclusions
        assert conclusion.kind == "not_comparable"
        assert (round(conclusion.as_dict()["difference"], 3), conclusion.as_dict()["p_corrected"]) == (0.8, None)
        assert comparison.tables[0].rows == [["mrr@2000chars", "0.200", "1.000", "+0.800", "-", "-", "30/0/0", "30"]]


class TestTune:
    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    @pytest.mark.parametrize(
        ("runs", "qrels"),
        [
            ({"a": MEASURED, "b": REBUILT}, OLD),
            ({"a": GOOD, "b": cut_into_chunks(GOOD)}, QRELS),
            ({"b": cut_into_chunks(GOOD), "a": GOOD}, QRELS),
        ],
    )
    def test_it_refuses_such_settings(self, runs: Any, qrels: Any) -> None:
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.* b: "):
            rm.tune(runs, qrels, "mrr", default="a")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_a_setting_that_could_win_takes_no_part_unless_the_winner_is_in_doubt_too(self) -> None:
        default: Any = {query: ["x", "y", "z", *documents] for query, documents in GOOD.items()}
        second: Any = {query: ["x", *documents] for query, documents in QRELS.items()}
        hidden: Any = second | {f"q{number}": [f"doc{number}.pdf#0"] for number in range(4)}
        settings = {"default": default, "second": second, "hidden": hidden}
        tuning = rm.tune(settings, QRELS, "mrr", default="default")
        assert (tuning.winner, tuning["hidden"].obstacle) == ("second", "near_misses")
        assert tuning["hidden"].difference is not None
        assert tuning["hidden"].difference.comparable
        nearly: Any = second | {"q29": ["x", "y", "doc29.pdf#0"]}
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.*'hidden' would have a larger"):
            rm.tune(settings | {"second": nearly}, QRELS, "mrr", default="default")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    @pytest.mark.parametrize(("run", "obstacle"), [(cut_into_chunks(GOOD), "near_misses"), (REBUILT, "foreign_ids")])
    def test_one_setting_with_other_ids_takes_no_part_and_the_others_are_chosen_from(
        self, run: Any, obstacle: str, tmp_path: Path
    ) -> None:
        qrels = OLD if obstacle == "foreign_ids" else QRELS
        late: Any = {query: ["x", *documents] for query, documents in qrels.items()}
        settings = {"good": qrels, "late": late, "other": run}
        tuning = rm.tune(settings, qrels, "mrr", default="late")
        clean = rm.tune({"good": qrels, "late": late}, qrels, "mrr", default="late")
        assert {setting.name: setting.obstacle for setting in tuning.settings} == {
            "good": None,
            "late": None,
            "other": obstacle,
        }
        assert (tuning.winner, tuning.expected_gain, tuning["other"].selection_rate) == ("good", clean.expected_gain, 0)
        # The p values are still corrected for every setting that was tried.
        everything = rm.compare(qrels, settings, "mrr", baseline="late")
        assert tuning.p == everything.difference("mrr", "good").p_corrected
        assert [warning.split(":")[0] for warning in tuning.warnings] == ["other"]
        assert tuning.conclusion.startswith(clean.conclusion)
        assert "Not compared: other (" in tuning.conclusion
        frame = tuning.to_pandas().set_index("setting")
        assert frame.loc["other", ["difference", "p_corrected"]].isna().all()
        assert not frame.loc["good", ["difference", "p_corrected"]].isna().any()
        tuning.save(tmp_path / "tuning.json")
        assert rm.load(tmp_path / "tuning.json")["other"].obstacle == obstacle
        tuning.save(tmp_path / "small.json", rankings=False)
        small = rm.load(tmp_path / "small.json")
        assert (small["other"].obstacle, small.conclusion) == (obstacle, tuning.conclusion)
        assert [warning.split(":")[0] for warning in small.warnings] == ["other"]
        tuning.report(tmp_path / "tuning.html")
        assert "not compared" in (tmp_path / "tuning.html").read_text()
        with pytest.raises(ValueError, match=r"no setting meets .* not compared: other"):
            rm.tune(settings, qrels, "mrr", default="late", at_least={"mrr": 1.0}, at_most={"mrr": 0.99})

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    @pytest.mark.parametrize("empty", [{}, {query: [] for query in QRELS}])
    def test_a_setting_that_retrieved_nothing_takes_no_part_and_is_no_default(self, empty: Any) -> None:
        late: Any = {query: ["x", *documents] for query, documents in QRELS.items()}
        tuning = rm.tune({"late": late, "good": GOOD, "empty": empty}, QRELS, "mrr", default="late")
        assert (tuning.winner, tuning["empty"].obstacle, tuning["good"].obstacle) == ("good", "no_results", None)
        assert tuning.conclusion.endswith(" Not compared: empty (nothing retrieved).")
        assert [warning.split(":")[0] for warning in tuning.warnings] == ["empty"]
        alone = rm.tune({"late": late, "empty": empty}, QRELS, "mrr", default="late")
        assert alone.conclusion == (
            "Keep late: no setting compared with it has a better observed mrr. Not compared: empty (nothing retrieved)."
        )
        with pytest.raises(ValueError, match=r"'empty', retrieved nothing|the run is empty"):
            rm.tune({"late": late, "good": GOOD, "empty": empty}, QRELS, "mrr", default="empty")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_a_default_that_would_not_be_worse_with_near_misses_is_refused(self) -> None:
        settings = {"default": spell_otherwise(NEW, 12), "better": SLIGHTLY_BETTER}
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.* default: "):
            rm.tune(settings, QRELS, "mrr", default="default")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    @pytest.mark.parametrize("doubtful", ["default", "good"])
    def test_warnings_about_the_winner_or_the_default_stand_beside_the_choice(
        self, doubtful: str, tmp_path: Path
    ) -> None:
        late: Any = {query: ["x", "y", *documents] for query, documents in GOOD.items()}
        settings = {"default": late, "good": GOOD, "third": late}
        settings[doubtful] = spell_otherwise(settings[doubtful], 3)
        tuning = rm.tune(settings, QRELS, "mrr", default="default")
        assert (tuning.winner, tuning.is_significant, tuning.doubtful) == ("good", True, (doubtful,))
        assert [warning.split(":")[0] for warning in tuning.warnings] == [doubtful]
        assert f"the warnings about {doubtful}" in tuning.conclusion
        assert tuning.warnings[0].removesuffix(".") in str(tuning).replace("\n", " ")
        tuning.report(tmp_path / "tuning.html")
        assert "3 of 3 missing" in (tmp_path / "tuning.html").read_text()
        tuning.save(tmp_path / "tuning.json")
        assert str(rm.load(tmp_path / "tuning.json")) == str(tuning)
        tuning.save(tmp_path / "small.json", rankings=False)
        small = rm.load(tmp_path / "small.json")
        assert (small.conclusion, small.doubtful) == (tuning.conclusion, (doubtful,))
        assert [warning.split(":")[0] for warning in small.warnings] == [doubtful]
        assert small.warnings[0].removesuffix(".") in str(small).replace("\n", " ")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_a_default_with_other_ids_is_refused_whatever_the_others_are(self) -> None:
        settings = {"default": cut_into_chunks(GOOD), "good": GOOD, "same": GOOD}
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.* default: "):
            rm.tune(settings, QRELS, "mrr", default="default")
        settings = {"default": REBUILT, "good": OLD, "foreign": {query: ["z"] for query in OLD}}
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.* default: "):
            rm.tune(settings, OLD, "mrr", default="default")


def test_a_floor_that_near_misses_would_reach_was_not_measured() -> None:
    scores = evaluate_silently(QRELS, cut_into_chunks(GOOD), "mrr").scores
    assert find_near_misses_note(scores, "mrr", 0.9)
    assert not find_near_misses_note(scores, "mrr", 1.1)
    assert not find_near_misses_note(evaluate_silently(QRELS, GOOD, "mrr").scores, "mrr", 0.9)
