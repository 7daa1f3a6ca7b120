from .evaluating import aevaluate_pipeline as aevaluate_pipeline
from .evaluating import evaluate_pipeline as evaluate_pipeline
from .evaluator import RetrievalEvaluator as RetrievalEvaluator
from .pipeline_retriever import PipelineRetriever as PipelineRetriever
from .recording import record as record
from .run_results import RetrievalRunResult as RetrievalRunResult
