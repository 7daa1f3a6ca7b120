"""Plots and reports show the numbers of the result they come from, and need nothing beside them."""

import json
import re
import sys
from html import escape, unescape
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.text import Text

import retrieval_metrics as rm

QRELS = {f"q{at}": ["d"] for at in range(12)}
RUNS = {
    "old": {query: ["x", "d"] if at % 3 else ["x", "y"] for at, query in enumerate(QRELS)},
    "<new> $1$": {query: ["d"] if at % 4 else ["x", "d"] for at, query in enumerate(QRELS)},
    "third": {query: ["d", "x"] if at % 2 else ["x"] for at, query in enumerate(QRELS)},
}
TEXTS = {"q0": "is 1 < 2 & so on?", "q4": "long " * 60}


class Tags(HTMLParser):
    """Collects the elements of a page and what they refer to, and complains of one that is not closed."""

    VOID = ("meta", "br", "path", "use", "rect", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def read(path: Path) -> tuple[str, Tags]:
    text = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    return text, tags


@pytest.fixture(scope="module")
def comparison() -> rm.Comparison:
    return rm.compare(QRELS, RUNS, ["mrr@10", "recall@2", "hit_rate@1"])


@pytest.fixture
def evaluation(comparison: rm.Comparison) -> rm.Evaluation:
    return comparison.evaluations["old"]


def texts_of(figure: Figure) -> set[str]:
    return {" ".join(text.get_text().split()) for text in figure.findobj(Text)}


def data_of(text: str) -> dict[str, Any]:
    start = text.index('id="data">') + len('id="data">')
    found: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return found


def test_a_report_of_an_evaluation_is_one_page_that_needs_nothing_else(
    evaluation: rm.Evaluation, tmp_path: Path
) -> None:
    evaluation.report(tmp_path / "report.html", title="Old & new", queries=TEXTS)
    text, tags = read(tmp_path / "report.html")
    assert "<h1>Old &amp; new</h1>" in text
    assert all(reference.startswith("#") for reference in tags.references)
    assert not {"link", "img", "iframe"} & set(tags.seen)
    assert tags.seen.count("script") == 2  # the data, and what shows them
    assert "default-src 'none'" in text
    assert not re.search(r"url\((?!#)|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert f"{evaluation.means['mrr@10']:.3f}" in text
    assert "how much of what is relevant is in the first 2" in text
    assert tags.seen.count("details") == 12 + 3  # every query without a script, and what the reader may want to know
    assert "is 1 &lt; 2 &amp; so on?" in text
    assert "never retrieved" in text
    assert "of which 4 are 0 and 0 perfect" in text
    assert f"retrieval-metrics {version('retrieval-metrics')}" in text
    assert "Rules: standard." in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_data_of_a_page_hold_every_query_with_what_was_needed_and_what_came_back(
    evaluation: rm.Evaluation, tmp_path: Path
) -> None:
    labels = {query: "even" if at % 2 == 0 else "odd" for at, query in enumerate(QRELS)}
    evaluation.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"}, slices=labels)
    data = data_of(read(tmp_path / "report.html")[0])
    assert data["ids"] == list(QRELS)
    assert data["texts"][0] == TEXTS["q0"]
    assert [data["slices"][label] for label in data["slice"][:2]] == ["even", "odd"]
    assert [column[1] for column in data["values"][0]] == [0.5, 1, 0]
    assert [data["kinds"][kind] for kind in data["missed"][data["missing"][0][0]]] == ["never retrieved"]
    first, second = data["shown"]["0"], data["shown"]["1"]
    x, y = first["results"][0]  # unjudged, so their numbers alone
    assert [data["documents"][at] for at in (x, y)] == [["x"], ["y"]]
    at, state, score, grade, satisfies = second["results"][0][1]
    assert data["documents"][at] == ["d", None, "the text of d"]
    assert (state, score, grade, satisfies) == (0, None, 1.0, [0])
    assert second["needed"][0][0] == at  # the text is there once
    assert second["needed"][0][3] == [[data["kinds"].index("found"), 2, data["details"].index("found")]]


def test_a_report_of_a_comparison_answers_the_question_first(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS)
    text, tags = read(tmp_path / "report.html")
    assert "&lt;new&gt; $1$" in text
    assert "<new>" not in text
    for sentence in comparison.verdict:
        assert escape(sentence.strip()) in text
    order = [text.index(f"<h2>{title}") for title in ("What went wrong", "Ranking", "How sure", "The queries")]
    assert order == sorted(order)
    assert text.index('class="first"') < text.index("in mrr@10, by query") < order[0]  # the picture is beside
    assert 'class="gain"' in text
    assert re.search(r"▼ 0[.]\d{3}</span>", text)
    assert "2 other pairs" in text
    assert "What the columns mean" in text
    failed = text[text.index("What went wrong") : text.index("<h2>Ranking")]
    for evaluation in comparison.evaluations.values():
        worst = evaluation.worst("mrr@10")
        assert all(f"<td>{number}</td>" in failed for number in (*worst.failures.values(), worst.found))
    assert len(data_of(text)["systems"]) == 3
    assert "style" in tags.seen


def test_what_cannot_be_in_a_report_is_an_error(evaluation: rm.Evaluation, tmp_path: Path) -> None:
    wrongs: list[dict[str, Any]] = [{"k": 0}, {"text_length": -1}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a positive integer"):
            evaluation.report(tmp_path / "report.html", **wrong)
    assert not (tmp_path / "report.html").exists()


def test_the_same_report_is_the_same_file(
    comparison: rm.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")  # midnight may come between the two
    for name in ("one.html", "two.html"):
        comparison.report(tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert "Written on 2017-07-14" in (tmp_path / "one.html").read_text()


def test_the_overview_of_an_evaluation_names_every_metric(evaluation: rm.Evaluation) -> None:
    figure = evaluation.plot()
    assert len(figure.axes) == 1 + 3
    assert {"mrr@10", "recall@2", "hit_rate@1", "mrr over k", "recall over k", "hit_rate over k"} <= texts_of(figure)


def test_the_line_over_k_has_the_means_at_k(evaluation: rm.Evaluation) -> None:
    (axes,) = evaluation.plot("cutoffs", "ndcg").axes
    line = axes.get_lines()[0]
    over = evaluation.over_cutoffs("ndcg")
    assert np.asarray(line.get_xdata()).tolist() == list(over)
    assert np.asarray(line.get_ydata()).tolist() == list(over.values())


def test_the_line_of_a_budget_is_over_characters(tmp_path: Path) -> None:
    chunks = {"small": [rm.Retrieved(f"s{at}", "x" * 50) for at in range(9)], "large": [rm.Retrieved("l", "x" * 400)]}
    qrels = {f"q{at}": [["s1", "l"]] for at in range(4)}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in chunks.items()}
    comparison = rm.compare(qrels, runs, "recall@300chars")
    comparison.report(tmp_path / "budget.html")
    page = (tmp_path / "budget.html").read_text(encoding="utf-8")
    assert "<span>50</span><span>cut-off in characters, 300 marked</span><span>600</span>" in page
    assert "recall@k" not in page
    assert "0 to 0.2" in page
    rm.compare(qrels, runs, "hit_rate@300chars").report(tmp_path / "binary.html")
    assert "0 to 0.2" not in (tmp_path / "binary.html").read_text(encoding="utf-8")  # nothing lies between
    (axes,) = comparison.plot("cutoffs").axes
    assert axes.get_title(loc="left") == "recall over characters"
    assert axes.get_xlabel() == "cut-off in characters, 300 marked"


def test_the_outline_of_the_differences_is_the_differences_sorted(comparison: rm.Comparison) -> None:
    figure = comparison.plot("differences", "recall@2")
    assert len(figure.axes) == 3
    difference = comparison.difference("recall@2", "third", "old")
    won, lost = (patch.get_data()[0] for patch in figure.axes[1].patches if isinstance(patch, StepPatch))
    assert (won + lost).tolist() == sorted(difference.values.tolist(), reverse=True)
    assert (won >= 0).all()
    assert (lost <= 0).all()


def test_wins_are_written_beside_their_bars(comparison: rm.Comparison) -> None:
    paired = comparison.difference("mrr@10", "third", "old").paired
    written = texts_of(comparison.plot("wins"))
    assert f"{paired.wins} / {paired.ties} / {paired.losses}" in written


def test_the_means_have_a_panel_per_metric_and_their_intervals(comparison: rm.Comparison) -> None:
    figure = comparison.plot("intervals")
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(comparison.table)
    order = [place.system for place in comparison.ranking.places["mrr@10"]]  # in all panels
    for axes, (metric, means) in zip(figure.axes, comparison.table.items(), strict=True):
        lines = [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()]
        assert [line[0] for line in lines if len(line) == 1] == [means[system] for system in order]
        ends = [line for line in lines if len(line) == 2]
        assert np.allclose(ends, [comparison.intervals[metric][system] for system in order])


def test_long_names_are_broken_beside_their_rows() -> None:
    names = [f"{at} {'a name of sixty characters, which no row has room for '}"[:60] for at in range(12)]
    comparison = rm.compare(QRELS, dict.fromkeys(names, RUNS["old"]), "mrr", baseline=names[0])
    written = [label.get_text() for label in comparison.plot("intervals").axes[0].get_yticklabels()]
    assert [" ".join(text.split()) for text in written] == [" ".join(name.split()) for name in names]
    assert max(len(line) for text in written for line in text.splitlines()) <= 20


@pytest.mark.parametrize("kind", ["overview", "intervals", "differences", "wins", "cutoffs", "precision_recall"])
def test_every_kind_can_be_drawn_and_names_the_systems(comparison: rm.Comparison, kind: str, tmp_path: Path) -> None:
    figure = comparison.plot(kind)  # type: ignore[arg-type]  # the kinds as a test's parameter are plain str
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5_000
    assert any(r"<new> \$1\$" in text for text in texts_of(figure))


def test_a_plot_shows_itself_in_a_notebook(evaluation: rm.Evaluation) -> None:
    picture = evaluation.plot("intervals")._repr_png_()  # type: ignore[attr-defined]  # notebooks ask whether it is there
    assert picture.startswith(b"\x89PNG")


def test_degenerate_results_can_be_drawn(tmp_path: Path) -> None:
    qrels, run = {"q": ["d"], "none": {"d": 0}}, {"q": ["d"], "none": ["d"]}
    comparison = rm.compare(qrels, {"a": run, "b": run}, ["dcg", "map"])
    comparison.report(tmp_path / "comparison.html")
    comparison.plot().savefig(tmp_path / "comparison.png")
    rm.evaluate({"none": {"d": 0}}, {"none": ["d"]}, ["dcg", "bpref"]).report(tmp_path / "evaluation.html")
    assert "nan" in read(tmp_path / "evaluation.html")[0]
    assert "have the same value for every query" in read(tmp_path / "comparison.html")[0]


def test_what_cannot_be_drawn_is_an_error(comparison: rm.Comparison, evaluation: rm.Evaluation) -> None:
    with pytest.raises(ValueError, match="no plot 'pie'; the plots are overview, intervals, differences, wins"):
        comparison.plot("pie")  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(ValueError, match="no plot 'wins'; the plots are overview, intervals, cutoffs"):
        evaluation.plot("wins")  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(KeyError, match="map was not computed"):
        comparison.plot("differences", "map")
    with pytest.raises(ValueError, match="none of map has a cut-off; name a metric, such as 'ndcg'"):
        rm.evaluate(QRELS, RUNS["old"], "map").plot("cutoffs")


def test_a_figure_and_a_report_show_the_same(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS)
    page = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    means, changes, *_ = comparison.plot().axes
    drawn = [" ".join(text.get_text().replace("\\$", "$").split()) for text in (*means.texts, *changes.texts)]
    assert all(words in page for words in drawn if words), drawn
    for said in (means.get_title(loc="left"), changes.get_title(loc="left"), changes.get_xlabel()):
        assert " ".join(said.replace("\\$", "$").split()) in page
    assert "<span>0</span><span>1</span>" in page
    assert means.get_xlim() == (0, 1)


def test_without_matplotlib_plots_say_the_command_and_reports_are_written(
    comparison: rm.Comparison, evaluation: rm.Evaluation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in (comparison, evaluation):
        with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[plot\]'"):
            result.plot()
        result.report(tmp_path / "report.html")


def test_the_intervals_of_a_chart_stay_inside_it(tmp_path: Path) -> None:
    qrels = {f"q{at}": ["d1"] for at in range(4)}
    run = {query: [f"x{at}" for at in range(7)] + ["d1"] for query in qrels}  # 1/3: intervals reach twice as far
    rm.evaluate(qrels, run, ["ndcg@10"]).report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    bands = re.findall(r'<polygon points="([^"]*)" fill="[^"]*" opacity="[.]16"', written)
    heights = [float(point.split(",")[1]) for band in bands for point in band.split()]
    assert heights
    assert min(heights) >= 0


def test_every_query_can_be_read_without_a_script(comparison: rm.Comparison, tmp_path: Path) -> None:
    comparison.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    static = text[text.index("<noscript>") : text.index("</noscript>")]
    for query in QRELS:
        assert f" {query} " in static or f" {query}<" in static
    assert static.count("<details>") == len(QRELS)
    assert "Needed, grade 1: d: the text of d" in static
    assert "<new>" not in static
    assert "✓ d: the text of d" in static
    assert "never retrieved" in static


def test_of_very_many_queries_those_that_moved_most_have_their_results(tmp_path: Path) -> None:
    qrels = {f"q{at}": ["d"] for at in range(1_500)}
    old = {query: ["x", "d"] for query in qrels}
    new = {query: ["d", "x"] if at % 2 else ["x", "d"] for at, query in enumerate(qrels)}
    compared = rm.compare(qrels, {"old": old, "new": new}, "mrr", resamples=200)
    compared.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert [[len(column) for column in columns] for columns in data["values"]] == [[1_500], [1_500]]
    detailed = {data["ids"][int(at)] for at in data["shown"]}
    assert len(detailed) == 100
    assert detailed <= {f"q{at}" for at in range(1, 1_500, 2)}
    assert "is here for 100 queries" in text
    assert "<td>1,500</td>" in text  # found, of all queries


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    ("unjudged", "treated"),
    [
        (None, "count as not relevant"),
        ("bounds", "count as not relevant"),
        ("condensed", "were taken out of the rankings"),
    ],
)
def test_a_report_says_in_one_sentence_how_much_is_unjudged_and_what_became_of_it(
    tmp_path: Path, unjudged: str | None, treated: str
) -> None:
    qrels = {query: {"d": 1, "x": 0} for query in QRELS}
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d", "y")), "b": dict.fromkeys(QRELS, ("y", "z", "d", "x"))}
    comparison = rm.compare(qrels, {**runs, "judged": dict.fromkeys(QRELS, ("d", "x"))}, "mrr@2", unjudged=unjudged)
    comparison.report(tmp_path / "report.html")
    page = unescape((tmp_path / "report.html").read_text())
    assert page.count("are unjudged") == 1
    assert f"Of the first 2 results, 50 % of a and 100 % of b are unjudged; they {treated}." in page


def test_what_retrieved_nothing_has_no_judged_share(tmp_path: Path) -> None:
    runs: dict[str, Any] = {"a": dict.fromkeys(QRELS, ("d",)), "nothing": dict.fromkeys(QRELS, ())}
    with pytest.warns(rm.RetrievalWarning, match=r"judged@10: a 100 %, nothing -\."):
        comparison = rm.compare(QRELS, runs, "mrr", unjudged="condensed")
    comparison.report(tmp_path / "report.html")
    assert "judged@10: a 1.00, nothing -" in str(comparison)
    assert "nan" not in str(comparison) + re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text())


N = 150
JUDGED = {f"q{at}": [f"needed {at}"] for at in range(N)}
TEXT = "<b>a passage</b> of some length that says what was looked for, " * 20


def run(every: int) -> dict[str, list[rm.Retrieved]]:
    return {
        query: [rm.Retrieved(f"other {at}-{part}", TEXT) for part in range(9)]
        + ([rm.Retrieved(f"needed {at}", TEXT)] if at % every else [])
        for at, query in enumerate(JUDGED)
    }


@pytest.fixture(scope="module")
def of_two() -> rm.Comparison:
    runs = {f"system {at}": run(at + 2) for at in range(6)}
    return rm.compare(JUDGED, runs, ["mrr@10", "hit_rate@5", "ndcg@10", "recall@10"])


def test_an_evaluation_shows_its_means_in_words_and_its_worst_queries(of_two: rm.Comparison) -> None:
    shown = of_two.evaluations["system 0"]._repr_html_()
    assert "1 / rank of the first relevant result" in shown
    assert shown.count("<details>") == 1 + 5
    assert "never retrieved" in shown
    assert "&lt;b&gt;a passage&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "<caption" not in shown


def test_a_comparison_shows_its_answer_first(of_two: rm.Comparison) -> None:
    shown = of_two._repr_html_()
    assert shown.index("In mrr@10, the best mean: system 5") < shown.index("<table>")
    assert "means and differences" in shown
    assert "system 5 - system 4" in shown or "system 1 - system 0" in shown


def test_what_a_notebook_shows_is_small_and_needs_no_plot(
    of_two: rm.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    evaluation = of_two.evaluations["system 0"]
    audit = rm.audit(JUDGED, run(2), ["mrr@10", "ndcg@10"])
    for result in (of_two, evaluation, evaluation.explain("q0"), evaluation.worst("mrr@10"), audit):
        assert 200 < len(result._repr_html_()) < 200_000
        assert "<script" not in result._repr_html_()


def test_an_evaluation_without_its_run_shows_its_means() -> None:
    whole = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr")
    merged = rm.merge([whole.totals()])
    assert "0.500" in merged._repr_html_()
    assert "what it says" in merged._repr_html_()
