"""What integrations may use beside the top level: the only other module of the core that they import."""

from retrieval_metrics.evaluation.first_answer import first_answer_check
from retrieval_metrics.inputs.event_loop import run_until_complete
from retrieval_metrics.inputs.hosts import GROUP, Host, host_of, installed_hosts

__all__ = ["GROUP", "Host", "first_answer_check", "host_of", "installed_hosts", "run_until_complete"]
