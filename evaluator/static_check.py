"""What a submission's source says before anything of it runs. Standard library only: the site uses it too.

This is advice, early and cheap. The defence is the sandbox, so only what no kernel has a need for is refused:
a list of bad words would be long, wrong, and no obstacle to anyone.
"""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from evaluator.report import Failure, Outcome
from tasks.registry import all_tasks


def check(source: str, task_name: str) -> Failure | None:
    """Why `source` cannot be a kernel for the task, or None. `task_name` is one of the catalogue."""
    tree = _parse(source)
    if isinstance(tree, Failure):
        return tree
    names = _imported_names(tree)
    return (
        _no_entry(tree, _entries(task_name))
        or _no_triton_kernel(tree, names)
        or _forbidden(tree, names)
    )  # fmt: skip


def _entries(task_name: str) -> tuple[str, ...]:
    task = all_tasks().get(task_name)
    # A task that is not in the suite yet has no declaration: its name must do.
    return task.entries if task else (task_name, task_name.removeprefix("fused_"), "kernel_function")


# Syntax


def _parse(source: str) -> ast.Module | Failure:
    """The source as Python would import it from a file: as bytes, so that a coding cookie counts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are no errors
            tree = ast.parse(source.encode(), "kernel.py")
            compile(tree, "kernel.py", "exec", dont_inherit=True)  # finds a `return` outside a function
    except SyntaxError as error:
        return _syntax_error(error.msg, error.lineno, (error.text or "").rstrip())
    except UnicodeEncodeError:
        return _syntax_error("the file is not valid Unicode text")
    except (RecursionError, MemoryError):
        return _syntax_error("the code is nested too deeply for Python to parse")
    except ValueError as error:
        return _syntax_error(str(error))  # null bytes
    return tree


def _syntax_error(reason: str, line: int | None = None, text: str = "") -> Failure:
    place = f"Line {line}: {reason}" if line else f"Python cannot parse the file: {reason}"
    return Failure(outcome=Outcome.SYNTAX_ERROR, message=f"{place}.", line=line or None, details=text)


# The entry


def _no_entry(tree: ast.Module, entries: tuple[str, ...]) -> Failure | None:
    defined = set(_definitions(tree.body))
    if "*" in defined or any(entry in defined for entry in entries) or _defines_by_name(tree):
        return None
    message = f"The file defines no function {entries[0]!r} at its top level"
    functions = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}
    longer = [name for name in functions if entries[0] in name]
    near = longer or difflib.get_close_matches(entries[0], functions, n=1)
    line = functions[near[0]] if near else None
    if near:
        message += f"; the nearest name is {near[0]!r} on line {line}"
    elif not defined:
        message += "; it defines nothing"
    return Failure(outcome=Outcome.NO_ENTRY, message=f"{message}.", line=line)


def _definitions(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that the top level binds; "*" for a star import."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.partition(".")[0]
            case ast.Assign() | ast.AnnAssign():
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            yield name.id
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
                for block in ("body", "orelse", "finalbody"):
                    yield from _definitions(getattr(node, block, []))
                for handler in getattr(node, "handlers", []):
                    yield from _definitions(handler.body)


def _defines_by_name(tree: ast.Module) -> bool:
    """`globals()["name"] = …`: which names there are is seen only at run time."""
    return any(isinstance(node, ast.Name) and node.id == "globals" for node in ast.walk(tree))


# A Triton kernel


def _no_triton_kernel(tree: ast.Module, names: Mapping[str, str]) -> Failure | None:
    for node in ast.walk(tree):
        # As a decorator or called, under whatever name it was imported; Gluon's jit is one of Triton's.
        path = _path(node, names)
        if path.startswith("triton.") and path.endswith(".jit"):
            return None
    message = "The file has no @triton.jit function: nothing in it would run as a Triton kernel."
    return Failure(outcome=Outcome.NO_TRITON_KERNEL, message=message)


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: {"tl": "triton.language", "jit": "triton.jit"}."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


_LONGEST_PATH = 20  # names; of a longer chain the beginning is seen, as every node in it has its turn


def _path(node: ast.AST, names: Mapping[str, str]) -> str:
    """The dotted path that an expression spells, imported names resolved: "torch.cuda.synchronize", or ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _LONGEST_PATH:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


# What no kernel has a need for

_MODULES = (
    "ctypes", "_ctypes", "cffi", "subprocess", "socket", "multiprocessing", "pty", "importlib", "builtins",
    "torch.utils.cpp_extension", "torch.multiprocessing",
)  # fmt: skip

_BUILTINS = ("eval", "exec", "compile", "open", "__import__")

_PROCESS_CALLS = ("os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.kill")

_INTERNALS = ("sys.modules", "sys.settrace", "sys.setprofile", "sys._getframe", "__builtins__")

_PATCHED = ("torch", "triton", "time")
_SETTINGS = ("torch.backends.", "triton.knobs.")  # made to be assigned to


class _Finding(NamedTuple):
    line: int
    what: str


def _forbidden(tree: ast.Module, names: Mapping[str, str]) -> Failure | None:
    own = set(_definitions(tree.body))
    findings = [finding for node in ast.walk(tree) for finding in _findings(node, names, own)]
    if not findings:
        return None
    first = min(findings)
    message = f"Line {first.line} {first.what}, which a kernel has no need for."
    return Failure(outcome=Outcome.FORBIDDEN, message=message, line=first.line)


def _findings(node: ast.AST, names: Mapping[str, str], own: set[str]) -> Iterator[_Finding]:
    match node:
        case ast.Import():
            for alias in node.names:
                if _within(alias.name, _MODULES):
                    yield _Finding(node.lineno, f"imports {alias.name}")
        case ast.ImportFrom() if node.module:
            for alias in node.names:
                if _within(f"{node.module}.{alias.name}", _MODULES):
                    yield _Finding(node.lineno, f"imports from {node.module}")
        case ast.Call():
            yield from _forbidden_call(node, names, own)
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Delete():
            for target in node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]:
                path = _path(target, names)
                if isinstance(target, ast.Attribute) and _is_patch(path):
                    yield _Finding(node.lineno, f"changes {path}")
        case ast.Attribute() | ast.Name():
            path = _path(node, names)
            if _within(path, (*_INTERNALS, "torch.utils.cpp_extension")):
                yield _Finding(node.lineno, f"uses {path}")


def _forbidden_call(node: ast.Call, names: Mapping[str, str], own: set[str]) -> Iterator[_Finding]:
    path = _path(node.func, names)
    if path in _BUILTINS and path not in own:
        yield _Finding(node.lineno, f"calls {path}()")
    if path.startswith(_PROCESS_CALLS):
        yield _Finding(node.lineno, f"calls {path}()")
    if path in ("setattr", "delattr") and node.args:
        owner = _path(node.args[0], names)
        if _is_patch(f"{owner}."):
            yield _Finding(node.lineno, f"changes {owner}")


def _is_patch(path: str) -> bool:
    """Whether assigning to `path` changes a module that everything else uses too."""
    return _within(path, _PATCHED) and not path.startswith(_SETTINGS)


def _within(path: str, modules: tuple[str, ...]) -> bool:
    return any(path == module or path.startswith(f"{module}.") for module in modules)
