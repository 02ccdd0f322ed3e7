"""The CUDA stand-in for the interpreter: each test runs its lines in a process where it is installed."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SERVER = """
import json, os, sys, traceback
from evaluator import interpreter
interpreter.install()
import torch, triton
torch.set_num_threads(1)
for number, line in enumerate(sys.stdin):
    if os.fork() == 0:
        folder, source = json.loads(line)
        path = f"{folder}/case_{number}.py"
        with open(path, "w") as file:  # triton reads a kernel's source from its file
            file.write(source)
        names = {"__name__": "case", "__file__": path}
        try:
            exec(compile(source, path, "exec"), names)
            answer = names.get("result")
        except BaseException as error:
            answer = {"error": type(error).__name__, "text": str(error), "unsupported": interpreter.unsupported(error)}
        print("\\n" + json.dumps(answer), flush=True)
        os._exit(0)
    os.wait()
    print("done", flush=True)
"""

HEAD = """
import torch, triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

def run(kernel, x, **keywords):
    y = torch.empty_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), **keywords)
    return y

def elementwise(expression):
    source = "@triton.jit\\ndef k(x, y, BLOCK: tl.constexpr):\\n    at = tl.arange(0, BLOCK)\\n"
    source += f"    v = tl.load(x + at)\\n    tl.store(y + at, {expression})\\n"
    path = __file__.replace(".py", "_k.py")
    open(path, "w").write(source)
    names = globals()
    exec(compile(source, path, "exec"), names)
    return lambda x: (y := torch.empty_like(x), names["k"][(1,)](x, y, BLOCK=x.numel()))[0]
"""


@pytest.fixture(scope="module")
def server():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    yield process
    process.stdin.close()
    process.wait(timeout=30)


@pytest.fixture
def interpreted(server, tmp_path):
    """Runs lines and gives back what they leave in `result`."""

    def run(lines):
        server.stdin.write(json.dumps([str(tmp_path), HEAD + textwrap.dedent(lines)]) + "\n")
        server.stdin.flush()
        printed = []
        while (line := server.stdout.readline()) not in ("done\n", ""):
            printed.append(line)
        return json.loads(printed[-1]) if printed else None

    return run


# Devices of tensors


@pytest.mark.parametrize(
    "expression",
    [
        "torch.ones(3, device='cuda')",
        "torch.ones(3, device='cuda:0')",
        "torch.ones(3, device=torch.device('cuda'))",
        "torch.ones(3, device=0)",
        "torch.ones(3).cuda()",
        "torch.ones(3).to('cuda')",
        "torch.ones(3).to(device='cuda', dtype=torch.float16)",
        "torch.ones(3).to(torch.device('cuda'), torch.float16)",
        "torch.ones(3).to(torch.ones(1, device='cuda'))",
        "torch.empty_like(torch.ones(3, device='cuda'))",
        "torch.ones(3, device='cuda').new_zeros(2)",
        "torch.ones(3, device='cuda') + torch.ones(()) ",
        "torch.ones(4, device='cuda').view(2, 2).t().contiguous()",
        "torch.nn.Linear(2, 2).cuda().weight",
        "torch.rand(3, generator=torch.Generator(device='cuda').manual_seed(1), device='cuda')",
        "torch.tensor([1.0], device='cuda', pin_memory=False)",
    ],
)
def test_a_tensor_on_the_gpu_says_so(interpreted, expression):
    answer = interpreted(
        f"""
        x = {expression}
        result = [x.is_cuda, x.is_cpu, x.device.type, str(x.device), x.get_device()]
        """
    )
    assert answer == [True, False, "cuda", "cuda:0", 0]


@pytest.mark.parametrize(
    "expression",
    [
        "torch.ones(3)",
        "torch.arange(3) * 2",
        "torch.ones(3, device='cuda').cpu()",
        "torch.ones(3, device='cuda').to('cpu')",
        "torch.ones(3, 3).max(1)[0]",
        "torch.zeros_like(torch.ones(3))",
    ],
)
def test_a_tensor_in_host_memory_says_so_and_cannot_be_launched_on(interpreted, expression):
    answer = interpreted(f"x = {expression}\nresult = [x.is_cuda, str(x.device)]")
    assert answer == [False, "cpu"]
    failed = interpreted(f"x = {expression}\ny = x.cuda()\ndouble[(1,)](x, y, 3, BLOCK=4)")
    assert failed["error"] == "ValueError"
    assert failed["text"] == "Pointer argument 'x' cannot be accessed from Triton (cpu tensor?)"
    assert failed["unsupported"] is None


def test_a_copy_to_the_other_device_is_a_copy(interpreted):
    lines = "x = torch.ones(3)\ny = x.cuda()\ny += 1\nz = y.cuda()\nz += 1\nresult = [x.tolist(), y.tolist()]"
    assert interpreted(lines) == [[1, 1, 1], [3, 3, 3]]


def test_the_seeded_factory_draws_as_it_does_in_the_judge(interpreted):
    from evaluator.inputs import Maker

    lines = """
    from evaluator.inputs import Maker
    x = Maker(7, "{device}", "float32").normal(5, outliers=0.1)
    result = [x.tolist(), x.is_cuda]
    """
    expected = Maker(7, "cpu", "float32").normal(5, outliers=0.1).tolist()
    for device in ("cpu", "cuda"):
        assert interpreted(lines.replace("{device}", device)) == [expected, True]


# torch.cuda


@pytest.mark.parametrize(
    "lines",
    [
        "result = torch.cuda.is_available()",
        "result = torch.cuda.device_count() == 1",
        "result = torch.cuda.current_device() == 0",
        "result = torch.cuda.get_device_capability() >= (8, 0)",
        "result = torch.cuda.get_device_properties(torch.device('cuda')).multi_processor_count > 0",
        "with torch.cuda.device(torch.ones(1).cuda().device): result = True",
        "with torch.cuda.stream(torch.cuda.Stream()): result = True",
        "torch.cuda.synchronize(); torch.cuda.empty_cache(); result = True",
        "s = torch.cuda.current_stream(); s.synchronize(); result = s.cuda_stream == 0",
        "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True); a.record(); b.record();"
        " result = a.elapsed_time(b) >= 0",
        "torch.manual_seed(3); a = torch.rand(1); torch.cuda.manual_seed(3); result = bool(torch.rand(1) == a)",
        "result = isinstance(torch.Generator(device='cuda'), torch.Generator)",
        "result = torch.Generator(device='cuda').device.type == 'cuda'",
        "p = triton.runtime.driver.active.utils.get_device_properties(0); result = p['multiprocessor_count'] > 0",
        "result = triton.runtime.driver.active.get_current_target().backend == 'cuda'",
        "result = triton.runtime.driver.active.get_active_torch_device().type == 'cuda'",
    ],
)
def test_what_kernels_ask_of_a_gpu_has_an_answer(interpreted, lines):
    assert interpreted(lines) is True


# Kernels


def test_a_kernel_runs(interpreted):
    lines = "x = torch.arange(10.0, device='cuda')\nresult = run(double, x, BLOCK=4).tolist()"
    assert interpreted(lines) == [2.0 * i for i in range(10)]


@pytest.mark.parametrize("grid", ["(3,)", "[3]", "lambda meta: [triton.cdiv(10, meta['BLOCK'])]"])
def test_a_grid_may_be_a_list(interpreted, grid):
    lines = f"x = torch.ones(10, device='cuda')\ny = x.clone()\ndouble[{grid}](x, y, 10, BLOCK=4)\nresult = y.tolist()"
    assert interpreted(lines) == [2.0] * 10


def test_autotune_takes_the_first_configuration_and_heuristics_work(interpreted):
    lines = """
    @triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8}, num_warps=8)], key=["n"])
    @triton.heuristics({"EVEN": lambda arguments: arguments["n"] % 2 == 0})
    @triton.jit
    def add(x, y, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n) + BLOCK + EVEN, mask=at < n)

    result = run(add, torch.ones(6, device="cuda")).tolist()
    """
    assert interpreted(lines) == [6.0] * 6


def test_device_functions_and_reductions_work_and_stay_quick(interpreted):
    lines = """
    import time

    @triton.jit
    def square(x):
        return x * x

    @triton.jit
    def norm(x, y, n, BLOCK: tl.constexpr):
        total = tl.zeros((), tl.float32)
        for start in range(0, n, BLOCK):
            at = start + tl.arange(0, BLOCK)
            total += tl.sum(square(tl.load(x + at, mask=at < n, other=0.0)))
        tl.store(y, tl.sqrt(total))

    x, y = torch.ones(400 * 16, device="cuda"), torch.empty(1, device="cuda")
    started = time.perf_counter()
    norm[(1,)](x, y, x.numel(), BLOCK=16)
    result = [y.item(), time.perf_counter() - started]
    """
    value, seconds = interpreted(lines)
    assert value == 80.0
    assert seconds < 2  # 800 calls; with triton.language replaced at each it would be several


@pytest.mark.parametrize(
    ("module", "function", "torch_function"),
    [
        ("tl.extra.cuda.libdevice", "tanh", "torch.tanh"),
        ("tl.extra.libdevice", "tanh", "torch.tanh"),
        ("tl.extra.cuda.libdevice", "erf", "torch.erf"),
        ("tl.extra.cuda.libdevice", "erfc", "torch.erfc"),
        ("tl.extra.cuda.libdevice", "log1p", "torch.log1p"),
        ("tl.extra.cuda.libdevice", "expm1", "torch.expm1"),
        ("tl.extra.cuda.libdevice", "asin", "torch.asin"),
        ("tl.extra.cuda.libdevice", "rsqrt", "torch.rsqrt"),
        ("tl.extra.cuda.libdevice", "trunc", "torch.trunc"),
        ("tl.extra.cuda.libdevice", "rint", "torch.round"),
        ("tl.extra.cuda.libdevice", "lgamma", "torch.lgamma"),
        ("tl.extra.cuda.libdevice", "tgamma", "lambda x: torch.lgamma(x).exp()"),
        ("tl.extra.cuda.libdevice", "j0", "torch.special.bessel_j0"),
        ("tl.extra.cuda.libdevice", "cyl_bessel_i0", "torch.special.i0"),
        ("tl.extra.cuda.libdevice", "fast_expf", "torch.exp"),
    ],
)
def test_libdevice_functions_give_their_values(interpreted, module, function, torch_function):
    lines = f"""
    x = torch.linspace(0.1, 0.9, 8, device="cuda")
    got, right = elementwise("{module}.{function}(v)")(x), ({torch_function})(x)
    result = [got.tolist(), right.tolist()]
    """
    got, right = interpreted(lines)
    assert got == pytest.approx(right, rel=1e-5)


def test_libdevice_imported_by_name_and_of_two_arguments(interpreted):
    lines = """
    from triton.language.extra.cuda.libdevice import pow as power, isnan
    x = torch.tensor([1.0, 2.0, 3.0, float("nan")], device="cuda")
    result = elementwise("tl.where(isnan(v) != 0, 0.0, power(v, 2.0))")(x).tolist()
    """
    assert interpreted(lines) == [1.0, 4.0, 9.0, 0.0]


# bfloat16, which the interpreter itself keeps as integers


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("v + v * 2", "x + x * 2"),
        ("v - 1.5", "x - 1.5"),
        ("v / 3", "x / 3"),
        ("-v", "-x"),
        ("tl.abs(v)", "x.abs()"),
        ("tl.where(v > 0.5, v, -v)", "torch.where(x > 0.5, x, -x)"),
        ("tl.maximum(v, 0.25)", "x.clamp(min=0.25)"),
        ("tl.clamp(v, -0.5, 0.5)", "x.clamp(-0.5, 0.5)"),
        ("v.to(tl.float32) * 1.01", "(x.float() * 1.01).bfloat16()"),
        ("tl.exp(v.to(tl.float32))", "x.float().exp().bfloat16()"),
        ("v.to(tl.float64)", "x"),
        ("v.to(tl.float16)", "x"),
        ("v.to(tl.int32)", "x.int().bfloat16()"),
        ("(v > 0.5).to(tl.bfloat16)", "(x > 0.5).bfloat16()"),
        ("v * 0 + tl.max(v, axis=0)", "x * 0 + x.max()"),
        ("v * 0 + tl.sum(v, axis=0)", "x * 0 + x.float().sum().bfloat16()"),
        ("tl.cumsum(v, axis=0)", "x.float().cumsum(0).bfloat16()"),
        ("(v.to(tl.float32) * float('inf')).to(tl.bfloat16)", "x * float('inf')"),
        ("(v.to(tl.float32) * float('nan')).to(tl.bfloat16)", "x * float('nan')"),
    ],
)
def test_bfloat16_is_computed_and_rounded_as_on_a_gpu(interpreted, expression, expected):
    lines = f"""
    x = torch.randn(64, generator=torch.Generator().manual_seed(1)).cuda().bfloat16()
    result = torch.equal(elementwise({expression!r})(x).nan_to_num(), ({expected}).nan_to_num())
    """
    assert interpreted(lines) is True


def test_a_product_of_bfloat16_matrices_is_accumulated_in_float32(interpreted):
    lines = """
    @triton.jit
    def product(a, b, c):
        i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
        tl.store(c + i * 16 + j, tl.dot(tl.load(a + i * 16 + j), tl.load(b + i * 16 + j)))

    a, b = torch.randn(2, 16, 16, generator=torch.Generator().manual_seed(1)).cuda().bfloat16()
    c = torch.empty(16, 16, device="cuda")
    product[(1,)](a, b, c)
    result = float((c - a.float() @ b.float()).abs().max())
    """
    assert interpreted(lines) < 1e-5


# Whose fault


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            "elementwise(\"tl.inline_asm_elementwise('mov $0, $1;', '=r,r', [v], tl.float32, True, 1)\")"
            "(torch.ones(4, device='cuda'))",
            "inline asm",
        ),
        ("elementwise('tl.extra.cuda.libdevice.erfcinv(v)')(torch.ones(4, device='cuda'))", "erfcinv"),
        ("elementwise('tl.atomic_add(y + at, v)')(torch.ones(4, device='cuda').bfloat16())", "bfloat16"),
        ("triton.runtime.driver.active.launcher_cls", "the GPU driver"),
        ("torch.cuda.CUDAGraph()", "CUDA"),
        ("torch.linalg.lu_factor(torch.ones(2, 2, device='cuda'), pivot=False)", "no CPU form"),
    ],
)
def test_what_the_interpreter_cannot_run_is_said_in_a_sentence(interpreted, lines, words):
    answer = interpreted(lines)
    assert words in answer["unsupported"]
    assert answer["unsupported"].endswith(".")


@pytest.mark.parametrize(
    "lines",
    [
        "elementwise('tl.tanh(v)')(torch.ones(4, device='cuda'))",
        "elementwise('tl.math.tanh(v)')(torch.ones(4, device='cuda'))",
        "elementwise('unknown')(torch.ones(4, device='cuda'))",
        "elementwise('v + tl.arange(0, 3)')(torch.ones(4, device='cuda'))",
        "elementwise('tl.extra.cuda.libdevice.tanh(v)')(torch.ones(4, device='cuda').half())",
        "double[(1,)](torch.ones(4, device='cuda'), 4, BLOCK=4)",
        "double[(1,)](torch.ones(4, device='cuda').data_ptr(), torch.ones(4, device='cuda'), 4, BLOCK=4)",
        "raise NotImplementedError('only contiguous tensors')",
        "torch.relu(1)",
        "torch.ones(3, device='cuda').no_such_method()",
        "torch.ones(2, device='cuda') @ torch.ones(3, device='cuda')",
        "torch.exp2(torch.ones(3, device='cuda'), 1, 2)",
        "assert torch.ones(3).is_cuda",
    ],
)
def test_the_kernels_own_faults_are_never_blamed_on_the_interpreter(interpreted, lines):
    answer = interpreted(lines)
    assert answer["error"]
    assert answer["unsupported"] is None


def test_triton_must_not_be_imported_before(tmp_path):
    code = "import triton\nfrom evaluator import interpreter\ninterpreter.install()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "triton was imported before" in done.stderr
