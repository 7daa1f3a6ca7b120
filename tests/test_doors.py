"""What cannot be right is said alike at every door of the core; the hosts inherit it from the conformance class.

| rule | dict | table, CSV, JSONL, TREC, command line | lists: hosts, retrievers |
| --- | --- | --- | --- |
| distances taken for scores | warned of | also, with ranks already when read | in rank order, whatever the scores |
| ids that never meet | warned of; refused where something is decided | also | also, with the option to pass |
| judgments and run exchanged | warned of | also | where the judgments have fractions |
| unequal depth | a sentence of the comparison | also | also |
| silence that is right | not counted | also | also |

Each stands once, in `evaluation/data_warnings.py` and what it uses; depth in `unequal_depth.py` and silence in
`counts.py` beside it, ranks beside scores in `inputs/score_checks.py`.

Where a host scores single rows, its run is checked at the end (Ragas, MLflow) or as soon as ids nearly match (Pydantic
Evals); LangSmith's summary evaluators check it. The drop-in for pytrec_eval is as silent as that is.
"""

import csv
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.cli.main import main

QRELS: Any = {f"q{number}": {"a": 1} for number in range(12)}
# The run that breaks each rule.
RUNS: dict[str, Any] = {
    "distances": {query: {"a": 0.1, "b": 0.2, "c": 0.4} for query in QRELS},
    "no_common_ids": {query: {"x": 2.0, "y": 1.0} for query in QRELS},
    "nothing wrong": {query: {"a": 2.0, "y": 1.0} for query in QRELS},
}
# What is said of it, in part.
FRAGMENTS = {"distances": "If they are distances", "no_common_ids": "Judged IDs: 'a'; run IDs: 'x' and 'y'"}


def list_rows(run: Any) -> list[dict[str, Any]]:
    rows = []
    for query, ranking in run.items():
        for document, score in ranking.items():
            rows.append({"query": query, "document": document, "score": score})
    return rows


def as_dict(run: Any, _: Path) -> Any:
    return run


def as_frame(run: Any, _: Path) -> Any:
    return rm.Run.from_frame(
        {column: [row[column] for row in list_rows(run)] for column in ("query", "document", "score")}
    )


def as_csv(run: Any, path: Path) -> Any:
    lines = ["query,document,score"]
    for row in list_rows(run):
        lines.append(",".join(map(str, row.values())))
    path.write_text("\n".join(lines))
    return rm.read_run(path, format="csv")


def as_jsonl(run: Any, path: Path) -> Any:
    path.write_text("\n".join(map(json.dumps, list_rows(run))))
    return rm.read_run(path, format="jsonl")


def as_trec(run: Any, path: Path) -> Any:
    path.write_text("".join(f"{row['query']} Q0 {row['document']} 0 {row['score']} tag\n" for row in list_rows(run)))
    return rm.read_run(path, format="trec")


def as_streamed(run: Any, path: Path) -> Any:
    as_trec(run, path)
    return rm.read_run(path, format="trec", memory=1)


@pytest.mark.parametrize("door", [as_dict, as_frame, as_csv, as_jsonl, as_trec, as_streamed])
@pytest.mark.parametrize("rule", RUNS)
def test_every_door_of_the_core_says_the_same(rule: str, door: Any, tmp_path: Path) -> None:
    run = RUNS[rule]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rm.evaluate(QRELS, door(run, tmp_path / "run"), "mrr")
    messages = [str(warning.message) for warning in caught]
    if rule not in FRAGMENTS:
        assert messages == []
        return
    (message,) = messages
    assert FRAGMENTS[rule] in message


@pytest.mark.parametrize("rule", RUNS)
def test_the_command_line_says_it_in_its_words(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_trec(RUNS[rule], tmp_path / "run.trec")
    rm.write_qrels(QRELS, tmp_path / "qrels.trec")
    files = [str(tmp_path / "qrels.trec"), str(tmp_path / "run.trec")]
    assert main(["evaluate", *files, "-m", "mrr"]) == 0
    errors = capsys.readouterr().err
    assert FRAGMENTS.get(rule, "") in errors
    assert bool(errors) is (rule in FRAGMENTS)
    assert ("write -distance as the score" in errors) is (rule == "distances")
    exit_code = main(["compare", files[0], f"first={files[1]}", f"second={files[1]}", "-m", "mrr"])
    assert ("no system retrieved a judged document" in capsys.readouterr().err) is (rule == "no_common_ids")
    assert (exit_code == 0) is (rule != "no_common_ids")


def test_unequal_depth_is_a_sentence_of_the_comparison() -> None:
    qrels: Any = {query: [f"d{number}" for number in range(30)] for query in QRELS}
    deep: Any = {query: [f"d{number}" for number in range(100)] for query in QRELS}
    cut = {query: ranking[:20] for query, ranking in deep.items()}
    comparison = rm.compare(qrels, {"deep": deep, "cut": cut}, ["recall@50", "ndcg@10"])
    assert comparison.summary[0].startswith("cut returns at most 20 results and deep 100, so recall@50")
    shallow_metrics = rm.compare(qrels, {"deep": deep, "cut": cut}, ["recall@20", "map"])
    assert "deep and" not in " ".join(shallow_metrics.summary)
    of_many_lengths = {query: ranking[: 5 + number] for number, (query, ranking) in enumerate(deep.items())}
    uncut = rm.compare(qrels, {"deep": deep, "uncut": of_many_lengths}, "recall@50")
    assert "deep and" not in " ".join(uncut.summary)


# What is no judgment, or holds no id, with a part of the error. Files can hold only some of them.
NO_JUDGMENTS: dict[str, tuple[Any, str]] = {
    "pairs": ([["70", 1], ["71", 0]], "hold pairs such as"),
    "pairs of numbers": ([[70, 1], [71, 0], [72, 0]], "hold pairs such as"),
    "pairs of text": ([["70", "1"], ["71", "0"]], "hold pairs such as"),
    "triples": ([["70", 1, "why"], ["71", 0, "how"]], "hold rows such as"),
    "lines of TREC": ([["q1", "0", "70", "1"], ["q1", "0", "71", "0"]], "hold rows such as"),
    "dicts": ([{"doc_id": "70", "relevance": 1}, {"doc_id": "71", "relevance": 0}], "dicts with keys"),
    "dicts of numbers": ([{"id": 70, "grade": 1}, {"id": 71, "grade": 0}], "dicts with keys"),
    "text of a list": ("['70', '71']", "list that was written as text"),
    "list of a text of a list": (["['70', '71']"], "list that was written as text"),
    "bare string": ("70", "are the bare string"),
    "cell of several ids": ("70; 71", "text.split(';')"),
    "nested deeper": ([[["70"]]], "cannot be nested deeper"),
    "empty id": (["70", ""], "is empty"),
    "blank id": (["70", "  "], "is blank"),
    "blank at an end": (["70", " 71"], "begins or ends with whitespace"),
    "control character": (["70\x00"], "control character"),
    "float": ([70.0], "must be str or int, got float"),
    "missing": ([None], "must be str or int, got NoneType"),
    "truth value": ([True], "must be str or int, got bool"),
}


def evaluate_dict(judgments: Any, _: Path) -> Any:
    return rm.evaluate({"q1": judgments, "q2": judgments}, {"q1": ["71", "70"], "q2": ["71"]}, "mrr")


def evaluate_one_ranking(judgments: Any, _: Path) -> Any:
    return rm.evaluate_ranking(judgments, ["71", "70"], "mrr")


def compare_two_runs(judgments: Any, _: Path) -> Any:
    return rm.compare({"q1": judgments}, {"first": {"q1": ["71"]}, "second": {"q1": ["70"]}}, "mrr")


def ask_a_retriever(judgments: Any, _: Path) -> Any:
    questions = rm.EvaluationSet.from_dataset([("why?", judgments)])
    return rm.compare_retrievers({"first": lambda _: ["71"], "second": lambda _: ["70"]}, questions, "mrr")


def export_to(method: str) -> Any:
    def export(judgments: Any, _: Path) -> Any:
        return getattr(rm.EvaluationSet({"q1": "why?"}, {"q1": judgments}), method)()

    return export


def save_questions(judgments: Any, path: Path) -> Any:
    rm.EvaluationSet({"q1": "why?"}, {"q1": judgments}).save(path.with_suffix(".json"))


def read_json(judgments: Any, path: Path) -> Any:
    path.write_text(json.dumps({"q1": judgments}))
    return rm.read_qrels(path, format="json")


def evaluate_json_in_the_shell(judgments: Any, path: Path) -> Any:
    run = path.with_suffix(".run")
    run.write_text("q1 Q0 70 1 1 tag\n")
    path.with_suffix(".json").write_text(json.dumps({"q1": judgments}))
    if main(["evaluate", str(path.with_suffix(".json")), str(run), "-m", "mrr"]):
        raise ValueError(SHELL)


# Rows with judgments in a cell: of a file or a DataFrame.


def make_question_row(judgments: Any) -> dict[str, Any]:
    return {"id": "q1", "query": "why?", "relevant": judgments}


def read_frame_of_questions(judgments: Any, _: Path) -> Any:
    import pandas as pd

    return rm.Qrels(rm.EvaluationSet.from_dataset(pd.DataFrame({"query": ["why?"], "relevant": [judgments]})))


def read_jsonl_of_questions(judgments: Any, path: Path) -> Any:
    path.with_suffix(".jsonl").write_text(json.dumps(make_question_row(judgments)))
    return rm.Qrels(rm.read_questions(path.with_suffix(".jsonl")))


def read_csv_of_questions(judgments: Any, path: Path) -> Any:
    row = make_question_row(judgments)
    with path.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    return rm.Qrels(rm.read_questions(path.with_suffix(".csv")))


def read_parquet_of_questions(judgments: Any, path: Path) -> Any:
    import polars as pl

    row = make_question_row(judgments)
    if not isinstance(judgments, str):
        row["relevant"] = json.dumps(judgments)  # a column has one type
    pl.DataFrame([row]).write_parquet(path.with_suffix(".parquet"))
    return rm.Qrels(rm.read_questions(path.with_suffix(".parquet")))


# Hosts, whose modules are imported only where they are needed.

RANKED = ["71", "70"]


def evaluate_in_langchain(judgments: Any, _: Path) -> Any:
    from langchain_retrieval_metrics import evaluate_retriever

    def retriever(_: str) -> Any:
        return RANKED

    return evaluate_retriever(retriever, {"why?": judgments}, "mrr")


def evaluate_in_langsmith(judgments: Any, _: Path) -> Any:
    from langchain_retrieval_metrics import langsmith_evaluators

    (evaluator,) = langsmith_evaluators(["mrr"])
    return evaluator({"documents": RANKED}, {"relevant": judgments})


def evaluate_in_llama_index(judgments: Any, _: Path) -> Any:
    from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator

    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=lambda _: [])
    return evaluator.evaluate_dataset([("why?", judgments)])


def evaluate_in_haystack(judgments: Any, _: Path) -> Any:
    from haystack_hosts import Prepared
    from haystack_integrations.components.evaluators.retrieval_metrics import evaluate_pipeline

    return evaluate_pipeline(Prepared({"why?": RANKED}), {"why?": judgments}, "mrr")


def evaluate_in_ragas(judgments: Any, _: Path) -> Any:
    from ragas_retrieval_metrics import evaluate_dataset

    row = {"user_input": "why?", "reference_context_ids": judgments, "retrieved_context_ids": RANKED}
    return evaluate_dataset([row], ["mrr"])


def score_in_mlflow(judgments: Any, _: Path) -> Any:
    from mlflow_retrieval_metrics import retrieval_scorers

    (scorer,) = retrieval_scorers(["mrr"], retrieved="outputs")
    run: Any = scorer.run
    return run(outputs=RANKED, expectations={"relevant_ids": judgments})


def evaluate_in_pydantic_evals(judgments: Any, _: Path) -> Any:
    from pydantic_evals import Case, Dataset

    from pydantic_evals_retrieval_metrics import to_evaluation

    cases = [Case(name="q1", inputs="why?", expected_output=judgments)]
    report = Dataset(name="doors", cases=cases).evaluate_sync(lambda _: RANKED, progress=False)
    return to_evaluation(report, ["mrr"])


def read_in_ray(judgments: Any, _: Path) -> Any:
    from ray_retrieval_metrics.judgment_rows import read_judgments

    return read_judgments({"q1": judgments}, None)  # raises before Ray is started


def check_in_pytest(judgments: Any, _: Path) -> Any:
    from pytest_retrieval_metrics.check_call import CheckTask

    return CheckTask.from_arguments({"q1": judgments}, {"q1": RANKED}, None, 1, {})  # type: ignore[typeddict-item]


SHELL = "the command line gave an exit code"
CELL_DOORS = [read_frame_of_questions, read_jsonl_of_questions, read_csv_of_questions, read_parquet_of_questions]
HOST_DOORS = [
    *(evaluate_in_langchain, evaluate_in_langsmith, evaluate_in_llama_index, evaluate_in_haystack, evaluate_in_ragas),
    *(score_in_mlflow, evaluate_in_pydantic_evals, read_in_ray, check_in_pytest),
]
JUDGMENT_DOORS = [
    *(evaluate_dict, evaluate_one_ranking, compare_two_runs, ask_a_retriever, save_questions, read_json),
    *map(export_to, ("to_mlflow", "to_langsmith", "to_pydantic_evals", "to_ragas", "to_llama_index")),
    evaluate_json_in_the_shell,
    *CELL_DOORS,
    *HOST_DOORS,
]


# Cells of files and DataFrames are text, so these are read there, as spreadsheets have them.
READ_FROM_CELLS = {
    "text of a list": ["70", "71"],
    "bare string": ["70"],
    "cell of several ids": ["70", "71"],
    "dicts": ["70", "71"],
}
READ_FROM_TEXT = READ_FROM_CELLS | {"float": ["70"]}
# The doors where some kinds are judgments, with their ids.
ACCEPTED: Any = {
    read_frame_of_questions: READ_FROM_CELLS,
    read_jsonl_of_questions: READ_FROM_CELLS,
    read_csv_of_questions: READ_FROM_TEXT,
    read_parquet_of_questions: READ_FROM_TEXT,
}
# Where all of a cell is text, the values in it have no type.
NO_ID_IN_TEXT = {"missing": "None is not an ID", "truth value": "True is not an ID"}
OTHER_FRAGMENTS: Any = {
    read_csv_of_questions: NO_ID_IN_TEXT,
    read_parquet_of_questions: NO_ID_IN_TEXT,
    evaluate_in_ragas: dict.fromkeys(["bare string", "cell of several ids"], "is the bare string"),
}


@pytest.mark.parametrize("kind", NO_JUDGMENTS)
@pytest.mark.parametrize("door", JUDGMENT_DOORS, ids=lambda door: door.__name__)
@pytest.mark.filterwarnings("ignore:cells such as:retrieval_metrics.RetrievalWarning")
def test_what_is_no_judgment_is_refused_at_every_door(
    kind: str, door: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judgments, fragment = NO_JUDGMENTS[kind]
    fragment = OTHER_FRAGMENTS.get(door, {}).get(kind, fragment)
    if kind in ACCEPTED.get(door, {}):
        assert list(door(judgments, tmp_path / "judgments").documents) == ACCEPTED[door][kind]
        return
    if door is evaluate_in_ragas and kind == "text of a list":  # Ragas saves the lists of its rows so
        assert door(judgments, tmp_path).means["mrr"] == 1.0
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        door(judgments, tmp_path / "judgments")
    message = capsys.readouterr().err if str(caught.value) == SHELL else str(caught.value)
    assert fragment in message


INVALID_IDS = {
    "empty": ("", "holds an empty text"),
    "blank": ("  ", "begins or ends with whitespace"),
    "blank at an end": ("d1 ", "begins or ends with whitespace"),
    "control character": ("d\x931", "control character"),
    "list": ("['d1', 'd2']", "list that was written as text"),
}


def write_csv(rows: dict[str, list[Any]], path: Path) -> Any:
    lines = [",".join(rows)]
    lines += [",".join(f'"{value}"' for value in row) for row in zip(*rows.values(), strict=True)]
    path.with_suffix(".csv").write_text("\n".join(lines))
    return path.with_suffix(".csv")


def write_parquet(rows: dict[str, list[Any]], path: Path) -> Any:
    import polars as pl

    pl.DataFrame(rows).write_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def write_rows(rows: dict[str, list[Any]], path: Path) -> Any:
    lines = [json.dumps(dict(zip(rows, row, strict=True))) for row in zip(*rows.values(), strict=True)]
    path.with_suffix(".jsonl").write_text("\n".join(lines))
    return path.with_suffix(".jsonl")


@pytest.mark.parametrize("kind", INVALID_IDS)
@pytest.mark.parametrize("write", [lambda rows, _: rows, write_csv, write_parquet, write_rows])
@pytest.mark.parametrize("number", ["relevance", "score"])
def test_an_invalid_id_of_a_table_is_refused(kind: str, write: Any, number: str, tmp_path: Path) -> None:
    document, fragment = INVALID_IDS[kind]
    rows = {"query_id": ["q1", "q2"], "doc_id": ["d0", document], number: [1, 1]}
    source = write(rows, tmp_path / "table")
    with pytest.raises(ValueError, match=r"doc_id|document") as caught:
        rm.read_qrels(source) if number == "relevance" else rm.read_run(source)
    assert fragment in str(caught.value)


@pytest.mark.parametrize("ranking", [["d1", ""], {"d1": 2.0, "": 1.0}])
def test_an_empty_id_in_a_ranking_is_refused(ranking: Any) -> None:
    with pytest.raises(ValueError, match="ranking of query 'q1' holds an empty ID"):
        rm.evaluate({"q1": ["d1"]}, {"q1": ranking}, "mrr")
    with pytest.raises(ValueError, match="holds an empty ID"):
        rm.retrieve(lambda _: ranking, {"q1": "why?"})


def test_an_item_with_an_empty_id_has_none() -> None:
    items = [rm.Retrieved("", source=""), rm.Retrieved("d1", source="a.md")]
    with pytest.raises(ValueError, match="has no ID"):
        rm.evaluate({"q1": ["d1"]}, {"q1": items}, "mrr")
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 results has no source"):
        evaluation = rm.evaluate({"q1": ["a.md"]}, {"q1": items}, "mrr", match="source")
    assert evaluation.means["mrr"] == 0.5


# Documents to leave out: every host gives the values of the core for the same data.

EXCLUDING_QRELS: Any = {"q1": ["d1"], "q2": {"d2": 2, "d3": 1}, "q3": [["d4", "d5"], ["d6"]]}
EXCLUDING_RUN = {"q1": ["q1", "d1"], "q2": ["d3", "q2", "x", "d2"], "q3": ["y", "d5", "q3", "d6"]}
EXCLUDING_METRICS = ["mrr", "ndcg@3", "precision@1"]
Values = Mapping[str, Mapping[Any, float]]


def exclude_in_langchain() -> Values:
    from langchain_retrieval_metrics import evaluate_retriever

    questions = rm.EvaluationSet({query: query for query in EXCLUDING_QRELS}, EXCLUDING_QRELS)
    retriever: Any = EXCLUDING_RUN.__getitem__
    return evaluate_retriever(retriever, questions, EXCLUDING_METRICS, exclude="query_id").per_query


def exclude_in_langsmith() -> Values:
    from langchain_retrieval_metrics import langsmith_evaluators

    (evaluator,) = langsmith_evaluators(EXCLUDING_METRICS, exclude_key="query_id", prefix="")
    values: dict[str, dict[str, float]] = {metric: {} for metric in EXCLUDING_METRICS}
    for query, ranking in EXCLUDING_RUN.items():
        outputs = {"documents": ranking}
        answer = evaluator(outputs, {"relevant": EXCLUDING_QRELS[query]}, inputs={"query_id": query})
        for result in answer["results"]:
            values[result["key"]][query] = result["score"]
    return values


def exclude_in_a_langsmith_summary() -> Values:
    from types import SimpleNamespace

    from langchain_retrieval_metrics.langsmith import ExperimentRows, RowSettings
    from retrieval_metrics.integration_api import Scorer

    runs: Any = [SimpleNamespace(outputs={"documents": ranking}, error=None) for ranking in EXCLUDING_RUN.values()]
    examples: Any = []
    for query, judgments in EXCLUDING_QRELS.items():
        inputs = {"query_id": query}
        examples.append(SimpleNamespace(id=query, inputs=inputs, outputs={"relevant": judgments}, metadata=None))
    rows = ExperimentRows(runs, examples, RowSettings(exclude_key="query_id").paths)
    per_query = rows.evaluate(Scorer(EXCLUDING_METRICS)).per_query
    return {metric: dict(zip(EXCLUDING_RUN, values.values(), strict=True)) for metric, values in per_query.items()}


def exclude_in_llama_index() -> Values:
    from llama_index.core.schema import NodeWithScore, TextNode

    from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator

    def retrieve(text: str) -> Any:
        return [NodeWithScore(node=TextNode(text="a text", id_=name)) for name in EXCLUDING_RUN[text]]

    evaluator = RetrieverEvaluator.from_metric_names(EXCLUDING_METRICS, retriever=retrieve)
    questions = rm.EvaluationSet({query: query for query in EXCLUDING_QRELS}, EXCLUDING_QRELS)
    evaluation: Any = evaluator.evaluate_dataset(questions, exclude="query_id").evaluation
    return evaluation.per_query  # type: ignore[no-any-return]


def exclude_in_haystack() -> Values:
    from haystack_hosts import Prepared
    from haystack_integrations.components.evaluators.retrieval_metrics import evaluate_pipeline

    questions = rm.EvaluationSet({query: query for query in EXCLUDING_QRELS}, EXCLUDING_QRELS)
    (evaluation,) = evaluate_pipeline(
        Prepared(EXCLUDING_RUN), questions, EXCLUDING_METRICS, exclude="query_id"
    ).values()
    return evaluation.per_query


def exclude_in_ragas() -> Values:
    from ragas_retrieval_metrics import evaluate_dataset

    rows = [{"user_input": query, "retrieved_context_ids": ranking} for query, ranking in EXCLUDING_RUN.items()]
    excluded = {query: [query] for query in EXCLUDING_RUN}
    return evaluate_dataset(rows, EXCLUDING_METRICS, qrels=EXCLUDING_QRELS, exclude=excluded).per_query


def exclude_in_ragas_by_query_id() -> Values:
    from ragas_retrieval_metrics import evaluate_dataset

    rows = [{"user_input": f"{query}?", "retrieved_context_ids": ranking} for query, ranking in EXCLUDING_RUN.items()]
    questions = rm.EvaluationSet({query: f"{query}?" for query in EXCLUDING_QRELS}, EXCLUDING_QRELS)
    return evaluate_dataset(rows, EXCLUDING_METRICS, qrels=questions, exclude="query_id").per_query


def exclude_in_mlflow() -> Values:
    from mlflow_retrieval_metrics import retrieval_scorers

    scorers = retrieval_scorers(EXCLUDING_METRICS, retrieved="outputs", exclude="inputs.query_id")
    values: dict[str, dict[str, float]] = {metric: {} for metric in EXCLUDING_METRICS}
    for metric, scorer in zip(EXCLUDING_METRICS, scorers, strict=True):
        run: Any = scorer.run
        for query, ranking in EXCLUDING_RUN.items():
            expectations = {"relevant_ids": EXCLUDING_QRELS[query]}
            values[metric][query] = run(inputs={"query_id": query}, outputs=ranking, expectations=expectations).value
    return values


def make_excluding_report() -> Any:
    from pydantic_evals import Case, Dataset

    from pydantic_evals_retrieval_metrics import RetrievalMetrics

    cases = []
    for query, judgments in EXCLUDING_QRELS.items():
        cases.append(Case(name=query, inputs=query, metadata={"id": query}, expected_output=judgments))
    evaluators = [RetrievalMetrics(EXCLUDING_METRICS, exclude="metadata.id", evaluation_name="")]
    dataset: Any = Dataset(name="exclude", cases=cases, evaluators=evaluators)
    return dataset.evaluate_sync(EXCLUDING_RUN.__getitem__, progress=False)


def exclude_in_pydantic_evals() -> Values:
    values: dict[str, dict[str, float]] = {metric: {} for metric in EXCLUDING_METRICS}
    for case in make_excluding_report().cases:
        for metric in EXCLUDING_METRICS:
            values[metric][case.name] = case.scores[metric].value
    return values


def exclude_in_a_report_of_pydantic_evals() -> Values:
    from pydantic_evals_retrieval_metrics import to_evaluation

    return to_evaluation(make_excluding_report(), EXCLUDING_METRICS, exclude="metadata.id").per_query


EXCLUDING_DOORS = [
    *(exclude_in_langchain, exclude_in_langsmith, exclude_in_a_langsmith_summary, exclude_in_llama_index),
    *(exclude_in_haystack, exclude_in_ragas, exclude_in_ragas_by_query_id, exclude_in_mlflow),
    *(exclude_in_pydantic_evals, exclude_in_a_report_of_pydantic_evals),
]


@pytest.mark.parametrize("door", EXCLUDING_DOORS, ids=lambda door: door.__name__)
def test_excluded_documents_take_no_rank_at_any_host(door: Any) -> None:
    expected = rm.evaluate(EXCLUDING_QRELS, EXCLUDING_RUN, EXCLUDING_METRICS, exclude="query_id")
    with_all = rm.evaluate(EXCLUDING_QRELS, EXCLUDING_RUN, EXCLUDING_METRICS)
    values = door()
    for metric in EXCLUDING_METRICS:
        assert dict(values[metric]) == dict(expected.per_query[metric])
        assert dict(values[metric]) != dict(with_all.per_query[metric])


def compute_in_llama_index() -> Any:
    from llama_index.evaluation.retrieval_metrics import metric

    return metric("mrr").compute(expected_ids=["d1"], retrieved_ids=["q1", "d1"], exclude=["q1"])


def make_a_ragas_metric() -> Any:
    from ragas_retrieval_metrics import RetrievalMetric

    return RetrievalMetric("mrr", exclude="query_id")


def score_a_row_in_ragas() -> Any:
    from ragas_retrieval_metrics import MRR

    return MRR().score(retrieved_context_ids=["q1", "d1"], reference_context_ids=["d1"], exclude=["q1"])


@pytest.mark.parametrize("door", [compute_in_llama_index, make_a_ragas_metric, score_a_row_in_ragas])
def test_a_metric_of_a_host_says_where_documents_are_left_out(door: Any) -> None:
    with pytest.raises(TypeError, match=r"pass (it|exclude=) to evaluate_dataset"):
        door()


def test_queries_of_ragas_that_have_texts_alone_have_no_ids_to_leave_out() -> None:
    from ragas_retrieval_metrics import evaluate_dataset

    rows = [{"user_input": "q1", "retrieved_context_ids": ["q1", "d1"], "reference_context_ids": ["d1"]}]
    with pytest.raises(ValueError, match=r"pass the IDs to leave out by the text of the query"):
        evaluate_dataset(rows, "mrr", exclude="query_id")
    assert evaluate_dataset(rows, "mrr", exclude={"q1": ["q1"]}).means["mrr"] == 1.0


HUGE = 10**400
SAME_QUERIES: Any = {f"q{number}": ["d"] for number in range(12)}
TWO_SYSTEMS: Any = {name: {query: [name, "d"] for query in SAME_QUERIES} for name in ("a", "b")}
NUMBER_DOORS: dict[str, Callable[[], Any]] = {
    "grade": lambda: rm.evaluate({"q": {"d": HUGE}}, {"q": ["d"]}, "mrr"),
    "score": lambda: rm.evaluate({"q": {"d": 1}}, {"q": {"d": HUGE}}, "mrr"),
    "score in mmr": lambda: rm.mmr([HUGE, 1], [[1, 0]]),
    "lambda_mult": lambda: rm.mmr([1, 0], [[1, 0]], lambda_mult=HUGE),
    "gain": lambda: rm.ndcg([HUGE, 1]),
    "n_relevant": lambda: rm.recall([1], n_relevant=HUGE),
    "margin": lambda: rm.compare(SAME_QUERIES, TWO_SYSTEMS, "mrr", margin=HUGE),
    "difference": lambda: rm.plan(HUGE),
    "timeout": lambda: rm.retrieve(lambda text: [text], {"q": "text"}, timeout=HUGE),
    "weight": lambda: rm.fuse(TWO_SYSTEMS, weights={"a": HUGE, "b": 1}),
    "fused score": lambda: rm.fuse({"a": {"q": {"d": HUGE}}, "b": {"q": {"d": 1}}}, method="combsum"),
    "fusion constant": lambda: rm.fuse(TWO_SYSTEMS, k=HUGE),
    "given score": lambda: rm.Evaluation.from_scores({"m": {"q": HUGE}}),
    "given score whose square is infinite": lambda: rm.Evaluation.from_scores({"m": {"q": 1e308, "r": 1e308}}),
    "parameter p": lambda: rm.Metric("rbp", p=HUGE),
    "parameter alpha": lambda: rm.Metric("alpha_ndcg", alpha=HUGE),
    "cutoff of 5,000 digits": lambda: rm.Metric.parse("ndcg@" + "9" * 5_000),
}


@pytest.mark.parametrize("door", NUMBER_DOORS)
def test_a_number_beyond_all_floats_is_refused_by_name(door: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+") as caught:
        NUMBER_DOORS[door]()
    assert "Exceeds the limit" not in str(caught.value)


@pytest.mark.parametrize("value", [np.array("d1"), np.int64(5)])
def test_an_array_without_a_dimension_is_no_list_of_characters(value: Any) -> None:
    with pytest.raises(TypeError, match="the judgments of query 'q' are the bare"):
        rm.Qrels({"q": value})
    with pytest.raises(TypeError, match=r"the ranking of query 'q' (is the bare|must be a list)"):
        rm.evaluate({"q": ["d"]}, {"q": value}, "mrr")


@pytest.mark.parametrize("is_cyclic", [True, False])
def test_values_nested_without_end_are_named(is_cyclic: bool, tmp_path: Path) -> None:
    nested: Any = []
    if is_cyclic:
        nested.append(nested)
    else:
        for _ in range(5_000):
            nested = [nested]
    readers: list[Callable[[], Any]] = [
        lambda: rm.Qrels({"q": {"d": nested}}),
        lambda: rm.Qrels({"q": nested}),
        lambda: rm.evaluate({"q": ["d"]}, {"q": nested}, "mrr"),
        lambda: rm.evaluate({"q": ["d"]}, {"q": {"d": nested}}, "mrr"),
    ]
    for read in readers:
        with pytest.raises(TypeError, match="query 'q'"):
            read()
    run: Any = {"q": [rm.Retrieved("d", metadata={"parents": nested})]}
    with pytest.raises(ValueError, match="metadata of item 'd' of query 'q' holds itself or is nested too deeply"):
        rm.save_run(run, tmp_path / "run.json")


def test_only_runs_are_saved_as_runs(tmp_path: Path) -> None:
    evaluation: Any = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    with pytest.raises(TypeError, match="got Evaluation; save the result itself with its method save"):
        rm.save_run(evaluation, tmp_path / "run.json")
