"""What the static check refuses, in which words, and what it leaves alone."""

import json
import re
import sys
import time

import pytest

from evaluator.report import Outcome
from evaluator.static_check import check

HONEST = '''
import os
import torch, triton
import triton.language as tl

torch.backends.cuda.matmul.allow_tf32 = False


@triton.jit
def _kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)


def relu(input):
    """It may open( and exec( in words."""
    block = int(os.environ.get("BLOCK", "1024"))
    y = torch.empty_like(input)
    _kernel[(triton.cdiv(input.numel(), block),)](input, y, input.numel(), BLOCK=block)
    return y
'''


def outcome(source, task="relu"):
    failure = check(source, task)
    return failure.outcome if failure else Outcome.CORRECT


def test_an_honest_kernel_passes():
    assert check(HONEST, "relu") is None


@pytest.mark.parametrize(
    "source", [HONEST.replace("\n", "\r\n"), "\ufeff" + HONEST, "# coding: utf-8\n" + HONEST]
)
def test_line_ends_marks_and_cookies_do_no_harm(source):
    assert check(source, "relu") is None


# Syntax


def test_a_syntax_error_names_its_line():
    failure = check("import torch\n\ndef relu(x:\n    return x\n", "relu")
    assert failure.outcome is Outcome.SYNTAX_ERROR
    assert failure.line == 3
    assert failure.message.startswith("Line 3: ")
    assert "def relu(x:" in failure.details


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\0",
        "# coding: klingon\n",
        "# coding: utf-16\nx",
        "\ud800",
        "return 1",
        "(" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "-" * 100_000 + "1",
        "x" + ".x" * 100_000,
        "x" + "+x" * 100_000,
        "lambda: " * 30_000 + "1",
        "x = " + "9" * 100_000,
    ],
    ids=lambda source: repr(source[:12]),
)
def test_what_python_cannot_parse_is_a_syntax_error_and_no_crash(source):
    failure = check(source, "relu")
    assert failure.outcome is Outcome.SYNTAX_ERROR
    assert failure.message.endswith(".")
    assert len(failure.message) < 300


def test_an_invalid_escape_is_only_a_warning():
    assert check(HONEST + 'pattern = "\\d"\n', "relu") is None


def test_long_chains_of_attributes_cost_no_more_than_short_ones():
    def seconds(names):
        source = HONEST + ("a" + ".b" * names + "\n") * (90_000 // names)
        started = time.process_time()
        assert check(source, "relu") is None
        return time.process_time() - started

    assert seconds(900) < 3 * seconds(15)


# Entry


def test_a_missing_entry_names_the_nearest_function():
    failure = check(HONEST.replace("def relu(", "def relu_triton("), "relu")
    assert failure.outcome is Outcome.NO_ENTRY
    assert failure.message == (
        "The file defines no function 'relu' at its top level; the nearest name is 'relu_triton' on line 15."
    )
    assert failure.line == 15


def test_a_misspelt_entry_is_found_too():
    assert "'rellu' on line 15" in check(HONEST.replace("def relu(", "def rellu("), "relu").message


def test_an_empty_file_defines_nothing():
    failure = check("", "relu")
    assert failure.outcome is Outcome.NO_ENTRY
    assert "it defines nothing" in failure.message


@pytest.mark.parametrize(
    "definition",
    [
        "relu = relu_triton",
        "relu: object = relu_triton",
        "other, relu = 1, relu_triton",
        "from helpers import relu",
        "from helpers import *",
        "class relu: pass",
        "if True:\n    relu = relu_triton",
        "try:\n    import fast\nexcept ImportError:\n    relu = relu_triton",
        "globals()['relu'] = relu_triton",
        "def kernel_function(x): return x",
    ],
)
def test_every_way_to_bind_the_name_counts(definition):
    assert check(HONEST.replace("def relu(", "def relu_triton(") + definition, "relu") is None


def test_a_nested_function_is_no_entry():
    source = HONEST.replace("def relu(input)", "def make():\n  def relu(input): pass\ndef other(input)")
    assert outcome(source) is Outcome.NO_ENTRY


def test_a_task_of_the_suite_takes_all_its_entries():
    assert check(HONEST.replace("def relu(", "def gelu("), "gelu") is None


def test_a_task_that_is_not_built_yet_goes_by_its_name():
    unknown = "fused_no_such_task"
    assert check(HONEST.replace("def relu(", f"def {unknown}("), unknown) is None
    assert check(HONEST.replace("def relu(", "def no_such_task("), unknown) is None
    assert outcome(HONEST, unknown) is Outcome.NO_ENTRY


# Triton


def test_a_file_without_a_triton_kernel_is_refused():
    source = "import torch\n\ndef relu(input):\n    return torch.relu(input)\n"
    assert outcome(source) is Outcome.NO_TRITON_KERNEL


@pytest.mark.parametrize(
    ("imported", "decorator"),
    [
        ("import triton", "@triton.jit"),
        ("import triton", "@triton.jit()"),
        ("import triton", "@triton.autotune([], key=[])\n@triton.heuristics({})\n@triton.jit"),
        ("import triton as tr", "@tr.jit"),
        ("from triton import jit", "@jit"),
        ("from triton.runtime import jit as compiled", "@compiled"),
        ("from triton.experimental import gluon", "@gluon.jit"),
    ],
)
def test_every_way_to_decorate_counts(imported, decorator):
    source = f"{imported}\n\n{decorator}\ndef kernel(x): pass\n\ndef relu(x): kernel[(1,)](x)\n"
    assert check(source, "relu") is None


def test_a_call_of_triton_jit_counts():
    assert (
        check("import triton\ndef k(x): pass\nk = triton.jit(k)\ndef relu(x): k[(1,)](x)\n", "relu") is None
    )


@pytest.mark.parametrize("jit", ["import numba as nb\n@nb.jit", "import torch\n@torch.jit.script"])
def test_another_jit_does_not_count(jit):
    assert outcome(f"{jit}\ndef relu(x): pass\n") is Outcome.NO_TRITON_KERNEL


# What no kernel has a need for


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import ctypes", "imports ctypes"),
        ("import subprocess as sp", "imports subprocess"),
        ("from socket import socket", "imports from socket"),
        ("import multiprocessing.shared_memory", "imports multiprocessing.shared_memory"),
        ("from torch.utils import cpp_extension", "imports from torch.utils"),
        ("from torch.utils.cpp_extension import load_inline", "imports from torch.utils.cpp_extension"),
        ("torch.utils.cpp_extension.load_inline('x', '')", "uses torch.utils.cpp_extension"),
        ("import importlib", "imports importlib"),
        ("exec('x = 1')", "calls exec()"),
        ("eval(input())", "calls eval()"),
        ("compile('1', '', 'eval')", "calls compile()"),
        ("__import__('os')", "calls __import__()"),
        ("open('/etc/passwd').read()", "calls open()"),
        ("os.system('true')", "calls os.system()"),
        ("os.execv('/bin/true', [])", "calls os.execv()"),
        ("os.fork()", "calls os.fork()"),
        ("from os import system\nsystem('true')", "calls os.system()"),
        ("torch.allclose = lambda *a: True", "changes torch.allclose"),
        ("torch.cuda.Event.elapsed_time = None", "changes torch.cuda.Event.elapsed_time"),
        ("tl.load = None", "changes triton.language.load"),
        ("from torch import cuda\ncuda.synchronize = print", "changes torch.cuda.synchronize"),
        ("import time\ntime.perf_counter = lambda: 0", "changes time.perf_counter"),
        ("import time\ndel time.time", "changes time.time"),
        ("setattr(torch, 'equal', print)", "changes torch"),
        ("import sys\nsys.modules['torch'] = None", "uses sys.modules"),
        ("print(__builtins__)", "uses __builtins__"),
    ],
)
def test_what_no_kernel_needs_is_named_with_its_line(line, words):
    failure = check(HONEST + line, "relu")
    assert failure.outcome is Outcome.FORBIDDEN
    assert failure.line == len((HONEST + line).splitlines())
    assert failure.message == f"Line {failure.line} {words}, which a kernel has no need for."


@pytest.mark.parametrize(
    "line",
    [
        "import os, sys, math, time, functools",
        "started = time.time()",
        "torch.backends.cudnn.benchmark = True",
        "torch.compile(relu)",
        "compiled = re.compile('x')",
        "def open(x): return x\nopen(1)",
        "class A:\n    def __init__(self): self.torch = 1",
        "x = torch.ones(1)\nx.grad = None",
        "model.eval()",
        "print(os.environ['HOME'], os.getpid())",
        "setattr(relu, 'name', 1)",
    ],
)
def test_what_honest_kernels_do_is_left_alone(line):
    assert check(HONEST + line, "relu") is None


def test_the_check_needs_neither_torch_nor_triton():
    import subprocess

    code = (
        "import sys\nsys.modules['torch'] = sys.modules['triton'] = None\n"
        f"from evaluator.static_check import check\nassert check({HONEST!r}, 'relu') is None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.samples
def test_of_the_692_sample_kernels_only_one_is_forbidden(samples):
    found = {}
    for file in sorted(samples.glob("*/*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            text = json.loads(line)["predict"]
            fenced = re.search(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
            source = fenced[1] if fenced else text
            failure = check(f"{source}\ndef kernel_function(): pass\n", "relu")
            if failure and failure.outcome is Outcome.FORBIDDEN:
                found[file.name, number] = failure.message
    assert list(found.values()) == ["Line 371 changes torch.linalg.svd, which a kernel has no need for."]
