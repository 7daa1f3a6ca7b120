"""What explanations and reports say of an agent's searches."""

import json
import re
from pathlib import Path

import retrieval_metrics as rm

T = rm.Trajectories(
    {
        "q": rm.Trajectory(
            [rm.SearchCall("a", ["d1", "d2"], before=[["d1", "d2", "d8"]]), rm.SearchCall("b", ["d7", "d2"], turn=2)],
            context=["d7"],
            citations=["d7"],
        )
    }
)
QRELS = {"q": ["d7", "d2", "d8", "d9"]}


def test_an_explanation_tells_what_each_call_did_with_a_document() -> None:
    explained = rm.evaluate(QRELS, T.union(), "recall").explain("q")
    assert {one.document: one.detail.partition("; found by ")[2] or one.detail for one in explained.findings} == {
        "d7": "call 2, read, cited",
        "d2": "call 1, repeated by call 2, not read, not cited",
        "d8": "dropped inside call 1",
        "d9": "found by no call",
    }
    assert [result.place for result in explained.results] == [(1, 1), (1, 2), (2, 1)]
    assert "   3  call 2, rank 1  d7         relevant" in str(explained)


def test_what_was_found_but_not_read_says_so() -> None:
    explained = rm.evaluate(QRELS, T.context(), "recall").explain("q")
    (detail,) = [one.detail for one in explained.findings if one.document == "d2"]
    assert detail.endswith("found by call 1, repeated by call 2, not read, not cited")


def test_a_piece_is_told_by_the_call_of_the_item_that_holds_it() -> None:
    items = [rm.Retrieved("c1", "nothing of note"), rm.Retrieved("c2", "the file is closed at the end")]
    t = rm.Trajectories({"q": rm.Trajectory([rm.SearchCall("a", items[:1]), rm.SearchCall("b", items[1:], turn=2)])})
    explained = rm.evaluate({"q": [rm.Quote("the file is closed")]}, t.union(), "recall").explain("q")
    assert [one.detail for one in explained.findings] == ["found; found by call 2"]
    read = rm.Trajectories({"q": rm.Trajectory(t["q"].calls, context=items[:1], citations=["c2"])})
    pieces = [rm.Quote("the file is closed"), rm.Quote("nothing of note"), rm.Quote("never said anywhere")]
    explained = rm.evaluate({"q": pieces}, read.context(), "recall").explain("q")
    assert [one.detail.rpartition("; ")[2] or one.detail for one in explained.findings] == [
        "found by call 2, not read, cited",
        "found by call 1, read, not cited",
        "found by no call",
    ]


def test_the_answer_of_a_retriever_has_no_story() -> None:
    explained = rm.evaluate({"q": ["d1"]}, {"q": ["d1"]}, "recall").explain("q")
    assert [one.detail for one in explained.findings] == ["found"]
    assert "found by" not in str(explained)


def test_a_report_knows_the_call_of_each_result(tmp_path: Path) -> None:
    rm.evaluate(QRELS, T.union(), "recall").report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    (data,) = (
        json.loads(one) for one in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
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
    told = rm.Trajectories({"q": rm.Trajectory(calls, context=["d1"]), "r": rm.Trajectory(calls[:1], context=[])})
    path = tmp_path / "report.html"
    rm.evaluate({"q": ["d1"], "r": ["d1"]}, told.union(), "recall").report(path)
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    first, second = json.loads(found[1])["shown"].values()
    assert first["searches"] == [
        [["why?", ""], ["why then?", "nothing new"], ["", "failed: timeout"], ["who?", "nothing came back"]]
    ]
    assert second["searches"] == [[["why?", ""]]]
    rm.evaluate({"q": ["d1"]}, {"q": ["d1"]}, "recall").report(path)
    assert "searches" not in path.read_text().partition('id="data">')[2].partition("</script>")[0]
