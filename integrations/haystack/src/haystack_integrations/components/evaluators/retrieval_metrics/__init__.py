"""Every retrieval metric, with cutoffs, groups and grades, as an evaluator of Haystack.

    from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator, evaluate_pipeline

`RetrievalEvaluator` has the inputs and outputs of Haystack's own document evaluators; `evaluate_pipeline` evaluates
each step of a pipeline. `record` keeps what pipelines and agents search.

A name is imported when it is first used: `RetrievalRunResult` needs pandas, which the others do not.
"""

from retrieval_metrics.integration_api import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
