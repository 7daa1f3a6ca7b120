"""Every retrieval metric, exact, in the evaluator of LlamaIndex.

    from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric, ranking_metrics, register

`ranking_metrics` returns instances for the `RetrieverEvaluator` of llama-index-core, `register` makes them known to its
`from_metric_names`, and the `RetrieverEvaluator` here can replace it. Importing this package registers nothing.

A name is imported when it is first used: metrics for the stock evaluator load nothing that agents need.
"""

from retrieval_metrics.integration_api import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
