"""Without LangChain there is nothing to test here."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("langchain_core") else ["test_*.py"]
