"""A ragas that is missing or broken is named with what to do about it."""

import re
import subprocess
import sys
from importlib.metadata import requires

import pytest

import ragas_retrieval_metrics

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


BLOCK = """
import importlib.abc, sys
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Block())
"""


def run(code: str, blocked: str = "") -> str:
    """Run code in a new interpreter in which one module cannot be imported, and return its last line."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCK.format(blocked=blocked) + code], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_a_missing_ragas_is_named_with_the_command() -> None:
    last_line = run("from ragas_retrieval_metrics import NDCG", blocked="ragas")
    assert last_line == (
        "ImportError: ragas_retrieval_metrics needs ragas, which is not installed: pip install ragas-retrieval-metrics"
    )


@pytest.mark.thorough
def test_what_a_newer_langchain_community_does_to_ragas_is_named_with_the_cure() -> None:
    last_line = run(
        "import ragas_retrieval_metrics as m; m.to_evaluation", blocked="langchain_community.chat_models.vertexai"
    )
    assert re.fullmatch(
        r"ImportError: ragas is installed but cannot be imported \(No module named "
        r"'langchain_community.chat_models.vertexai'\). Here are ragas 0\.4\.\d+, langchain-community 0\.4\.?\d*; "
        r"ragas 0\.4\.3 needs a module that langchain-community 0\.4\.2 removed. This pair works: "
        r"pip install 'ragas>=0.4.3,<0.5' 'langchain-community>=0.4,<0.4.2'",
        last_line,
    )


def test_the_core_does_not_notice_and_importing_the_package_imports_no_host() -> None:
    code = (
        "import retrieval_metrics as rm, ragas_retrieval_metrics, sys;"
        "assert 'NDCG' in dir(ragas_retrieval_metrics);"
        "print(rm.evaluate({'q': ['a']}, {'q': ['a']}, 'mrr').means['mrr'], "
        "sorted({'ragas', 'langchain_core', 'datasets', 'pandas'} & set(sys.modules)))"
    )
    assert run(code, blocked="ragas") == "1.0 []"


def test_every_public_name_is_there() -> None:
    for name in dir(ragas_retrieval_metrics):
        assert callable(getattr(ragas_retrieval_metrics, name))
    with pytest.raises(AttributeError, match="has no attribute 'ndcg'"):
        _ = ragas_retrieval_metrics.ndcg  # type: ignore[attr-defined]  # the name is wrong on purpose


def test_the_bounds_that_make_ragas_importable_are_declared() -> None:
    declared = {re.split(r"[<>=]", line)[0]: line for line in requires("ragas-retrieval-metrics") or []}
    assert set(declared["ragas"].removeprefix("ragas").split(",")) == {">=0.4.3", "<0.5"}
    assert set(declared["langchain-community"].removeprefix("langchain-community").split(",")) == {">=0.4", "<0.4.2"}
