from ray_retrieval_metrics.evaluating import evaluate_dataset as evaluate_dataset
from ray_retrieval_metrics.reading import read_qrels as read_qrels
from ray_retrieval_metrics.reading import read_run as read_run
from ray_retrieval_metrics.results import to_evaluation as to_evaluation
from ray_retrieval_metrics.starting import start as start
