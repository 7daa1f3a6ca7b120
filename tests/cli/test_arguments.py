"""What Tab offers, asked by bash itself and in the way in which the other shells ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("argcomplete")

PROGRAMS = Path(sys.executable).parent
OFFERED = {
    "ev": ["evaluate"],
    "history ": ["-h", "--help", "add", "show", "plot"],
    "evaluate qrels.trec run.trec --run-": ["--run-format", "--run-column"],
    "compare a b --rules l": ["llama_index"],
    "evaluate qrels.trec run.trec -m nd": ["ndcg", "ndcg@10"],
    "evaluate qrels.trec run.trec -m mrr,nd": ["mrr,ndcg", "mrr,ndcg@10"],
    "lint queries.jsonl qrels.trec --reading ": [
        "compression=",
        "line=",
        "progress=",
        "separator=",
        "split=",
        "subset=",
    ],
    "evaluate qrels.trec run.trec --run-column s": ["score="],
    "evaluate qrels.trec run.trec --qrels-column g": ["grade=", "group="],
    "evaluate qr": ["qrels.trec"],
}
ASK = """
eval "$(register-python-argcomplete retrieval-metrics)"
COMP_LINE="retrieval-metrics $1"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
read -ra COMP_WORDS <<< "$COMP_LINE"
if [[ "$COMP_LINE" == *" " ]]; then COMP_WORDS+=(""); fi
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_python_argcomplete retrieval-metrics "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("typed", OFFERED)
def test_bash_offers_what_can_come_next(typed: str, tmp_path: Path) -> None:
    (tmp_path / "qrels.trec").touch()
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    call = ["bash", "-c", ASK, "bash", typed]
    done = subprocess.run(
        call, env={**os.environ, "PATH": path}, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert [line.strip() for line in done.stdout.splitlines()] == OFFERED[typed]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_answered(shell: str, tmp_path: Path) -> None:
    line = "retrieval-metrics evaluate qrels.trec run.trec --rules trec"
    answer = tmp_path / "answer"
    arguments_by_shell = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": shell,
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }
    call = [sys.executable, "-m", "retrieval_metrics"]
    assert subprocess.run(call, env={**os.environ, **arguments_by_shell}, check=False).returncode == 0
    assert answer.read_text().split()[0] == "trec_eval"  # zsh is told a description too
    registered = subprocess.run(
        [PROGRAMS / "register-python-argcomplete", "--shell", shell, "retrieval-metrics"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "retrieval-metrics" in registered.stdout


def test_the_program_does_not_need_what_completes_it() -> None:
    code = (
        "import sys; sys.modules['argcomplete'] = None\n"
        "from retrieval_metrics.cli.main import main; sys.exit(main(['--version']))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
