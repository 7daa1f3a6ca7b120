"""Without LlamaIndex there is nothing to test here."""

import os
from importlib.util import find_spec
from pathlib import Path

collect_ignore_glob = [] if find_spec("llama_index") else ["test_*.py"]

if (core := find_spec("llama_index.core") if not collect_ignore_glob else None) and core.origin:
    # The words that its splitters need come with it, but 0.13.0 would rather download them.
    os.environ.setdefault("NLTK_DATA", str(Path(core.origin).parent / "_static" / "nltk_cache"))
