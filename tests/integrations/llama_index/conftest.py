"""Without LlamaIndex there is nothing to test here."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("llama_index") else ["test_*.py"]
