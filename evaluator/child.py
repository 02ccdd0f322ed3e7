"""Runs inside the sandbox, the only importer of submissions: `python -m evaluator.child FD DEVICE LIMITS`.

It imports torch and triton, says that it is ready, takes one submission, and then does what the judge asks
until the judge hangs up. It holds no expected value, and nothing that it says is believed without a check.
"""

from __future__ import annotations

import errno
import faulthandler
import functools
import gc
import importlib.util
import json
import linecache
import os
import re
import resource
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
from triton.runtime.errors import InterpreterError

from evaluator import wire
from evaluator.inputs import Maker
from evaluator.quantization import make_call
from evaluator.report import Outcome, bounded
from evaluator.timing import Plan, Stopwatch
from tasks.registry import all_tasks
from tasks.spec import Call, Case, Task

MOST_DETAILS = 8_000  # characters of a traceback that go to the judge
_FILE = "kernel.py"


def main() -> None:
    """Serves the judge over the socket with the given descriptor."""
    descriptor, device, limits = sys.argv[1:]
    del sys.argv[1:]
    faulthandler.enable()
    channel = socket.socket(fileno=int(descriptor))
    _warm_up(device)
    _set_limits(device, json.loads(limits))
    operations = _Operations(device).by_name
    _send(channel, {"ready": True}, [])
    while True:
        request = wire.read(lambda size: _receive(channel, size)).header
        try:
            header, buffers = operations[request.pop("operation")](**request)
        except (
            BaseException
        ) as error:  # SystemExit and KeyboardInterrupt too: the submission may raise anything
            header, buffers = {"error": _told(error, device)}, []
        _flush_output()
        _send(channel, header, buffers)


def _warm_up(device: str) -> None:
    """Does beforehand whatever takes long and does not depend on the submission."""
    all_tasks()
    if device == "cpu":
        from evaluator import interpreter

        interpreter.install()
    else:
        torch.cuda.set_device(0)
        torch.zeros(1, device=device).cpu()
        # An honest kernel that asks for too much hears of it, and the judge keeps room for itself.
        torch.cuda.set_per_process_memory_fraction(0.6)
    _Launches.install(device)
    gc.collect()
    gc.freeze()


def _set_limits(device: str, limits: Mapping[str, float]) -> None:
    """Hard limits of this process and all that it starts; the submission cannot raise them."""
    processor_s = int(4 * (limits["kernel_s"] + limits["timing_s"])) + 60  # threads count together
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, int(limits["file_bytes"])),
        (resource.RLIMIT_NOFILE, int(limits["open_files"])),
        (resource.RLIMIT_CPU, processor_s),
    ):
        resource.setrlimit(kind, (most, most))
    if os.getuid():  # where the judge is not root this holds without a cgroup
        resource.setrlimit(resource.RLIMIT_NPROC, (4 * int(limits["processes"]),) * 2)
    if device == "cpu":  # CUDA reserves far more addresses than it uses
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + int(limits["memory_bytes"])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


_Reply = tuple[dict[str, Any], list[bytes]]


class _Operations:
    """What the judge can ask for, on one submission."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._task: Task
        self._entry: Callable[..., Any]
        self._stopwatch: Stopwatch
        self._timed: _Timed

    @property
    def by_name(self) -> Mapping[str, Callable[..., _Reply]]:
        return {
            "load": self.load,
            "run": self.run,
            "prepare": self.prepare,
            "measure": self.measure,
            "outputs": self.outputs,
        }

    def load(self, task: str, source: str) -> _Reply:
        """Imports the submission."""
        self._task = all_tasks()[task]
        folder = Path(tempfile.gettempdir())
        path = folder / _FILE  # Triton reads a kernel's source from its file
        path.write_text(source, encoding="utf-8")
        os.chdir(folder)
        spec = importlib.util.spec_from_file_location("kernel", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["kernel"] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            raise _ImportFailed from error
        entry, use = _find_entry(module, self._task), self._task.use
        self._entry = functools.partial(use, entry) if use else entry
        return {}, []

    def run(self, case: Case, seed: int) -> _Reply:
        """One call on one case."""
        _Launches.names.clear()
        arguments, keywords = self._inputs(case, seed)
        result = self._entry(*arguments, **keywords)
        self._synchronize()
        header, buffers = self._answer(result, (arguments, keywords))
        header["inputs"] = wire.input_digests((arguments, keywords), self._task.mutates)
        return header, buffers

    def prepare(self, case: Case, seed: int, budget_ms: float) -> _Reply:
        """Compiles and warms up for a timing case; says how it should be measured within the budget."""
        if not hasattr(self, "_stopwatch"):
            self._stopwatch = Stopwatch()
        call = self._inputs(case, seed)
        self._timed = _Timed(self._entry, call)
        return asdict(self._stopwatch.plan(self._timed, budget_ms)), []

    def measure(self, case: Case, seed: int, repetitions: int, flushes: int) -> _Reply:
        """Times the prepared case on inputs that were not known before this message."""
        self._timed = _Timed(self._entry, self._inputs(case, seed))
        self._synchronize()
        return {"samples": self._stopwatch.measure(self._timed, Plan(repetitions, flushes))}, []

    def outputs(self, case: Case, seed: int) -> _Reply:
        """The last timed call's outputs; those of one call more where the operator changes its arguments."""
        timed = self._timed
        del self._timed
        if self._task.mutates:
            return self.run(case, seed)
        return self._answer(timed.result, timed.call)

    def _inputs(self, case: Case, seed: int) -> Call:
        call = make_call(self._task, case, Maker(seed, self._device, self._task.dtype))
        self._synchronize()
        return call

    def _answer(self, result: Any, call: Call) -> _Reply:
        structure, outputs = _outputs(result)
        mutated = [call[0][position] for position in self._task.mutates]
        packed = [wire.pack(tensor) for tensor in (*outputs, *mutated)]
        header = {
            "structure": structure,
            "outputs": [description for description, _ in packed[: len(outputs)]],
            "mutated": [description for description, _ in packed[len(outputs) :]],
            "kernels": list(_Launches.names),
        }
        return header, [data for _, data in packed]

    def _synchronize(self) -> None:
        if self._device != "cpu":
            torch.cuda.synchronize()


class _Timed:
    """A call that keeps its last result."""

    def __init__(self, entry: Callable[..., Any], call: Call) -> None:
        self._entry, self.call = entry, call
        self.result: Any = None

    def __call__(self) -> None:
        arguments, keywords = self.call
        self.result = self._entry(*arguments, **keywords)


class _Launches:
    """Names of the Triton kernels that were launched, in order of their first launch."""

    names: dict[str, None] = {}

    @classmethod
    def install(cls, device: str) -> None:
        if device == "cpu":
            from triton.runtime.interpreter import InterpretedFunction as Launched
        else:
            from triton.runtime.jit import JITFunction as Launched
        Launched.run = cls._recorded(Launched.run)

    @classmethod
    def _recorded(cls, run: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(self: Any, *arguments: Any, **keywords: Any) -> Any:
            result = run(self, *arguments, **keywords)
            if not keywords.get("warmup"):
                cls.names[getattr(self.fn, "__name__", "kernel")] = None
            return result

        return recorded


# Results


def _outputs(result: Any) -> tuple[str, list[torch.Tensor]]:
    """The structure of a result, "tensor", "tuple" or "none", and its tensors; else what it is in words."""
    if isinstance(result, torch.Tensor):
        return "tensor", [result]
    if result is None:
        return "none", []
    if not isinstance(result, tuple | list):
        return f"a {type(result).__name__}", []
    if len(result) > wire.MAX_BUFFERS:
        return f"a {type(result).__name__} of {len(result)} items", []
    others = [item for item in result if not isinstance(item, torch.Tensor)]
    if others:
        return f"a {type(result).__name__} that holds a {type(others[0]).__name__}", []
    return "tuple", list(result)


# Errors


class _ImportFailed(Exception):
    """Importing the submission raised; the cause says what."""


class _NoEntry(Exception):
    """The submission does not define the function that is asked for."""


def _find_entry(module: Any, task: Task) -> Callable[..., Any]:
    for name in task.entries:
        if callable(entry := getattr(module, name, None)):
            found: Callable[..., Any] = entry
            return found
    raise _NoEntry(f"the file defines no function {task.entry!r}")


def _told(error: BaseException, device: str) -> dict[str, Any]:
    """`_describe`, also where the submission's error raises when it is asked for its text."""
    try:
        return _describe(error, device)
    except BaseException:
        error = error.__cause__ or error if isinstance(error, _ImportFailed) else error
        message = f"{type(error).__name__}, an error whose text cannot be read."
        return {"outcome": Outcome.CALL_FAILED, "message": message, "line": _line(error), "details": ""}


def _describe(error: BaseException, device: str) -> dict[str, Any]:
    """What went wrong, for the judge: an outcome, a sentence, the line, the traceback."""
    importing = isinstance(error, _ImportFailed)
    if importing and error.__cause__ is not None:
        error = error.__cause__
    root = error
    while isinstance(root, InterpreterError) and root.__cause__ is not None:
        root = root.__cause__  # the interpreter wraps what a kernel raises
    text = str(root) or type(root).__name__
    if isinstance(error, _NoEntry):
        return {
            "outcome": Outcome.NO_ENTRY,
            "message": f"{text[0].upper()}{text[1:]}.",
            "line": None,
            "details": "",
        }
    sentence = _unsupported(error) if device == "cpu" else None
    return {
        "outcome": Outcome.NOT_SUPPORTED if sentence else _classify(error, importing),
        "message": sentence or f"{type(root).__name__}: {_first_lines(_reason(root, text))}",
        "line": _line(error),
        "details": bounded(_traceback(error), MOST_DETAILS),
    }


def _unsupported(error: BaseException) -> str | None:
    from evaluator import interpreter

    return interpreter.unsupported(error)


_MEMORY_FAULTS = re.compile(
    r"illegal memory access|misaligned address|unspecified launch failure|device-side assert"
    r"|illegal instruction|invalid program counter"
)
_NO_MEMORY = re.compile(r"can't allocate memory|CUDA out of memory|DefaultCPUAllocator|not enough memory")
_REFUSED = {errno.EFBIG, errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.EDQUOT}


def _classify(error: BaseException, importing: bool) -> Outcome:
    from triton.compiler.errors import CompilationError
    from triton.runtime import errors as triton_errors

    compiling = tuple(
        kind
        for kind in (
            CompilationError,
            triton_errors.OutOfResources,
            getattr(triton_errors, "PTXASError", None),
        )
        if kind is not None
    )
    for cause in _chain(error):
        if isinstance(cause, MemoryError | torch.OutOfMemoryError) or (
            isinstance(cause, RuntimeError) and _NO_MEMORY.search(str(cause))
        ):
            return Outcome.OUT_OF_MEMORY
        if isinstance(cause, OSError) and cause.errno in _REFUSED:
            return Outcome.LIMIT_EXCEEDED
        if isinstance(cause, compiling):
            return Outcome.COMPILE_FAILED
        if isinstance(cause, RuntimeError) and _MEMORY_FAULTS.search(str(cause)):
            return Outcome.CRASHED
        if isinstance(cause, RuntimeError) and "PassManager::run failed" in str(cause):
            return Outcome.COMPILE_FAILED
    return Outcome.IMPORT_FAILED if importing else Outcome.CALL_FAILED


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _line(error: BaseException) -> int | None:
    """The line of the submitted file where it happened: its innermost frame in the innermost cause."""
    found = None
    for cause in _chain(error):
        if isinstance(cause, SyntaxError) and _is_kernel(cause.filename):
            return cause.lineno
        if (line := _line_in_triton(cause)) is not None:
            return line
        lines = [f.lineno for f in traceback.extract_tb(cause.__traceback__) if _is_kernel(f.filename)]
        found = lines[-1] if lines else found
    return found


def _line_in_triton(error: BaseException) -> int | None:
    """Triton counts from the first line of the jitted function; find that in the file."""
    source, node = getattr(error, "src", None), getattr(error, "node", None)
    line = getattr(node, "lineno", None)
    if not isinstance(source, str) or not isinstance(line, int):
        return None
    wanted = source.strip().splitlines()[:1]
    for number, text in enumerate(linecache.getlines(_path()), start=1):
        if wanted and text.strip() == wanted[0].strip():
            return number + line - 1
    return None


def _traceback(error: BaseException) -> str:
    """The traceback from the submission's own frames on."""
    for cause in _chain(error):
        tb = cause.__traceback__
        while tb is not None and not _is_kernel(tb.tb_frame.f_code.co_filename):
            tb = tb.tb_next
        if tb is not None:
            cause.__traceback__ = tb
    return "".join(traceback.format_exception(error)).replace(_path(), _FILE)


def _is_kernel(file: str | None) -> bool:
    return file == _path()


def _path() -> str:
    return str(Path(tempfile.gettempdir()) / _FILE)


def _reason(error: BaseException, text: str) -> str:
    """What is wrong, without the lines of source that Triton's compiler puts before it; the details have them."""
    if not re.search(_CARET, text, flags=re.MULTILINE):
        return text
    after = re.split(_CARET, text, flags=re.MULTILINE)[-1].strip()
    causes = (str(cause).strip() for cause in _chain(error) if cause is not error)
    return after or next(filter(None, causes), text)


_CARET = r"^ *\^ *$"


def _first_lines(text: str) -> str:
    return bounded(" ".join(text.split()), 600)


# The channel


def _receive(channel: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        received = channel.recv_into(view[got:])
        if not received:
            os._exit(0)  # the judge hung up
        got += received
    return data


def _send(channel: socket.socket, header: dict[str, Any], buffers: list[bytes]) -> None:
    for part in wire.encode(header, buffers):
        channel.sendall(part)


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # the submission may have put anything there


_ = np, triton  # imported before the submission, so that its own imports of them cost nothing

if __name__ == "__main__":
    main()
