"""User code for each host runs, and is strictly typed: under mypy with the whole suite, and here under Pyright."""

import asyncio
import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

USERS = sorted((Path(__file__).parent / "users").glob("of_*.py"))


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # made-up vectors find little
@pytest.mark.parametrize("path", USERS, ids=lambda path: path.stem)
def test_it_runs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(path.parent)
    asyncio.run(import_module(path.stem).main())
    assert capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.skipif(not find_spec("basedpyright"), reason="basedpyright is not installed")
def test_it_is_typed_for_pyright_too(tmp_path: Path) -> None:
    refused = tmp_path / "refused.py"
    refused.write_text("import retrieval_metrics as rm\n\nrm.evaluate({'q': 7}, {'q': ['a']}, 'mrr')\n")
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "include": [*map(str, USERS), str(refused)]})
    )
    checking = ["-m", "basedpyright", "-p", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run([sys.executable, *checking], check=False, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    rules = {(Path(diagnostic["file"]).name, diagnostic["rule"]) for diagnostic in answer["generalDiagnostics"]}
    assert rules == {("refused.py", "reportArgumentType")}, answer["generalDiagnostics"]
