"""For every host, a build whose retriever gets worse turns red, and one whose retriever gets better stays green."""

import pytest

from retrieval_builds import Builds

pytest_plugins = ["pytester"]

# The retriever of the host is called with the text of a query and finds what `found` returns.
BEFORE = """
    import os
    import retrieval_metrics as rm

    QRELS = {f"q{number}": {"d": 3, "e": 1} for number in range(40)}
    QUESTIONS = rm.EvaluationSet({query: query for query in QRELS}, QRELS)
    LOST = int(os.environ.get("LOST", "0"))

    def found(query):
        return ["d", "e", "x"] if int(query[1:]) >= LOST else ["x", "y", "e"]
"""
CHECK_OF_QUESTIONS = """
    def test_retrieval(retrieval_check):
        retrieval_check(QUESTIONS, retriever, {"mrr": None}, baseline=True)
"""
HOSTS = {
    "langchain": """
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Search(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("a text", id=name) for name in found(query)]

    retriever = Search()
"""
    + CHECK_OF_QUESTIONS,
    "llama_index": """
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Search(BaseRetriever):
        def _retrieve(self, query_bundle):
            nodes = [TextNode(text="a text", id_=name) for name in found(query_bundle.query_str)]
            return [NodeWithScore(node=node, score=1 / rank) for rank, node in enumerate(nodes, start=1)]

    retriever = Search()
"""
    + CHECK_OF_QUESTIONS,
    "haystack": """
    from haystack import Document, Pipeline, component

    @component
    class Search:
        @component.output_types(documents=list[Document])
        def run(self, query: str):
            return {"documents": [Document(id=name, content="a text") for name in found(query)]}

    retriever = Pipeline()
    retriever.add_component("search", Search())
"""
    + CHECK_OF_QUESTIONS,
    "ragas": """
    from ragas import EvaluationDataset

    ROWS = [
        {"user_input": query, "retrieved_context_ids": found(query), "reference_context_ids": list(QRELS[query])}
        for query in QRELS
    ]

    def test_retrieval(retrieval_check):
        retrieval_check(EvaluationDataset.from_list(ROWS), at_least={"mrr": None}, baseline=True)
""",
    "pydantic_evals": """
    from pydantic_evals import Case, Dataset
    from pydantic_evals_retrieval_metrics import to_evaluation

    def test_retrieval(retrieval_check):
        cases = [Case(**fields) for fields in QUESTIONS.to_pydantic_evals()]
        report = Dataset(name="gate", cases=cases).evaluate_sync(found, progress=False)
        evaluation = to_evaluation(report, ["mrr"], relevant="metadata.relevant")
        retrieval_check(evaluation, at_least={"mrr": None}, baseline=True)
""",
}


@pytest.mark.thorough
@pytest.mark.parametrize("host", HOSTS)
def test_a_worse_retriever_turns_red_and_a_better_one_stays_green(host: str, builds: Builds) -> None:
    pytest.importorskip({"langchain": "langchain_core", "llama_index": "llama_index.core"}.get(host, host))
    builds.write(BEFORE + HOSTS[host])
    builds.run_alone("pytest_asyncio.plugin", "--retrieval-update", lost=10).assert_outcomes(passed=1)
    worse = builds.run_alone("pytest_asyncio.plugin", lost=30)
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(["mrr worse: *"])
    builds.run_alone("pytest_asyncio.plugin", lost=0).assert_outcomes(passed=1)


@pytest.mark.thorough
def test_rows_of_mlflow_below_their_bound_turn_a_build_red(builds: Builds) -> None:
    pytest.importorskip("mlflow")
    builds.write(
        BEFORE
        + """
    os.environ["MLFLOW_GENAI_EVAL_MAX_WORKERS"] = "1"
    import mlflow
    from mlflow.entities import Document
    from mlflow_retrieval_metrics import retrieval_scorers

    @mlflow.trace(span_type="RETRIEVER")
    def retrieve(question):
        return [Document("a text", id=name) for name in found(question)]

    def test_retrieval(tmp_path):
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
        mlflow.set_experiment("retrieval")
        data = [
            {"inputs": {"question": query}, "expectations": {"relevant_ids": QRELS[query]}} for query in list(QRELS)[:8]
        ]
        result = mlflow.genai.evaluate(data, retrieval_scorers(["mrr"], pass_if={"mrr": 0.5}), retrieve)
        assert result.passed, result.reason
"""
    )
    builds.run_alone("pytest_asyncio.plugin", lost=2).assert_outcomes(failed=1)
    builds.run_alone("pytest_asyncio.plugin", lost=0).assert_outcomes(passed=1)
