"""The modules that make the documentation, for its tests: they belong to no package."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent.parent / "docs"


def module(path: str) -> ModuleType:
    """Return the module in a file below docs/."""
    extensions = str(DOCS / "_extensions")
    if extensions not in sys.path:  # they import each other
        sys.path.append(extensions)
    spec = importlib.util.spec_from_file_location(Path(path).stem, DOCS / path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
