"""What integrations may use beside the top level: the only other module of the core that they import."""

from retrieval_metrics.inputs.hosts import GROUP, Host, host_of, installed_hosts
from retrieval_metrics.saving import save_text

__all__ = ["GROUP", "Host", "host_of", "installed_hosts", "save_text"]
