"""Runs the examples of a README: every python block, and the text block below it is what the code prints."""

import contextlib
import io
import re

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_examples(text: str, name: str) -> int:
    """Run the python blocks of a text in one namespace, compare what each prints, and return how many there were."""
    namespace: dict[str, object] = {}
    printed, number = "", 0
    for language, code in BLOCK.findall(text):
        if language == "python":
            number += 1
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, f"{name}, example {number}", "exec"), namespace)  # noqa: S102  (the README is ours)
            printed = out.getvalue()
        elif language == "text":
            assert printed == code
    return number
