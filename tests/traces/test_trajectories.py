"""Properties of trajectories: the recorded example by hand, what is undefined, and two systems."""

import json
import math
import pickle
import re
from pathlib import Path

import pytest

import retrieval_metrics as rm
from agent_trajectories import TWO_CALLS, means

RECORDED = rm.Trajectory(
    [
        rm.SearchCall("closing a file", ["d2", "d1"], turn=1),
        rm.SearchCall("exit method", ["d3", "d1"], turn=2),
        rm.SearchCall("suppress", ["d7", "d4"], turn=2),
        rm.SearchCall("BOOM", error="offline", turn=3),
        rm.SearchCall("suppress", ["d7", "d4"], turn=4),
    ],
    context=["d2", "d1", "d3", "d7", "d4"],
    citations=["d2", "d3", "d4"],
)


def test_the_properties_of_an_agent_that_repeats_and_fails() -> None:
    expected = {
        "calls": 5,
        "failed": 1,
        "retrieved": 8,
        "distinct": 5,
        "redundant": 0.375,
        "no_new_results": 0.4,
        "not_in_context": 0,
        "uncited": 0.4,
        "cited_not_in_context": 0,
    }
    assert RECORDED.properties() == expected
    assert dict(rm.Trajectories({"q": RECORDED}).properties().means) == expected


def test_a_share_of_nothing_is_undefined_and_out_of_the_mean() -> None:
    properties = rm.Trajectories(
        {"q": RECORDED, "r": rm.Trajectory(), "s": rm.Trajectory([rm.SearchCall("a")])}
    ).properties()
    assert math.isnan(properties.per_query["redundant"]["r"])
    assert math.isnan(properties.per_query["not_in_context"]["s"])
    assert properties.per_query["no_new_results"]["s"] == 1.0
    assert properties.means["redundant"] == 0.375
    assert properties.means["no_new_results"] == 0.7
    assert properties.means["calls"] == 2.0
    assert (properties.n["redundant"], properties.n["calls"]) == (1, 3)
    assert math.isnan(rm.Trajectories({"r": rm.Trajectory()}).properties().means["uncited"])
    with pytest.raises(ValueError, match="no query has a score for"):
        rm.Trajectories({}).properties()


def test_several_trajectories_of_a_question_count_as_their_mean() -> None:
    calm = rm.Trajectory(RECORDED.calls[:3])
    properties = rm.Trajectories({"q": [RECORDED, calm], "r": calm}).properties()
    assert properties.queries == ("q", "r")
    assert properties.per_query["calls"] == {"q": 4.0, "r": 3.0}
    assert properties.per_query["uncited"]["q"] == 0.4  # unknown of the other
    once = {f"q{n}": RECORDED if n % 3 else calm for n in range(30)}
    often = rm.Trajectories({query: [trajectory] * 4 for query, trajectory in once.items()}).properties()
    assert often.intervals() == rm.Trajectories(once).properties().intervals()


def test_two_agents_are_compared_on_the_questions_that_both_have() -> None:
    calm = rm.Trajectory(RECORDED.calls[:3])
    ours = rm.Trajectories({f"q{n}": RECORDED for n in range(12)}).properties()
    theirs = rm.Trajectories({f"q{n}": [calm, calm] for n in range(4, 20)}).properties()
    comparison = rm.compare({"ours": ours, "theirs": theirs})
    assert comparison.difference("calls", "theirs", "ours").mean == -2.0
    assert comparison.difference("redundant", "theirs", "ours").mean == pytest.approx(1 / 6 - 3 / 8)
    assert (comparison.difference("calls", "theirs", "ours").paired.count, comparison.n["uncited"]) == (8, 0)
    sentences = {name: comparison.conclusions.get(name).sentence for name in RECORDED.properties()}
    assert sentences["calls"] == "theirs is better than ours in calls by 2.00 on every query."
    assert sentences["distinct"] == "theirs and ours have identical values in distinct on every query."
    assert "share no query on which uncited is defined" in sentences["uncited"]
    assert "only in ours" not in str(comparison)
    assert set(comparison.to_pandas()["metric"]) == set(RECORDED.properties())
    with pytest.raises(ValueError, match="no query is identical in"):
        rm.compare({"ours": ours, "other": rm.Trajectories({"x": RECORDED}).properties()})


def test_means_that_are_no_shares_have_a_panel_of_their_own() -> None:
    pytest.importorskip("matplotlib")
    counted, shares = rm.Trajectories({"q": RECORDED, "r": RECORDED}).properties().plot().axes
    assert [label.get_text() for label in counted.get_yticklabels()] == ["calls", "failed", "retrieved", "distinct"]
    assert [label.get_text() for label in shares.get_yticklabels()] == list(RECORDED.properties())[4:]
    assert shares.get_xlim() == (0, 1)


def test_a_frame_has_a_row_for_each_question() -> None:
    frame = rm.Trajectories({"q": [RECORDED, RECORDED], "r": RECORDED}).properties().to_pandas()
    assert list(frame["redundant"]) == [0.375] * 2
    assert set(RECORDED.properties()) <= set(frame.columns)


T = rm.Trajectories(
    {
        "q": rm.Trajectory(
            [
                rm.SearchCall("a", ["d1", "d2"], inner_rankings=[["d1", "d2", "d8"]]),
                rm.SearchCall("b", ["d7", "d2"], turn=2),
            ],
            context=["d7"],
            citations=["d7"],
        )
    }
)
QRELS = {"q": ["d7", "d2", "d8", "d9"]}


def test_an_explanation_tells_what_each_call_did_with_a_document() -> None:
    explained = rm.evaluate(QRELS, T.union(), "recall").explain("q")
    assert {finding.document: finding.detail for finding in explained.findings} == {
        "d7": "found by call 2, read, cited",
        "d2": "found by call 1, repeated by call 2, not read, not cited",
        "d8": "dropped inside call 1",
        "d9": "not found by any call",
    }
    assert [result.place for result in explained.results] == [(1, 1), (1, 2), (2, 1)]
    assert "   3  call 2, rank 1  d7      relevant" in str(explained)


def test_what_was_found_but_not_read_says_so() -> None:
    explained = rm.evaluate(QRELS, T.context(), "recall").explain("q")
    (detail,) = [finding.detail for finding in explained.findings if finding.document == "d2"]
    assert detail.endswith("found by call 1, repeated by call 2, not read, not cited")


def test_a_piece_is_told_by_the_call_of_the_item_that_holds_it() -> None:
    items = [rm.Retrieved("c1", "nothing of note"), rm.Retrieved("c2", "the file is closed at the end")]
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", items[:1]), rm.SearchCall("b", items[1:], turn=2)])})
    explained = rm.evaluate({"q": [rm.Quote("the file is closed")]}, t.union(), "recall").explain("q")
    assert [finding.detail for finding in explained.findings] == ["found by call 2"]
    read = rm.Trajectories({"q": rm.Trajectory(t["q"].calls, context=items[:1], citations=["c2"])})
    pieces = [rm.Quote("the file is closed"), rm.Quote("nothing of note"), rm.Quote("never said anywhere")]
    explained = rm.evaluate({"q": pieces}, read.context(), "recall").explain("q")
    assert [finding.detail.rpartition("; ")[2] or finding.detail for finding in explained.findings] == [
        "found by call 2, not read, cited",
        "found by call 1, read, not cited",
        "not found by any call",
    ]


def test_the_answer_of_a_retriever_has_no_story() -> None:
    explained = rm.evaluate({"q": ["d1"]}, {"q": ["d1"]}, "recall").explain("q")
    assert [finding.detail for finding in explained.findings] == ["found"]
    assert "found by" not in str(explained)


def test_a_report_knows_the_call_of_each_result(tmp_path: Path) -> None:
    rm.evaluate(QRELS, T.union(), "recall").report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    (data,) = (
        json.loads(script)
        for script in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    )
    (query,) = data["shown"].values()
    assert [result[6] for result in query["results"][0]] == [[1, 1], [1, 2], [2, 1]]


def test_a_report_says_what_each_call_asked_for_and_which_added_nothing(tmp_path: Path) -> None:
    calls = [
        rm.SearchCall("why?", ["d1", "d2"]),
        rm.SearchCall("why then?", ["d2"], turn=2),
        rm.SearchCall(None, error="timeout", turn=3),
        rm.SearchCall("who?", [], turn=4),
    ]
    trajectories = rm.Trajectories(
        {"q": rm.Trajectory(calls, context=["d1"]), "r": rm.Trajectory(calls[:1], context=[])}
    )
    path = tmp_path / "report.html"
    rm.evaluate({"q": ["d1"], "r": ["d1"]}, trajectories.union(), "recall").report(path)
    match = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert match is not None
    first, second = json.loads(match[1])["shown"].values()
    assert first["searches"] == [
        [["why?", ""], ["why then?", "nothing new"], ["", "failed: timeout"], ["who?", "no results"]]
    ]
    assert second["searches"] == [[["why?", ""]]]
    rm.evaluate({"q": ["d1"]}, {"q": ["d1"]}, "recall").report(path)
    assert "searches" not in path.read_text().partition('id="data">')[2].partition("</script>")[0]


def test_unknown_contexts_raise_and_known_empty_ones_are_0() -> None:
    t = rm.Trajectories({"q": TWO_CALLS["q"], "r": rm.Trajectory(TWO_CALLS["q"].calls, context=(), citations=())})
    with pytest.raises(ValueError, match=r"1 of 2 trajectories .*query 'q'.* no recorded context"):
        t.context()
    with pytest.raises(ValueError, match=r"1 of 2 trajectories .* no recorded citations"):
        t.cited()
    recorded = t.with_recorded("context")
    assert repr(recorded) == "<Trajectories: 1 query, 2 calls, 0 failed; 1 with unknown context, excluded>"
    judged = recorded.judgments({"q": ["good"], "r": ["good"], "never asked": ["good"]})
    assert list(judged.qrels) == ["r"]
    assert means(judged, recorded.context(), "recall") == [0.0]
    assert list(t.judgments({"q": ["good"], "r": ["good"], "never asked": ["x"]}).qrels) == [
        "q",
        "r",
        "never asked",
    ]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestSeveralTrajectoriesOfAQuestion:
    t = rm.Trajectories({1: [TWO_CALLS["q"], TWO_CALLS["q"]], 2: TWO_CALLS["q"]})

    def test_are_rows_of_one_cluster(self) -> None:
        assert self.t.questions == {"1#1": 1, "1#2": 1, "2": 2}
        assert repr(self.t) == "<Trajectories: 3 trajectories of 2 queries, 6 calls, 0 failed>"
        result = rm.evaluate(self.t.judgments({1: ["good"], 2: ["good"], 3: ["x"]}), self.t.union(), "recall")
        assert result.queries == ("1#1", "1#2", "2", "3")
        assert result.means["recall"] == 0.75
        assert result.scores.clusters is not None
        assert result.scores.clusters.count == 3

    def test_each_call_is_a_row_with_its_number(self) -> None:
        hops = self.t.each_call()
        assert hops.numbers == {"1#1#1": 1, "1#1#2": 2, "1#2#1": 1, "1#2#2": 2, "2#1": 1, "2#2": 2}
        result = rm.evaluate(
            hops.judgments({1: ["good"], 2: ["good"]}), hops.union(), "recall", clusters=hops.questions
        )
        of_hop = result.group_by(hops.numbers)
        assert (of_hop[1].means["recall"], of_hop[2].means["recall"], of_hop[2].n["recall"]) == (0.0, 1.0, 3)

    def test_a_mean_by_hop_is_of_the_questions_that_have_it_and_says_how_many(self) -> None:
        first = rm.SearchCall("a", ["x"])
        other = rm.SearchCall("b", ["good"], turn=2)
        hops = rm.Trajectories(
            {1: rm.Trajectory([first, other]), 2: rm.Trajectory([first]), 3: rm.Trajectory()}
        ).each_call()
        judged = hops.judgments({1: ["good"], 2: ["good"], 3: ["good"]})
        of_hop = rm.evaluate(judged, hops.union(), "recall", clusters=hops.questions).group_by(hops.numbers)
        assert [(hop, of_hop[hop].means["recall"], of_hop[hop].n["recall"]) for hop in (1, 2)] == [
            (1, 0.0, 2),
            (2, 1.0, 1),
        ]
        assert "2      recall" in str(of_hop)
        assert [line.split()[-1] for line in str(of_hop).splitlines()[1:3]] == ["2", "1"]

    def test_their_judgments_must_name_the_rows(self) -> None:
        """Else the question would count as one for which nothing was retrieved."""
        t = rm.Trajectories({"a": [TWO_CALLS["q"], TWO_CALLS["q"]], "b": TWO_CALLS["q"]})
        for run in (t.union(), t.each_call().union(), pickle.loads(pickle.dumps(t.union()))):
            with pytest.raises(ValueError, match=r"question 'a' is a row of its own, such as 'a#1.*judgments\(qrels\)"):
                rm.evaluate({"a": ["good"], "b": ["good"]}, run, "recall")
        assert rm.evaluate({"b": ["good"]}, t.union(), "recall").means["recall"] == 1.0  # the others are not judged

    def test_two_rows_cannot_have_one_name(self) -> None:
        with pytest.raises(ValueError, match="two rows would be named 'a#1'"):
            rm.Trajectories({"a": [TWO_CALLS["q"], TWO_CALLS["q"]], "a#1": TWO_CALLS["q"]})


def test_the_sources_of_questions_stay_their_clusters() -> None:
    questions = rm.EvaluationSet.from_dataset([{"id": "q", "query": "who?", "relevant": ["good"], "source": "a page"}])
    judged = rm.Trajectories({"q": [TWO_CALLS["q"], TWO_CALLS["q"]]}).judgments(questions)
    assert [provenance.source for provenance in judged.provenance.values()] == ["a page", "a page"]
    assert judged.queries == {"q#1": "who?", "q#2": "who?"}
