from ray_retrieval_metrics.cluster import start as start
from ray_retrieval_metrics.evaluating import evaluate_dataset as evaluate_dataset
from ray_retrieval_metrics.results import to_evaluation as to_evaluation
from ray_retrieval_metrics.trec_files import read_qrels as read_qrels
from ray_retrieval_metrics.trec_files import read_run as read_run
