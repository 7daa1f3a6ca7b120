"""What integrations may use besides the top level; they import no other module of the core."""

from retrieval_metrics.inputs.hosts import GROUP, Host, host_of, installed_hosts

__all__ = ["GROUP", "Host", "host_of", "installed_hosts"]
