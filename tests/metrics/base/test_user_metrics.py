"""Metrics of the user's own: one equal to NDCG is NDCG wherever a metric is used."""

import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import generated
import retrieval_metrics as rm
from retrieval_metrics.cli.main import main
from retrieval_metrics.metrics.base.registry import DEFINITIONS
from retrieval_metrics.metrics.base.user_metrics import defined_metrics, forget_metric

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

MODULE = '''
import numpy as np
import retrieval_metrics as rm

def own_ndcg(grades, ideal, k):
    """NDCG, written once more."""
    def dcg(ranked):
        return sum(grade / np.log2(row + 2) for row, grade in enumerate(ranked))
    return dcg(grades) / dcg(ideal[:k])

rm.define_metric("own_ndcg", own_ndcg)
'''

QRELS: dict[str, Any] = {
    "graded": {"a": 3, "b": 1, "c": 0, "d": -1},
    "lists": ["a", "b", "never"],
    "repeat": {"a": 1, "b": 2},
    "nothing relevant": {"a": 0},
    "nothing retrieved": ["a"],
}
GROUPS: dict[str, Any] = {
    "or": [["a", "b"], ["c"]],
    "shared": [{"a": 2, "b": 1}, {"a": 3, "d": 1}, {"z": 2}],
    "nothing relevant": [{"a": 0}],
}
RUN: dict[str, Any] = {
    "graded": ["x", "b", "a", "c", "d"],
    "lists": ["b", "x", "y", "a"],
    "repeat": ["a", "a", "x", "b", "b"],
    "nothing relevant": ["a"],
    "nothing retrieved": [],
    "or": ["x", "b", "a", "c"],
    "shared": ["y", "a", "b", "z"],
}
TIED: dict[str, Any] = {
    "graded": {"x": 2.0, "a": 2.0, "b": 2.0, "c": 1.0},
    "lists": {"a": 1.0, "b": 1.0, "x": 0.5},
    "or": {"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0},
    "shared": {"a": 2.0, "b": 2.0, "z": 1.0, "y": 1.0},
}


def dcg(grades: Any) -> float:
    return float(sum(grade / np.log2(row + 2) for row, grade in enumerate(grades)))


def own_ndcg(grades: Any, ideal: Any, k: int | None) -> float:
    """NDCG, written once more."""
    return dcg(grades) / dcg(ideal[:k])


@pytest.fixture
def own() -> rm.Metric:
    return rm.define_metric("own_ndcg", own_ndcg)


def assert_equals_ndcg(result: rm.Evaluation) -> None:
    """The columns of own_ndcg are those of ndcg."""
    for name in result.means:
        if name.startswith("own_ndcg"):
            theirs = name.removeprefix("own_")
            assert result.n[name] == result.n[theirs]
            ours, expected = (list(result.per_query[column].values()) for column in (name, theirs))
            assert np.allclose(ours, expected, equal_nan=True, atol=1e-12)
            assert result.means[name] == pytest.approx(result.means[theirs], abs=1e-12, nan_ok=True)
            if name.endswith("@1"):
                continue  # that ndcg@1 can only be 0 or 1 here, nobody has said of a function
            assert result.intervals()[name] == pytest.approx(result.intervals()[theirs], abs=1e-9, nan_ok=True)


CUTS = ("", "@1", "@2", "@3", "@9")
METRICS = [f"own_ndcg{cut}" for cut in CUTS] + [f"ndcg{cut}" for cut in CUTS]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("qrels", [QRELS, GROUPS])
@pytest.mark.parametrize("semantics", ["standard", "trec_eval"])
def test_it_is_evaluated_as_ndcg_is(qrels: dict[str, Any], semantics: str) -> None:
    run = {query: [*dict.fromkeys(ranking)] for query, ranking in RUN.items()} if semantics == "trec_eval" else RUN
    assert_equals_ndcg(rm.evaluate(qrels, run, METRICS, rules=semantics))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("qrels", [QRELS, GROUPS])
@pytest.mark.parametrize("ties", ["docid", "input", "expected"])
def test_ties_are_tried_order_by_order(qrels: dict[str, Any], ties: str) -> None:
    result = rm.evaluate(qrels, TIED, ["own_ndcg@2", "ndcg@2", "own_ndcg", "ndcg"], ties=ties)
    assert_equals_ndcg(result)
    if ties == "expected":
        assert result.tie_range is not None
        assert result.tie_range.means["own_ndcg@2"] == pytest.approx(result.tie_range.means["ndcg@2"])


@pytest.mark.usefixtures("own")
def test_too_many_orders_are_refused_with_their_number() -> None:
    tied = {f"d{i}": 1.0 for i in range(9)}
    with pytest.raises(ValueError, match=r"own_ndcg has no closed form .* query 'q' has 3.63e\+05 orders, too many"):
        rm.evaluate({"q": list(tied)}, {"q": tied}, "own_ndcg", ties="expected")


@given(qrels=generated.truths, ranking=generated.rankings, k=generated.cutoffs)
def test_it_sees_the_rows_that_ndcg_sees(qrels: Any, ranking: list[str], k: int | None) -> None:
    rm.define_metric("own_ndcg", own_ndcg)
    cut = "" if k is None else f"@{k}"
    assert_equals_ndcg(rm.evaluate({"q": qrels}, {"q": ranking}, [f"own_ndcg{cut}", f"ndcg{cut}"]))


stretches = st.tuples(st.integers(0, 90), st.integers(1, 40)).map(
    lambda start_and_length: (start_and_length[0], start_and_length[0] + start_and_length[1])
)


@given(
    spans=st.dictionaries(stretches, st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=5),
    chunks=st.lists(stretches, max_size=8),
    cut=st.sampled_from(["", "@2", "@5", "@30chars", "@90chars"]),
)
def test_budgets_and_pieces_that_several_items_cover_count_alike(spans: Any, chunks: Any, cut: str) -> None:
    rm.define_metric("own_ndcg", own_ndcg)
    qrels = {"q": {rm.Span("s", start, end): grade for (start, end), grade in spans.items()}}
    run = {"q": [rm.Retrieved(i, "x" * (end - start), "s", start, end) for i, (start, end) in enumerate(chunks)]}
    assert_equals_ndcg(rm.evaluate(qrels, run, [f"own_ndcg{cut}", f"ndcg{cut}"]))


@pytest.mark.usefixtures("own")
def test_it_is_used_by_everything_that_takes_a_metric() -> None:
    names = ["own_ndcg@2", "ndcg@2"]
    result = rm.evaluate(QRELS, RUN, names)
    own, theirs = (result.at_cutoffs(name) for name in ("own_ndcg", "ndcg"))
    assert own == pytest.approx(theirs)
    assert str(result.explain("graded", "own_ndcg@2")).replace("own_", "") == str(result.explain("graded", "ndcg@2"))
    assert [query_report.query for query_report in result.worst("own_ndcg@2", 2)] == [
        query_report.query for query_report in result.worst("ndcg@2", 2)
    ]
    assert_equals_ndcg(result.group_by(lambda query: len(query) > 6)[True])
    assert_equals_ndcg(rm.merge([rm.evaluate({query: QRELS[query]}, RUN, names) for query in QRELS]))
    merged = rm.merge([rm.evaluate({query: QRELS[query]}, RUN, names).totals() for query in QRELS])
    assert merged.means["own_ndcg@2"] == pytest.approx(merged.means["ndcg@2"])
    compared = rm.compare(QRELS, {"one": RUN, "other": {q: r[::-1] for q, r in RUN.items()}}, names)
    first, second = compared.differences
    assert (first.mean, first.p_uncorrected) == pytest.approx((second.mean, second.p_uncorrected))
    audited = rm.audit(QRELS, RUN, ["own_ndcg@2"], rules=["standard", "trec_eval"])
    assert audited.refused["trec_eval"] == 1
    row = rm.evaluate_ranking(QRELS["graded"], RUN["graded"], names)
    assert row["own_ndcg@2"] == pytest.approx(row["ndcg@2"]) == result.per_query["ndcg@2"]["graded"]


def test_parameters_are_those_of_the_function() -> None:
    def own_rbp(grades: Any, max_grade: float, *, p: float = 0.8) -> float:
        return float(sum((1 - p) * p**row * grade / max_grade for row, grade in enumerate(grades)))

    rm.define_metric("own_rbp", own_rbp, aliases=["persistence"])
    names = ["own_rbp@3", "own_rbp(p=0.5)", "own_rbp(max_grade=4)", "persistence(p=0.8)"]
    assert rm.Metric.parse(names[-1]) == rm.Metric.parse("own_rbp")
    theirs = [name.replace("own_", "").replace("persistence", "rbp") for name in names]
    result = rm.evaluate(QRELS, RUN, [*names, *theirs])
    for name in ("own_rbp@3", "own_rbp(p=0.5)", "own_rbp(max_grade=4)", "own_rbp"):
        assert result.means[name] == pytest.approx(result.means[name.removeprefix("own_")])
    with pytest.raises(ValueError, match="own_rbp has no parameter 'q'; it has: max_grade, p"):
        rm.Metric.parse("own_rbp(q=1)")
    with pytest.raises(ValueError, match="parameter 'p' of own_rbp must be a finite number, got 'high'"):
        rm.Metric.parse("own_rbp(p=high)")
    with pytest.raises(ValueError, match="own_rbp divides by the largest grade of all judgments"):
        rm.evaluate_ranking(["a"], ["a"], "own_rbp")


def test_a_binary_metric_has_the_interval_of_a_share() -> None:
    rm.define_metric("own_hit", lambda grades: bool((grades > 0).any()), binary=True)
    result = rm.evaluate(QRELS, RUN, ["own_hit@2", "hit_rate@2"])
    assert result.intervals()["own_hit@2"] == result.intervals()["hit_rate@2"]


def test_without_a_cutoff_and_without_relevant_documents() -> None:
    rm.define_metric("length", lambda grades: len(grades), k=False, bounded=False, needs_relevant=False)
    with pytest.raises(ValueError, match="length takes no cutoff, got length@3"):
        rm.Metric.parse("length@3")
    result = rm.evaluate(QRELS, RUN, "length")
    assert result.per_query["length"] == {query: len(RUN[query]) for query in QRELS}


@pytest.mark.parametrize(
    ("name", "function", "options", "error", "message"),
    [
        ("ndcg", own_ndcg, {}, ValueError, "'ndcg' is already the name of a metric"),
        ("ap", own_ndcg, {}, ValueError, "'ap' is already a name of the metric 'map'"),
        ("mine", own_ndcg, {"aliases": ["mrr"]}, ValueError, "'mrr' is already the name of a metric"),
        ("ndcg_5", own_ndcg, {}, ValueError, "'ndcg_5' already means ndcg@5"),
        ("My metric", own_ndcg, {}, ValueError, "a letter, then letters, digits and underscores, in lower case"),
        ("mine", "ndcg", {}, TypeError, "must be callable, got 'ndcg'"),
        ("mine", lambda: 1.0, {}, TypeError, "must take the grades of one ranking"),
        (
            "mine",
            lambda _, depth: depth,
            {},
            TypeError,
            "argument 'depth' of the function of .* needs a number or a word",
        ),
        ("mine", lambda _, how="a b": how, {}, TypeError, "default of 'how' .* must be a word"),
    ],
)
def test_what_cannot_be_defined_is_refused(
    name: str, function: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.define_metric(name, function, **options)
    assert "mine" not in DEFINITIONS


def test_a_name_is_given_once() -> None:
    rm.define_metric("mine", own_ndcg)
    assert rm.define_metric("mine", own_ndcg) == rm.Metric("mine")  # the same again, as when a module is reloaded
    with pytest.raises(
        ValueError, match=r"'mine' is already defined by own_ndcg in .*test_user_metrics; .*replace=True"
    ):
        rm.define_metric("mine", dcg)
    with pytest.raises(ValueError, match="is already defined"):
        rm.define_metric("mine", own_ndcg, k=False)
    rm.define_metric("mine", lambda _, depth=1: 1.0 / depth, replace=True)
    assert rm.evaluate_ranking(["a"], ["a"], "mine(depth=2)") == {"mine(depth=2)": 0.5}
    with pytest.raises(ValueError, match="'ap' is already a name of the metric 'map'"):
        rm.define_metric("mine", dcg, aliases=["ap"], replace=True)
    assert rm.evaluate_ranking(["a"], ["a"], "mine(depth=2)") == {"mine(depth=2)": 0.5}
    forget_metric("mine")
    with pytest.raises(ValueError, match="unknown metric 'mine'"):
        rm.Metric.parse("mine")
    with pytest.raises(ValueError, match="define_metric has not defined a metric 'ndcg'"):
        forget_metric("ndcg")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's that defines a metric, not imported yet."""
    name = "metrics_of_a_test"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return name


def test_a_module_may_be_reloaded(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(".")
    imported = importlib.import_module(module)
    importlib.reload(imported)
    assert [metric.name for metric in defined_metrics()] == ["own_ndcg"]


def elsewhere(code: str, packed: bytes, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter, with what was pickled here as `packed`."""
    lines = f"import pickle, sys; sys.path.insert(0, {path!r}) if {path!r} else None; packed = {packed!r}\n{code}"
    return subprocess.run([sys.executable, "-P", "-c", lines], capture_output=True, text=True, check=False)


def test_another_process_finds_it_by_its_module(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(".")
    importlib.import_module(module)
    packed = pickle.dumps(rm.evaluate(QRELS, RUN, ["own_ndcg@2", "ndcg@2"]).totals())
    show = "import retrieval_metrics as rm; print(*rm.merge([pickle.loads(packed)]).means.values())"
    done = elsewhere(show, packed, str(tmp_path))
    assert done.returncode == 0, done.stderr
    own, theirs = map(float, done.stdout.split())
    assert own == pytest.approx(theirs)
    done = elsewhere(show, packed)
    assert "ImportError: the metric 'own_ndcg' is defined in the module 'metrics_of_a_test', which" in done.stderr
    (tmp_path / f"{module}.py").write_text("")
    assert "but importing that module does not define it" in elsewhere(show, packed, str(tmp_path)).stderr


def test_the_command_line_imports_it_wherever_the_option_stands(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rm.write_qrels({"q": {"a": 2, "b": 1}}, tmp_path / "small.qrels.trec")
    rm.write_run({"q": {"x": 3.0, "b": 2.0, "a": 1.0}}, tmp_path / "small.run")
    files = ["small.qrels.trec", "small.run"]
    metrics = ["-m", "own_ndcg@3", "-m", "ndcg@3"]
    assert main(["evaluate", *files, *metrics, "--format", "json", "--metrics-from", module]) == 0
    means = json.loads(capsys.readouterr().out)["metrics"]
    assert means["own_ndcg@3"]["mean"] == pytest.approx(means["ndcg@3"]["mean"])
    assert main(["audit", *files, *metrics, f"--metrics-from={module}", "--rules", "standard"]) == 0
    assert main(["evaluate", *files, "--metrics-from", "no_such_module"]) == 2
    assert "error: --metrics-from no_such_module cannot be imported: ModuleNotFoundError" in capsys.readouterr().err
