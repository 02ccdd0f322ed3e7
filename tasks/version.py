"""Versions of tasks: hashes of what decides a verdict, the same on every Python that runs the suite."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROTOCOL = 1
"""Raised when the evaluator changes what a verdict or a timing means, for every task at once."""

_TOLD_NOT_JUDGED = {"prompt", "formula", "aliases", "signature"}


def definition_hash(name: str, category: str) -> str:
    """Twelve hex digits of the task's file, of the task files it imports, and of the protocol.

    Comments, docstrings, white space and the words of the prompt do not count: they change no verdict.
    """
    path = Path(__file__).parent / category.lower() / f"{name}.py"
    parts = [f"protocol {PROTOCOL}", *sorted(_judged(file) for file in _with_imports(path))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _with_imports(path: Path, seen: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The file and the files below `tasks/<category>/` that it imports, directly or not."""
    seen |= {path}
    for module in _imported_modules(path):
        other = Path(__file__).parent.parent.joinpath(*module.split(".")).with_suffix(".py")
        if module.count(".") >= 2 and other.exists() and other not in seen:
            seen = _with_imports(other, seen)
    return seen


def _imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tasks."):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("tasks."))


@cache
def _judged(path: Path) -> str:
    # Not ast.dump: its form changes between Python versions, and a GPU host may run another one.
    source = path.read_text()
    lines = source.splitlines()
    for (line, start), (end_line, end) in sorted(_dropped_spans(source), reverse=True):
        head, tail = lines[line - 1].encode()[:start].decode(), lines[end_line - 1].encode()[end:].decode()
        lines[line - 1 : end_line] = [head + tail] + [""] * (end_line - line)
    return "".join("".join(lines).split())


_Span = tuple[tuple[int, int], tuple[int, int]]


def _dropped_spans(source: str) -> Iterator[_Span]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            prefix = len(token.line[: token.start[1]].encode())
            yield (token.start[0], prefix), (token.end[0], prefix + len(token.string.encode()))
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield _span(node)
        elif isinstance(node, ast.keyword) and node.arg in _TOLD_NOT_JUDGED:
            yield _span(node.value)


def _span(node: ast.expr | ast.stmt) -> _Span:
    assert node.end_lineno is not None and node.end_col_offset is not None  # always set by ast.parse
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
