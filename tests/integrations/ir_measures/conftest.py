"""Nothing here is collected where ir_measures is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ir_measures") and find_spec("pytrec_eval") else ["test_*.py"]
