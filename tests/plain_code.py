"""Measure how plainly code reads: names that say nothing, dense expressions, and files that hold several stories.

The tests of the architecture hold these figures where they are, so that they can only get better.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

# Words that do not say what a variable holds or what a function does.
VAGUE_WORDS = frozenset(
    [
        "one",
        "each",
        "said",
        "found",
        "held",
        "known",
        "given",
        "these",
        "those",
        "same",
        "alike",
        "others",
        "rest",
        "kept",
        "wanted",
        "meant",
        "what",
        "told",
        "some",
        "more",
        "most",
        "few",
        "both",
        "this",
        "that",
        "it",
        "at",
        "of",
        "seen",
        "asked",
        "taken",
        "made",
        "put",
        "here",
        "there",
        "whole",
        "thing",
        "things",
    ]
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What makes a comprehension dense if it stands inside one.
NESTED = (*COMPREHENSIONS, ast.IfExp, ast.NamedExpr, ast.Lambda)
# A file of fewer lines tells one story anyway, and a group of fewer lines is a helper.
MIN_FILE_LINES = 80
MIN_GROUP_LINES = 30


def python_files(folder: Path) -> list[Path]:
    """Return the Python files of a folder, those of environments left out."""
    return [path for path in sorted(folder.rglob("*.py")) if ".venv" not in path.parts]


def measure(paths: Iterable[Path]) -> dict[str, float]:
    """Return the figures of some files: shares in percent, and numbers per 1,000 statements."""
    counts: Counter[str] = Counter()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            _count_node(node, counts, is_wording="wording" in path.name)
    per_1000 = 1000 / max(1, counts["statements"])
    return {
        "vague names": 100 * counts["vague names"] / max(1, counts["names"]),
        "vague functions": 100 * counts["vague functions"] / max(1, counts["functions"]),
        "comprehensions": counts["comprehensions"] * per_1000,
        "dense comprehensions": counts["dense comprehensions"] * per_1000,
        "conditional expressions": counts["conditional expressions"] * per_1000,
        "parallel assignments": 100 * counts["parallel assignments"] / max(1, counts["assignments"]),
    }


def _count_node(node: ast.AST, counts: Counter[str], *, is_wording: bool) -> None:
    if isinstance(node, ast.stmt) and not _is_docstring(node):
        counts["statements"] += 1
    name = _bound_name(node)
    if name is not None:
        counts["names"] += 1
        counts["vague names"] += name.strip("_").lower() in VAGUE_WORDS
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        counts["functions"] += 1
        counts["vague functions"] += node.name.strip("_").split("_")[0] in VAGUE_WORDS
    elif isinstance(node, ast.Assign):
        counts["assignments"] += 1
        counts["parallel assignments"] += isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
    elif isinstance(node, ast.IfExp) and not is_wording:  # a verb is best chosen in the sentence
        counts["conditional expressions"] += 1
    elif isinstance(node, COMPREHENSIONS):
        counts["comprehensions"] += 1
        nested = [inner for inner in ast.walk(node) if inner is not node and isinstance(inner, NESTED)]
        counts["dense comprehensions"] += len(node.generators) > 1 or bool(nested)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bound_name(node: ast.AST) -> str | None:
    """Return the name that a node binds; None if it binds none."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    if isinstance(node, ast.arg):
        return node.arg
    return None


def files_with_several_stories(folder: Path) -> list[str]:
    """Return the files that hold two or more groups of definitions which never name one another."""
    names = []
    for path in python_files(folder):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") >= MIN_FILE_LINES and len(list(_story_sizes(ast.parse(text)))) > 1:
            names.append(str(path.relative_to(folder)))
    return names


def _story_sizes(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of each large group of top-level definitions that name one another."""
    definitions = {name: node for node in tree.body for name in _defined_names(node)}
    group_by_name = {name: {name} for name in definitions}
    for name, node in definitions.items():
        for inner in ast.walk(node):
            used = _used_name(inner)
            if used in definitions and group_by_name[used] is not group_by_name[name]:
                merged = group_by_name[used] | group_by_name[name]
                group_by_name.update(dict.fromkeys(merged, merged))
    groups = {id(group): group for group in group_by_name.values()}
    for group in groups.values():
        lines = sum((definitions[name].end_lineno or 0) - definitions[name].lineno + 1 for name in group)
        if lines >= MIN_GROUP_LINES:
            yield lines


def _defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _used_name(node: ast.AST) -> str:
    """Return the name that a node uses, also in a string, as annotations do; empty if it uses none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""
