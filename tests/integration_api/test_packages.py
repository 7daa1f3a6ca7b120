"""An unknown name of an integration gets the hint that `rm` gives, in the words of the integration."""

from importlib import import_module

import pytest

RAGAS = "ragas_retrieval_metrics"
LLAMA_INDEX = "llama_index.evaluation.retrieval_metrics"
LANGCHAIN = "langchain_retrieval_metrics"
HAYSTACK = "haystack_integrations.components.evaluators.retrieval_metrics"
RAY = "ray_retrieval_metrics"


@pytest.mark.parametrize(
    ("package", "name", "hint"),
    [
        (RAGAS, "Accuracy", "this metric is HitRate"),
        (RAGAS, "HitRatio", "this metric is HitRate"),
        (RAGAS, "TopKAccuracy", "this metric is HitRate"),
        (RAGAS, "Top5Accuracy", "pass the metric by its name, 'hit_rate@5'"),
        ("retrieval_metrics", "top_5_accuracy", "write evaluate(qrels, run, 'hit_rate@5')"),
        (RAGAS, "Sensitivity", "this metric is Recall"),
        (RAGAS, "recall", "this metric is Recall"),
        (RAGAS, "AveragePrecision", "this metric is MAP"),
        (RAGAS, "NDCG_at_10", "this metric is NDCG"),
        (RAGAS, "RBP", "pass the metric by its name, 'rbp'"),
        (RAGAS, "MMR", "maximal marginal relevance is rm.mmr(query, candidates)"),
        (RAGAS, "Diversity", "the diversity of a list is rm.intra_list_diversity(vectors)"),
        (LANGCHAIN, "MMR", "for maximal marginal relevance there is MMRReranker, MMRRetriever, MMRTuning"),
        (LANGCHAIN, "ndcg", "pass the metric by its name, 'ndcg'"),
        (LLAMA_INDEX, "MaximalMarginalRelevance", "for maximal marginal relevance there is MMRPostprocessor"),
        (LLAMA_INDEX, "HitRate", "pass the metric by its name, 'hit_rate'"),
        (HAYSTACK, "Accuracy", "pass the metric by its name, 'hit_rate'"),
        (RAY, "MRR", "pass the metric by its name, 'mrr'"),
    ],
)
def test_a_name_of_a_metric_is_explained(package: str, name: str, hint: str) -> None:
    module = import_module(package)
    with pytest.raises(AttributeError) as error:
        getattr(module, name)
    assert str(error.value) == f"module {package!r} has no attribute {name!r}; {hint}"


@pytest.mark.parametrize("package", [RAGAS, LLAMA_INDEX, LANGCHAIN, HAYSTACK, RAY])
@pytest.mark.parametrize("name", ["Nonsense", "_mrr", "evalute", "top_0_accuracy", "recall_0"])
def test_other_names_get_no_advice(package: str, name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
        getattr(import_module(package), name)
